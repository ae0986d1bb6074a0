//! Counts for a collector: the waits of a thread, and the threads in a region.

use std::sync::atomic::AtomicU64;

use super::shared::SharedU64;

/// A kind of wait that has ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ImplicitBarrier = 0,
    Barrier = 1,
    Lock = 2,
    Critical = 3,
    Ordered = 4,
    Atomic = 5,
}

/// The counts of a thread's waits.
#[derive(Debug)]
pub(crate) struct WaitCounts {
    /// How many there were of each kind.
    pub(super) counts: [SharedU64; 6],
    /// Address of the frame that could wait and does not; 0 if there is none.
    pub(super) passing: SharedU64,
    /// The construct that combines its parts of a reduction, by its begin, and the phase
    /// that it is in meanwhile; 0 if none did.
    pub(super) reducing: [SharedU64; 2],
    /// 1 while the end of idleness is reported.
    pub(super) is_waking: SharedU64,
    /// The session in which the thread was reported to be idle; 0 if in none.
    pub(super) was_idle: SharedU64,
    /// 1 if the thread has ended. Its open frames are then not reported: the next thread that uses
    /// the block would report them, and it did not begin them.
    has_ended: SharedU64,
}

impl WaitCounts {
    pub(crate) const fn new() -> Self {
        Self {
            counts: [const { SharedU64::new(0) }; 6],
            passing: SharedU64::new(0),
            reducing: [const { SharedU64::new(0) }; 2],
            is_waking: SharedU64::new(0),
            was_idle: SharedU64::new(0),
            has_ended: SharedU64::new(0),
        }
    }

    /// The thread has ended.
    pub(crate) fn end(&self) {
        self.has_ended.set(1);
    }

    /// A thread begins, which has had no wait.
    pub(crate) fn begin(&self) {
        let others = [
            &self.passing,
            &self.is_waking,
            &self.was_idle,
            &self.has_ended,
        ];
        for word in self.counts.iter().chain(&self.reducing).chain(others) {
            word.set(0);
        }
    }

    /// Whether the thread has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.get() != 0
    }
}

/// How many threads are in a region that is for one at a time. The upper half is the number of the
/// session, since a session that sees a thread enter may be over before the thread leaves.
#[derive(Debug, Default)]
pub(crate) struct Occupants(pub(super) AtomicU64);

impl Occupants {
    pub(crate) const fn none() -> Self {
        Self(AtomicU64::new(0))
    }
}
