//! Divides the time of atomic updates into the work of their expressions and waiting.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Profile, Row, Span};
use crate::region_kind::RegionKind;

/// The shortest of many updates does not wait. If it takes this many nanoseconds, the expression of
/// the update is most of it.
const SHORTEST_WITH_WORK_NS: u64 = 200;

/// An update waits no longer than this many nanoseconds for each thread of the program. It is several
/// times what an update takes that locks a mutex, as those of large types do.
const MOST_WAIT_PER_THREAD_NS: u64 = 500;

/// How long atomic updates wait at most, and how long their expressions work.
#[derive(Debug)]
pub(super) struct Updates {
    /// By region and thread: how long the expression works in each update, in nanoseconds. None where
    /// that is next to nothing.
    work_ns: BTreeMap<(usize, usize), u64>,
    /// By thread: how long each update waits at most, in nanoseconds.
    most_wait_ns: Vec<u64>,
    /// Regions whose expressions call functions with constructs in them. Then the time is mostly that
    /// of the functions.
    calling: BTreeSet<usize>,
}

impl Updates {
    /// The updates of a profile. Constructs are called from the expressions of the regions `calling`.
    pub(super) fn of(profile: &Profile, calling: BTreeSet<usize>) -> Self {
        let is_update = |region: usize| {
            let region = profile.regions.get(region);
            region.is_some_and(|region| region.kind == RegionKind::Atomic)
        };
        let distributions = profile.distributions.iter();
        let long = distributions.filter(|of| of.min_ns >= SHORTEST_WITH_WORK_NS);
        let work_ns = long
            .filter(|of| is_update(of.region))
            .filter_map(|of| Some(((of.region, of.thread?), of.min_ns)))
            .collect();
        // Threads of other ranks are other programs.
        let mut of_rank = BTreeMap::new();
        for thread in &profile.threads {
            *of_rank.entry(thread.rank).or_default() += MOST_WAIT_PER_THREAD_NS;
        }
        let threads = profile.threads.iter();
        Self {
            work_ns,
            most_wait_ns: threads.map(|thread| of_rank[&thread.rank]).collect(),
            calling,
        }
    }

    /// How long a thread waited in its updates of a region, in nanoseconds.
    pub(super) fn wait_of(&self, region: usize, row: &Row) -> u64 {
        if self.calling.contains(&region) {
            return 0;
        }
        let Span { count, ns, .. } = row.main;
        let work = self.work_ns.get(&(region, row.thread)).copied();
        let most = self.most_wait_ns.get(row.thread).copied();
        ns.saturating_sub(count.saturating_mul(work.unwrap_or(0)))
            .min(count.saturating_mul(most.unwrap_or(0)))
    }
}
