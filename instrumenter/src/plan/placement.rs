//! Places the parts of a recipe, composed from the leaf constructs.

use std::ops::Range;

use super::decide::recipe_of;
use super::split::{Split, SplitResult, Unit};
use super::{AddedClause, DirectiveEdit, EditedDirective, Fragment, Guard, Insertion, Planner};
use crate::api::Api;
use crate::edit::Order;
use crate::find::{Closing, EndDirective, FoundDirective, Placement, Position};
use crate::nest::{Block, Construct};
use crate::openmp::events::{IMPLICIT_BARRIER, MEMBER};
use crate::openmp::parse::DirectiveToken;
use crate::openmp::recipes::{self, ImplicitBarrier, Recipe};
use crate::openmp::{Directive, Leaf};

/// The fragments around and in one construct, outermost first.
#[derive(Default)]
pub(super) struct Layout {
    before: Vec<Fragment>,
    begin: Vec<Fragment>,
    end: Vec<Fragment>,
    after: Vec<Fragment>,
}

impl Planner<'_> {
    /// Places the probes of a construct.
    pub(super) fn place(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
        split: SplitResult,
        unsplit: Option<&str>,
    ) {
        let whole = split.is_err();
        let how = split;
        let split = how.as_ref().ok().and_then(Option::as_ref);
        let Some(recipe) = recipe_of(construct, directive, whole) else {
            return;
        };
        let leaf = recipe.leaf;
        let regions = self.regions(construct, found, directive, leaf, split, unsplit);
        let opens_team = recipe.leaf == Leaf::Parallel && !whole && self.passes_handles;
        self.plan.regions[regions[0]].passes_team = opens_team;
        let is_split_off = unsplit.is_none() && directive.clause("nowait").is_none();
        let nowait = recipe.barrier == ImplicitBarrier::Outside && is_split_off;
        let separate_barrier = is_split_off && !self.ends_with_its_team(construct, leaf);
        let closing = construct
            .block
            .as_ref()
            .map_or(&Closing::Block, |b| &b.closing);
        let ends_marked = *closing != Closing::Block;
        let mut layout = Composer {
            regions: &regions,
            separate_barrier,
            ends_marked,
            tells_all: self.api == Api::Pomp2,
        }
        .compose(recipe, !whole && construct.block.is_some(), split);
        self.chunks(construct, found, directive, &regions, &how, &mut layout);
        if !construct.implicit_section {
            let mut edits = added_clauses(split, opens_team.then_some(regions[0]));
            if recipe.leaf == Leaf::Task && !whole && self.passes_task(construct, found) {
                self.plan.regions[regions[0]].passes_task = true;
                edits.push(AddedClause::Task(regions[0]));
            }
            if nowait && !ends_marked {
                edits.push(AddedClause::Nowait);
            }
            self.edit_directive(found, directive, split, edits);
        }
        match closing {
            Closing::Block => {}
            Closing::Directive(end) => self.edit_end(directive, end, split, nowait, regions[0]),
            Closing::Omitted => layout.mark_end(directive, split, nowait),
        }
        self.insert(construct, found, regions[0], layout);
    }

    /// Whether a directive is a `parallel` alone, and the barrier at its end is derived from the ends
    /// of its members.
    pub(super) fn is_plain_team(&self, directive: &Directive) -> bool {
        let is_parallel = matches!(&*directive.rows, [row] if row.leaf == Leaf::Parallel);
        is_parallel && self.api != Api::Pomp2
    }

    /// Whether a construct is all that its team executes, so that its barrier is right in front of
    /// the team's. Then it needs none: `parallel` and `for` are measured as `parallel for` is. Some
    /// compilers leave it out.
    fn ends_with_its_team(&self, construct: &Construct, leaf: Leaf) -> bool {
        let parent = construct
            .parent
            .filter(|parent| self.plain_teams.contains(parent));
        let block = parent.and_then(|parent| self.nesting.constructs[parent].block.as_ref());
        block.is_some_and(|block| block.is_one_construct)
            && recipes::SHARE_WITH_PARALLEL.contains(&leaf)
    }

    fn edit_directive(
        &mut self,
        found: &FoundDirective,
        directive: &Directive,
        split: Option<&Split>,
        added: Vec<AddedClause>,
    ) {
        let at = directive.range.end;
        let add = |clause| DirectiveEdit::Add { at, clause };
        let removed = split.iter().flat_map(|split| &split.removed);
        let own = removed.filter(|range| range.start < at);
        let edits: Vec<_> = added
            .into_iter()
            .map(add)
            .chain(own.cloned().map(DirectiveEdit::Remove))
            .collect();
        self.edited(&found.range, &found.words, edits, None);
    }

    /// Changes the end directive of a construct: it ends only the part of a split directive
    /// that stays in place.
    fn edit_end(
        &mut self,
        directive: &Directive,
        end: &EndDirective,
        split: Option<&Split>,
        nowait: bool,
        region: usize,
    ) {
        let Some(at) = end.words.last().map(|word| word.range.end) else {
            return;
        };
        let rest = split.map(|split| first_names(directive, split));
        let names = rest.and_then(|first| end.name_ranges.get(first..));
        let clauses = split.iter().flat_map(|split| &split.removed);
        let own = clauses.filter(|range| end.range.contains(&range.start));
        let mut edits: Vec<_> = names
            .into_iter()
            .flatten()
            .chain(own)
            .cloned()
            .map(DirectiveEdit::Remove)
            .collect();
        if nowait {
            let clause = AddedClause::Nowait;
            edits.push(DirectiveEdit::Add { at, clause });
        }
        self.edited(&end.range, &end.words, edits, Some(region));
    }

    fn edited(
        &mut self,
        range: &Range<usize>,
        words: &[DirectiveToken],
        edits: Vec<DirectiveEdit>,
        only_if: Option<usize>,
    ) {
        if !edits.is_empty() {
            self.plan.edited.push(EditedDirective {
                range: range.clone(),
                words: words.to_vec(),
                edits,
                only_if,
            });
        }
    }

    fn insert(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        region: usize,
        mut layout: Layout,
    ) {
        let depth = construct.depth;
        let guarded = construct.block.as_ref().is_some_and(|block| block.guarded);
        let (before, behind) = match self.target_around(construct) {
            Some(target) => sides(target, &self.found.directives[target.directive]),
            None => sides(construct, found),
        };
        let mut put = |position: Position, order, guard, items: Vec<Fragment>| {
            // A guard that records the directive is needed even without other fragments.
            let tells = matches!(guard, Some(Guard::Sets(_)));
            if !items.is_empty() || tells {
                let Position { at, line_start } = position;
                self.plan.insertions.push(Insertion {
                    at,
                    line_start,
                    order,
                    guard,
                    items,
                });
            }
        };
        put(
            before,
            Order::open(depth),
            guarded.then_some(Guard::Sets(region)),
            layout.before,
        );
        let empty = construct
            .block
            .as_ref()
            .is_some_and(|block| block.begin == block.end);
        if empty {
            // Fragments at the begin of an empty block come before those at its end.
            layout.begin.append(&mut layout.end);
        }
        if let Some(block) = &construct.block {
            // The begin may still be in the directive's branch.
            let guard = guarded_at(found, block, block.begin).then_some(Guard::Tests(region));
            // Fragments of constructs around an empty block may be inserted at the same offset.
            let order = match empty {
                true => Order::close(depth),
                false => Order::open(depth),
            };
            put(block.begin, order, guard, layout.begin);
        }
        let clears = guarded.then_some(Guard::Clears(region));
        match construct.block.as_ref().filter(|block| block.end != behind) {
            None => {
                let ends = [layout.end, layout.after].concat();
                put(behind, Order::close(depth), clears, ends);
            }
            Some(block) => {
                let tests = guarded_at(found, block, block.end).then_some(Guard::Tests(region));
                put(block.end, Order::close(depth), tests, layout.end);
                put(behind, Order::close(depth), clears, layout.after);
            }
        }
    }
}

