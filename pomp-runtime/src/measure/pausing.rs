//! Measurement that the program switches off and on again.
//!
//! A pause takes no time: regions that are open go on after it as if the program had stood still.
//! Threads go on to open and close frames in a pause, so that regions after it have their place on
//! the call paths. A region that both begins and ends in a pause is not recorded (`paused_events`).
//!
//! No frame is changed when a pause begins or ends. At its next event each thread moves the times
//! of its own frames by the lengths of the pauses since its last event.

use super::records::Frame;
use super::records::frame::Role;
use super::thread::{self, Thread};
use super::{pause, quiesce, state};

/// The program switches measurement off.
pub(crate) fn switch_off() {
    thread::inside(pause::switch_off);
}

/// The program switches measurement on again.
pub(crate) fn switch_on() {
    thread::inside(pause::switch_on);
}

impl Thread {
    /// Does what is to be done before the next event: puts on the stack what is passed over, leaves
    /// an old team, stands still, and moves frames over pauses. Returns whether the event is to be
    /// measured.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&'static self) -> bool {
        if self.pass_table.is_passing() {
            self.put_on_stack();
        } else if self.passed_member.is_in() {
            self.put_member_on_stack(false);
        } else {
            self.leave_old_team();
        }
        self.pass_table.forget_place();
        self.clear_catch_up_request();
        if self.is_up_to_date(pause::mark()) {
            return true;
        }
        quiesce::stand(self);
        if !state::is_on_or_paused() {
            return false;
        }
        let over = pause::over();
        for number in self.pauses()..over {
            if let Some((begin, end)) = pause::of_number(number) {
                self.skip(begin, end);
            }
        }
        self.set_pauses(over);
        self.clear_catch_up_request();
        let paused = pause::begin().unwrap_or(0);
        if paused != self.paused_at.get() {
            self.forget_locks();
        }
        self.paused_at.set(paused);
        true
    }

    /// Moves the open frames over a pause.
    pub(super) fn skip(&'static self, begin: u64, end: u64) {
        self.forget_locks();
        self.leave_teams_joined_before(begin);
        let mut frame = self.top();
        while let Some(open) = frame.filter(|open| open.role() != Role::Base) {
            if !open.role().is_untimed() {
                self.move_over(open, begin, end);
            }
            frame = open.below();
        }
    }

    /// Frames that `cancel` has left open ended when their team was joined.
    fn leave_teams_joined_before(&'static self, begin: u64) {
        let Some(top) = self.top() else { return };
        let mut frames = std::iter::successors(Some(top), |frame| frame.below());
        let member = frames.find(|frame| frame.role().is_member());
        if member
            .and_then(Frame::stale_since)
            .is_some_and(|join| join <= begin)
        {
            self.leave_frames(top, begin);
        }
    }

    fn move_over(&'static self, frame: &'static Frame, begin: u64, end: u64) {
        let has_begun_in_it = frame.start() > begin;
        frame.move_over(begin, end);
        if has_begun_in_it {
            self.begin_behind_pause(frame, end);
        }
    }

    /// Whether a frame has begun in the current pause.
    pub(crate) fn has_begun_in_pause(&self, frame: &Frame) -> bool {
        pause::begin().is_some_and(|begin| self.paused_at.get() == begin && frame.start() > begin)
    }

    /// Whether there was a pause since its last event, or one lasts.
    pub(crate) fn is_paused(&self) -> bool {
        pause::was_since(self.pauses())
    }
}

impl Frame {
    /// As if the pause had taken no time.
    fn move_over(&self, begin: u64, end: u64) {
        let moved = |at: u64| at.min(begin).wrapping_add(end.wrapping_sub(begin));
        self.start.set(moved(self.start()));
        self.phase_start.set(moved(self.phase_start.get()));
    }
}
