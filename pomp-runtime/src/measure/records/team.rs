//! The records of teams: what a fork gives out, and where members find it.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::{ForkingThread, ForkingThreads, Node, Open, PassedTeams, Team, TeamPath};
use crate::hash::FACTOR;
use crate::measure::shared::{SharedRef, leak};

impl Team {
    pub(in crate::measure) fn set_passed(&self, is_passed: bool) {
        self.is_passed.store(is_passed, Ordering::Relaxed);
    }

    /// Whether its members are passed over.
    #[inline(always)]
    pub(in crate::measure) fn is_passed(&self) -> bool {
        self.is_passed.load(Ordering::Relaxed)
    }

    /// Whether the thread with the block at this address has forked it.
    #[inline(always)]
    pub(in crate::measure) fn is_forked_by(&self, thread: usize) -> bool {
        self.thread.get() == thread as u64
    }

    /// Whether its last instance was forked by this node, in a team of this initial thread.
    #[inline(always)]
    pub(in crate::measure) fn was_forked_by_node(&self, node: &'static Node, initial: u64) -> bool {
        self.node.is(node) && self.initial.get() == initial
    }

    /// Opens the next instance of this team, whose members are passed over. They find it in the
    /// record of the forking thread, as they found the last one. Returns the id of the instance.
    #[inline(always)]
    pub(in crate::measure) fn opens_passed(&'static self, fork: &'static Node, at: u64) -> u64 {
        self.fork.set(at);
        self.set_passed(true);
        if let Some(forker) = self.forker.get() {
            forker.open.team.set(Some(self));
            forker.open.passed.set(Some(fork));
        }
        self.next_instance()
    }

    /// Closes such an instance.
    #[inline(always)]
    pub(in crate::measure) fn closes_passed(&'static self) {
        self.set_passed(false);
        if let Some(forker) = self.forker.get() {
            forker.close(self);
        }
    }

    /// Whether its members find it by their region, and get no handle.
    #[inline(always)]
    pub(in crate::measure) fn is_announced(&self) -> bool {
        self.forker.get().is_some()
    }

    /// Goes on to its next instance, and returns the id.
    #[inline(always)]
    pub(in crate::measure) fn next_instance(&self) -> u64 {
        self.instance.add(1);
        self.instance()
    }

    pub(in crate::measure) fn initial(&self) -> u64 {
        self.initial.get()
    }

    pub(in crate::measure) fn instance(&self) -> u64 {
        self.instance.get()
    }

    pub(in crate::measure) fn fork_time(&self) -> u64 {
        self.fork.get()
    }

    /// Notes where its members find it.
    pub(in crate::measure) fn announce(&self, forker: &'static ForkingThread) {
        self.forker.set(Some(forker));
    }
}

impl PassedTeams {
    /// A team was timed, which took this many ticks. Compares it with those that were passed over since the last
    /// timed one: earlier ones may have had other work. `passed`: how many teams were passed over until now, and
    /// their ticks. A difference counts as `most` ticks at most, in either direction. A larger one has another
    /// reason: a thread was interrupted, or had more work.
    pub(in crate::measure) fn compare(&self, ticks: u64, passed: (u64, u64), most: u64) {
        let (number, sum) = passed;
        let before = &self.passed;
        let since = number.saturating_sub(before.count.get());
        let ticks_since = sum.saturating_sub(before.ticks.get());
        if let Some(mean) = ticks_since.checked_div(since) {
            let most = most.cast_signed();
            let longer = ticks.wrapping_sub(mean).cast_signed();
            self.compared.add(1);
            self.longer.add(longer.clamp(-most, most).cast_unsigned());
        }
        before.count.set(number);
        before.ticks.set(sum);
    }

    /// How many ticks longer a timed team takes than one that is passed over. None if too few were compared.
    pub(crate) fn longer_ticks(&self) -> Option<u64> {
        const ENOUGH: u64 = 64;
        let number = self.compared.get();
        let longer = self.longer.get().cast_signed().max(0).cast_unsigned();
        (number >= ENOUGH).then(|| longer / number)
    }
}

/// This bit is set in the handle of a team that is passed over. It is free, since the target of a
/// handle is aligned.
const PASSED: usize = 1;

/// The handle that the program passes from a fork to the members of its team. It says whether they
/// record their begin and end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TeamHandle {
    /// The members record their begin and end, in this team.
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

impl TeamPath {
    /// The place that is reached as member `numbers` of nested teams.
    #[inline(always)]
    pub(crate) fn of(numbers: impl Iterator<Item = u32>) -> Self {
        let start = Self { level: 0, way: 0 };
        numbers.fold(start, |outer, number| Self {
            level: outer.level + 1,
            way: outer
                .way
                .wrapping_mul(FACTOR)
                .wrapping_add(u64::from(number) + 1),
        })
    }
}

impl Open {
    /// The handle of the team, as its members would get it.
    #[inline(always)]
    pub(in crate::measure) fn handle(&self) -> Option<TeamHandle> {
        match self.passed.get() {
            Some(fork) => Some(TeamHandle::PassedOver(fork)),
            None => self.team.get().map(TeamHandle::Team),
        }
    }
}

impl ForkingThreads {
    pub(in crate::measure) const fn none() -> Self {
        Self(SharedRef::none())
    }

    pub(in crate::measure) fn iter(&self) -> impl Iterator<Item = &'static ForkingThread> {
        std::iter::successors(self.0.get(), |forker| forker.next.get())
    }

    /// The entry of a thread; made at its first fork.
    pub(in crate::measure) fn entry(
        &self,
        place: TeamPath,
        initial: u64,
    ) -> Option<&'static ForkingThread> {
        self.iter()
            .find(|forker| forker.place == place && forker.initial == initial)
            .or_else(|| self.add(place, initial))
    }

    #[cold]
    #[inline(never)]
    fn add(&self, place: TeamPath, initial: u64) -> Option<&'static ForkingThread> {
        let forker = leak(ForkingThread {
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

impl ForkingThread {
    /// The team was joined.
    pub(in crate::measure) fn close(&self, team: &'static Team) {
        if self.open.team.is(team) {
            self.open.team.set(None);
            self.open.passed.set(None);
        }
    }
}