/// The positions for text in front of a construct and behind it.
fn sides(construct: &Construct, found: &FoundDirective) -> (Position, Position) {
    let inline = |at: usize| Position {
        at,
        line_start: false,
    };
    let (before, after) = match found.placement {
        Placement::Lines { before, after } => (
            Position {
                at: before,
                line_start: true,
            },
            Position {
                at: after,
                line_start: true,
            },
        ),
        Placement::Inline => (inline(found.range.start), inline(found.range.end)),
    };
    (
        before,
        construct
            .block
            .as_ref()
            .map_or(after, |block| block.outside),
    )
}

pub(super) fn guarded_at(found: &FoundDirective, block: &Block, position: Position) -> bool {
    block.guarded && found.branches.iter().any(|branch| branch.end < position.at)
}

/// Composes the recipes of the directives that a construct is split into.
struct Composer<'a> {
    /// The region of each part.
    regions: &'a [usize],
    /// Whether an explicit barrier replaces the implicit one.
    separate_barrier: bool,
    /// Whether an end directive marks the end of the construct.
    ends_marked: bool,
    /// Whether the barrier at the end of a team must be reported. For libpomp it need not be:
    /// the library derives it from the ends of the members.
    tells_all: bool,
}

impl Composer<'_> {
    /// `members`: whether anything may be placed in the construct's block.
    fn compose(&self, recipe: &Recipe, members: bool, split: Option<&Split>) -> Layout {
        let mut layout = Layout::default();
        let region = self.regions[0];
        if let Some(events) = recipe.outside {
            layout
                .before
                .extend([Fragment::Open, Fragment::Probe(events.opening(), region)]);
            let end = match recipe.may_leave {
                true => &mut layout.before,
                false => &mut layout.after,
            };
            end.push(Fragment::Probe(events.closing(), region));
            layout.after.push(Fragment::Close);
        }
        if members {
            layout.enter_block(recipe, region);
            for (number, unit) in split.iter().flat_map(|split| &split.rest).enumerate() {
                self.inner_directive(&mut layout, unit, number + 1);
            }
        }
        match recipe.barrier {
            ImplicitBarrier::Inside if self.separate_barrier && self.tells_all && members => {
                layout.end_barrier(region);
            }
            ImplicitBarrier::Outside if self.separate_barrier => {
                layout.after.splice(0..0, barrier_items(region));
            }
            _ => {}
        }
        layout
    }

    /// Places a part behind the first: it begins the first part's block.
    fn inner_directive(&self, layout: &mut Layout, unit: &Unit, number: usize) {
        let region = self.regions[number];
        let recipe = recipes::find(unit.leaf);
        let mut clauses = unit.clauses.clone();
        // Its own barrier would be right in front of the first part's.
        let nowait =
            self.separate_barrier && recipe.is_some_and(|r| r.barrier == ImplicitBarrier::Outside);
        if nowait && !self.ends_marked {
            clauses.push(NOWAIT.into());
        }
        if let Some(events) = recipe.and_then(|recipe| recipe.outside) {
            layout
                .begin
                .extend([Fragment::Open, Fragment::Probe(events.opening(), region)]);
            layout.end.splice(
                0..0,
                [Fragment::Probe(events.closing(), region), Fragment::Close],
            );
        }
        layout.begin.push(Fragment::Directive {
            ends: false,
            name: unit.name.clone(),
            clauses,
        });
        if self.ends_marked {
            layout.end.insert(0, end_item(unit.name.clone(), nowait));
        }
        if let Some(recipe) = recipe {
            layout.enter_block(recipe, region);
        }
    }
}

