//! The wait in which a runtime combines the parts of a reduction.
//!
//! LLVM's runtime has the members of a larger team (more than four) meet in a barrier of its own
//! before the construct ends. So no member's end tells when its work was done. The work ended when
//! the member began to combine its part. What follows is waiting.

use profile::region_kind::PseudoRegion;

use super::arrival::member_frame;
use super::frame::Role;
use super::region::Region;
use super::thread::Thread;

impl Thread {
    /// The thread began at this time to combine its part of a reduction, and has returned.
    /// `has_combined` says whether the runtime left the rest to this thread. In a barrier that
    /// happens to the thread that forked the team. Other threads to which it happens had no barrier.
    pub(crate) fn has_given_its_part(&'static self, since: u64, has_combined: bool) {
        let Some(top) = self.top() else { return };
        let has_forked = || {
            let below = member_frame(top).and_then(|member| member.below());
            below.is_some_and(|below| below.role() == Role::Fork)
        };
        let is_of_reduction = top.within() == PseudoRegion::Body as u8
            && top
                .region()
                .is_some_and(|region| region.descriptor.other.contains_key("hasReduction"));
        // A task that the thread executed while it waited had a frame above.
        let was_in_task = top.above().is_some_and(|above| above.start() >= since);
        if is_of_reduction && !was_in_task && (!has_combined || has_forked()) {
            self.has_waited_since.set(since);
        }
    }

    /// The time at which the work of the construct on top ended, if the thread has waited for other
    /// parts of its reduction since then; else `now`.
    #[inline(always)]
    pub(super) fn end_of_work(&self, now: impl Fn() -> u64) -> u64 {
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
