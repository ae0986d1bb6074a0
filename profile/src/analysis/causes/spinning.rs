//! A thread that polls until another thread has gone on: a loop around `flush`, mostly with an
//! `atomic read`, or around an `atomic read` alone; or a loop around a test of a lock. Each look
//! (one pass of the loop) is short; the wait is the sum of all looks. A thread that yields between
//! two looks spends system time there.

use std::collections::BTreeMap;

use super::ledger::{Amount, Entry, Ledger};
use super::{Cause, Facts, Kind, queued};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::count;
use crate::columns::Quantity;
use crate::model::{Region, Row};
use crate::overheads::Category;
use crate::region_kind::RegionKind;

/// From this number of looks of one thread on, it is a polling loop.
const MANY: u64 = 1000;
/// A thread may do nothing but look if it has at most this time for each look, in nanoseconds.
const TIGHT: f64 = 2000.0;
/// The least time that a look with a `flush` takes, in nanoseconds: a fence takes about 20 cycles.
const FENCE: f64 = 6.0;
/// The least time that a look with an `atomic read` takes, in nanoseconds: the read, a comparison
/// and a probe that only counts take about 3 cycles.
const READ: f64 = 1.0;

/// The part of the cost of measuring a test of a lock that falls outside the test's own time.
/// Measured with two threads that test a lock in a loop: 14.6 of 21.5 ns.
const OUTSIDE: f64 = 0.68;

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

/// An `atomic read` alone, or a test of a lock, is a wait only if the looks take at least this
/// part of a thread's time in the block. Ordinary work may also read a shared value in each
/// iteration, or go on with something else while a lock is set.
const MOSTLY_LOOKS: f64 = 0.3;

/// One cause for each block in which threads spin.
pub(super) fn looks(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let flushes = ledger.take(|entry| entry.is_of(&[RegionKind::Flush]));
    let of_flushes = spins(facts, &flushes, 0.0, 0.0).into_values();
    let mut causes: Vec<Cause> = of_flushes
        .map(|spin| cause(facts, ledger, spin, &flushes))
        .collect();
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
        causes.push(of_lock(facts, spin));
    }
    causes
}

/// Threads that test a lock until it is free.
fn of_lock(facts: &Facts<'_, '_>, spin: Spin) -> Cause {
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
    let remedy = "Do less while it is set, set it less often, or do other work while it is not \
                  free.";
    cause
        .showing(&[("failed", spin.looks)])
        .saying(what, remedy)
}

/// The looks of a thread at a construct.
struct Looks {
    count: u64,
    /// The time in the looks, in nanoseconds.
    ns: u64,
    /// The part of that time that the ledger does not know as lost, in nanoseconds.
    unknown_ns: u64,
    /// The time in which the thread held the lock that it looks at, in nanoseconds.
    held_ns: u64,
    /// The least time that a look takes, in nanoseconds.
    least: f64,
    /// The part of the cost of measuring that falls outside the time in the looks.
    outside: f64,
}

impl Looks {
    /// Tests of a lock are looks if they fail. The ledger takes the cost of measuring off the time
    /// in a test. But a thread whose test takes longer only tests less often.
    fn of(kind: RegionKind, row: &Row) -> Self {
        match kind {
            RegionKind::Lock => Self {
                count: row.enter().count.saturating_sub(row.body.count),
                ns: row.enter().ns,
                unknown_ns: row.enter().ns,
                held_ns: row.body.ns,
                least: FENCE,
                outside: OUTSIDE,
            },
            _ => Self {
                count: row.main.count,
                ns: row.main.ns,
                unknown_ns: 0,
                held_ns: 0,
                least: if kind == RegionKind::Flush {
                    FENCE
                } else {
                    READ
                },
                outside: 1.0,
            },
        }
    }
}

/// Whether a region is an `atomic` construct that only reads.
fn reads_atomically(region: &Region) -> bool {
    let directive = region.directive.as_deref().unwrap_or_default();
    let mut words = directive.split(|c: char| !c.is_alphanumeric() && c != '_');
    region.kind == RegionKind::Atomic && words.any(|word| word.eq_ignore_ascii_case("read"))
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
        "threads waited in a loop for another one to go on: they looked {}",
        count(spin.looks, "time")
    );
    cause.showing(&[("times", spin.looks)]).saying(
        what,
        "Find what the thread that is waited for does meanwhile: share it out, hand over in \
         smaller parts, or let tasks with depend clauses keep the order.",
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
    match lost <= system / 2 && each <= TIGHT {
        true => each,
        false => 0.0,
    }
}

/// For each region of a block, the time that threads spun in it. Only threads are counted that
/// spun for at least the part `least` of the time of their looks and their own time in the block. After each look a thread yields
/// its processor, which takes `yielding` nanoseconds.
fn spins(
    facts: &Facts<'_, '_>,
    looks: &[Entry],
    least: f64,
    yielding: f64,
) -> BTreeMap<usize, Spin> {
    let nodes = &facts.tree.nodes;
    let mut spins: BTreeMap<usize, Spin> = BTreeMap::new();
    let mut own: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    let is_look = |region| looks.iter().any(|entry| entry.region == region);
    for node in nodes.iter().filter(|node| is_look(node.region)) {
        let Some(parent) = node.parent else { continue };
        let block = &nodes[parent];
        for row in node.rows() {
            let looks = Looks::of(node.kind, row.row);
            if looks.count < MANY {
                continue;
            }
            let thread = row.row.thread;
            let own = own
                .entry((parent, thread))
                .or_insert_with(|| own_time(block, thread));
            *own = own.saturating_sub(looks.held_ns);
            let measuring_ps = facts.profile.run.measuring_ps(row.row, node.kind);
            let yielded = (looks.count as f64 * yielding) as u64;
            let between = time_between(&looks, measuring_ps).max(yielded).min(*own);
            if ((looks.ns + between) as f64) < least * (looks.ns + *own) as f64 {
                continue;
            }
            let spin = spins.entry(block.region).or_default();
            spin.looks += looks.count;
            if !spin.regions.contains(&node.region) {
                spin.regions.push(node.region);
            }
            if *own as f64 > TIGHT * looks.count as f64 {
                continue;
            }
            *own -= between;
            *spin.spun.entry(thread).or_default() += looks.ns + between;
            let lost = looks.unknown_ns + between;
            let likely = facts.walls.weight(node.scope, thread) * lost as f64;
            spin.amount += Amount {
                lost,
                likely,
                upper: likely,
            };
        }
    }
    spins.retain(|_, spin| spin.looks >= MANY);
    spins
}

/// How long a thread spun between its looks, in nanoseconds.
fn time_between(looks: &Looks, measuring_ps: u128) -> u64 {
    let probes = (measuring_ps as f64 / 1000.0 * looks.outside) as u64;
    let least = (looks.count as f64 * looks.least) as u64;
    probes.max(least.saturating_sub(looks.ns))
}

/// The time of a thread in a block outside the constructs that it entered there.
fn own_time(block: &TreeNode<'_>, thread: usize) -> u64 {
    let mut rows = block.executors().filter(|row| row.row.thread == thread);
    rows.next()
        .map_or(0, |row| Quantity::BodyTime.exclusive(&row))
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
