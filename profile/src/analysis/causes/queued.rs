//! Waits at the end of a construct that a queue inside it explains (for a critical section, a
//! lock, an atomic update, an ordered region). A thread arrives late at the end because it
//! queued for longer than others, or because the construct does little else.

use super::Facts;
use super::before::{by_thread, explained, times_of, waits_of};
use super::ledger::{Entry, Ledger};
use crate::analysis::remedy::EXPLAINED_WAIT_SHARE;
use crate::analysis::tree::TreeNode;
use crate::columns::{Quantity, occupied};
use crate::region_kind::RegionKind;

/// If the queue takes at least this part of a construct's time, nothing else in it matters.
const DOMINANT_QUEUE_SHARE: f64 = 0.75;

/// Takes the waits at the ends of constructs that are explained by queues at the given regions.
pub(super) fn waits_around(
    facts: &Facts<'_, '_>,
    ledger: &mut Ledger,
    queues: &[usize],
) -> Vec<Entry> {
    let around = around(facts, queues);
    take(ledger, &around, |entry| is_explained(facts, entry, queues))
}

/// Takes the waits of the same team that are explained by the time that each thread spent in
/// the given regions.
pub(super) fn waits_after(
    facts: &Facts<'_, '_>,
    ledger: &mut Ledger,
    regions: &[usize],
    kept: &[(usize, u64)],
) -> Vec<Entry> {
    let mut places = around(facts, regions);
    places.extend(in_blocks_of(facts, regions).map(|node| node.region));
    take(ledger, &places, |entry| {
        explained(&waits_of(facts, entry), kept) >= EXPLAINED_WAIT_SHARE
    })
}

/// Takes the waits at the given regions that are explained.
fn take(ledger: &mut Ledger, at: &[usize], is_explained: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    let explained: Vec<usize> = ledger
        .open()
        .filter(|entry| entry.is_wait() && at.contains(&entry.region))
        .filter(|entry| is_explained(entry))
        .map(|entry| entry.region)
        .collect();
    ledger.take(|entry| entry.is_wait() && explained.contains(&entry.region))
}

/// The nodes in the blocks that contain the given regions, including those of the regions
/// themselves.
pub(super) fn in_blocks_of<'a, 'p>(
    facts: &Facts<'a, 'p>,
    regions: &[usize],
) -> impl Iterator<Item = &'a TreeNode<'p>> + use<'a, 'p> {
    let nodes = &facts.tree.nodes;
    let its = nodes.iter().filter(|node| regions.contains(&node.region));
    let blocks: Vec<Option<usize>> = its.map(|node| node.parent).collect();
    nodes
        .iter()
        .filter(move |node| blocks.contains(&node.parent))
}

/// The constructs of the same team around the given regions.
fn around(facts: &Facts<'_, '_>, queues: &[usize]) -> Vec<usize> {
    let nodes = &facts.tree.nodes;
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| queues.contains(&node.region)) {
        let mut above = node.parent;
        while let Some(parent) = above.map(|parent| &nodes[parent]) {
            if !found.contains(&parent.region) {
                found.push(parent.region);
            }
            above = parent.parent.filter(|_| !parent.kind.is_parallel());
        }
    }
    found
}

fn is_explained(facts: &Facts<'_, '_>, entry: &Entry, queues: &[usize]) -> bool {
    let sum = |times: &[(usize, u64)]| times.iter().map(|(_, ns)| *ns).sum::<u64>() as f64;
    let inside = by_thread(facts, queues, |_, row| row.row.main.ns);
    if sum(&inside) >= DOMINANT_QUEUE_SHARE * sum(&times_of(facts, entry.region)) {
        return true;
    }
    let queued = by_thread(facts, queues, |node, row| match node.kind {
        RegionKind::Atomic => occupied(node.kind, row.row),
        _ => Quantity::EnterTime.inclusive(row),
    });
    explained(&waits_of(facts, entry), &queued) >= EXPLAINED_WAIT_SHARE
}
