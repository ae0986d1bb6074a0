//! Parallel efficiency, and the factors by which it is lost.
//!
//! ```text
//! efficiency   = useful thread time / thread time that there was
//! load balance = mean useful time of a thread / largest useful time
//! the rest     = largest useful time / mean time that a thread had
//! efficiency   = load balance x the rest
//! ```
//!
//! Useful time is thread time that is neither an overhead of [`crate::overheads`] nor unknown
//! (see [`super::estimate`]). Load balance shows the gain of an even distribution of the work.
//! The rest shows the loss even though the busiest thread always has work: waiting for a turn,
//! contention, the runtime, serial parts. If teams change their size, the second quotient can
//! exceed one. It is then taken as one, and load balance is the whole efficiency. If more
//! threads exist one after another than ever worked at once, the load is assumed to be
//! balanced.
//!
//! Useful time and thread time are computed for:
//!
//! - A **parallel region**: the members of its teams from fork to join, without the time for
//!   which a member had forked a nested team.
//! - A **level** of nesting: all parallel regions at that level, by thread.
//! - The **program**: duration x largest number of threads at once. A thread that forks a team
//!   is the same as that team's first member.
//!
//! So the times of regions add up to the times of levels. The times of levels, the serial part
//! and the unused time add up to the time of the program. The same holds for useful times.

use std::collections::BTreeMap;

use super::overheads::Overheads;
use super::tree::{Tree, TreeNode};
use super::{NEGLIGIBLE, Share};
use crate::columns::{Measures, Quantity};
use crate::model::{Profile, Thread};
use crate::overheads::costs_of;

/// An efficiency and its factors, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Efficiency {
    /// Useful part of the thread time.
    pub total: f64,
    /// Mean useful time divided by largest useful time.
    pub load_balance: f64,
    /// The efficiency that remains if the load is balanced.
    pub rest: f64,
    /// Useful thread time in nanoseconds.
    pub useful_ns: u64,
    /// The part of the time that may or may not have been useful, in nanoseconds.
    pub untold_ns: u64,
    /// The thread time that there was, in nanoseconds.
    pub time_ns: u64,
}

impl Efficiency {
    /// Whether so much time is unknown that the factors say nothing.
    #[must_use]
    pub fn is_untold(&self) -> bool {
        Share::of(self.untold_ns, self.time_ns).percent >= NEGLIGIBLE
    }
}

/// Efficiencies of a run.
#[derive(Clone, Debug)]
pub struct Efficiencies {
    /// Of the whole program; none if it had no parallel region.
    pub program: Option<Efficiency>,
    /// Of each level of nesting, the outermost first.
    pub levels: Vec<Efficiency>,
    /// Of each parallel region that ran, in the order of
    /// [`Overheads::regions`].
    pub regions: Vec<(usize, Efficiency)>,
}

/// The time of one thread, and how much of it was useful or may have been useful.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    time: u64,
    useful: u64,
    untold: u64,
}

/// Uses by thread; a thread may occur several times.
type Uses = Vec<(usize, Use)>;

pub(crate) fn analyse(profile: &Profile, tree: &Tree<'_>, overheads: &Overheads) -> Efficiencies {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    let mut levels: Vec<Uses> = Vec::new();
    let mut regions: Vec<Uses> = vec![Vec::new(); profile.regions.len()];
    for node in &tree.nodes {
        let above = node.scope.map_or(0, |scope| depths[scope]);
        depths.push(above + usize::from(node.kind.is_parallel()));
        if node.kind.is_parallel() {
            let uses = uses(node);
            levels.resize(levels.len().max(above + 1), Vec::new());
            levels[above].extend_from_slice(&uses);
            regions[node.region].extend(uses);
        }
    }
    let threads = profile.threads.len();
    let of_region = |row: &super::ParallelRegion| {
        let uses = &regions[row.region];
        (row.region, factors(uses, distinct(uses, threads), threads))
    };
    let at_level = |uses: &Uses| factors(uses, distinct(uses, threads), threads);
    Efficiencies {
        program: (!levels.is_empty()).then(|| program(profile, overheads, &levels)),
        levels: levels.iter().map(at_level).collect(),
        regions: overheads.regions.iter().map(of_region).collect(),
    }
}

