//! The lists of a profile with data beyond sums: distributions of the times of a region's
//! instances, late arrivals at barriers, and contention.
//!
//! Each list is optional. Older profiles have none, and a library leaves a list empty if it
//! does not measure it. The lists do not repeat data of the rows: means and totals come from
//! the rows.

use serde::{Deserialize, Serialize};

use crate::region_kind::PseudoRegion;

/// The distribution of the times of one pseudo-region's instances.
///
/// Usually there is one entry per region, for all threads. Several entries for the same region
/// and part belong to one distribution: a reader adds them up. Only instances that were timed
/// one by one are counted. So the sum of the buckets equals the `count` of the rows unless some
/// instances were counted but not timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Index in [`super::Profile::regions`].
    pub region: usize,
    /// Index in [`super::Profile::threads`]; none for all threads together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<usize>,
    /// The pseudo-region to which the instances belong: `seq` of a parallel region (fork to
    /// join, once per instance), `main` of every other region. Further parts are allowed.
    pub part: PseudoRegion,
    /// Shortest instance in nanoseconds.
    pub min_ns: u64,
    /// Longest instance in nanoseconds.
    pub max_ns: u64,
    /// Number of instances by time, shortest first; empty buckets are left out.
    pub histogram: Vec<Bucket>,
}

/// The instances that took from `from_ns` to less than `below_ns`.
///
/// Bounds are given with each bucket because they depend on the clock: a library that counts by
/// powers of two of ticks converts them when it saves the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Shortest time in this bucket, in nanoseconds.
    pub from_ns: u64,
    /// Shortest time above this bucket, in nanoseconds; larger than `from_ns`.
    pub below_ns: u64,
    /// Number of instances, at least 1.
    pub count: u64,
}

/// How often one thread was the last to come to a barrier.
///
/// There is an entry for each thread that was last at least once. Instances with a single
/// thread are not counted, since no thread waits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Index in [`super::Profile::regions`].
    pub region: usize,
    /// Which wait: `main` of a barrier, `ibarr` of a region that ends with one.
    pub part: PseudoRegion,
    /// Index in [`super::Profile::threads`].
    pub thread: usize,
    /// Number of instances in which it came last.
    pub last: u64,
    /// Over these instances, the time between the arrival of the last but one thread and this
    /// one: all others together could have gone on that much earlier. Nanoseconds.
    pub late_ns: u64,
    /// Over these instances, the time between the first arrival and this one, which is the
    /// longest wait. Nanoseconds; 0 if it was not measured.
    #[serde(default)]
    pub after_first_ns: u64,
}

/// The kinds of resources that only one thread can hold at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardKind {
    /// All `critical` sections with the same name.
    Critical,
    /// A lock, or several locks that are created at one place.
    Lock,
    /// One `atomic` construct. The name of the updated variable is not known.
    Atomic,
}

/// A resource that only one thread can hold at a time, with its holders and waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contention {
    /// The kind of resource.
    pub kind: GuardKind,
    /// Name of the critical section, empty if it has none. For a lock, an identifier (its
    /// address, `0x7ffe...`). Empty for an atomic.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How many locks this entry stands for: a library may combine many.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub members: u64,
    /// The places in the source where threads ask for it, one entry each.
    pub sites: Vec<ContentionSite>,
}

impl Contention {
    /// For how long it was held in a run of this duration, in nanoseconds. An estimate may say more, but one
    /// resource is held by one thread at a time.
    #[must_use]
    pub fn held_ns(&self, duration_ns: u64) -> u64 {
        let held = self.sites.iter().map(|site| site.hold_ns).sum();
        match self.members {
            1 => duration_ns.min(held),
            _ => held,
        }
    }
}

/// The events at one place in the source, of all threads together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentionSite {
    /// Index in [`super::Profile::regions`]: the critical section, the call
    /// that sets the lock, the atomic construct.
    pub region: usize,
    /// How often a thread got the resource here.
    pub acquisitions: u64,
    /// How many of these acquisitions found that another thread held it. Of acquisitions that were
    /// not timed ([`ContentionSite::timed`]), this is not known.
    pub waited: u64,
    /// Time to get the resource, with or without waiting, in nanoseconds. For an atomic, wait
    /// and update cannot be distinguished, so it is the time of both.
    pub wait_ns: u64,
    /// Longest of these times in nanoseconds; 0 if it was not measured.
    #[serde(default)]
    pub max_wait_ns: u64,
    /// Time for which threads that got the resource here held it, in nanoseconds.
    pub hold_ns: u64,
    /// The holders when a thread began to wait here, most often first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
}

impl ContentionSite {
    /// How many of the acquisitions were timed: the same part as of all instances of the region, of which
    /// [`super::Profile::timed_instances`] tells.
    #[must_use]
    pub fn timed(&self, instances: &[[u64; 2]]) -> u64 {
        let [timed, all] = instances[self.region].map(u128::from);
        let timed = u128::from(self.acquisitions) * timed / all.max(1);
        u64::try_from(timed)
            .unwrap_or(u64::MAX)
            .min(self.acquisitions)
    }
}

/// The holder of a resource while other threads waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Index in [`super::Profile::regions`]: the place where the holder got the resource.
    pub region: usize,
    /// Index in [`super::Profile::threads`] of the holder; none if any thread may have been the
    /// holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<usize>,
    /// How many of [`ContentionSite::waited`] found this holder.
    pub waited: u64,
    /// Time of these acquisitions, in nanoseconds; 0 if it was not measured.
    #[serde(default)]
    pub wait_ns: u64,
}

fn one() -> u64 {
    1
}

fn is_one(members: &u64) -> bool {
    *members == 1
}
