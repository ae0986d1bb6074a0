//! POMPROF's decomposition of the time of each thread at each place:
//!
//! ```text
//! time = before + work + waits + barrier + after     (tau = dB + gamma + beta + dE)
//! imbalance of a thread = (work - least work) / least work, in percent
//! runtime overhead = before + after
//! ```
//!
//! `waits` is the time that the thread lost at constructs inside. POMPROF counts it as work,
//! even for a thread that only waits. The time for which a thread had forked a nested team is
//! in no part, since that team has it. So the work of all threads of a parallel region adds up
//! to the region's useful time.
//!
//! [`super::estimate`] says how the time at the barrier is known. If it cannot be separated from the
//! work, only the total time is given. Tasks executed while waiting are work.

use super::tables::Table;
use super::tree::Tree;
use crate::columns::Quantity;
use crate::model::{Profile, Region};
use crate::region_kind::Barrier;

/// The time of one thread at one place, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// Index of the thread.
    pub thread: usize,
    /// Number of executions.
    pub count: u64,
    /// The total time.
    pub time_ns: u64,
    /// The runtime's work before the structured block.
    pub before_ns: u64,
    /// The structured block, and tasks.
    pub work_ns: u64,
    /// Time lost at constructs inside.
    pub waits_ns: u64,
    /// Waiting at the barrier.
    pub barrier_ns: u64,
    /// The runtime's work after the structured block.
    pub after_ns: u64,
    /// By how many percent this thread has more work than the thread with the least; none if
    /// that thread had no work, or if work is not known.
    pub imbalance: Option<f64>,
}

impl Parts {
    /// The time of the runtime: before and after.
    #[must_use]
    pub fn runtime_ns(&self) -> u64 {
        self.before_ns + self.after_ns
    }
}

/// The decomposition of a region's time.
#[derive(Clone, Debug)]
pub struct Decomposition {
    /// Index of the region.
    pub region: usize,
    /// How the time at the barrier is known.
    pub barrier: Barrier,
    /// One per thread.
    pub threads: Vec<Parts>,
}

impl Decomposition {
    /// The highest value of a metric over the threads.
    #[must_use]
    pub fn highest(&self, metric: impl Fn(&Parts) -> u64) -> u64 {
        self.threads.iter().map(metric).max().unwrap_or(0)
    }

    /// The highest imbalance; none if no thread has one.
    #[must_use]
    pub fn highest_imbalance(&self) -> Option<f64> {
        let all = self.threads.iter().filter_map(|parts| parts.imbalance);
        all.reduce(f64::max)
    }
}

/// How the time of each region is decomposed. The decompositions are as large as the profile,
/// and writers use them region by region. So each is made on demand.
#[derive(Debug)]
pub(crate) struct Decompositions {
    /// For each region, how the time at its barrier is known; none if POMPROF does not profile
    /// its kind.
    barriers: Vec<Option<Barrier>>,
    /// For each profiled region, the time inside that is no work there, by thread.
    inside: Vec<Vec<Inside>>,
    /// For each region, the least values of all its threads; empty while tables contain all
    /// threads.
    least: Vec<Least>,
}

/// Time of a thread inside a region that is no part of its work there.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    thread: usize,
    forked_ns: u64,
    lost_ns: u64,
}

/// The least work of any thread.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    work_ns: u64,
}

impl Least {
    fn of(threads: &[Parts]) -> Self {
        let least = |metric: fn(&Parts) -> u64| threads.iter().map(metric).min().unwrap_or(0);
        Self {
            work_ns: least(|parts| parts.work_ns),
        }
    }
}

impl Decompositions {
    pub(crate) fn new(profile: &Profile, tree: &Tree<'_>) -> Self {
        let barriers = barriers(profile, tree);
        Self {
            inside: inside(tree, &barriers),
            barriers,
            least: Vec::new(),
        }
    }

    fn parts(&self, table: &Table) -> Vec<Parts> {
        let inside = &self.inside[table.region];
        let columns = COLUMNS.map(|quantity| table.column(quantity));
        let rows = table.rows().map(|(thread, cells)| {
            let values = columns.map(|column| column.map_or(0, |column| cells[column]));
            let at = inside.binary_search_by_key(&thread, |row| row.thread);
            let inside = at.map_or_else(|_| Inside::default(), |at| inside[at]);
            parts_of(thread, values, inside)
        });
        rows.collect()
    }

