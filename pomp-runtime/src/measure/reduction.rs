//! The wait in which a runtime combines the parts of a reduction.
//!
//! LLVM's runtime has the members of a larger team (more than four) meet in a barrier of its own
//! before the construct ends. So no member's end tells when its work was done. The work ended when
//! the member began to combine its part. What follows is waiting.

use profile::region_kind::PseudoRegion;

use super::arrival::member_frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;

impl Thread {
    /// The runtime's call that combines the parts of a reduction began at this time, and has
    /// returned. `has_combined` says whether the runtime left the rest to this thread. If members
    /// met in a barrier, the runtime leaves it to the thread that forked the team, and to no other.
    pub(crate) fn has_given_its_part(&'static self, since: u64, has_combined: bool) {
        let Some(top) = self.top() else { return };
        let has_forked = || {
            let below = member_frame(top).and_then(|member| member.below());
            below.is_some_and(|below| below.role() == Role::Fork)
        };
        let is_of_reduction = top.within() == PseudoRegion::Body as u8
            && top.region().is_some_and(Region::has_reduction);
        // A task that the thread executed while it waited had a frame above.
        let was_in_task = top.above().is_some_and(|above| above.start() >= since);
        if is_of_reduction && !was_in_task && (!has_combined || has_forked()) {
            self.has_waited_since.set(since);
        }
    }

    /// The time at which the wait at the end of the construct on top began: that of the wait for
    /// other parts of its reduction, if there was one; else `now`.
    #[inline(always)]
    pub(super) fn begin_of_wait(&self, now: impl Fn() -> u64) -> u64 {
        match self.has_waited_since.get() {
            0 => now(),
            since => self.end_of_reduction(since).unwrap_or_else(now),
        }
    }

    #[cold]
    #[inline(never)]
    fn end_of_reduction(&self, since: u64) -> Option<u64> {
        self.has_waited_since.set(0);
        let is_current = self.top().is_some_and(|top| top.last_event() <= since);
        is_current.then_some(since)
    }

    /// A worksharing construct without a barrier ends. The thread has waited in it all the same.
    #[cold]
    #[inline(never)]
    pub(super) fn separate_wait(&'static self, region: &'static Region) {
        if let Some(top) = self.top().filter(|top| top.is(Role::Construct, region))
            && let Some(since) = self.end_of_reduction(self.has_waited_since.get())
        {
            self.switch_phase_of(top, PseudoRegion::Ibarr, since);
        }
    }
}