/// The clause that removes a construct's implicit barrier.
const NOWAIT: &str = "nowait";

/// The end directive of a construct.
fn end_item(name: String, nowait: bool) -> Fragment {
    Fragment::Directive {
        ends: true,
        name,
        clauses: nowait.then(|| NOWAIT.to_owned()).into_iter().collect(),
    }
}

/// The number of rows that stay in the first part of a split directive.
fn first_names(directive: &Directive, split: &Split) -> usize {
    let rest: usize = split.rest.iter().map(|unit| unit.rows).sum();
    directive.rows.len() - rest
}

fn added_clauses(split: Option<&Split>, team: Option<usize>) -> Vec<AddedClause> {
    let shared = split.map(|split| split.shared.clone());
    let shared = shared.filter(|shared| !shared.is_empty());
    let team = team.map(AddedClause::Team);
    shared
        .map(AddedClause::Shared)
        .into_iter()
        .chain(team)
        .collect()
}

fn barrier_items(region: usize) -> [Fragment; 3] {
    [
        Fragment::Probe(IMPLICIT_BARRIER.opening(), region),
        Fragment::Barrier,
        Fragment::Probe(IMPLICIT_BARRIER.closing(), region),
    ]
}

impl Layout {
    /// Adds the end directive that the user left out, if the placed fragments need one: for a
    /// `nowait`, or to mark the end of the block.
    fn mark_end(&mut self, directive: &Directive, split: Option<&Split>, nowait: bool) {
        if !nowait && self.begin.is_empty() && self.end.is_empty() {
            return;
        }
        let first = split.map_or(directive.rows.len(), |split| first_names(directive, split));
        let rows = directive.rows[..first].iter();
        let names: Vec<&str> = rows.map(|row| row.name).collect();
        self.after.insert(0, end_item(names.join(" "), nowait));
    }

    /// Places the events of a block, with a block of their own around them.
    fn enter_block(&mut self, recipe: &Recipe, region: usize) {
        if let Some(events) = recipe.inside {
            self.begin
                .extend([Fragment::Open, Fragment::Probe(events.opening(), region)]);
            self.end.splice(
                0..0,
                [Fragment::Probe(events.closing(), region), Fragment::Close],
            );
        }
    }

    /// Places fragments in front of the loop and behind it.
    pub(super) fn surround_loop(
        &mut self,
        begin: Fragment,
        end: impl IntoIterator<Item = Fragment>,
    ) {
        let end = end.into_iter().chain([Fragment::Close]);
        let inner = self
            .begin
            .iter()
            .rposition(|item| matches!(item, Fragment::Directive { ends: false, .. }));
        match inner {
            Some(directive) => {
                self.begin
                    .splice(directive..directive, [Fragment::Open, begin]);
                let ended = matches!(
                    self.end.first(),
                    Some(Fragment::Directive { ends: true, .. })
                );
                let behind = usize::from(ended);
                self.end.splice(behind..behind, end);
            }
            None => {
                self.before.extend([Fragment::Open, begin]);
                self.after.splice(0..0, end);
            }
        }
    }

    /// Places an explicit barrier inside the block, in front of the event for the end of the
    /// member.
    fn end_barrier(&mut self, region: usize) {
        let end = Fragment::Probe(MEMBER.closing(), region);
        if let Some(at) = self.end.iter().position(|item| *item == end) {
            self.end.splice(at..at, barrier_items(region));
        }
    }
}
