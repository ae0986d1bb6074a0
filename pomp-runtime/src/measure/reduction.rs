//! The parts of a reduction that threads combine at the end of a construct.
//!
//! Where the compiler has each thread combine its part, they do so one after the other: what a thread
//! does between the call that begins this and its next event is the time of its part, with the wait
//! for the parts before it.
//!
//! LLVM's runtime has the members of a larger team (more than four) meet in a barrier of its own
//! before the construct ends. So no member's end shows when its work was done. The work ended when
//! the member began to combine its part. The time after that is waiting.

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
        // A task that the thread executed while it waited had a frame above.
        let was_in_task = top.above().is_some_and(|above| above.start() >= since);
        if self.is_in_reduction() && !was_in_task {
            self.reduction_part
                .begin(since, has_combined && !has_forked());
        }
    }

    /// The thread combines its part of a reduction. It asked for its turn at this time.
    pub(crate) fn combines_its_part(&'static self, since: u64) {
        if self.is_in_reduction() {
            self.reduction_part.begin(since, true);
        }
    }

    /// Whether the construct on top is one with a reduction, and the thread is in its body.
    pub(crate) fn is_in_reduction(&self) -> bool {
        self.top().is_some_and(|top| {
            top.within() == PseudoRegion::Body as u8 && top.region().is_some_and(Region::may_reduce)
        })
    }

    /// Whether the thread combines its part of a reduction, as far as is known.
    #[inline(always)]
    pub(crate) fn is_combining(&self) -> bool {
        self.reduction_part.is_open() && self.reduction_part.is_combined()
    }

    /// The time at which the wait at the end of the construct on top began: that of the wait for
    /// other parts of its reduction, if there was one; else `now`.
    #[inline(always)]
    pub(super) fn begin_of_wait(&self, now: impl Fn() -> u64) -> u64 {
        match self.reduction_part.is_open() {
            false => now(),
            true => self.end_of_reduction(&now),
        }
    }

    #[cold]
    #[inline(never)]
    fn end_of_reduction(&self, now: &dyn Fn() -> u64) -> u64 {
        let since = self.reduction_part.end();
        let Some(top) = self.top().filter(|top| top.last_event() <= since) else {
            return now();
        };
        if !self.reduction_part.is_combined() {
            return since;
        }
        let at = now();
        if let Some(node) = top.node().filter(|_| !top.role().is_untimed()) {
            node.reduction.add(at.saturating_sub(since));
        }
        at
    }

    /// A worksharing construct without a barrier ends. A thread that waited for the parts of others
    /// has waited in it all the same.
    #[cold]
    #[inline(never)]
    pub(super) fn separate_wait(&'static self, region: &'static Region) {
        if let Some(top) = self.top().filter(|top| top.is(Role::Construct, region))
            && !self.reduction_part.is_combined()
        {
            let since = self.reduction_part.end();
            if top.last_event() <= since {
                self.switch_phase_of(top, PseudoRegion::Ibarr, since);
            }
        }
    }
}
