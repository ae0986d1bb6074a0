//! The work of each thread before it waited for the others of its team, and the time for which it waited.

use super::Facts;
use super::ledger::{Entry, is_wait_of_members};
use crate::analysis::tree::TreeNode;
use crate::columns::{Measures, Quantity, occupied};
use crate::overheads;
use crate::region_kind::RegionKind;

/// Other waits in a team matter if they are more than 1/`PARTS_OF_WAIT` of the wait.
const PARTS_OF_WAIT: u64 = 10;

/// The part of the threads' waits that is explained by the time that each thread spent
/// somewhere else before. The thread that spent the longest time there came last and did not
/// wait.
pub(super) fn explained(waits: &[(usize, u64)], before: &[(usize, u64)]) -> f64 {
    let longest = before.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    let of = |thread: usize| {
        let mut before = before.iter();
        before.find(|it| it.0 == thread).map_or(0, |it| it.1)
    };
    let off: u64 = waits
        .iter()
        .map(|(thread, wait)| wait.abs_diff(longest.saturating_sub(of(*thread))))
        .sum();
    let waited: u64 = waits.iter().map(|(_, ns)| ns).sum();
    1.0 - off as f64 / waited.max(1) as f64
}

/// Constructs that may delay a thread, and that have no barrier for all threads at their end.
const KEEPING: &[RegionKind] = &[
    RegionKind::Master,
    RegionKind::Single,
    RegionKind::Loop,
    RegionKind::Sections,
    RegionKind::User,
    RegionKind::Function,
];

/// The regions in the same block as the wait.
pub(super) fn beside(facts: &Facts<'_, '_>, entry: &Entry) -> Vec<usize> {
    let nodes = &facts.tree.nodes;
    let mut found: Vec<usize> = Vec::new();
    let mut add = |children: &[usize]| {
        for child in children.iter().map(|&child| &nodes[child]) {
            let is_other = child.region != entry.region && KEEPING.contains(&child.kind);
            // Threads that came late to it were waited for there.
            let has_barrier = child.rows().any(|row| row.row.ibarr.count > 0);
            if is_other && !has_barrier && !found.contains(&child.region) {
                found.push(child.region);
            }
        }
    };
    if entry.cost.kind.is_parallel() {
        let own = nodes.iter().filter(|node| node.region == entry.region);
        own.for_each(|node| add(&node.children));
        return found;
    }
    for parent in nodes {
        let mut children = parent.children.iter();
        if children.any(|&child| nodes[child].region == entry.region) {
            add(&parent.children);
        }
    }
    found
}

/// How long each thread waited.
pub(super) fn waits_of(facts: &Facts<'_, '_>, entry: &Entry) -> Vec<(usize, u64)> {
    by_thread(facts, &[entry.region], |node, row| {
        let is_wait = entry.cost.quantity.inclusive(row);
        if node.kind.is_parallel() && row.row.main.is_zero() {
            0
        } else {
            is_wait
        }
    })
}

/// The time that each thread spent in a construct, without the wait at its end.
pub(super) fn times_of(facts: &Facts<'_, '_>, region: usize) -> Vec<(usize, u64)> {
    by_thread(facts, &[region], |node, row| {
        occupied(node.kind, row.row).saturating_sub(Quantity::BarrierTime.inclusive(row))
    })
}

/// Whether threads wait for each other elsewhere in the team. Behind such a wait all of them start anew, so the
/// work before it explains nothing.
pub(super) fn waits_elsewhere(facts: &Facts<'_, '_>, wait: &Entry) -> bool {
    let Some(team) = facts.binding_regions()[wait.region] else {
        return true;
    };
    let inside = waited_inside(facts, team);
    let elsewhere = match wait.cost.kind.is_parallel() {
        true => inside,
        false => inside.saturating_sub(wait.amount.lost),
    };
    elsewhere.saturating_mul(PARTS_OF_WAIT) > wait.amount.lost
}

/// For how long threads waited for others of their team inside a parallel region, before the region's end.
fn waited_inside(facts: &Facts<'_, '_>, region: usize) -> u64 {
    let nodes = &facts.tree.nodes;
    let own = nodes.iter().filter(|node| node.region == region);
    let mut open: Vec<usize> = own.flat_map(|node| node.children.iter().copied()).collect();
    let mut sum = 0;
    while let Some(index) = open.pop() {
        let node = &nodes[index];
        if node.kind.is_parallel() {
            continue;
        }
        let waits = overheads::costs_of(node.kind).filter(|cost| is_wait_of_members(cost.quantity));
        for cost in waits {
            let lost = node.executors().map(|row| node.lost(cost, &row));
            sum += lost.sum::<u64>();
        }
        open.extend(&node.children);
    }
    sum
}

/// A time of the given regions, summed up for each thread that executed them.
pub(super) fn by_thread(
    facts: &Facts<'_, '_>,
    regions: &[usize],
    time: impl Fn(&TreeNode<'_>, &Measures<'_>) -> u64,
) -> Vec<(usize, u64)> {
    let mut sums = vec![None; facts.profile.threads.len()];
    let nodes = facts.tree.nodes.iter();
    for node in nodes.filter(|node| regions.contains(&node.region)) {
        for row in node.executors() {
            *sums[row.row.thread].get_or_insert(0) += time(node, &row);
        }
    }
    let sums = sums.into_iter().enumerate();
    sums.filter_map(|(thread, ns)| Some((thread, ns?)))
        .collect()
}
