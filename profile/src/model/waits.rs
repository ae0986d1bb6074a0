//! The lists of a profile that are more than sums: distributions of the times of a region's
//! instances, late arrivals at barriers, and contention.
//!
//! Each list is optional: older profiles have none, and a library leaves a list empty if it
//! does not measure this. The lists repeat nothing of the rows: means and totals come from the
//! rows.

use serde::{Deserialize, Serialize};

use crate::region_kind::PseudoRegion;

/// How the times of the instances of one pseudo-region are spread.
///
/// Usually there is one per region, about all threads. Several about the same
/// region and part are parts of one distribution: a reader adds them up. They
/// count what was timed one by one, so that the bucket's sum is the `count` of
/// the rows unless some instances were counted but not timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Index in [`super::Profile::regions`].
    pub region: usize,
    /// Index in [`super::Profile::threads`]; none for all threads together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<usize>,
    /// Whose instances: `seq` of a parallel region (fork to join, once per
    /// instance), `main` of every other; further parts may be given too.
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
/// Bounds are given with each bucket because they follow the clock: a library
/// that counts by powers of two of ticks converts them when it saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Shortest time that belongs here, in nanoseconds.
    pub from_ns: u64,
    /// Shortest time that does not any more; above `from_ns`.
    pub below_ns: u64,
    /// Number of instances, at least 1.
    pub count: u64,
}

/// How often one thread was the last to come to a barrier.
///
/// There is an entry for each thread that was last at least once. Instances
/// with a single thread are not counted, since nobody waits there.
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
    /// Over these instances, how long after the one before it it came: what
    /// all others together could have gone on earlier. Nanoseconds.
    pub late_ns: u64,
    /// Over these instances, how long after the first it came: the longest
    /// wait. Nanoseconds; 0 if it was not measured.
    #[serde(default)]
    pub after_first_ns: u64,
}

/// What kind of thing threads keep each other out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GuardKind {
    /// All `critical` sections of one name.
    Critical,
    /// A lock, or several that are made at one place.
    Lock,
    /// One `atomic` construct: what it updates is not known by name.
    Atomic,
}

/// Something that one thread at a time can have, with who had it and waited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contention {
    /// What kind of thing.
    pub kind: GuardKind,
    /// Name of the critical section, empty if it has none; of a lock, what
    /// tells it from others (its address, `0x7ffe...`). Empty for an atomic.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How many locks are taken together here; a library may fold many.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub members: u64,
    /// Where it is asked for: one entry per place in the source.
    pub sites: Vec<ContentionSite>,
}

/// What happened at one place in the source, all threads together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentionSite {
    /// Index in [`super::Profile::regions`]: the critical section, the call
    /// that sets the lock, the atomic construct.
    pub region: usize,
    /// How often a thread got it here.
    pub acquisitions: u64,
    /// How many of these found that another thread had it.
    pub waited: u64,
    /// Time to get it, waiting or not, in nanoseconds. For an atomic, whose
    /// wait and update cannot be told apart, the time of both.
    pub wait_ns: u64,
    /// Longest of these times in nanoseconds; 0 if it was not measured.
    #[serde(default)]
    pub max_wait_ns: u64,
    /// Time that it was held by who got it here, in nanoseconds.
    pub hold_ns: u64,
    /// Who had it when a thread began to wait here, most often first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
}

/// Who had it while others waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Index in [`super::Profile::regions`]: where the holder had got it.
    pub region: usize,
    /// Index in [`super::Profile::threads`] of the holder; none for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<usize>,
    /// How many of [`ContentionSite::waited`] found it so.
    pub waited: u64,
    /// Their time to get it, in nanoseconds; 0 if it was not measured.
    #[serde(default)]
    pub wait_ns: u64,
}

fn one() -> u64 {
    1
}

fn is_one(members: &u64) -> bool {
    *members == 1
}
