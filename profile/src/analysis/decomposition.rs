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

/// What POMPROF profiles: parallel regions, work that is shared in them, and
/// functions or other regions that the user marked.
pub(crate) fn analyse(profile: &Profile, flat: &[Table]) -> Vec<Decomposition> {
    let measured = measured_barriers(profile);
    flat.iter()
        .filter(|table| is_profiled(profile.regions[table.region].kind))
        .map(|table| {
            let barrier = barrier(&profile.regions[table.region], measured[table.region]);
            decompose(barrier, table)
        })
        .collect()
}

fn is_profiled(kind: RegionKind) -> bool {
    use RegionKind::{Loop, Scope, Sections, User, Workshare};
    kind.is_parallel() || matches!(kind, Loop | Sections | Workshare | Scope | User)
}

fn decompose(barrier: Barrier, table: &Table) -> Decomposition {
    let mut threads: Vec<Parts> = table
        .rows()
        .map(|(thread, cells)| parts(table, thread, cells))
        .collect();
    if barrier == Barrier::Estimated {
        estimate(&mut threads);
    }
    if barrier != Barrier::Hidden {
        compare(&mut threads);
    }
    Decomposition {
        region: table.region,
        barrier,
        threads,
    }
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

fn parts(table: &Table, thread: usize, cells: &[u64]) -> Parts {
    let of = |quantity| table.column(quantity).map_or(0, |column| cells[column]);
    let tasks = of(Quantity::TaskTime);
    let [time_ns, barrier_ns] = [Quantity::ExecTime, Quantity::BarrierTime].map(of);
    let before_ns = of(Quantity::EnterTime);
    let after_ns = of(Quantity::ExitTime) + of(Quantity::ManagementTime);
    Parts {
        thread,
        count: of(Quantity::ExecCount),
        time_ns,
        before_ns,
        // What is left, so that the parts are the whole.
        work_ns: time_ns
            .saturating_sub(before_ns + barrier_ns + after_ns)
            .max(tasks.min(time_ns)),
        barrier_ns,
        after_ns,
        imbalance: None,
    }
}

/// POMPROF's estimate: who arrives last does not wait.
fn estimate(threads: &mut [Parts]) {
    let least = threads
        .iter()
        .map(|parts| parts.after_ns)
        .min()
        .unwrap_or(0);
    for parts in threads {
        parts.barrier_ns += parts.after_ns - least;
        parts.after_ns = least;
    }
}

fn compare(threads: &mut [Parts]) {
    let least = threads.iter().map(|parts| parts.work_ns).min().unwrap_or(0);
    if least == 0 {
        return;
    }
    for parts in threads {
        parts.imbalance = Some(100.0 * (parts.work_ns - least) as f64 / least as f64);
    }
}
