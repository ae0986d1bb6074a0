//! From the flat list of directives to the tree of constructs. Language-free.

use std::collections::HashMap;
use std::ops::Range;

use crate::find::{
    Body, Branch, Closing, Extent, Found, FoundDirective, Placement, Position, SectionBlock, Traits,
};
use crate::openmp::{Directive, Leaf};

/// A construct: a directive that is understood, with what it governs; or the
/// first section of a `sections` construct, which may have no directive.
#[derive(Debug)]
pub struct Construct {
    /// Index of its directive in [`Found::directives`]; for a first section
    /// without a directive, that of its `sections` directive.
    pub directive: usize,
    /// Whether it is a section without a directive.
    pub implicit_section: bool,
    /// Its block; none if it stands alone.
    pub block: Option<Block>,
    /// The construct around it.
    pub parent: Option<usize>,
    /// The number of constructs around it.
    pub depth: usize,
}

/// The block of a construct.
#[derive(Clone, Debug)]
pub struct Block {
    /// From its first to its last byte.
    pub range: Range<usize>,
    /// Where text at its begin goes.
    pub begin: Position,
    /// Where text at its end goes.
    pub end: Position,
    /// Where text behind the construct goes.
    pub outside: Position,
    /// How the end of the construct is marked.
    pub closing: Closing,
    /// See [`Body::guarded`].
    pub guarded: bool,
}

impl From<&Body> for Block {
    fn from(body: &Body) -> Self {
        Self {
            range: body.range.clone(),
            begin: body.begin,
            end: body.end,
            outside: body.outside,
            closing: body.closing.clone(),
            guarded: body.guarded,
        }
    }
}

impl From<&SectionBlock> for Block {
    fn from(section: &SectionBlock) -> Self {
        Self {
            range: section.range.clone(),
            begin: section.begin,
            end: section.end,
            outside: section.end,
            closing: Closing::Block,
            guarded: false,
        }
    }
}

