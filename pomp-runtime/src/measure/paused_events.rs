//! Events while measurement is paused: threads open and close frames as ever, so that each keeps
//! its place on the call paths, but nothing is recorded.
//!
//! The clock stands still meanwhile. An instance that was open when the pause began and that ends
//! in the pause gets the pause's begin as its end. An instance that begins in the pause gets a
//! begin one tick later, by which it is recognized. If it ends in the pause, too, it leaves no
//! trace. Otherwise it begins when the pause is over.

use profile::region_kind::PseudoRegion;

use super::counters;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;
use crate::measure::collector;
use profile::event::{Action, Event};

impl Thread {
    /// When the pause began in which the thread's current event takes place; none outside of a
    /// pause.
    #[inline(always)]
    pub(crate) fn paused(&self) -> Option<u64> {
        Some(self.paused_at.get()).filter(|at| *at != 0)
    }

    /// The time of something that begins.
    #[inline(always)]
    pub(super) fn time_of_begin(&self, now: impl Fn() -> u64) -> u64 {
        self.paused().map_or_else(now, |paused| paused + 1)
    }

    /// The time of something that ends.
    #[inline(always)]
    pub(super) fn time_of_end(&self, at: u64) -> u64 {
        let last_event = || self.top().map_or(0, Frame::last_event);
        // The last event may have been under way when the pause began.
        self.paused().map_or(at, |paused| paused.max(last_event()))
    }

    /// Whether the instance of a frame has begun in the current pause.
    #[inline(always)]
    pub(super) fn is_passing(&self, frame: &Frame) -> bool {
        self.paused().is_some_and(|paused| frame.start() > paused)
    }

    /// An event in a pause.
    #[cold]
    #[inline(never)]
    pub(super) fn pass(&'static self, event: Event, region: &'static Region) {
        match event.action() {
            Action::Open(phase) => self.open_in_passing(region, phase),
            Action::OpenWork => match self.combined_member(region) {
                Some(frame) => self.switch_phase_in_passing(frame, PseudoRegion::Body),
                None => self.open_in_passing(region, PseudoRegion::Body),
            },
            Action::SwitchPhase(phase) => {
                if let Some(frame) = self.uncover(region, true, 0) {
                    self.switch_phase_in_passing(frame, phase);
                }
            }
            Action::Close => {
                if let Some(frame) = self.uncover(region, false, 0) {
                    // A collector that was notified of the begin is notified of the end.
                    if !self.is_passing(frame) {
                        collector::phases::is_skipped(frame);
                    }
                    self.end_in_passing(frame);
                }
            }
            Action::CloseWork => match self.uncover(region, true, 0) {
                Some(frame) if frame.role().is_construct() => self.end_in_passing(frame),
                Some(frame) if frame.phase() == PseudoRegion::Body => {
                    self.switch_phase_in_passing(frame, PseudoRegion::Main);
                }
                _ => {}
            },
        }
        match event {
            Event::BarrierEnter | Event::ImplicitBarrierEnter => {
                region.reports_barrier();
                self.arrive();
            }
            Event::TaskEnd => self.end_task_behind_end(|| self.time_of_end(0)),
            _ => {}
        }
    }

    pub(super) fn open_in_passing(&'static self, region: &'static Region, phase: PseudoRegion) {
        let at = self.time_of_begin(|| 0);
        match self.next_frame(region) {
            Some((frame, node)) if !node.is_special() => {
                frame.begin(Role::Construct, node, at);
                frame.start_phase(phase, at);
                self.set_top(frame);
            }
            _ => self.open_untimed(region, phase, None),
        }
    }

    fn switch_phase_in_passing(&'static self, frame: &'static Frame, phase: PseudoRegion) {
        let at = self.time_of_end(0);
        if !frame.role().is_untimed() && self.is_passing(frame) {
            return frame.start_phase(phase, frame.start());
        }
        self.switch_phase_of(frame, phase, at);
    }

    /// The frame on top ends.
    pub(super) fn end_in_passing(&'static self, frame: &'static Frame) {
        let at = self.time_of_end(0);
        match frame.role() {
            Role::Construct | Role::Recursive if self.is_passing(frame) => self.drop_frame(frame),
            Role::Fork => self.close_fork(frame, at),
            Role::Member => self.close_member(frame, at),
            Role::Ended => self.leave_barrier(frame),
            Role::Base => {}
            _ => self.close_any_construct(frame, at),
        }
    }

    /// An instance that began in a pause begins now, since the pause is over.
    pub(super) fn begin_behind_pause(&'static self, frame: &'static Frame, at: u64) {
        let Some(node) = frame.node() else { return };
        if counters::are_on() && frame.role() != Role::Fork {
            self.start_counters(frame);
        }
        match frame.role() {
            Role::Construct | Role::Recursive => self.trace_enter(frame, node, frame.phase(), at),
            Role::Fork => {
                self.trace_fork(frame, node, at);
            }
            Role::Member => {
                self.trace_begin(frame, node, 0, at, at);
                if frame.phase() != PseudoRegion::Enter {
                    node.span(PseudoRegion::Enter).add(0);
                }
            }
            _ => {}
        }
    }
}
