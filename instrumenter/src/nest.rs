//! Builds the tree of constructs from the flat list of directives. Independent of the language.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::find::{
    Body, Branch, Closing, Extent, Found, FoundDirective, Placement, Position, SectionBlock, Traits,
};
use crate::openmp::{Directive, Leaf};

/// A construct: a directive that was understood, with the code that it governs. The first
/// section of a `sections` construct is a construct, too, even without a directive.
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
    /// Its begin: the following constructs in the list begin there or later.
    start: usize,
}

/// The block of a construct.
#[derive(Clone, Debug)]
pub struct Block {
    /// From its first to its last byte.
    pub range: Range<usize>,
    /// The place for text at its begin.
    pub begin: Position,
    /// The place for text at its end.
    pub end: Position,
    /// The place for text behind the construct.
    pub outside: Position,
    /// How the end of the construct is marked.
    pub closing: Closing,
    /// See [`Body::guarded`].
    pub guarded: bool,
    /// See [`Body::is_one_construct`].
    pub is_one_construct: bool,
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
            is_one_construct: body.is_one_construct,
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
            is_one_construct: false,
        }
    }
}

/// All constructs in source order; an outer construct comes before those in it.
#[derive(Debug)]
pub struct Nesting {
    /// The constructs.
    pub constructs: Vec<Construct>,
    /// The parts where nothing may be inserted.
    pub closed: Reasons,
    /// The parts that may be compiled for a device, if there is one.
    pub device: Reasons,
    /// The parts where a procedure must be declared before it is called.
    pub declaring: Reasons,
    /// Functions that are named in a `declare target`.
    pub device_functions: HashSet<String>,
}

/// Parts of the text, each with a reason for its treatment.
#[derive(Debug, Default)]
pub struct Reasons {
    /// For each offset where the reason changes, the reason from there on. In order.
    from: Vec<(usize, Option<&'static str>)>,
}

impl Reasons {
    /// If parts overlap, the first one in the list counts.
    #[must_use]
    pub fn new(parts: &[(Range<usize>, &'static str)]) -> Self {
        let bounds = parts.iter().enumerate().flat_map(|(number, (range, _))| {
            [(range.start, number, true), (range.end, number, false)]
        });
        let mut bounds: Vec<(usize, usize, bool)> = bounds.collect();
        bounds.sort_unstable();
        let mut around = BTreeSet::new();
        let mut from = Vec::new();
        for same in bounds.chunk_by(|a, b| a.0 == b.0) {
            for (_, number, _) in same.iter().filter(|(.., begins)| *begins) {
                around.insert(*number);
            }
            for (_, number, _) in same.iter().filter(|(.., begins)| !begins) {
                around.remove(number);
            }
            from.push((same[0].0, around.first().map(|number| parts[*number].1)));
        }
        Self { from }
    }

    /// The reason at an offset, if there is one.
    #[must_use]
    pub fn at(&self, offset: usize) -> Option<&'static str> {
        let behind = self.from.partition_point(|(from, _)| *from <= offset);
        self.from[behind.checked_sub(1)?].1
    }
}

impl Nesting {
    /// The innermost construct around an offset.
    #[must_use]
    pub fn around(&self, offset: usize) -> Option<usize> {
        let begun = self
            .constructs
            .partition_point(|construct| construct.start <= offset);
        let parent = |index: &usize| self.constructs[*index].parent;
        let contains = |index: &usize| {
            let block = self.constructs[*index].block.as_ref();
            block.is_some_and(|block| block.range.contains(&offset))
        };
        std::iter::successors(begun.checked_sub(1), parent).find(contains)
    }
}

/// The largest nesting depth of constructs. Deeper ones are left alone: code that examines all
/// constructs around each one would take too long, and no compiler accepts so many.
const DEEPEST: usize = 256;

/// Leaves alone the constructs that are nested too deeply.
pub fn bound_depth(found: &mut Found) {
    let mut ends: Vec<usize> = Vec::new();
    for directive in &mut found.directives {
        let start = start_of(directive);
        while ends.last().is_some_and(|end| *end <= start) {
            ends.pop();
        }
        if let Extent::Body(body) = &directive.extent {
            match ends.len() < DEEPEST {
                true => ends.push(body.range.end),
                false => {
                    let reason = "more than 256 constructs are around it";
                    directive.extent = Extent::Unclear(reason.into());
                }
            }
        }
    }
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
            start: 0,
        });
        constructs.extend(implicit_section(index, directive));
    }
    link(found, &mut constructs);
    let (device, closed): (Vec<_>, Vec<_>) = delimited(found)
        .into_iter()
        .partition(|(_, leaf)| matches!(leaf, Leaf::DeclareTarget | Leaf::Variant));
    let reasoned = |(range, leaf)| (range, closed_reason(leaf));
    let closed = closed.into_iter().map(reasoned);
    let closed: Vec<_> = found.closed.iter().cloned().chain(closed).collect();
    let of_found = found.device.iter().cloned();
    let of_found = of_found.map(|range| (range, Leaf::DeclareTarget));
    let device: Vec<_> = of_found.chain(device).map(reasoned).collect();
    let declaring = found.declaring.iter().cloned();
    let declaring: Vec<_> = declaring.map(|part| (part, MUST_DECLARE)).collect();
    Nesting {
        constructs,
        closed: Reasons::new(&closed),
        device: Reasons::new(&device),
        declaring: Reasons::new(&declaring),
        device_functions: device_functions(found),
    }
}