/// All constructs, each behind the one around it, in source order.
#[derive(Debug)]
pub struct Nesting {
    /// The constructs.
    pub constructs: Vec<Construct>,
    /// Parts of the text where nothing may be inserted, with the reason why nothing may be inserted there.
    pub closed: Vec<(Range<usize>, &'static str)>,
    /// Parts of the text that may be compiled for a device, if there is one.
    pub device: Vec<(Range<usize>, &'static str)>,
    /// Functions that are named in a `declare target`.
    pub device_functions: Vec<String>,
}

/// Builds the tree.
#[must_use]
pub fn nest(found: &Found) -> Nesting {
    let mut sections = section_blocks(found);
    let mut constructs: Vec<Construct> = Vec::new();
    for (index, directive) in found.directives.iter().enumerate() {
        if directive.directive.is_err() {
            continue;
        }
        constructs.push(Construct {
            directive: index,
            implicit_section: false,
            block: own_block(directive).or_else(|| sections.remove(&index)),
            parent: None,
            depth: 0,
        });
        constructs.extend(implicit_section(index, directive));
    }
    link(found, &mut constructs);
    let (device, closed): (Vec<_>, Vec<_>) = delimited(found)
        .into_iter()
        .partition(|(_, leaf)| matches!(leaf, Leaf::DeclareTarget | Leaf::Variant));
    let reasoned = |(range, leaf)| (range, closed_reason(leaf));
    let closed = closed.into_iter().map(reasoned);
    Nesting {
        constructs,
        closed: found.closed.iter().cloned().chain(closed).collect(),
        device: device.into_iter().map(reasoned).collect(),
        device_functions: device_functions(found),
    }
}

fn own_block(directive: &FoundDirective) -> Option<Block> {
    match &directive.extent {
        Extent::Body(body) => Some(body.into()),
        _ => None,
    }
}

/// The blocks of `section` directives are known to their `sections` directives.
fn section_blocks(found: &Found) -> HashMap<usize, Block> {
    let bodies = found
        .directives
        .iter()
        .filter_map(|directive| match &directive.extent {
            Extent::Body(body) => Some(body),
            _ => None,
        });
    bodies
        .flat_map(|body| &body.sections)
        .filter_map(|section| Some((section.directive?, section.into())))
        .collect()
}

fn implicit_section(index: usize, directive: &FoundDirective) -> Option<Construct> {
    let Extent::Body(body) = &directive.extent else {
        return None;
    };
    let section = body
        .sections
        .iter()
        .find(|section| section.directive.is_none())?;
    Some(Construct {
        directive: index,
        implicit_section: true,
        block: Some(section.into()),
        parent: None,
        depth: 0,
    })
}

/// Finds each construct's parent: the innermost one whose block it stands in.
/// Alternatives in the branches of a conditional are not in each other's block, and
/// what is never compiled is around nothing.
fn link(found: &Found, constructs: &mut [Construct]) {
    let mut around: Vec<usize> = Vec::new();
    for index in 0..constructs.len() {
        let at = first_byte(found, &constructs[index]);
        let own = &found.directives[constructs[index].directive];
        around.retain(|outer| block_end(&constructs[*outer]) > at);
        let parent = around.iter().rev().find(|outer| {
            let outer = &constructs[**outer];
            let block = outer.block.as_ref();
            block.is_some_and(|block| block.range.contains(&at))
                && !are_alternatives(&found.directives[outer.directive], own)
                && !found.directives[outer.directive].is_dead()
        });
        constructs[index].parent = parent.copied();
        constructs[index].depth = parent.map_or(0, |parent| constructs[*parent].depth + 1);
        if constructs[index].block.is_some() {
            around.push(index);
        }
    }
}

/// Whether two directives stand in different branches of one conditional.
fn are_alternatives(one: &FoundDirective, other: &FoundDirective) -> bool {
    let excludes = |branch: &Branch| {
        let same = other.branches.iter().find(|b| b.group == branch.group);
        same.is_some_and(|other| other.branch != branch.branch)
    };
    one.branches.iter().any(excludes)
}

fn first_byte(found: &Found, construct: &Construct) -> usize {
    match (&construct.block, construct.implicit_section) {
        (Some(block), true) => block.range.start,
        _ => start_of(&found.directives[construct.directive]),
    }
}

/// Where text in front of a directive goes, so that a nested directive counts
/// as inside a block that begins with it.
fn start_of(directive: &FoundDirective) -> usize {
    match directive.placement {
        Placement::Lines { before, .. } => before,
        Placement::Inline => directive.range.start,
    }
}

fn block_end(construct: &Construct) -> usize {
    construct.block.as_ref().map_or(0, |block| block.range.end)
}

/// `begin declare target` ... `end declare target` and their like.
fn delimited(found: &Found) -> Vec<(Range<usize>, Leaf)> {
    let mut closed = Vec::new();
    let mut open: Vec<(usize, Leaf)> = Vec::new();
    for found_directive in found.directives.iter().filter(|found| !found.is_dead()) {
        let Ok(directive) = &found_directive.directive else {
            continue;
        };
        match opens_or_closes(directive, found.traits) {
            Some((leaf, true)) => open.push((found_directive.range.start, leaf)),
            Some((leaf, false)) => {
                if let Some(at) = open.iter().rposition(|(_, other)| *other == leaf) {
                    let (start, _) = open.remove(at);
                    closed.push((start..found_directive.range.end, leaf));
                }
            }
            None => {}
        }
    }
    closed.extend(
        open.into_iter()
            .map(|(start, leaf)| (start..usize::MAX, leaf)),
    );
    closed
}

fn opens_or_closes(directive: &Directive, traits: Traits) -> Option<(Leaf, bool)> {
    let bare = directive.argument.is_none()
        && directive.clauses.is_empty()
        && !traits.declares_in_procedures;
    match directive.name().as_str() {
        "begin declare target" => Some((Leaf::DeclareTarget, true)),
        "declare target" if bare => Some((Leaf::DeclareTarget, true)),
        "end declare target" => Some((Leaf::DeclareTarget, false)),
        "begin declare variant" => Some((Leaf::Variant, true)),
        "end declare variant" => Some((Leaf::Variant, false)),
        "begin metadirective" => Some((Leaf::Metadirective, true)),
        "end metadirective" => Some((Leaf::Metadirective, false)),
        _ if directive.has_leaf(Leaf::Noinstrument) => Some((Leaf::Noinstrument, true)),
        _ if directive.has_leaf(Leaf::Instrument) => Some((Leaf::Noinstrument, false)),
        _ => None,
    }
}

fn closed_reason(leaf: Leaf) -> &'static str {
    match leaf {
        Leaf::DeclareTarget => "it stands in device code",
        Leaf::Variant => "it stands in a variant, which may be device code",
        Leaf::Noinstrument => "instrumentation is switched off here",
        _ => "it stands in a metadirective, which the compiler resolves",
    }
}

/// `declare target(f, g)`, `declare target enter(f)`, `to(f)`, `link(f)`.
fn device_functions(found: &Found) -> Vec<String> {
    let declared = found
        .directives
        .iter()
        .filter(|found| !found.is_dead())
        .filter_map(|found| found.directive.as_ref().ok())
        .filter(|directive| directive.has_leaf(Leaf::DeclareTarget));
    let mut names = Vec::new();
    for directive in declared {
        let clauses = directive
            .clauses
            .iter()
            .filter_map(|clause| clause.argument.as_ref());
        for argument in directive.argument.iter().chain(clauses) {
            names.extend(argument.words.iter().map(|word| word.text.clone()));
        }
    }
    names
}
