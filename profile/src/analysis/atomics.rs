//! Atomic updates of many variables, for which threads seldom wait.

use super::tree::Tree;
use crate::model::Profile;

/// The time of an update of one of many variables, in nanoseconds, if no other thread needs the
/// variable: the update waits until its cache line comes from a slower cache. Without `atomic`,
/// the work between two updates goes on meanwhile.
const OF_MANY_NS: u64 = 40;

/// The work between two updates is known to this many nanoseconds. Work that seems to take no longer may
/// be none, so it hides nothing.
const WORK_ERROR_NS: u64 = 6;

/// Whether instances of a region may update different variables.
pub(super) fn has_many_variables(profile: &Profile, region: usize) -> bool {
    profile.regions[region].variable.is_none()
}

/// The time of an update of a region that is not lost, in nanoseconds. It is that of the work between
/// two updates, and at most [`OF_MANY_NS`].
pub(super) fn hidden_ns(profile: &Profile, tree: &Tree<'_>, region: usize) -> u64 {
    if !has_many_variables(profile, region) {
        return 0;
    }
    let (mut updates, mut time_ns, mut around_ns) = (0, 0, 0);
    for node in tree.nodes.iter().filter(|node| node.region == region) {
        let around = node.parent.map(|parent| &tree.nodes[parent]);
        for row in node.rows.iter().filter(|row| row.main.count > 0) {
            updates += row.main.count;
            time_ns += row.main.ns;
            let mut around = around.iter().flat_map(|around| around.rows.iter());
            let same_thread = around.find(|it| it.thread == row.thread);
            around_ns += same_thread.map_or(0, |it| it.span(node.within).ns);
        }
    }
    // With more threads than processors, a thread waits for a processor for the rest of the time.
    let run = &profile.run;
    let (processors, threads) = match run.processors {
        0 => (1, 1),
        some => (u64::from(some.min(run.max_threads)), run.max_threads.into()),
    };
    let between_ns = around_ns.saturating_sub(time_ns) / updates.max(1);
    let between_ns = between_ns * processors / threads.max(1);
    match between_ns <= WORK_ERROR_NS {
        true => 0,
        false => between_ns.min(OF_MANY_NS),
    }
}
