//! Constructs whose end no call marks: single constructs, and loops that are known by what is asked
//! at their head. Such a construct is over when something comes that cannot be inside it.
//!
//! A barrier behind a single construct may be the one at its end, or another one, if the construct
//! has `nowait`. Nothing tells them apart here. So each is a region of its own, which is joined with
//! the construct when the program has ended and its source says that the barrier is the one at the
//! end.

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::pomp::on_event;
use crate::measure::clock::now;
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

pub(super) fn top_of(thread: &'static Thread, kind: RegionKind) -> Option<&'static Region> {
    thread.top()?.region().filter(|region| region.kind == kind)
}

/// Ends the loop on top of the stack, if there is one.
pub(super) fn leave_loop(thread: &'static Thread) {
    leave_loop_at(thread, now);
}

/// Ends the loop on top of the stack, if there is one, at a time.
pub(super) fn leave_loop_at(thread: &'static Thread, at: impl Fn() -> u64) {
    let region = top_of(thread, RegionKind::Loop).filter(|region| region.is_known_by_its_head());
    if let Some(region) = region
        && thread
            .top()
            .is_some_and(|top| top.phase() == PseudoRegion::Body)
    {
        thread.on_event(Event::LoopExit, region, at);
    }
}

/// Ends the single construct on top, if this thread executes one.
pub(super) fn leave_single(thread: &'static Thread) {
    if let Some(single) = top_of(thread, RegionKind::Single) {
        on_event(Event::SingleEnd, thread, single);
        on_event(Event::SingleExit, thread, single);
    }
}
