//! Chunks of loops: the places where a loop reports its iterations, where its body notices the
//! begin of a chunk, and where the last chunk ends.
//!
//! The test for a new chunk is at the top of the innermost body. It compares the loop variables
//! with their expected next values. The construct stays the same, so the compiler distributes
//! the iterations as before.

use trace::replay::MOST_LEVELS;
use trace::schedule::Kind;

use super::placement::{Layout, guarded_at};
use super::split::SplitResult;
use super::{Fragment, Guard, Insertion, Planner};
use crate::edit::Order;
use crate::find::{FoundDirective, LoopNest, LoopReader, Position};
use crate::nest::Construct;
use crate::openmp::parse::{Argument, DirectiveToken, joined};
use crate::openmp::{Directive, Leaf};

impl Planner<'_> {
    /// Makes the chunks of a loop traceable if that is wanted, or records why they can't be.
    pub(super) fn chunks(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
        regions: &[usize],
        split: &SplitResult,
        layout: &mut Layout,
    ) {
        let Some(loops) = self.loops else { return };
        if !directive.leaves().any(|leaf| leaf == Leaf::Loop) {
            return;
        }
        let region = region_of_loop(directive, regions, split);
        let room = match self.without_blocks && self.found.traits.has_no_locals {
            true => Err("the Fortran standard in force has no block construct".to_owned()),
            false => Ok(()),
        };
        let nest = room.and_then(|()| nest(loops, construct, directive, region.is_none()));
        match nest {
            Ok(nest) => {
                let block = construct.block.as_ref();
                let is_guarded = block.is_some_and(|block| guarded_at(found, block, nest.body));
                if is_guarded && nest.levels.iter().any(|level| level.range.is_some()) {
                    let reason = "its directive is in a conditional that the loop is not in";
                    let start = directive.range.start;
                    self.plan.unchunked.insert(start, reason.to_owned());
                    return;
                }
                let guard = is_guarded.then_some(Guard::Tests(regions[0]));
                let region = region.unwrap_or(regions[0]);
                self.insert_chunks(construct.depth, nest, region, guard, layout);
            }
            Err(reason) => {
                self.plan.unchunked.insert(directive.range.start, reason);
            }
        }
    }

    fn insert_chunks(
        &mut self,
        depth: usize,
        nest: LoopNest,
        region: usize,
        guard: Option<Guard>,
        layout: &mut Layout,
    ) {
        let number = self.plan.loops.len();
        // The body stays a block of its own, since it may begin with declarations.
        let close = match nest.body_end {
            Some(at) => {
                self.plan.insertions.push(Insertion {
                    at,
                    line_start: false,
                    order: Order::close(depth + 1),
                    guard,
                    items: vec![Fragment::Close],
                });
                None
            }
            None => Some(Fragment::Close),
        };
        let ends = close.into_iter().chain([Fragment::ChunksEnd(number)]);
        layout.surround_loop(Fragment::ChunksBegin(number, region), ends);
        let Position { at, line_start } = nest.body;
        self.plan.insertions.push(Insertion {
            at,
            line_start,
            order: Order::open(depth),
            guard,
            items: vec![Fragment::Open, Fragment::ChunkTest(number)],
        });
        self.plan.loops.push(nest);
    }
}

/// The region of the loop; none if the directive is not split.
fn region_of_loop(directive: &Directive, regions: &[usize], split: &SplitResult) -> Option<usize> {
    if directive.leaves().next() == Some(Leaf::Loop) {
        return regions.first().copied();
    }
    let split = split.as_ref().ok()?.as_ref()?;
    let unit = split.rest.iter().position(|unit| unit.leaf == Leaf::Loop)?;
    regions.get(unit + 1).copied()
}

fn nest(
    loops: &dyn LoopReader,
    construct: &Construct,
    directive: &Directive,
    is_whole: bool,
) -> Result<LoopNest, String> {
    if let Some(reason) = refusal(directive, is_whole) {
        return Err(reason.to_owned());
    }
    let block = construct.block.as_ref().ok_or("its loop is not found")?;
    let mut nest = loops.nest(block.range.start, levels(directive)?)?;
    let schedule = directive.clause("schedule");
    let argument = schedule.and_then(|clause| clause.argument.as_ref());
    let kind = Kind::of(argument.map(|argument| joined(&argument.words)).as_deref());
    // The chunk size follows the last comma outside parentheses.
    let mut depth = 0;
    let comma = argument.and_then(|argument| {
        argument.words.iter().rfind(|word| {
            match word.text.as_str() {
                ")" => depth += 1,
                "(" => depth -= 1,
                _ => {}
            }
            depth == 0 && word.text == ","
        })
    });
    let size = comma
        .zip(argument)
        .filter(|(comma, argument)| !behind_a_modifier(argument, comma.range.end))
        .map(|(comma, argument)| comma.range.end..argument.range.end);
    if let Some(size) = size {
        let size = loops.expression(size);
        nest.chunk = Some(size.ok_or("its chunk size may have side effects")?);
    }
    if schedule.is_some() && nest.levels.iter().any(|level| level.row.is_some()) {
        // OpenMP forbids it. Clang takes it, and counts iterations that no loop has.
        return Err("it has a schedule, and its loops are no rectangle".to_owned());
    }
    nest.is_sized = match kind {
        Kind::Dynamic | Kind::Runtime | Kind::Other => true,
        Kind::Static => nest.chunk.is_some(),
        Kind::Default | Kind::Guided | Kind::Auto => false,
    };
    nest.is_asked_for = match kind {
        Kind::Guided | Kind::Auto | Kind::Runtime | Kind::Other => true,
        Kind::Default | Kind::Static | Kind::Dynamic => false,
    };
    Ok(nest)
}

/// Whether a colon follows the comma; then the comma separates modifiers.
fn behind_a_modifier(argument: &Argument, comma: usize) -> bool {
    let mut behind = argument.words.iter();
    behind.any(|word| word.range.start >= comma && word.text == ":")
}

/// Returns why the chunks of a directive's loop can't be traced, if so.
fn refusal(directive: &Directive, is_whole: bool) -> Option<&'static str> {
    match () {
        () if is_whole => Some("the directive stays whole"),
        () if directive.leaves().any(|leaf| leaf == Leaf::Simd) => {
            Some("a call in its body would keep it from being vectorised")
        }
        () if directive.clause("order").is_some() => Some("no call may stand in its body"),
        () if directive
            .clause("ordered")
            .is_some_and(|c| c.argument.is_some()) =>
        {
            Some("it has ordered with a number")
        }
        () if directive.clause("tile").is_some() => Some("its loop is transformed"),
        // In Fortran the added variables are in a scoping unit, where a common block can't be
        // named.
        () if names_common_block(directive) => Some("a clause names a common block"),
        () => None,
    }
}

fn names_common_block(directive: &Directive) -> bool {
    let arguments = directive.clauses.iter().filter_map(|c| c.argument.as_ref());
    let mut words = arguments.flat_map(|argument| &argument.words);
    words.any(DirectiveToken::is_common_block)
}

/// The number of collapsed loops.
fn levels(directive: &Directive) -> Result<usize, String> {
    let Some(collapse) = directive.clause("collapse") else {
        return Ok(1);
    };
    let argument = collapse.argument.as_ref();
    let number = argument.and_then(|argument| match argument.words.as_slice() {
        [number] => number.text.parse::<usize>().ok(),
        _ => None,
    });
    number
        .filter(|number| (1..=MOST_LEVELS).contains(number))
        .ok_or_else(|| "the number of its collapsed loops cannot be told".to_owned())
}
