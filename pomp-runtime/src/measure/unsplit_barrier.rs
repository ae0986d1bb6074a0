//! The barrier that ends a construct which could not be split.

use profile::event::Event;
use profile::region_kind::PseudoRegion;

use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;

/// The barrier of a construct.
#[derive(Clone, Copy)]
pub(crate) struct End {
    construct: &'static Region,
    /// Whether the construct had no other before.
    is_first: bool,
}

impl Thread {
    /// The thread is about to wait in a barrier of its runtime. If the thread is in a construct
    /// that could not be split, the wait counts for the construct.
    ///
    /// Some compilers have such a barrier in front of the construct's work, too. That is
    /// waiting as well; the construct still ends once.
    pub(crate) fn arrive_at_unsplit_barrier(&'static self, now: impl Fn() -> u64) -> Option<End> {
        let frame = self.unsplit_frame()?;
        let (construct, node) = (frame.region()?, frame.node()?);
        if !matches!(frame.role(), Role::Construct | Role::Recursive) {
            return None;
        }
        construct.tells_of_end();
        // The frame of a construct uses this field for nothing else.
        let is_first = frame.barriers.get() != frame.start();
        frame.barriers.set(frame.start());
        match is_first {
            true => self.on_event(Event::ImplicitBarrierEnter, construct, now),
            false => {
                self.switch_phase_of(frame, PseudoRegion::Ibarr, now());
                let waits = &node.span(PseudoRegion::Ibarr).count;
                waits.add(1_u64.wrapping_neg());
            }
        }
        Some(End {
            construct,
            is_first,
        })
    }

    /// The thread has passed that barrier.
    pub(crate) fn leave_unsplit_barrier(&'static self, end: End, now: impl Fn() -> u64) {
        match end.is_first {
            true => self.on_event(Event::ImplicitBarrierExit, end.construct, now),
            false => {
                if let Some(top) = self.top().filter(|top| top.is_construct_of(end.construct)) {
                    self.switch_phase_of(top, PseudoRegion::Main, now());
                }
            }
        }
    }

    /// The frame of the construct that could not be split. Frames above it were left by `cancel`:
    /// in the construct itself no thread comes to a barrier.
    fn unsplit_frame(&self) -> Option<&'static Frame> {
        let mut frame = self.top()?;
        while frame.role().is_construct() {
            if frame.region().is_some_and(Region::is_unsplit) {
                return Some(frame);
            }
            frame = frame.below()?;
        }
        None
    }
}
