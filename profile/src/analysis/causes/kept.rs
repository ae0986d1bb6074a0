//! Waits at the end of a construct that come of a queue inside: threads are late since
//! they queued for longer than others, or since they did hardly anything else.

use super::Facts;
use super::ledger::{Entry, Ledger};
use super::waits::{by_thread, times_of, waits_of};
use crate::analysis::remedy::EXPLAINS;
use crate::columns::{Quantity, occupied};
use crate::region_kind::RegionKind;

/// The part of a construct's time from which it is nothing but its queue.
const NOTHING_ELSE: f64 = 0.75;

/// Takes the waits that the queues of some regions explain.
pub(super) fn by_queues(
    facts: &Facts<'_, '_>,
    ledger: &mut Ledger,
    queues: &[usize],
) -> Vec<Entry> {
    let around = around(facts, queues);
    let explained: Vec<usize> = ledger
        .open()
        .filter(|entry| entry.is_wait() && around.contains(&entry.region))
        .filter(|entry| is_explained(facts, entry, queues))
        .map(|entry| entry.region)
        .collect();
    ledger.take(|entry| entry.is_wait() && explained.contains(&entry.region))
}

/// The constructs of the same team around some regions.
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
    let waits = waits_of(facts, entry);
    let sum = |times: &[(usize, u64)]| times.iter().map(|(_, ns)| *ns).sum::<u64>() as f64;
    let queued = of_all(facts, queues, |facts, region| {
        by_thread(facts, region, |node, row| match node.kind {
            RegionKind::Atomic => occupied(node.kind, row.row),
            _ => Quantity::EnterTime.inclusive(row),
        })
    });
    let inside = of_all(facts, queues, |facts, region| {
        by_thread(facts, region, |_, row| row.row.main.ns)
    });
    if sum(&inside) >= NOTHING_ELSE * sum(&times_of(facts, entry.region)) {
        return true;
    }
    let of = |thread: usize| {
        let mut times = queued.iter();
        times.find(|it| it.0 == thread).map_or(0, |it| it.1)
    };
    let longest = queued.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    let off: u64 = waits
        .iter()
        .map(|(thread, wait)| wait.abs_diff(longest.saturating_sub(of(*thread))))
        .sum();
    1.0 - off as f64 / sum(&waits).max(1.0) >= EXPLAINS
}

/// The sums of several regions, by thread.
fn of_all(
    facts: &Facts<'_, '_>,
    regions: &[usize],
    times: impl Fn(&Facts<'_, '_>, usize) -> Vec<(usize, u64)>,
) -> Vec<(usize, u64)> {
    let mut all: Vec<(usize, u64)> = Vec::new();
    for (thread, ns) in regions.iter().flat_map(|&region| times(facts, region)) {
        match all.iter_mut().find(|it| it.0 == thread) {
            Some(sum) => sum.1 += ns,
            None => all.push((thread, ns)),
        }
    }
    all
}
