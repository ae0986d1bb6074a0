//! Two waits in a row, where threads that come late to the first one come early to the second. Without
//! the first barrier, the waits would even out.

use super::before::waits_of;
use super::ledger::{Amount, Entry, Ledger};
use super::shape::work_and_wait;
use super::{Cause, Facts, Kind, Place};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::time;
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// The part of both waits that must vanish without the barrier between them.
const EVENS_OUT: f64 = 0.5;

/// Finds such pairs.
pub(super) fn evened_out(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (first, second) in neighbours(facts) {
        let open = |region| {
            let mut open = ledger.open();
            open.find(|entry| entry.region == region && entry.is_wait())
        };
        let (Some(a), Some(b)) = (open(first), open(second)) else {
            continue;
        };
        let Some(part) = evened(&arrivals(facts, a), &arrivals(facts, b)) else {
            continue;
        };
        let words = pair_sentences(facts, a, b);
        let taken = ledger.take(|entry| [first, second].contains(&entry.region) && entry.is_wait());
        let all = super::sum(&taken);
        let amount = Amount {
            lost: (all.lost as f64 * part) as u64,
            likely: all.likely * part,
            upper: all.upper,
        };
        let place = Place {
            regions: vec![first, second],
            words: words.place,
        };
        let mut cause = facts.cause_of(Kind::BarrierBetween, place, amount);
        cause.category = Some(Category::Imbal);
        let evidence = [("without_barrier_percent", (100.0 * part) as u64)];
        causes.push(
            cause
                .showing(&evidence)
                .showing(&work_of_less_uneven(facts, first, second))
                .saying(
                    format!("{}, but wait {} {}", words.what, time(all.lost), words.at),
                    words.remedy,
                ),
        );
    }
    causes
}

/// The sentences about a pair of waits.
struct PairSentences {
    place: String,
    /// Which threads wait, and where they do.
    what: String,
    at: &'static str,
    remedy: String,
}

fn pair_sentences(facts: &Facts<'_, '_>, first: &Entry, second: &Entry) -> PairSentences {
    let (a, b) = (
        facts.labels[first.region].first,
        facts.labels[second.region].first,
    );
    let is_loop = |entry: &Entry| entry.is_of(&[RegionKind::Loop]);
    match (is_loop(first), is_loop(second)) {
        (true, true) => PairSentences {
            place: format!(
                "at the implicit barrier of {} before the one at line {b}",
                facts.the(first.region)
            ),
            what: "threads that have much to do in one of the two loops have little in the other".to_owned(),
            at: "between them",
            remedy: format!(
                "If no iteration of the loop at line {b} needs results of other threads from the loop at line \
                 {a}, add nowait to the loop at line {a}."
            ),
        },
        (is_loop, _) => PairSentences {
            place: facts.at(first.cost.place, first.region).words,
            what: format!(
                "threads that have much to do before it have little before the next barrier, {}",
                match second.cost.kind.is_parallel() {
                    true => format!("at the end of the region at line {b}"),
                    false => format!("at line {b}"),
                }
            ),
            at: "at both",
            remedy: match is_loop {
                true => "If the code that follows needs no results of other threads from the loop, add nowait \
                         to the loop.",
                false => "If the code that follows needs no results of other threads from before the barrier, \
                          remove the barrier.",
            }
            .to_owned(),
        },
    }
}

/// Pairs of barriers that follow each other in the same block and are executed equally often: those of
/// loops, explicit ones, and that at the end of a parallel region. Loops without a barrier may stand in between.
fn neighbours(facts: &Facts<'_, '_>) -> Vec<(usize, usize)> {
    let nodes = &facts.tree.nodes;
    let mut pairs = Vec::new();
    let mut add = |first: Option<&TreeNode<'_>>, next: &TreeNode<'_>| {
        if let Some(first) = first
            && executions(first) == executions(next)
            && !pairs.contains(&(first.region, next.region))
        {
            pairs.push((first.region, next.region));
        }
    };
    for parent in nodes.iter() {
        let mut before: Option<&TreeNode<'_>> = None;
        for child in parent.children.iter().map(|&child| &nodes[child]) {
            let has_wait = match child.kind {
                RegionKind::Barrier => true,
                RegionKind::Loop => child.rows().any(|row| row.row.ibarr.count > 0),
                _ => {
                    before = None;
                    continue;
                }
            };
            if !has_wait {
                continue;
            }
            add(before, child);
            before = Some(child);
        }
        if parent.kind.is_parallel() {
            add(before, parent);
        }
    }
    pairs
}

fn executions(node: &TreeNode<'_>) -> u64 {
    let count = |row: crate::columns::Measures<'_>| Quantity::ExecCount.inclusive(&row);
    node.executors().map(count).sum()
}

/// A thread's number, how much earlier than the last one it arrived at a barrier, and how long it waited there,
/// in nanoseconds.
type Arrival = (usize, u64, u64);

/// When threads arrived at a barrier, as far as it was the same thread that came late again and again. The
/// work of a loop shows more than the waits, which also hold the time in which a thread lacked a processor.
fn arrivals(facts: &Facts<'_, '_>, entry: &Entry) -> Vec<Arrival> {
    if entry.is_of(&[RegionKind::Loop])
        && let Some(rows) = facts.table(entry.region).and_then(work_and_wait)
    {
        let most = rows.iter().map(|row| row.1).max().unwrap_or(0);
        return rows
            .iter()
            .map(|row| (row.0, most - row.1, row.2))
            .collect();
    }
    let waits = waits_of(facts, entry);
    let least = waits.iter().map(|wait| wait.1).min().unwrap_or(0);
    waits
        .iter()
        .map(|wait| (wait.0, wait.1 - least, wait.1))
        .collect()
}

/// The part of two waits that would vanish without the first barrier. None if it is too little.
fn evened(a: &[Arrival], b: &[Arrival]) -> Option<f64> {
    let threads = |all: &[Arrival]| all.iter().map(|it| it.0).collect::<Vec<_>>();
    if threads(a) != threads(b) || a.len() < 2 {
        return None;
    }
    let early = |all: &[Arrival]| all.iter().map(|it| it.1).sum::<u64>();
    let both: Vec<u64> = a.iter().zip(b).map(|(a, b)| a.1 + b.1).collect();
    let least = both.iter().min().copied().unwrap_or(0);
    let left: u64 = both.iter().map(|it| it - least).sum();
    let alone = early(a) + early(b);
    let waited: u64 = a.iter().chain(b).map(|it| it.2).sum();
    let explained = alone as f64 >= EVENS_OUT * waited as f64;
    let part = alone.saturating_sub(left) as f64 / alone.max(1) as f64;
    // Each of the two must be uneven by itself.
    let matters = early(a).min(early(b)) as f64 >= EVENS_OUT / 2.0 * alone as f64;
    (explained && matters && part >= EVENS_OUT).then_some(part.min(1.0))
}

/// The most and the least work of a thread in the less uneven one of two loops.
fn work_of_less_uneven(
    facts: &Facts<'_, '_>,
    first: usize,
    second: usize,
) -> Vec<(&'static str, u64)> {
    let works = [first, second].map(|region| {
        let rows = facts.table(region).and_then(work_and_wait)?;
        let work = rows.iter().map(|row| row.1);
        Some((work.clone().max()?, work.min()?))
    });
    let [Some(a), Some(b)] = works else {
        return Vec::new();
    };
    let (most, least) = if a.0 - a.1 < b.0 - b.1 { a } else { b };
    vec![("most_ns", most), ("least_ns", least)]
}
