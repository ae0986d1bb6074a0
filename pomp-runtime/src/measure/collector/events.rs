//! The events of the collector interface. Each event, except fork and join, is the begin or the end
//! of something that a frame is in the middle of. So one table, from the frame to the pair of
//! events, serves begins, ends, and regions that an exit skips.
//!
//! A source-level instrumenter sees the begin and the end of everything in the table. It does not
//! see the following, for which something else stands:
//! - whether a thread had to wait: the pair is reported for every critical section, ordered part,
//!   atomic operation and lock, and encloses the wait. A user may ask for fewer (see `waits`);
//! - when a worker starts to be idle for the first time: the library does not know a worker before
//!   its first team. The begin and the end of that idleness are reported at once.

use profile::region_kind::{PseudoRegion, RegionKind};

/// An event, with its number in the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Event {
    Fork = 1,
    Join = 2,
    BeginIdle = 3,
    EndIdle = 4,
    BeginImplicitBarrier = 5,
    EndImplicitBarrier = 6,
    BeginBarrier = 7,
    EndBarrier = 8,
    BeginLockWait = 9,
    EndLockWait = 10,
    BeginCriticalWait = 11,
    EndCriticalWait = 12,
    BeginOrderedWait = 13,
    EndOrderedWait = 14,
    BeginMaster = 15,
    EndMaster = 16,
    BeginSingle = 17,
    EndSingle = 18,
    BeginOrdered = 19,
    EndOrdered = 20,
    BeginAtomicWait = 21,
    EndAtomicWait = 22,
    /// This event and the next belong to OpenUH's and TAU's versions of the interface.
    BeginTaskCreation = 23,
    /// The task may be executed at once or later: that is not known yet.
    EndTaskCreation = 24,
}

/// The highest number of an event.
pub(super) const LAST: usize = Event::EndTaskCreation as usize;

/// The activities of a construct that a collector distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    ImplicitBarrier,
    Barrier,
    CriticalWait,
    OrderedWait,
    Ordered,
    Master,
    Single,
    AtomicWait,
    TaskCreation,
}

impl Activity {
    /// The table: what a construct of this kind is in the middle of in this phase; none if nothing.
    pub(super) fn of(kind: RegionKind, phase: PseudoRegion) -> Option<Self> {
        use PseudoRegion::{Body, Enter, Ibarr};
        match (kind, phase) {
            // The wait for its tasks is no barrier.
            (RegionKind::Taskgroup, Ibarr) => None,
            (_, Ibarr) => Some(Self::ImplicitBarrier),
            (RegionKind::Barrier, _) => Some(Self::Barrier),
            (RegionKind::Critical, Enter) => Some(Self::CriticalWait),
            (RegionKind::Ordered, Enter) => Some(Self::OrderedWait),
            (RegionKind::Ordered, Body) => Some(Self::Ordered),
            (RegionKind::Master, _) => Some(Self::Master),
            (RegionKind::Single, Body) => Some(Self::Single),
            (RegionKind::Atomic, _) => Some(Self::AtomicWait),
            (RegionKind::Task | RegionKind::UntiedTask, _) => Some(Self::TaskCreation),
            _ => None,
        }
    }

    pub(super) fn begin(self) -> Event {
        match self {
            Self::ImplicitBarrier => Event::BeginImplicitBarrier,
            Self::Barrier => Event::BeginBarrier,
            Self::CriticalWait => Event::BeginCriticalWait,
            Self::OrderedWait => Event::BeginOrderedWait,
            Self::Ordered => Event::BeginOrdered,
            Self::Master => Event::BeginMaster,
            Self::Single => Event::BeginSingle,
            Self::AtomicWait => Event::BeginAtomicWait,
            Self::TaskCreation => Event::BeginTaskCreation,
        }
    }

    pub(super) fn end(self) -> Event {
        match self {
            Self::ImplicitBarrier => Event::EndImplicitBarrier,
            Self::Barrier => Event::EndBarrier,
            Self::CriticalWait => Event::EndCriticalWait,
            Self::OrderedWait => Event::EndOrderedWait,
            Self::Ordered => Event::EndOrdered,
            Self::Master => Event::EndMaster,
            Self::Single => Event::EndSingle,
            Self::AtomicWait => Event::EndAtomicWait,
            Self::TaskCreation => Event::EndTaskCreation,
        }
    }
}
