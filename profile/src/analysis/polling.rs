//! Threads that poll: loops around a `flush`, an `atomic read` or a test of a lock. Each look (one pass
//! of the loop) is short; the wait is the sum of all looks.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Tree, TreeNode};
use crate::columns::Quantity;
use crate::descriptor::has_read_clause;
use crate::model::{Profile, Region, Row, Run};
use crate::region_kind::RegionKind;

/// From this number of looks of one thread on, it is a polling loop.
pub(super) const POLLING_FROM_LOOKS: u64 = 1000;
/// A thread may do nothing but look if it has at most this time for each look, in nanoseconds.
pub(super) const POLLING_NS_PER_LOOK: f64 = 2000.0;
/// The least time that a look with a `flush` takes, in nanoseconds: a fence takes about 20 cycles.
pub(super) const FENCE: f64 = 6.0;
/// The least time that a look with an `atomic read` takes, in nanoseconds: the read, a comparison
/// and a probe that only counts take about 3 cycles.
const READ: f64 = 1.0;

/// The same with LLVM's runtime, which has a function for it (measured: 20 to 23).
const FENCE_BY_CALL: f64 = 20.0;

/// If one look follows another within this time, that of a fence and that of the probes, in picoseconds, there is
/// nothing between them.
const NOTHING_BETWEEN_PS: u64 = 4_000;

/// The part of the cost of measuring a test of a lock that falls outside the test's own time.
/// Measured with two threads that test a lock in a loop: 14.6 of 21.5 ns.
const OUTSIDE: f64 = 0.68;

/// An `atomic read` alone, or a test of a lock, is a wait only if the looks take at least this
/// part of a thread's time in the block. Ordinary work may also read a shared value in each
/// iteration, or go on with something else while a lock is set.
pub(super) const MOSTLY_LOOKS: f64 = 0.3;
/// Such a part is enough if nothing lies between the looks.
const MANY_LOOKS: f64 = 0.1;
/// If the looks of every thread take at least this part of its time in the block, no thread works
/// there for which another could wait.
const NOTHING_ELSE: f64 = 0.9;

/// Numbers of looks that differ by less than this part are equal.
const EQUALLY_OFTEN: f64 = 0.002;

/// A thread that polls in a block.
pub(super) struct Polled {
    /// Of the construct, and of the block around it.
    pub(super) node: usize,
    pub(super) block: usize,
    pub(super) thread: usize,
    pub(super) looks: Looks,
    /// How long the thread spun between its looks, in nanoseconds. None if it may have worked there.
    pub(super) between_ns: Option<u64>,
    /// The part of the thread's time in the block that the looks take.
    share: f64,
}

/// The threads that poll, by construct. The looks of a thread take at least the part `least` of their
/// time and the thread's own time in the block. After each look a thread yields its processor, which
/// takes `yielding` nanoseconds.
pub(super) fn polling<'a>(
    profile: &'a Profile,
    tree: &'a Tree<'a>,
    is_look: impl Fn(&TreeNode<'a>) -> bool,
    least: f64,
    yielding: f64,
) -> Vec<Polled> {
    let nodes = &tree.nodes;
    let mut polled = Vec::new();
    let mut own: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate().filter(|(_, node)| is_look(node)) {
        let Some(parent) = node.parent else { continue };
        let block = &nodes[parent];
        for row in node.rows() {
            let Some(looks) = Looks::of(&profile.regions[node.region], row.row, &profile.run)
            else {
                continue;
            };
            if looks.count < POLLING_FROM_LOOKS {
                continue;
            }
            let thread = row.row.thread;
            let own = own
                .entry((parent, thread))
                .or_insert_with(|| own_time(block, thread));
            *own = own.saturating_sub(looks.held_ns);
            let measuring_ps = profile.run.measuring_ps(row.row, node.kind);
            let yielded = (looks.count as f64 * yielding) as u64;
            let between = time_between(&looks, measuring_ps, yielded, *own).min(*own);
            let share = (looks.ns + between) as f64 / ((looks.ns + *own) as f64).max(1.0);
            let least = match looks.follow_at_once() {
                true => least.min(MANY_LOOKS),
                false => least,
            };
            if share < least {
                continue;
            }
            let is_tight = *own as f64 <= POLLING_NS_PER_LOOK * looks.count as f64;
            if is_tight {
                *own -= between;
            }
            polled.push(Polled {
                node: index,
                block: parent,
                thread,
                looks,
                between_ns: is_tight.then_some(between),
                share,
            });
        }
    }
    polled.retain(|of| !look_equally_often(&nodes[of.node], &nodes[of.block]));
    let mut blocks: BTreeSet<usize> = polled.iter().map(|of| of.block).collect();
    blocks.retain(|block| somebody_works(&nodes[*block], *block, &polled));
    polled.retain(|of| blocks.contains(&of.block));
    polled
}

/// Whether all threads of a block look equally often, as in each iteration of a loop that is shared out evenly. A
/// thread that waits looks as often as the other one makes it wait.
fn look_equally_often(node: &TreeNode<'_>, block: &TreeNode<'_>) -> bool {
    let looks = |thread| node.row_of(thread).map_or(0, |row| row.main.count);
    let counts = block.executors().map(|it| looks(it.row.thread));
    let (least, most) = counts.fold((u64::MAX, 0), |(least, most), count| {
        (least.min(count), most.max(count))
    });
    let differ = most.saturating_sub(least) as f64;
    differ <= EQUALLY_OFTEN * most as f64
}

