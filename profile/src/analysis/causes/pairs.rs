//! Two loops in a row, where threads with much work in the first loop have little in the
//! second. Without the barrier between them, the waits would even out.

use super::ledger::{Amount, Ledger};
use super::shape::{uneven, work_and_wait};
use super::{Cause, Facts, Kind, Place};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::time;
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// The part of both waits that must vanish without the barrier between the loops.
const EVENS_OUT: f64 = 0.5;

/// Finds such pairs.
pub(super) fn evened_out(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (first, second) in neighbours(facts) {
        let is_open = |region| ledger.open().any(|e| e.region == region && e.is_wait());
        if !is_open(first) || !is_open(second) {
            continue;
        }
        let Some(Evened { part, most, least }) = evened(facts, first, second) else {
            continue;
        };
        let taken = ledger.take(|entry| [first, second].contains(&entry.region) && entry.is_wait());
        let all = super::sum(&taken);
        let amount = Amount {
            lost: (all.lost as f64 * part) as u64,
            likely: all.likely * part,
            upper: all.upper,
        };
        let (a, b) = (&facts.labels[first], &facts.labels[second]);
        let words = format!(
            "at the implicit barrier of {} before the one at line {}",
            facts.the(first),
            b.first
        );
        let place = Place {
            regions: vec![first, second],
            words,
        };
        let mut cause = facts.cause_of(Kind::BarrierBetween, place, amount);
        cause.category = Some(Category::Imbal);
        let evidence = [
            ("without_barrier_percent", (100.0 * part) as u64),
            ("most_ns", most),
            ("least_ns", least),
        ];
        causes.push(cause.showing(&evidence).saying(
            format!(
                "threads that have much to do in one of the two loops have little in the other, \
                 but wait {} between them",
                time(all.lost)
            ),
            format!(
                "If the loop at line {} needs nothing from other threads' iterations of the one \
                 at line {}, add nowait to the latter.",
                b.first, a.first
            ),
        ));
    }
    causes
}

/// Pairs of loops that follow each other in the same block and are executed equally often.
fn neighbours(facts: &Facts<'_, '_>) -> Vec<(usize, usize)> {
    let nodes = &facts.tree.nodes;
    let mut pairs = Vec::new();
    for parent in nodes.iter() {
        let mut before: Option<&TreeNode<'_>> = None;
        for child in parent.children.iter().map(|&child| &nodes[child]) {
            let is_loop = child.kind == RegionKind::Loop;
            if let Some(first) = before.filter(|_| is_loop)
                && executions(first) == executions(child)
                && !pairs.contains(&(first.region, child.region))
            {
                pairs.push((first.region, child.region));
            }
            before = is_loop.then_some(child);
        }
    }
    pairs
}

fn executions(node: &TreeNode<'_>) -> u64 {
    let count = |row: crate::columns::Measures<'_>| Quantity::ExecCount.inclusive(&row);
    node.executors().map(count).sum()
}

/// Two loops that are uneven in opposite ways.
struct Evened {
    /// The part of both waits that would vanish without the barrier between the loops.
    part: f64,
    /// The most and the least work of a thread in the loop that is less uneven, in nanoseconds.
    most: u64,
    least: u64,
}

/// None if too little of the waits would vanish.
fn evened(facts: &Facts<'_, '_>, first: usize, second: usize) -> Option<Evened> {
    let a = work_and_wait(facts.table(first)?)?;
    let b = work_and_wait(facts.table(second)?)?;
    let threads = |rows: &[(usize, u64, u64)]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
    if threads(&a) != threads(&b) || a.len() < 2 {
        return None;
    }
    let both: Vec<(usize, u64, u64)> = a.iter().zip(&b).map(|(a, b)| (a.0, a.1 + b.1, 0)).collect();
    let alone = uneven(&a) + uneven(&b);
    let waited: u64 = a.iter().chain(&b).map(|row| row.2).sum();
    let explained = alone as f64 >= EVENS_OUT * waited as f64;
    let part = alone.saturating_sub(uneven(&both)) as f64 / alone.max(1) as f64;
    // Each of the two loops must be uneven by itself.
    let matters = uneven(&a).min(uneven(&b)) as f64 >= EVENS_OUT / 2.0 * alone as f64;
    let less_uneven = if uneven(&a) < uneven(&b) { &a } else { &b };
    let work = || less_uneven.iter().map(|row| row.1);
    (explained && matters && part >= EVENS_OUT).then_some(Evened {
        part: part.min(1.0),
        most: work().max()?,
        least: work().min()?,
    })
}
