//! A task that is much longer than the others, and for which all threads wait if it begins late.

use super::Facts;
use crate::analysis::remedy::EXPLAINED_WAIT_SHARE;
use crate::analysis::words::time;
use crate::region_kind::RegionKind;

/// An execution of a task is much longer than the others if it takes this many times the mean.
const MUCH_LONGER: u64 = 4;

/// Constructs in which a thread waits for tasks.
const WAITS: &[RegionKind] = &[
    RegionKind::Taskwait,
    RegionKind::Taskgroup,
    RegionKind::Taskloop,
];

/// An execution of a task that took much longer than most.
pub(super) struct Longest {
    /// Where it was created.
    region: usize,
    pub(super) ns: u64,
    mean_ns: u64,
}

impl Longest {
    pub(super) fn in_words(&self, facts: &Facts<'_, '_>) -> String {
        format!(
            "The longest execution of {} took {}, the mean is {}",
            facts.the(self.region),
            time(self.ns),
            time(self.mean_ns)
        )
    }
}

/// The longest execution of a task in the team of a region, if it is so much longer than the others that
/// it explains a wait there: all other threads wait for one task that began late.
pub(super) fn longest(facts: &Facts<'_, '_>, region: usize, waited: u64) -> Option<Longest> {
    let (regions, nodes) = (&facts.profile.regions, &facts.tree.nodes);
    let binding = facts.binding_regions();
    let others = facts.overheads.threads.saturating_sub(1);
    let mut is_alone = vec![true; regions.len()];
    for node in nodes {
        let mut inside = node.children.iter().map(|&child| nodes[child].kind);
        is_alone[node.region] &=
            !inside.any(|kind| kind.is_task_creation() || WAITS.contains(&kind));
    }
    // A task that creates others may wait for them. Then it is long for that reason.
    let is_its = |task: usize| {
        regions[task].kind.is_task_execution() && binding[task] == binding[region] && is_alone[task]
    };
    let its = facts
        .profile
        .distributions
        .iter()
        .filter(|of| is_its(of.region));
    let longest = its.max_by_key(|of| of.max_ns)?;
    let all = facts.sums(|row| row.main)[longest.region];
    let mean_ns = all.ns / all.count.max(1);
    let is_much_longer = longest.max_ns >= mean_ns.saturating_mul(MUCH_LONGER);
    let waited_for_it = longest.max_ns.saturating_mul(others);
    let explains = waited_for_it as f64 >= EXPLAINED_WAIT_SHARE * waited as f64;
    let creation = facts.profile.creation_of(longest.region);
    (is_much_longer && explains).then_some(Longest {
        region: creation.unwrap_or(longest.region),
        ns: longest.max_ns,
        mean_ns,
    })
}