/// Whether a thread does anything but look in a block.
fn somebody_works(block: &TreeNode<'_>, number: usize, polled: &[Polled]) -> bool {
    let mut executors = block.executors().map(|row| row.row.thread);
    executors.any(|thread| {
        let of_thread = polled
            .iter()
            .filter(|of| of.block == number && of.thread == thread);
        of_thread.map(|of| of.share).sum::<f64>() < NOTHING_ELSE
    })
}

/// The nodes and threads whose looks take most of the time of their block. What is measured in them
/// makes a thread look less often, and takes no time of the run.
pub(super) fn polling_threads(profile: &Profile, tree: &Tree<'_>) -> BTreeSet<(usize, usize)> {
    let is_look = |node: &TreeNode<'_>| {
        matches!(node.kind, RegionKind::Flush | RegionKind::Lock)
            || reads_atomically(&profile.regions[node.region])
    };
    let polled = polling(profile, tree, is_look, MOSTLY_LOOKS, 0.0);
    let tight = polled.iter().filter(|of| of.between_ns.is_some());
    tight.map(|of| (of.node, of.thread)).collect()
}

/// How long a thread spun between its looks, in nanoseconds. Outside of them it had the time `own`, of
/// which it spent the time `yielded` to yield its processor.
fn time_between(looks: &Looks, measuring_ps: u128, yielded: u64, own: u64) -> u64 {
    let probes = (measuring_ps as f64 / 1000.0 * looks.outside) as u64;
    let least = (looks.count as f64 * looks.least) as u64;
    let between = probes.max(least.saturating_sub(looks.ns)).max(yielded);
    let all = u128::from(looks.count) * u128::from(looks.interval_ps) / 1000;
    if all == 0 {
        return between;
    }
    let all = u64::try_from(all).unwrap_or(u64::MAX);
    let spinning = all.saturating_sub(looks.ns);
    match looks.follow_at_once() && own <= spinning.saturating_mul(2) {
        // The thread did little else: it spun for this time at least, and for all its time at most.
        true => spinning.midpoint(own.max(spinning)),
        false if looks.are_waits => spinning,
        // How much of a program's time is system time is known only roughly.
        false if spinning <= yielded.saturating_mul(2) => spinning,
        false => between.min(spinning),
    }
}

/// The time of a thread in a block outside the constructs that it entered there.
fn own_time(block: &TreeNode<'_>, thread: usize) -> u64 {
    let mut rows = block.executors().filter(|row| row.row.thread == thread);
    rows.next()
        .map_or(0, |row| Quantity::BodyTime.exclusive(&row))
}

/// The looks of a thread at a construct.
pub(super) struct Looks {
    pub(super) count: u64,
    /// The time in the looks, in nanoseconds.
    pub(super) ns: u64,
    /// The part of that time that the ledger does not know as lost, in nanoseconds.
    pub(super) unknown_ns: u64,
    /// The time in which the thread held the lock that it looks at, in nanoseconds.
    pub(super) held_ns: u64,
    /// The least time that a look takes, in nanoseconds.
    pub(super) least: f64,
    /// The part of it that is a fence.
    fence: f64,
    /// The part of the cost of measuring that falls outside the time in the looks.
    pub(super) outside: f64,
    /// The most time from one look to the next where the thread does nothing else, in picoseconds; 0 if
    /// it is not known.
    pub(super) interval_ps: u64,
    /// The time that the probes of a look take, in picoseconds.
    probes_ps: u64,
    /// Whether the thread waits from one look to the next: tests of a lock fail one after the other.
    are_waits: bool,
}

impl Looks {
    /// Whether nothing lies between one look and the next.
    fn follow_at_once(&self) -> bool {
        let most = NOTHING_BETWEEN_PS + (self.fence * 1000.0) as u64;
        (1..=most.saturating_add(self.probes_ps)).contains(&self.interval_ps)
    }

    /// Tests of a lock are looks if they fail. The ledger takes the cost of measuring off the time
    /// in a test. But a thread whose test takes longer only tests less often. A call that sets a lock is no
    /// look: one that sets a nestable lock again has no hold of its own.
    fn of(region: &Region, row: &Row, run: &Run) -> Option<Self> {
        let probes_ps = run.passed_pair_cost_ps;
        let interval_ps = row.estimate().map_or(0, |estimate| estimate.interval_ps);
        let kind = region.kind;
        if kind == RegionKind::Lock && !tests_lock(region) {
            return None;
        }
        Some(match kind {
            RegionKind::Lock => Self {
                count: row.enter().count.saturating_sub(row.body.count),
                ns: row.enter().ns,
                unknown_ns: row.enter().ns,
                held_ns: row.body.ns,
                least: FENCE,
                fence: 0.0,
                outside: OUTSIDE,
                interval_ps,
                probes_ps,
                are_waits: true,
            },
            _ => {
                let fence = match kind {
                    RegionKind::Flush if run.calls_gnu_runtime() => FENCE,
                    RegionKind::Flush => FENCE_BY_CALL,
                    _ => 0.0,
                };
                Self {
                    count: row.main.count,
                    ns: row.main.ns,
                    unknown_ns: 0,
                    held_ns: 0,
                    least: fence.max(READ),
                    fence,
                    outside: 1.0,
                    interval_ps,
                    probes_ps,
                    are_waits: false,
                }
            }
        })
    }
}

/// Whether a region is a call that tests a lock.
fn tests_lock(region: &Region) -> bool {
    let call = region.name.as_deref().unwrap_or_default();
    call.to_ascii_lowercase().contains("omp_test_")
}

/// Whether a region is an `atomic` construct that only reads.
pub(super) fn reads_atomically(region: &Region) -> bool {
    let directive = region.directive.as_deref().unwrap_or_default();
    region.kind == RegionKind::Atomic && has_read_clause(directive)
}
