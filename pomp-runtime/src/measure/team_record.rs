//! The records of teams: what a fork gives out, and where members find it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::frame::Frame;
use super::shared::{SharedRef, SharedU64, leak};
use super::slots::Slots;
use crate::measure::calls::node::Node;

/// One instance of a parallel region, from fork to join. Reused by the next
/// fork at the same depth of the same thread. Two cache lines wide, since
/// processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Team {
    /// The fork frame.
    pub(super) frame: SharedRef<Frame>,
    /// The node of the fork frame. It is kept here so that members need not read the frame: the
    /// thread that forked goes on writing to the frame and to the memory beside it.
    pub(super) node: SharedRef<Node>,
    /// The block of the thread that forked, by its address.
    pub(super) thread: SharedU64,
    /// Time of the fork.
    pub(super) fork: SharedU64,
    /// Its label in the trace, 0 if there is none.
    pub(super) label: SharedU64,
    /// The initial thread that it descends from.
    pub(super) initial: SharedU64,
    /// For how many instances this one stands; 0 if none of the region is passed over.
    pub(super) weight: SharedU64,
    /// Whether its members are passed over.
    is_passed: AtomicBool,
    /// The id of the instance: the number of this record in the upper bits, and
    /// how often it was used.
    pub(super) instance: SharedU64,
    /// Where its members find it, if they get no handle.
    pub(super) forker: SharedRef<Forker>,
    /// Where the members record their arrivals at barriers.
    pub(super) slots: Slots,
}

impl Team {
    pub(super) fn set_passed(&self, is_passed: bool) {
        self.is_passed.store(is_passed, Ordering::Relaxed);
    }

    /// Whether its members are passed over.
    #[inline(always)]
    pub(super) fn is_passed(&self) -> bool {
        self.is_passed.load(Ordering::Relaxed)
    }

    /// Whether the thread with the block at this address has forked it.
    #[inline(always)]
    pub(super) fn is_forked_by(&self, thread: usize) -> bool {
        self.thread.get() == thread as u64
    }

    pub(super) fn initial(&self) -> u64 {
        self.initial.get()
    }

    pub(super) fn instance(&self) -> u64 {
        self.instance.get()
    }

    pub(super) fn fork_time(&self) -> u64 {
        self.fork.get()
    }

    /// Notes where its members find it.
    pub(super) fn announce(&self, forker: &'static Forker) {
        self.forker.set(Some(forker));
    }
}

/// The record of a fork node whose teams may be passed over.
#[derive(Debug, Default)]
pub(crate) struct PassedTeams {
    /// How many teams are still to be passed over, and how many were since the last timed one.
    pub(super) left: AtomicU32,
    pub(super) since: SharedU64,
    /// How many teams were timed, their ticks from fork to join, and the time of the last such
    /// join.
    pub(super) timed: SharedU64,
    pub(super) ticks: SharedU64,
    pub(super) last: SharedU64,
    /// How many teams whose members may be passed over the thread had forked at that join.
    pub(super) forked: SharedU64,
    /// The latest team that was passed over.
    pub(super) team: SharedRef<Team>,
}

impl PassedTeams {
    /// The mean ticks of the timed teams; 0 if there is none yet.
    pub(crate) fn timed_ticks(&self) -> u64 {
        self.ticks.get() / self.timed.get().max(1)
    }
}

/// This bit is set in the handle of a team that is passed over. It is free, since the target of a
/// handle is aligned.
const PASSED: usize = 1;

/// The handle that the program passes from a fork to the members of its team. It says whether they
/// record their begin and end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TeamHandle {
    /// They record them, in this team.
    Team(&'static Team),
    /// They only count, since they are passed over. The node is that of the fork.
    PassedOver(&'static Node),
}

impl TeamHandle {
    pub(crate) fn into_pointer(self) -> *mut c_void {
        let handle: *const c_void = match self {
            Self::Team(team) => std::ptr::from_ref(team).cast(),
            Self::PassedOver(fork) => std::ptr::from_ref(fork)
                .cast::<c_void>()
                .map_addr(|address| address | PASSED),
        };
        handle.cast_mut()
    }

    /// # Safety
    /// The handle comes from `into_pointer`, or is null.
    #[inline(always)]
    pub(crate) unsafe fn of_pointer(handle: *const c_void) -> Option<Self> {
        let pointer = handle.map_addr(|address| address & !PASSED);
        // SAFETY: as the caller promises; teams and nodes are never freed.
        unsafe {
            match handle.addr() & PASSED {
                0 => pointer.cast::<Team>().as_ref().map(Self::Team),
                _ => pointer.cast::<Node>().as_ref().map(Self::PassedOver),
            }
        }
    }
}

/// Where a thread stands in the tree of teams that an initial thread has forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TeamPath {
    level: u32,
    /// A hash of the member numbers on the way. Each step is reversible, so only long ways can
    /// collide, with a probability of one in 2^64.
    way: u64,
}

impl TeamPath {
    /// The place that is reached as member `numbers` of nested teams.
    #[inline(always)]
    pub(crate) fn of(numbers: impl Iterator<Item = u32>) -> Self {
        let start = Self { level: 0, way: 0 };
        numbers.fold(start, |outer, number| Self {
            level: outer.level + 1,
            way: outer
                .way
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(u64::from(number) + 1),
        })
    }
}

/// The threads that have forked teams of a region. The list grows at the front only.
#[derive(Debug)]
pub(super) struct Forkers(pub(super) SharedRef<Forker>);

/// A thread that has forked teams of a region: the one at a place below an initial thread.
#[derive(Debug)]
pub(super) struct Forker {
    pub(super) place: TeamPath,
    pub(super) initial: u64,
    pub(super) next: SharedRef<Forker>,
    pub(super) open: Open,
}

/// The team that is open. It is on cache lines of its own, since it changes with each fork while
/// other threads search the list.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Open {
    pub(super) team: SharedRef<Team>,
    /// The node of its fork, if its members are passed over.
    pub(super) passed: SharedRef<Node>,
}

impl Open {
    /// The handle of the team, as its members would get it.
    #[inline(always)]
    pub(super) fn handle(&self) -> Option<TeamHandle> {
        match self.passed.get() {
            Some(fork) => Some(TeamHandle::PassedOver(fork)),
            None => self.team.get().map(TeamHandle::Team),
        }
    }
}

impl Forkers {
    pub(super) const fn none() -> Self {
        Self(SharedRef::none())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'static Forker> {
        std::iter::successors(self.0.get(), |forker| forker.next.get())
    }

    /// The entry of a thread; made at its first fork.
    pub(super) fn entry(&self, place: TeamPath, initial: u64) -> Option<&'static Forker> {
        self.iter()
            .find(|forker| forker.place == place && forker.initial == initial)
            .or_else(|| self.add(place, initial))
    }

    #[cold]
    #[inline(never)]
    fn add(&self, place: TeamPath, initial: u64) -> Option<&'static Forker> {
        let forker = leak(Forker {
            place,
            initial,
            next: SharedRef::none(),
            open: Open::default(),
        })?;
        loop {
            let first = self.0.get();
            forker.next.set(first);
            if self.0.replace_if(first, forker) {
                return Some(forker);
            }
        }
    }
}

impl Forker {
    /// The team was joined.
    pub(super) fn close(&self, team: &'static Team) {
        if self.open.team.is(team) {
            self.open.team.set(None);
            self.open.passed.set(None);
        }
    }
}
