//! A thread that polls until another thread has gone on: a loop around `flush`, mostly with an
//! `atomic read`, or around an `atomic read` alone; or a loop around a test of a lock. Each look
//! (one pass of the loop) is short; the wait is the sum of all looks. A thread that yields between
//! two looks spends system time there.

use std::collections::BTreeMap;

use super::ledger::{Amount, Entry, Ledger};
use super::{Cause, Facts, Kind, NEGLIGIBLE, explains, queued};
use crate::analysis::polling::{
    FENCE, MOSTLY_LOOKS, POLLING_FROM_LOOKS, POLLING_NS_PER_LOOK, polling, reads_atomically,
};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::count;
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// The looks at all constructs of one kind in one block.
#[derive(Default)]
struct Spin {
    looks: u64,
    /// Time spun by each thread, in nanoseconds; estimated.
    spun: BTreeMap<usize, u64>,
    /// The time lost between the looks, for tests of a lock also in them. The time inside other
    /// constructs is not included.
    amount: Amount,
    /// The constructs, in the order of the call tree.
    regions: Vec<usize>,
}

/// One cause for each block in which threads spin.
pub(super) fn looks(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let is_flush = |entry: &&Entry| entry.is_of(&[RegionKind::Flush]);
    let flushes: Vec<Entry> = ledger.open().filter(is_flush).cloned().collect();
    let mut causes = Vec::new();
    for spin in spins(facts, &flushes, 0.0, 0.0).into_values() {
        let taken = ledger.take(|entry| spin.regions.contains(&entry.region));
        causes.push(cause(facts, ledger, spin, &taken));
    }
    let is_read = |entry: &&Entry| reads_atomically(&facts.profile.regions[entry.region]);
    let reads: Vec<Entry> = ledger.open().filter(is_read).cloned().collect();
    let yielding = yielding_each(facts, &reads);
    for spin in spins(facts, &reads, MOSTLY_LOOKS, yielding).into_values() {
        let taken = ledger.take(|entry| spin.regions.contains(&entry.region));
        causes.push(cause(facts, ledger, spin, &taken));
    }
    let is_lock = |entry: &&Entry| entry.is_of(&[RegionKind::Lock]);
    let locks: Vec<Entry> = ledger.open().filter(is_lock).cloned().collect();
    for spin in spins(facts, &locks, MOSTLY_LOOKS, 0.0).into_values() {
        ledger.take(|entry| spin.regions.contains(&entry.region));
        causes.push(cause_of_polled_lock(facts, spin));
    }
    causes
}

/// Whether threads spent the time of a cause with polling, which keeps a processor busy.
pub(super) fn is_polling(cause: &Cause) -> bool {
    cause.kind == Kind::Spinning || cause.number("failed") > 0
}

/// Threads that test a lock until it is free.
fn cause_of_polled_lock(facts: &Facts<'_, '_>, spin: Spin) -> Cause {
    let amount = spin.amount;
    let mut place = facts.at("for", spin.regions[0]);
    place.regions = spin.regions;
    let mut cause = facts.cause_of(Kind::Lock, place, amount);
    cause.category = Some(Category::Synch);
    cause.is_estimated = true;
    let what = format!(
        "threads tested it until it was free: {} failed",
        count(spin.looks, "test")
    );
    let remedy = "Hold it for less time, set it less often, or do other work while it is not free.";
    cause
        .showing(&[("failed", spin.looks)])
        .saying(what, remedy)
}

fn cause(facts: &Facts<'_, '_>, ledger: &mut Ledger, spin: Spin, looks: &[Entry]) -> Cause {
    let its = looks
        .iter()
        .filter(|entry| spin.regions.contains(&entry.region));
    let mut taken: Vec<Entry> = its.cloned().collect();
    taken.extend(reads(facts, ledger, &spin));
    let spun: Vec<(usize, u64)> = spin.spun.into_iter().collect();
    taken.extend(queued::waits_after(facts, ledger, &spin.regions, &spun));
    let mut amount = super::sum(&taken);
    amount += spin.amount;
    let mut place = facts.at("in", spin.regions[0]);
    place.regions = spin.regions;
    let mut cause = facts.cause_of(Kind::Spinning, place, amount);
    cause.category = Some(Category::Synch);
    cause.is_estimated = true;
    let what = format!(
        "threads waited for another thread in a polling loop: they looked {}",
        count(spin.looks, "time")
    );
    cause.showing(&[("times", spin.looks)]).saying(
        what,
        "Find out what the other thread does meanwhile: share that work out, hand its results over in smaller \
         parts, or use tasks with depend clauses to keep the order.",
    )
}

