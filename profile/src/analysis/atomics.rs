//! Atomic updates of many variables, for which threads seldom wait.

use super::tree::{Tree, TreeNode};
use crate::model::{Estimate, Profile, Row, Span};
use crate::region_kind::RegionKind;

/// The time of an update of one of many variables, in nanoseconds, if no other thread needs the
/// variable: the update waits until its cache line comes from a slower cache. Without `atomic`,
/// the work between two updates goes on meanwhile.
const OF_MANY_NS: u64 = 40;

/// The work between two updates is known to this many nanoseconds. It may be longer than it seems, since
/// a processor does a part of it together with the probes.
const WORK_ERROR_NS: u64 = 10;

/// The error of the work matters if the work takes more than this many times as long as an update.
const LONG_WORK: u64 = 2;

/// An update that takes this many nanoseconds waits for other threads. One that no other thread is in the
/// way of takes less than half of that.
const CONTENDED_NS: u64 = 25;

/// Whether instances of a region may update different variables.
pub(super) fn has_many_variables(profile: &Profile, region: usize) -> bool {
    profile.regions[region].variable.is_none()
}

/// The time of an update of a region that is not lost, in nanoseconds. It is that of the work between
/// two updates, as far as that is known ([`WORK_ERROR_NS`]), and at most [`OF_MANY_NS`]. All time of
/// updates that often wait for another thread is lost.
pub(super) fn hidden_ns(profile: &Profile, tree: &Tree<'_>, region: usize) -> u64 {
    if !has_many_variables(profile, region) {
        return 0;
    }
    // Other updates in the block are no work between those of the region. If one of them waits for a cache
    // line, the next one may find its variable in it.
    let (mut own, mut of_block) = (Span::default(), Span::default());
    let mut around_ns = 0;
    let mut often_wait = false;
    for node in tree.nodes.iter().filter(|node| node.region == region) {
        let around = node.parent.map(|parent| &tree.nodes[parent]);
        let in_block = around.iter().flat_map(|around| &around.children);
        let updates: Vec<&TreeNode<'_>> = in_block
            .map(|&child| &tree.nodes[child])
            .filter(|other| other.kind == RegionKind::Atomic && other.within == node.within)
            .collect();
        often_wait |= updates.iter().any(|other| self::often_wait(other));
        for row in node.rows.iter().filter(|row| row.main.count > 0) {
            own += row.main;
            let others = updates.iter().filter_map(|other| other.row_of(row.thread));
            others.for_each(|row| of_block += row.main);
            let around = around.and_then(|around| around.row_of(row.thread));
            around_ns += around.map_or(0, |it| it.span(node.within).ns);
        }
    }
    // With more threads than processors, a thread waits for a processor for the rest of the time.
    let run = &profile.run;
    let threads = u64::from(run.max_threads);
    let around_ns = around_ns * run.at_once(threads) / threads.max(1);
    let each_ns = own.ns / own.count.max(1);
    let between_ns = around_ns.saturating_sub(of_block.ns) / of_block.count.max(1);
    match each_ns >= CONTENDED_NS {
        // Nothing hides a wait for another thread. But what work seems too short is in the update.
        _ if often_wait && between_ns > LONG_WORK * each_ns => WORK_ERROR_NS,
        _ if often_wait => 0,
        // Little work hides next to nothing of so long an update.
        true if between_ns <= WORK_ERROR_NS => 0,
        true => between_ns.min(OF_MANY_NS),
        false => (between_ns + WORK_ERROR_NS).min(OF_MANY_NS),
    }
}

/// Whether many of the updates that were timed waited for a cache line of another processor.
fn often_wait(updates: &TreeNode<'_>) -> bool {
    let mut all = Estimate::default();
    for estimate in updates.rows.iter().filter_map(Row::estimate) {
        all.timed += estimate.timed;
        all.waited += estimate.waited;
    }
    all.often_waited()
}
