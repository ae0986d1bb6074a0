//! Of the time of atomic updates: what their expressions work, and what is a wait.

use crate::model::{Profile, Row, Span};

/// The shortest of many updates does not wait. If it takes this many nanoseconds, the expression of
/// the update is most of it.
const WORKS_NS: u64 = 200;

/// An update waits no longer than this many nanoseconds for each thread of the program. It is several times
/// what an update takes that locks a mutex, as those of large types do.
const FOR_EACH_THREAD_NS: u64 = 500;

/// What the updates of an atomic construct do.
#[derive(Debug)]
pub(super) struct Updates {
    /// By thread: how long the expression works in each update, in nanoseconds.
    work_ns: Vec<u64>,
    /// By thread: how long each update waits at most, in nanoseconds.
    wait_ns: Vec<u64>,
    /// Whether the expression calls functions with constructs in them. Then the time is mostly that of
    /// the functions.
    calls_constructs: bool,
}

impl Updates {
    /// The updates of a region. `calls_constructs` says whether a call path leads to another construct
    /// from them.
    pub(super) fn of(profile: &Profile, region: usize, calls_constructs: bool) -> Self {
        let mut work_ns = vec![0; profile.threads.len()];
        let long = profile
            .distributions
            .iter()
            .filter(|of| of.region == region && of.min_ns >= WORKS_NS);
        for of in long {
            if let Some(work) = of.thread.and_then(|thread| work_ns.get_mut(thread)) {
                *work = of.min_ns;
            }
        }
        // Threads of other ranks are other programs.
        let beside = |rank| profile.threads.iter().filter(|it| it.rank == rank).count() as u64;
        let ranks = profile.threads.iter().map(|thread| thread.rank);
        Self {
            work_ns,
            wait_ns: ranks
                .map(|rank| FOR_EACH_THREAD_NS * beside(rank))
                .collect(),
            calls_constructs,
        }
    }

    /// How long a thread waited in its updates, in nanoseconds.
    pub(super) fn wait_of(&self, row: &Row) -> u64 {
        let Span { count, ns, .. } = row.main;
        match (
            self.calls_constructs,
            self.work_ns.get(row.thread),
            self.wait_ns.get(row.thread),
        ) {
            (false, Some(work), Some(wait)) => ns
                .saturating_sub(count.saturating_mul(*work))
                .min(count.saturating_mul(*wait)),
            _ => 0,
        }
    }
}
