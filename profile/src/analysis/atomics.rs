//! Atomic updates of many variables, for which threads seldom wait.

use super::tree::Tree;
use crate::model::Profile;

/// The time of an update of one of many variables, in nanoseconds, if no other thread needs the
/// variable: the update waits until its cache line comes from a slower cache. Without `atomic`,
/// the work between two updates goes on meanwhile.
const OF_MANY_NS: u64 = 40;

/// The work between two updates is known to this many nanoseconds. It may be longer than it seems, since
/// a processor does a part of it together with the probes.
const WORK_ERROR_NS: u64 = 10;

/// An update that takes this many nanoseconds waits for other threads. One that no other thread is in the
/// way of takes less than half of that.
const CONTENDED_NS: u64 = 25;

/// Whether instances of a region may update different variables.
pub(super) fn has_many_variables(profile: &Profile, region: usize) -> bool {
    profile.regions[region].variable.is_none()
}

/// The time of an update of a region that is not lost, in nanoseconds. It is that of the work between
/// two updates, as far as that is known ([`WORK_ERROR_NS`]), and at most [`OF_MANY_NS`].
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
    let threads = u64::from(run.max_threads);
    let around_ns = around_ns * run.at_once(threads) / threads.max(1);
    let each_ns = time_ns / updates.max(1);
    let between_ns = around_ns.saturating_sub(time_ns) / updates.max(1);
    match each_ns >= CONTENDED_NS {
        // Little work hides next to nothing of so long an update.
        true if between_ns <= WORK_ERROR_NS => 0,
        true => between_ns.min(OF_MANY_NS),
        false => (between_ns + WORK_ERROR_NS).min(OF_MANY_NS),
    }
}