const MUST_DECLARE: &str = "a subroutine in its place would have to be declared";

fn own_block(directive: &FoundDirective) -> Option<Block> {
    match &directive.extent {
        Extent::Body(body) => Some(body.into()),
        _ => None,
    }
}

/// The blocks of `section` directives. They are recorded in the `sections` directives.
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
        start: 0,
    })
}

/// Finds each construct's parent: the innermost construct whose block contains it. Alternatives
/// in branches of a conditional do not contain each other, and code that is never compiled
/// contains nothing.
fn link(found: &Found, constructs: &mut [Construct]) {
    let mut around: Vec<usize> = Vec::new();
    for index in 0..constructs.len() {
        let at = first_byte(found, &constructs[index]);
        let own = &found.directives[constructs[index].directive];
        while around
            .last()
            .is_some_and(|outer| block_end(&constructs[*outer]) <= at)
        {
            around.pop();
        }
        let parent = around.iter().rev().find(|outer| {
            let outer = &constructs[**outer];
            let block = outer.block.as_ref();
            block.is_some_and(|block| block.range.contains(&at))
                && !are_alternatives(&found.directives[outer.directive], own)
                && !found.directives[outer.directive].is_dead()
        });
        constructs[index].parent = parent.copied();
        constructs[index].start = at.max(
            index
                .checked_sub(1)
                .map_or(0, |last| constructs[last].start),
        );
        constructs[index].depth = parent.map_or(0, |parent| constructs[*parent].depth + 1);
        if constructs[index].block.is_some() {
            around.push(index);
        }
    }
}

/// Whether two directives are in different branches of one conditional.
fn are_alternatives(one: &FoundDirective, other: &FoundDirective) -> bool {
    // The outermost differing branches decide; the branches outside them are the same.
    let mut pairs = one.branches.iter().zip(&other.branches);
    let differ = |(one, other): &(&Branch, &Branch)| one != other;
    let first = pairs.find(differ);
    first.is_some_and(|(one, other)| one.group == other.group && one.branch != other.branch)
}

fn first_byte(found: &Found, construct: &Construct) -> usize {
    match (&construct.block, construct.implicit_section) {
        (Some(block), true) => block.range.start,
        _ => start_of(&found.directives[construct.directive]),
    }
}

/// The position for text in front of a directive. With it, a nested directive at the begin of a
/// block counts as inside the block.
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
    let mut open: HashMap<Leaf, Vec<usize>> = HashMap::new();
    for found_directive in found.directives.iter().filter(|found| !found.is_dead()) {
        let Ok(directive) = &found_directive.directive else {
            continue;
        };
        match opens_or_closes(directive, found.traits) {
            Some((leaf, true)) => {
                let begins = open.entry(leaf).or_default();
                begins.push(found_directive.range.start);
            }
            Some((leaf, false)) => {
                let start = open.get_mut(&leaf).and_then(Vec::pop);
                let range = start.map(|start| start..found_directive.range.end);
                closed.extend(range.map(|range| (range, leaf)));
            }
            None => {}
        }
    }
    let mut rest: Vec<(usize, Leaf)> = Vec::new();
    for (leaf, begins) in open {
        rest.extend(begins.into_iter().map(|start| (start, leaf)));
    }
    rest.sort_unstable();
    closed.extend(
        rest.into_iter()
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
fn device_functions(found: &Found) -> HashSet<String> {
    let declared = found
        .directives
        .iter()
        .filter(|found| !found.is_dead())
        .filter_map(|found| found.directive.as_ref().ok())
        .filter(|directive| directive.has_leaf(Leaf::DeclareTarget));
    let mut names = HashSet::new();
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
