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
    /// Whether it is recorded by the events of an implicit barrier.
    has_events: bool,
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
        let is_member = frame.role() == Role::Member;
        let is_first = match frame.role() {
            Role::Member => frame.within() == PseudoRegion::Body as u8,
            Role::Construct | Role::Recursive => {
                // The frame of a construct uses this field for nothing else.
                let begun = frame.barriers.get();
                frame.barriers.set(frame.start());
                begun != frame.start()
            }
            _ => return None,
        };
        construct.reports_end();
        let has_events = is_first && !is_member;
        match has_events {
            true => self.on_event(Event::ImplicitBarrierEnter, construct, now),
            false => {
                let at = now();
                self.close_above(frame, at);
                self.switch_phase_of(frame, PseudoRegion::Ibarr, at);
            }
        }
        if !is_first {
            let waits = &node.span(PseudoRegion::Ibarr).count;
            waits.add(1_u64.wrapping_neg());
        }
        Some(End {
            construct,
            has_events,
        })
    }

    /// The thread has passed that barrier.
    pub(crate) fn leave_unsplit_barrier(&'static self, end: End, now: impl Fn() -> u64) {
        match end.has_events {
            true => self.on_event(Event::ImplicitBarrierExit, end.construct, now),
            false => {
                let is_its = |top: &&Frame| {
                    top.is_construct_of(end.construct) || top.is(Role::Member, end.construct)
                };
                if let Some(top) = self.top().filter(is_its) {
                    self.switch_phase_of(top, PseudoRegion::Main, now());
                }
            }
        }
    }

    /// The frame of the construct that could not be split. Frames above it were left by `cancel`:
    /// in the construct itself no thread comes to a barrier. A loop that is one with its parallel region has the
    /// frame of the team's member.
    fn unsplit_frame(&self) -> Option<&'static Frame> {
        let mut frame = self.top()?;
        loop {
            let is_unsplit = frame.region().is_some_and(Region::is_unsplit);
            match frame.role() {
                role if role.is_construct() && !is_unsplit => frame = frame.below()?,
                role if role.is_construct() || role == Role::Member => {
                    return Some(frame).filter(|_| is_unsplit);
                }
                _ => return None,
            }
        }
    }
}
