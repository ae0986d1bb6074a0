//! Where the parts of a recipe go, composed from the leaf constructs.

use super::split::{Split, split};
use super::{AddedClause, DirectiveEdit, Guard, Insertion, Item, Planner};
use crate::edit::Order;
use crate::find::{FoundDirective, Placement, Position};
use crate::nest::{Block, Construct};
use crate::openmp::recipes::{self, ImplicitBarrier, Recipe};
use crate::openmp::{Directive, Event, Leaf};

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
        let region = self.region(construct, found, directive, unsplit);
        let split = (directive.rows.len() > 1)
            .then(|| split(directive).ok())
            .flatten();
        self.plan.regions[region].passes_team =
            !construct.implicit_section && opens_team(directive, split.as_ref());
        let layout = layout(
            construct,
            directive,
            region,
            unsplit.is_some(),
            split.as_ref(),
        );
        self.edit_directive(
            construct,
            directive,
            region,
            unsplit.is_some(),
            split.as_ref(),
        );
        self.insert(construct, found, region, layout);
    }

    fn edit_directive(
        &mut self,
        construct: &Construct,
        directive: &Directive,
        region: usize,
        unsplit: bool,
        split: Option<&Split>,
    ) {
        if construct.implicit_section {
            return;
        }
        let edits = &mut self.plan.directive_edits;
        let at = directive.range.end;
        let mut add = |clause| edits.push(DirectiveEdit::Add { at, clause });
        if let Some(shared) = split
            .map(|split| &split.shared)
            .filter(|shared| !shared.is_empty())
        {
            add(AddedClause::Shared(shared.clone()));
        }
        if opens_team(directive, split) {
            add(AddedClause::Team(region));
        }
        if split.is_none() && nowait_is_added(directive, unsplit) {
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
        let (before, behind) = sides(construct, found);
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

/// A parallel construct whose members have probes takes the team's handle in.
fn opens_team(directive: &Directive, split: Option<&Split>) -> bool {
    directive.leaves().next() == Some(Leaf::Parallel)
        && (directive.rows.len() == 1 || split.is_some())
}

fn nowait_is_added(directive: &Directive, unsplit: bool) -> bool {
    let outside = directive
        .leaves()
        .next()
        .and_then(recipes::find)
        .is_some_and(|recipe| recipe.barrier == ImplicitBarrier::Outside);
    outside && !unsplit && directive.clause("nowait").is_none()
}

/// Composes the recipes of a construct's leaves.
fn layout(
    construct: &Construct,
    directive: &Directive,
    region: usize,
    unsplit: bool,
    split: Option<&Split>,
) -> Layout {
    let leaves: Vec<Leaf> = match construct.implicit_section {
        true => vec![Leaf::Section],
        false => directive.leaves().collect(),
    };
    let mut recipes = leaves.iter().filter_map(|leaf| recipes::find(*leaf));
    let mut layout = Layout::default();
    let Some(outer) = recipes.next() else {
        return layout;
    };
    let separate_barrier = !unsplit && directive.clause("nowait").is_none();
    // A directive that stays whole has its team's threads behind it: nothing
    // of them can be seen.
    let whole = directive.rows.len() > 1 && split.is_none();
    surround(
        &mut layout,
        outer,
        region,
        !whole && construct.block.is_some(),
    );
    if let (Some(split), Some(inner)) = (split, recipes.next()) {
        second_directive(&mut layout, split, inner, region, separate_barrier);
    }
    let barrier = barrier_items(region);
    match outer.barrier {
        ImplicitBarrier::Inside if separate_barrier && !whole => layout.end_barrier(barrier),
        ImplicitBarrier::Outside if separate_barrier => {
            layout.after.splice(0..0, barrier);
        }
        _ => {}
    }
    layout
}

/// The events of one recipe, in blocks of their own.
fn surround(layout: &mut Layout, recipe: &Recipe, region: usize, inside: bool) {
    if let Some((before, after)) = recipe.outside {
        layout
            .before
            .extend([Item::Open, Item::Probe(before, region)]);
        layout
            .after
            .extend([Item::Probe(after, region), Item::Close]);
    }
    if let Some((begin, end)) = recipe.inside.filter(|_| inside) {
        layout
            .begin
            .extend([Item::Open, Item::Probe(begin, region)]);
        layout.end.extend([Item::Probe(end, region), Item::Close]);
    }
}

/// The second directive of a split one stands at the begin of the first's
/// block; its own barrier is the first's.
fn second_directive(
    layout: &mut Layout,
    split: &Split,
    inner: &Recipe,
    region: usize,
    separate_barrier: bool,
) {
    let mut clauses = split.clauses.clone();
    if separate_barrier {
        clauses.push("nowait".into());
    }
    if let Some((enter, exit)) = inner.outside {
        layout.begin.push(Item::Probe(enter, region));
        layout.end.insert(0, Item::Probe(exit, region));
    }
    layout.begin.push(Item::Directive {
        name: split.name.clone(),
        clauses,
    });
}

fn barrier_items(region: usize) -> [Item; 3] {
    [
        Item::Probe(Event::ImplicitBarrierEnter, region),
        Item::Barrier,
        Item::Probe(Event::ImplicitBarrierExit, region),
    ]
}

impl Layout {
    /// A barrier inside stands in front of the event that ends the block.
    fn end_barrier(&mut self, barrier: [Item; 3]) {
        let last_event = self.end.len().saturating_sub(2);
        self.end.splice(last_event..last_event, barrier);
    }
}
