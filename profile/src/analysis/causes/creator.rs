//! A thread in a `single` or `master` that works itself while it creates tasks for the others.

use std::cmp::Reverse;

use super::Facts;
use super::before::{beside, by_thread, waits_elsewhere};
use super::ledger::Entry;
use crate::analysis::grain::work_of_one;
use crate::columns::Quantity;

/// The work of the thread in such a construct explains the wait of the others if it accounts for at least this
/// part of it.
const CREATOR_EXPLAINS: f64 = 0.8;

/// A thread that creates tasks.
pub(super) struct Creator {
    /// The construct in which it does so.
    pub(super) region: usize,
    /// How long it worked there itself, in nanoseconds.
    pub(super) work_ns: u64,
}

/// The thread that creates tasks, if the others waited for what it worked itself: in the construct at whose end
/// they wait, or in front of the wait.
pub(super) fn creator(facts: &Facts<'_, '_>, wait: &Entry) -> Option<Creator> {
    if !wait.is_wait() {
        return None;
    }
    let creator = of_construct(facts, wait.region)
        .or_else(|| of_earlier_construct(facts, wait).filter(|_| !waits_elsewhere(facts, wait)))?;
    let others = facts.table(wait.region)?.threads.len().saturating_sub(1);
    let explained = creator.work_ns as f64 * others as f64;
    (explained >= CREATOR_EXPLAINS * wait.amount.lost as f64).then_some(creator)
}

/// The thread that executes a `single` or `master`.
fn of_construct(facts: &Facts<'_, '_>, region: usize) -> Option<Creator> {
    let nodes = facts.tree.nodes.iter();
    let its = nodes.filter(|node| node.region == region);
    let work_ns = its.map(work_of_one).sum();
    (work_ns > 0).then_some(Creator { region, work_ns })
}

/// The thread that was in a construct without a barrier of its own in front of the wait. Without rebuilding, no
/// `master` is seen: then it is the thread that alone created tasks in the region.
fn of_earlier_construct(facts: &Facts<'_, '_>, wait: &Entry) -> Option<Creator> {
    let constructs = beside(facts, wait).into_iter();
    let creators = constructs.filter_map(|region| of_construct(facts, region));
    let seen = creators.max_by_key(|creator| creator.work_ns);
    seen.or_else(|| only_creator(facts, facts.binding_regions()[wait.region]?))
}

/// The thread of a parallel region that alone creates tasks there outside of other constructs. It works there for
/// as much longer as any other thread.
fn only_creator(facts: &Facts<'_, '_>, region: usize) -> Option<Creator> {
    let nodes = &facts.tree.nodes;
    let own = || nodes.iter().filter(|node| node.region == region);
    let created = own().flat_map(|node| &node.children);
    let created = created
        .map(|&child| &nodes[child])
        .filter(|it| it.kind.is_task_creation());
    let mut threads = created.flat_map(|node| node.executors().map(|it| it.row.thread));
    let creator = threads.next()?;
    if threads.any(|thread| thread != creator) {
        return None;
    }
    let mut works = by_thread(facts, &[region], |_, it| Quantity::BodyTime.exclusive(it));
    crate::order::sort_by_key(&mut works, |(_, ns)| Reverse(*ns));
    let most = works.first().filter(|(thread, _)| *thread == creator)?.1;
    let next = works.get(1).map_or(0, |(_, ns)| *ns);
    Some(Creator {
        region,
        work_ns: most - next,
    })
}
