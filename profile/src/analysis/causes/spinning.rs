//! A thread that looks again and again whether another one has gone on: a loop over
//! `flush`, mostly with an `atomic read`. Each look is short; the wait is all of them,
//! with what the loop itself takes.

use super::ledger::{Amount, Entry, Ledger};
use super::{Cause, Facts, Kind};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::count;
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// Looks of a thread from which it is a loop.
const MANY: u64 = 1000;
/// Time from one look to the next up to which a thread does nothing else, in nanoseconds.
const TIGHT: f64 = 2000.0;

/// One cause for each `flush` that threads spin at.
pub(super) fn flushes(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let mut causes = Vec::new();
    for taken in ledger.take_by_region(|entry| entry.is_of(&[RegionKind::Flush])) {
        let Some(region) = taken.first().map(|entry| entry.region) else {
            continue;
        };
        let (spun, looks) = spun(facts, region);
        if looks < MANY {
            continue;
        }
        let read = reads(facts, ledger, region, looks);
        let mut amount = super::sum(&taken);
        amount += super::sum(&read);
        amount += spun;
        let place = facts.at("in", region);
        let what = format!(
            "threads waited in a loop for another one to go on: they looked {}",
            count(looks, "time")
        );
        let mut cause = facts.cause_of(Kind::Spinning, place, amount);
        cause.category = Some(Category::Synch);
        causes.push(cause.showing(&[("times", looks)]).saying(
            what,
            "Find what the thread that is waited for does meanwhile: share it out, hand over in \
             smaller parts, or let tasks with depend clauses keep the order.",
        ));
    }
    causes
}

/// The time of the blocks around it in which threads did little else, and how often
/// these looked.
fn spun(facts: &Facts<'_, '_>, region: usize) -> (Amount, u64) {
    let nodes = &facts.tree.nodes;
    let mut amount = Amount::default();
    let mut looks = 0;
    for node in nodes.iter().filter(|node| node.region == region) {
        let Some(parent) = node.parent else { continue };
        for row in node.rows().filter(|row| row.row.main.count >= MANY) {
            looks += row.row.main.count;
            let own = own_time(&nodes[parent], row.row.thread);
            if own as f64 > TIGHT * row.row.main.count as f64 {
                continue;
            }
            let likely = facts.walls.weight(node.scope, row.row.thread) * own as f64;
            amount += Amount {
                lost: own,
                likely,
                upper: likely,
            };
        }
    }
    (amount, looks)
}

/// What a thread did in a block besides what it entered there.
fn own_time(block: &TreeNode<'_>, thread: usize) -> u64 {
    let mut rows = block.executors().filter(|row| row.row.thread == thread);
    rows.next()
        .map_or(0, |row| Quantity::BodyTime.exclusive(&row))
}

/// The `atomic` constructs beside it that threads executed about as often.
fn reads(facts: &Facts<'_, '_>, ledger: &mut Ledger, region: usize, looks: u64) -> Vec<Entry> {
    let nodes = &facts.tree.nodes;
    let blocks: Vec<Option<usize>> = nodes
        .iter()
        .filter(|node| node.region == region)
        .map(|node| node.parent)
        .collect();
    let mut counts = vec![0; facts.profile.regions.len()];
    for node in nodes.iter().filter(|node| blocks.contains(&node.parent)) {
        counts[node.region] += node.rows().map(|row| row.row.main.count).sum::<u64>();
    }
    ledger.take(|entry| {
        entry.is_of(&[RegionKind::Atomic])
            && (looks / 2..=looks.saturating_mul(2)).contains(&counts[entry.region])
    })
}
