//! When members come to a barrier, from which follows who comes last ([`lateness`](super::lateness)).
//!
//! Each member of a team writes the time of its arrival into a cache line of its own. The member
//! that forked the team looks at all of them when the barrier lets it go. By then every member has
//! arrived, and none can have arrived at the barrier after the next one. So two places that are
//! used in turn are enough. Each time carries the number of its barrier. A member that skipped a
//! barrier (`cancel`) is noticed by that number, and the barrier is left out.
//!
//! If the barrier at the end of a parallel region has no events of its own, members write the time
//! at which their part ended, and the time at which the last task that they executed after it
//! ended. The thread that forked looks for the latest of these times at the join (`ended`).

use super::records::Frame;
use super::thread::Thread;

impl Thread {
    /// This thread has just arrived at a barrier; the event is recorded.
    #[inline(always)]
    pub(super) fn arrive(&self) {
        let Some(top) = self.top() else { return };
        let Some(member) = member_frame(top) else {
            return;
        };
        let number = member.barriers.get();
        member.barriers.set(number.wrapping_add(1));
        if let Some(slot) = member.slot.get().filter(|_| !top.role().is_untimed()) {
            slot.arrivals[number as usize % 2].set(number, top.last_event());
        }
    }

    /// This thread arrives at a barrier that is passed over.
    #[inline(always)]
    pub(super) fn counts_barrier(&self) {
        if let Some(member) = self.top().and_then(member_frame) {
            member.barriers.add(1);
        }
    }
}

impl Frame {
    /// Of a member frame: records that the member's part ends.
    pub(super) fn record_end(&self, at: u64) {
        if let Some(slot) = self.slot.get() {
            slot.end.set(self.instance(), at);
            slot.done.set(self.instance(), at);
        }
    }

    /// Of a member frame: records when the last task after its part ended; `None` while it lasts.
    pub(super) fn record_last_task(&self, ended: Option<u64>) {
        if let Some(slot) = self.slot.get() {
            match ended {
                Some(at) => slot.done.set(self.instance(), at),
                None => slot.done.number.set(0),
            }
        }
    }

    /// Of a member frame: has the thread that forked record when the team was released.
    pub(super) fn await_release(&'static self) {
        self.release.await_time(self.instance());
        if let Some(slot) = self.slot.get() {
            slot.release.set(Some(&self.release));
        }
    }

    /// Of a member frame: when its team was released, if that was recorded.
    pub(crate) fn released(&self) -> Option<u64> {
        self.release.of(self.instance()).filter(|at| *at != 0)
    }
}

/// The innermost frame of a team member. The search passes all constructs above it, so nothing that
/// happens in each step of a recursion may search.
#[inline(always)]
pub(super) fn member_frame(top: &'static Frame) -> Option<&'static Frame> {
    let mut frame = top;
    while frame.role().is_construct() {
        frame = frame.below()?;
    }
    frame.role().is_member().then_some(frame)
}
