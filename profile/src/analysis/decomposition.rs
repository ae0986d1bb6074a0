//! POMPROF's decomposition of the time of each thread at each place:
//!
//! ```text
//! time = before + work + barrier + after          (tau = dB + gamma + beta + dE)
//! imbalance of a thread = (work - least work) / least work, in percent
//! runtime overhead = before + after
//! ```
//!
//! Where the instrumenter made the implicit barrier explicit, it is measured.
//! Where it could not, all that is known of a team's end is `exit = barrier +
//! after`. The last thread to arrive does not wait, so the smallest `exit` of
//! the team is taken for the runtime's `after` of all, and the rest for waiting:
//! POMPROF's estimate. A worksharing construct that was not split shows neither
//! its work nor its wait, and so nothing but its time.
//!
//! Tasks executed while waiting are work.

use super::tables::Table;
use crate::columns::Quantity;
use crate::model::{Profile, Region};
use crate::region_kind::RegionKind;

/// How the barrier's time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// It was measured.
    Measured,
    /// It was estimated from the times of leaving.
    Estimated,
    /// There is none.
    None,
    /// It cannot be told from the work.
    Hidden,
}

impl Barrier {
    /// The word in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Estimated => "estimated",
            Self::None => "none",
            Self::Hidden => "hidden",
        }
    }
}

/// The time of one thread at one place, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// Index of the thread.
    pub thread: usize,
    /// Number of executions.
    pub count: u64,
    /// All of it.
    pub time_ns: u64,
    /// The runtime's work before.
    pub before_ns: u64,
    /// The structured block, and tasks.
    pub work_ns: u64,
    /// Waiting at the barrier.
    pub barrier_ns: u64,
    /// The runtime's work after.
    pub after_ns: u64,
    /// How much more work than the thread with least, in percent of that one's;
    /// none if that one had none, or if work is not known.
    pub imbalance: Option<f64>,
}

impl Parts {
    /// What the runtime took.
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
    /// How the barrier is known.
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

    /// The highest imbalance; none if there is none to tell.
    #[must_use]
    pub fn highest_imbalance(&self) -> Option<f64> {
        let all = self.threads.iter().filter_map(|parts| parts.imbalance);
        all.reduce(f64::max)
    }
}

/// How the time of each region is taken apart. There is as much of it as of the profile,
/// and writers look at it region by region: it is made when they do.
#[derive(Debug)]
pub(crate) struct Decompositions {
    /// Per region; none if POMPROF does not profile its kind.
    barriers: Vec<Option<Barrier>>,
    /// Per region the least of all its threads; empty while tables have all threads.
    least: Vec<Least>,
}

/// What the thread had that had least.
#[derive(Clone, Copy, Debug, Default)]
struct Least {
    work_ns: u64,
    after_ns: u64,
}

impl Least {
    fn of(threads: &[Parts]) -> Self {
        let least = |metric: fn(&Parts) -> u64| threads.iter().map(metric).min().unwrap_or(0);
        Self {
            work_ns: least(|parts| parts.work_ns),
            after_ns: least(|parts| parts.after_ns),
        }
    }
}

impl Decompositions {
    pub(crate) fn new(profile: &Profile) -> Self {
        let measured = measured_barriers(profile);
        let regions = profile.regions.iter().zip(measured);
        let barrier = |(region, measured): (&Region, bool)| {
            is_profiled(region.kind).then(|| barrier(region, measured))
        };
        Self {
            barriers: regions.map(barrier).collect(),
            least: Vec::new(),
        }
    }

    /// That of the region of a flat table.
    pub(crate) fn of(&self, table: &Table) -> Option<Decomposition> {
        let barrier = self.barriers[table.region]?;
        let mut threads = parts(table);
        let least = self.least.get(table.region).copied();
        let least = least.unwrap_or_else(|| Least::of(&threads));
        if barrier == Barrier::Estimated {
            estimate(&mut threads, least.after_ns);
        }
        if barrier != Barrier::Hidden {
            compare(&mut threads, least.work_ns);
        }
        Some(Decomposition {
            region: table.region,
            barrier,
            threads,
        })
    }

    /// Threads are about to be left out, with whom the others are still compared.
    pub(super) fn remember_all_threads(&mut self, flat: &[Table]) {
        self.least = vec![Least::default(); self.barriers.len()];
        for table in flat {
            self.least[table.region] = Least::of(&parts(table));
        }
    }
}

/// Parallel regions, work that is shared in them, and functions or other regions that
/// the user marked.
fn is_profiled(kind: RegionKind) -> bool {
    use RegionKind::{Loop, Scope, Sections, User, Workshare};
    kind.is_parallel() || matches!(kind, Loop | Sections | Workshare | Scope | User)
}

fn barrier(region: &Region, was_measured: bool) -> Barrier {
    match &region.unsplit {
        _ if was_measured => Barrier::Measured,
        None => Barrier::None,
        Some(_) if region.kind.is_parallel() => Barrier::Estimated,
        Some(_) => Barrier::Hidden,
    }
}

/// Per region whether it had a barrier of ours.
fn measured_barriers(profile: &Profile) -> Vec<bool> {
    let mut measured = vec![false; profile.regions.len()];
    for node in &profile.nodes {
        if let Some(measured) = measured.get_mut(node.region) {
            *measured |= node.rows.iter().any(|row| row.ibarr.count > 0);
        }
    }
    measured
}

/// What a thread's parts are made of.
const COLUMNS: [Quantity; 6] = [
    Quantity::ExecCount,
    Quantity::ExecTime,
    Quantity::EnterTime,
    Quantity::BarrierTime,
    Quantity::ExitTime,
    Quantity::ManagementTime,
];

fn parts(table: &Table) -> Vec<Parts> {
    let columns = COLUMNS.map(|quantity| table.column(quantity));
    let rows = table.rows().map(|(thread, cells)| {
        let values = columns.map(|column| column.map_or(0, |column| cells[column]));
        parts_of(thread, values)
    });
    rows.collect()
}

fn parts_of(thread: usize, values: [u64; COLUMNS.len()]) -> Parts {
    let [count, time_ns, before_ns, barrier_ns, exit, management] = values;
    let after_ns = exit + management;
    Parts {
        thread,
        count,
        time_ns,
        before_ns,
        // What is left, so that the parts are the whole; also tasks.
        work_ns: time_ns.saturating_sub(before_ns + barrier_ns + after_ns),
        barrier_ns,
        after_ns,
        imbalance: None,
    }
}

/// POMPROF's estimate: who arrives last does not wait.
fn estimate(threads: &mut [Parts], least_ns: u64) {
    for parts in threads {
        parts.barrier_ns += parts.after_ns - least_ns;
        parts.after_ns = least_ns;
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