    /// The decomposition of the region of a flat table.
    pub(crate) fn of(&self, table: &Table) -> Option<Decomposition> {
        let barrier = self.barriers[table.region]?;
        let mut threads = self.parts(table);
        let least = self.least.get(table.region).copied();
        let least = least.unwrap_or_else(|| Least::of(&threads));
        if barrier != Barrier::Hidden {
            compare(&mut threads, least.work_ns);
        }
        Some(Decomposition {
            region: table.region,
            barrier,
            threads,
        })
    }

    /// Keeps the values of all threads before some are left out: the others are still compared
    /// with them.
    pub(super) fn remember_all_threads(&mut self, flat: &[Table]) {
        self.least = vec![Least::default(); self.barriers.len()];
        for table in flat {
            self.least[table.region] = Least::of(&self.parts(table));
        }
    }
}

/// For each region, how the time at its barrier is known; none if POMPROF does not profile its
/// kind.
fn barriers(profile: &Profile, tree: &Tree<'_>) -> Vec<Option<Barrier>> {
    let mut has_wait = vec![false; profile.regions.len()];
    let mut is_outside = vec![false; profile.regions.len()];
    for node in &tree.nodes {
        has_wait[node.region] |= node.rows().any(|row| row.row.ibarr.count > 0);
        is_outside[node.region] |= node.rows().any(|row| node.is_untold(row.row));
    }
    let barrier = |(index, region): (usize, &Region)| {
        let barrier = match Barrier::of(region) {
            _ if is_outside[index] => Barrier::Hidden,
            Barrier::Measured if !has_wait[index] => Barrier::None,
            barrier => barrier,
        };
        region.kind.has_parts().then_some(barrier)
    };
    profile.regions.iter().enumerate().map(barrier).collect()
}

fn inside(tree: &Tree<'_>, barriers: &[Option<Barrier>]) -> Vec<Vec<Inside>> {
    let mut regions: Vec<Vec<Inside>> = vec![Vec::new(); barriers.len()];
    let outermost = tree.nodes.iter().filter(|node| !node.repeats);
    for node in outermost.filter(|node| barriers[node.region].is_some()) {
        let rows = node.executors().map(|row| Inside {
            thread: row.row.thread,
            forked_ns: row.nested.forked,
            lost_ns: row.nested.lost(),
        });
        let did = |row: &Inside| row.forked_ns > 0 || row.lost_ns > 0;
        regions[node.region].extend(rows.filter(did));
    }
    for rows in &mut regions {
        rows.sort_by_key(|row| row.thread);
        rows.dedup_by(|next, row| {
            let is_same = next.thread == row.thread;
            if is_same {
                row.forked_ns += next.forked_ns;
                row.lost_ns += next.lost_ns;
            }
            is_same
        });
    }
    regions
}

/// The quantities from which a thread's parts are computed.
const COLUMNS: [Quantity; 6] = [
    Quantity::ExecCount,
    Quantity::ExecTime,
    Quantity::EnterTime,
    Quantity::BarrierTime,
    Quantity::ExitTime,
    Quantity::ManagementTime,
];

fn parts_of(thread: usize, values: [u64; COLUMNS.len()], inside: Inside) -> Parts {
    let [count, time_ns, before_ns, barrier_ns, exit, management] = values;
    let time_ns = time_ns.saturating_sub(inside.forked_ns);
    let after_ns = exit + management;
    let around_ns = before_ns + barrier_ns + after_ns;
    let waits_ns = inside.lost_ns.min(time_ns.saturating_sub(around_ns));
    Parts {
        thread,
        count,
        time_ns,
        before_ns,
        // The rest, so that the parts add up to the whole; this includes tasks.
        work_ns: time_ns.saturating_sub(around_ns + waits_ns),
        waits_ns,
        barrier_ns,
        after_ns,
        imbalance: None,
    }
}

fn compare(threads: &mut [Parts], least_ns: u64) {
    if least_ns == 0 {
        return;
    }
    for parts in threads {
        parts.imbalance = Some(100.0 * (parts.work_ns - least_ns) as f64 / least_ns as f64);
    }
}