/// The time of each member of a parallel node's teams, and its useful part.
fn uses(node: &TreeNode<'_>) -> Uses {
    let costs: Vec<Quantity> = costs_of(node.kind).map(|cost| cost.quantity).collect();
    let use_of = |member: Measures<'_>| {
        let time = member.row.main.ns.saturating_sub(member.nested.forked);
        let here: u64 = costs.iter().map(|cost| cost.inclusive(&member)).sum();
        let untold = node.untold_ns(&member) + member.nested.untold;
        let lost = here + member.nested.lost();
        let useful = time.saturating_sub(lost).saturating_sub(untold);
        let part = Use {
            time,
            useful,
            untold,
        };
        (member.row.thread, part)
    };
    node.executors().map(use_of).collect()
}

/// The number of different threads in the list.
fn distinct(uses: &Uses, threads: usize) -> u64 {
    let mut seen = vec![false; threads];
    uses.iter().for_each(|(thread, _)| seen[*thread] = true);
    seen.into_iter().filter(|seen| *seen).count() as u64
}

fn factors(uses: &Uses, members: u64, threads: usize) -> Efficiency {
    let mut useful = vec![0; threads];
    let (mut time, mut untold) = (0, 0);
    for (thread, part) in uses {
        useful[*thread] += part.useful;
        time += part.time;
        untold += part.untold;
    }
    efficiency(useful.into_iter(), untold, time, members)
}

/// The efficiency of the program: each thread's useful time in its innermost teams; the initial
/// thread also has the serial part.
fn program(profile: &Profile, overheads: &Overheads, levels: &[Uses]) -> Efficiency {
    let mut useful: BTreeMap<Processor<'_>, u64> = BTreeMap::new();
    for (thread, part) in levels.iter().flatten() {
        let processor = processor(&profile.threads[*thread]);
        *useful.entry(processor).or_default() += part.useful;
    }
    // Each process had one serial part, which its first initial thread executed.
    let outside = overheads.outside.total() / overheads.processes.max(1);
    let serial = overheads.serial.ns.saturating_sub(outside);
    let initial = profile.threads.iter().filter(|it| it.is_initial());
    let first: BTreeMap<Option<u32>, &Thread> = initial.rev().map(|it| (it.rank, it)).collect();
    for thread in first.into_values() {
        *useful.entry(processor(thread)).or_default() += serial;
    }
    efficiency(
        useful.into_values(),
        overheads.untold.ns,
        overheads.thread_time_ns,
        overheads.threads,
    )
}

/// The processor that executes a thread: the rank, and the thread's path without the zeros at
/// the end, since a team's first member is the thread that forked the team.
pub type Processor<'t> = (Option<u32>, &'t [u32]);

/// The processor of a thread.
#[must_use]
pub fn processor(thread: &Thread) -> Processor<'_> {
    let mut path = thread.path.as_slice();
    while let [outer @ .., 0] = path
        && !outer.is_empty()
    {
        path = outer;
    }
    (thread.rank, path)
}

fn efficiency(
    useful: impl Iterator<Item = u64>,
    untold_ns: u64,
    time_ns: u64,
    threads: u64,
) -> Efficiency {
    let (mut useful_ns, mut largest) = (0, 0);
    for useful in useful {
        useful_ns += useful;
        largest = largest.max(useful);
    }
    let useful_ns = useful_ns.min(time_ns);
    let quotient = |a: f64, b: f64| if b == 0.0 { 0.0 } else { a / b };
    let total = quotient(useful_ns as f64, time_ns as f64);
    let rest = quotient(largest as f64 * threads as f64, time_ns as f64);
    let rest = rest.max(total).min(1.0);
    Efficiency {
        total,
        load_balance: quotient(total, rest).min(1.0),
        rest,
        useful_ns,
        untold_ns,
        time_ns,
    }
}
