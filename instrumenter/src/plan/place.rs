//! Where the parts of a recipe go, composed from the leaf constructs.

use super::split::{Split, Unit, split};
use super::{AddedClause, DirectiveEdit, Guard, Insertion, Item, Planner};
use crate::edit::Order;
use crate::find::{FoundDirective, Placement, Position};
use crate::nest::{Block, Construct};
use crate::openmp::events::{IMPLICIT_BARRIER, MEMBER};
use crate::openmp::recipes::{self, ImplicitBarrier, Recipe};
use crate::openmp::{Directive, Leaf};

/// What is placed around and in one construct, outermost first.
#[derive(Default)]
struct Layout {
    before: Vec<Item>,
    begin: Vec<Item>,
    end: Vec<Item>,
    after: Vec<Item>,
}

impl Planner<'_> {
    /// Places the probes of a construct.
    pub(super) fn place(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        directive: &Directive,
        unsplit: Option<&str>,
    ) {
        // A section without a directive is no part of its construct's.
        let split = match construct.implicit_section {
            true => Ok(None),
            false => split(directive),
        };
        let whole = split.is_err();
        let split = split.ok().flatten();
        let regions = self.regions(construct, found, directive, split.as_ref(), unsplit);
        let recipe = match construct.implicit_section {
            true => recipes::find(Leaf::Section),
            false => directive.leaves().next().and_then(recipes::find),
        };
        let Some(recipe) = recipe else { return };
        let opens_team = recipe.leaf == Leaf::Parallel && !whole;
        self.plan.regions[regions[0]].passes_team = opens_team;
        let separate_barrier = unsplit.is_none() && directive.clause("nowait").is_none();
        let layout = Composer {
            regions: &regions,
            separate_barrier,
        }
        .compose(recipe, !whole && construct.block.is_some(), split.as_ref());
        if !construct.implicit_section {
            let nowait = recipe.barrier == ImplicitBarrier::Outside && separate_barrier;
            let team = opens_team.then_some(regions[0]);
            self.edit_directive(directive, split.as_ref(), team, nowait);
        }
        self.insert(construct, found, regions[0], layout);
    }

    fn edit_directive(
        &mut self,
        directive: &Directive,
        split: Option<&Split>,
        team: Option<usize>,
        nowait: bool,
    ) {
        let edits = &mut self.plan.directive_edits;
        let at = directive.range.end;
        let mut add = |clause| edits.push(DirectiveEdit::Add { at, clause });
        if let Some(split) = split.filter(|split| !split.shared.is_empty()) {
            add(AddedClause::Shared(split.shared.clone()));
        }
        if let Some(region) = team {
            add(AddedClause::Team(region));
        }
        if nowait {
            add(AddedClause::Nowait);
        }
        let removed = split
            .into_iter()
            .flat_map(|split| split.removed.iter().cloned());
        edits.extend(removed.map(DirectiveEdit::Remove));
    }

    fn insert(
        &mut self,
        construct: &Construct,
        found: &FoundDirective,
        region: usize,
        layout: Layout,
    ) {
        let depth = construct.depth;
        let guarded = construct.block.as_ref().is_some_and(|block| block.guarded);
        let (before, behind) = match self.target_around(construct) {
            Some(target) => sides(target, &self.found.directives[target.directive]),
            None => sides(construct, found),
        };
        let mut put = |position: Position, order, guard, items: Vec<Item>| {
            if !items.is_empty() {
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
        if let Some(block) = &construct.block {
            // The begin may still stand in the branch of the directive.
            let guard = guarded_at(found, block, block.begin).then_some(Guard::Tests(region));
            put(block.begin, Order::open(depth), guard, layout.begin);
        }
        let ends = [layout.end, layout.after].concat();
        put(
            behind,
            Order::close(depth),
            guarded.then_some(Guard::Clears(region)),
            ends,
        );
    }
}

/// Where text in front of a construct and behind it goes.
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
        construct.block.as_ref().map_or(after, |block| block.end),
    )
}

fn guarded_at(found: &FoundDirective, block: &Block, position: Position) -> bool {
    block.guarded
        && found
            .branches
            .iter()
            .any(|branch| branch.end <= position.at)
}

/// Composes the recipes of the directives that a construct is split into.
struct Composer<'a> {
    /// The region of each of them.
    regions: &'a [usize],
    /// Whether a barrier of ours stands in for the implicit one.
    separate_barrier: bool,
}

impl Composer<'_> {
    /// `members`: whether anything may be placed in the construct's block.
    fn compose(&self, recipe: &Recipe, members: bool, split: Option<&Split>) -> Layout {
        let mut layout = Layout::default();
        let region = self.regions[0];
        if let Some(events) = recipe.outside {
            layout
                .before
                .extend([Item::Open, Item::Probe(events.opening(), region)]);
            let end = match recipe.may_leave {
                true => &mut layout.before,
                false => &mut layout.after,
            };
            end.push(Item::Probe(events.closing(), region));
            layout.after.push(Item::Close);
        }
        if members {
            layout.enter_block(recipe, region);
            for (number, unit) in split.iter().flat_map(|split| &split.rest).enumerate() {
                self.inner_directive(&mut layout, unit, number + 1);
            }
        }
        match recipe.barrier {
            ImplicitBarrier::Inside if self.separate_barrier && members => {
                layout.end_barrier(region);
            }
            ImplicitBarrier::Outside if self.separate_barrier => {
                layout.after.splice(0..0, barrier_items(region));
            }
            _ => {}
        }
        layout
    }

    /// A directive behind the first stands at the begin of the first's block.
    fn inner_directive(&self, layout: &mut Layout, unit: &Unit, number: usize) {
        let region = self.regions[number];
        let recipe = recipes::find(unit.leaf);
        let mut clauses = unit.clauses.clone();
        // Its own barrier would stand right in front of that of the first.
        if self.separate_barrier && recipe.is_some_and(|r| r.barrier == ImplicitBarrier::Outside) {
            clauses.push("nowait".into());
        }
        if let Some(events) = recipe.and_then(|recipe| recipe.outside) {
            layout
                .begin
                .extend([Item::Open, Item::Probe(events.opening(), region)]);
            layout
                .end
                .splice(0..0, [Item::Probe(events.closing(), region), Item::Close]);
        }
        layout.begin.push(Item::Directive {
            name: unit.name.clone(),
            clauses,
        });
        if let Some(recipe) = recipe {
            layout.enter_block(recipe, region);
        }
    }
}

fn barrier_items(region: usize) -> [Item; 3] {
    [
        Item::Probe(IMPLICIT_BARRIER.opening(), region),
        Item::Barrier,
        Item::Probe(IMPLICIT_BARRIER.closing(), region),
    ]
}

impl Layout {
    /// The events in a block, with a block of their own around it.
    fn enter_block(&mut self, recipe: &Recipe, region: usize) {
        if let Some(events) = recipe.inside {
            self.begin
                .extend([Item::Open, Item::Probe(events.opening(), region)]);
            self.end
                .splice(0..0, [Item::Probe(events.closing(), region), Item::Close]);
        }
    }

    /// A barrier inside stands in front of the event that ends the member.
    fn end_barrier(&mut self, region: usize) {
        let end = Item::Probe(MEMBER.closing(), region);
        if let Some(at) = self.end.iter().position(|item| *item == end) {
            self.end.splice(at..at, barrier_items(region));
        }
    }
}
