//! Recording events while a collector wants to be notified of them at once.
//!
//! A begin is reported after it has been recorded, an end before: in the callback a thread is in
//! the state that begins or ends. The time of callbacks counts for that state. Events that a
//! callback causes are ignored.

use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;
use crate::measure::collector;
use profile::event::{Action, Event};

impl Thread {
    /// Handles an event of a region while events need more than to be recorded.
    #[cold]
    #[inline(never)]
    pub(super) fn on_event_specially(
        &'static self,
        event: Event,
        region: &'static Region,
        now: &dyn Fn() -> u64,
    ) {
        match self.paused() {
            Some(_) => self.pass(event, region),
            None if collector::is_listening() => self.notify_and_record(event, region, now),
            None => self.record(event, region, now),
        }
    }

    /// Notifies the collector of an event of a region, and records the event.
    fn notify_and_record(
        &'static self,
        event: Event,
        region: &'static Region,
        now: &dyn Fn() -> u64,
    ) {
        let action = event.action();
        let opens = matches!(action, Action::Open(_) | Action::OpenWork);
        if let Some(frame) = self.open_frame(region, true).filter(|_| !opens) {
            // Frames that are left open above it end first.
            self.close_above(frame, now());
            collector::phases::phase_ends(frame);
        }
        self.record(event, region, now);
        if !matches!(action, Action::Close | Action::CloseWork) {
            collector::phases::phase_began(self, region);
        }
    }

    /// Whether a collector is notified of begins and ends now.
    #[inline(always)]
    pub(super) fn is_notified(&self) -> bool {
        collector::is_listening() && self.paused().is_none() && !self.waits.has_ended()
    }

    /// Reports that a thread that serves in teams starts to be idle, if it does.
    #[inline(always)]
    pub(super) fn notify_of_idleness(&self) {
        if self.is_notified() && self.top().is_some_and(|top| top.role() == Role::Base) {
            self.notify_idle();
        }
    }
}