/// The time that a thread spends between two reads to yield its processor, as with `sched_yield`, in
/// nanoseconds: the program's system time divided by the number of reads. 0 if the known losses are more
/// than half of the system time, which may be theirs, or if it is too much for reads in a tight loop.
fn yielding_each(facts: &Facts<'_, '_>, reads: &[Entry]) -> f64 {
    let is_read = |region| reads.iter().any(|entry| entry.region == region);
    let nodes = facts.tree.nodes.iter();
    let rows = nodes
        .filter(|node| is_read(node.region))
        .flat_map(TreeNode::rows);
    let looks: u64 = rows.map(|row| row.row.main.count).sum();
    let system = facts.profile.run.system_ns;
    let lost = facts.overheads.whole_sum.overhead.ns;
    let each = system as f64 / looks.max(1) as f64;
    match lost <= system / 2 && each <= POLLING_NS_PER_LOOK {
        true => each,
        false => 0.0,
    }
}

/// For each block, the time that threads spun in it. `least` and `yielding` are those of [`polling`].
fn spins(
    facts: &Facts<'_, '_>,
    looks: &[Entry],
    least: f64,
    yielding: f64,
) -> BTreeMap<usize, Spin> {
    let nodes = &facts.tree.nodes;
    let mut spins: BTreeMap<usize, Spin> = BTreeMap::new();
    let is_look = |node: &TreeNode<'_>| looks.iter().any(|entry| entry.region == node.region);
    for polled in polling(facts.profile, facts.tree, is_look, least, yielding) {
        let node = &nodes[polled.node];
        let spin = spins.entry(nodes[polled.block].region).or_default();
        spin.looks += polled.looks.count;
        if !spin.regions.contains(&node.region) {
            spin.regions.push(node.region);
        }
        let Some(between) = polled.between_ns else {
            continue;
        };
        let thread = polled.thread;
        *spin.spun.entry(thread).or_default() += polled.looks.ns + between;
        let lost = polled.looks.unknown_ns + between;
        let likely = facts.walls.weight(node.scope, thread) * lost as f64;
        spin.amount += Amount {
            lost,
            likely,
            upper: likely,
        };
    }
    spins.retain(|_, spin| spin.looks >= POLLING_FROM_LOOKS);
    spins
}

/// Takes the `atomic` constructs in the same block that were executed about as often.
fn reads(facts: &Facts<'_, '_>, ledger: &mut Ledger, spin: &Spin) -> Vec<Entry> {
    let mut counts = vec![0; facts.profile.regions.len()];
    for node in queued::in_blocks_of(facts, &spin.regions) {
        counts[node.region] += node.rows().map(|row| row.row.main.count).sum::<u64>();
    }
    let as_often = spin.looks / 2..=spin.looks.saturating_mul(2);
    ledger.take(|entry| {
        entry.is_of(&[RegionKind::Atomic]) && as_often.contains(&counts[entry.region])
    })
}

/// Notes on `flush` constructs that are executed so often that they may matter, and in which no thread polls.
pub(super) fn notes(facts: &Facts<'_, '_>, causes: &[Cause]) -> Vec<String> {
    let regions = 0..facts.profile.regions.len();
    let is_flush = |region: &usize| facts.profile.regions[*region].kind == RegionKind::Flush;
    let others = regions.filter(|region| is_flush(region) && !explains(causes, *region));
    others.filter_map(|region| note(facts, region)).collect()
}

fn note(facts: &Facts<'_, '_>, region: usize) -> Option<String> {
    let times = facts.sum_of(region, Quantity::ExecCount);
    let part = times as f64 * FENCE / facts.overheads.thread_time_ns.max(1) as f64;
    (100.0 * part >= NEGLIGIBLE).then(|| {
        format!(
            "The {} was executed {}. Each flush waits until all stores of its thread have left the processor; \
             that time cannot be separated from the work around it. Flush less often, for example once after \
             the loop.",
            facts.labels[region].in_words(),
            count(times, "time")
        )
    })
}
