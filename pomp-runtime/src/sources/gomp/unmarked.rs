//! Constructs whose end no call marks: single constructs, and loops that are known by what is asked
//! at their head. Such a construct is over when something comes that cannot be inside it.
//!
//! A barrier behind such a construct may be the one at its end, or another one, if the construct has
//! `nowait`. Nothing tells them apart here. So each is a region of its own, which is joined with the
//! construct when the program has ended and its source says that the barrier is the one at the end.

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::pomp::on_event;
use crate::measure::passed::{self, is_passed_over};
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

pub(super) fn top_of(thread: &'static Thread, kind: RegionKind) -> Option<&'static Region> {
    thread.top()?.region().filter(|region| region.kind == kind)
}

/// Ends such a construct if this thread passes it over. Must be called before the event that ends
/// it is reported.
#[inline(always)]
pub(super) fn leave_passed_over() {
    if passed::open_instance().is_some() {
        let _ =
            is_passed_over(Event::SingleExit, || None) || is_passed_over(Event::LoopExit, || None);
    }
}

/// Ends such constructs on top of the stack. Returns whether there was one.
#[inline(always)]
pub(super) fn leave(thread: &'static Thread) -> bool {
    let mut has_left = false;
    let region = top_of(thread, RegionKind::Loop).filter(|region| region.is_known_by_its_head());
    if let Some(region) = region
        && thread
            .top()
            .is_some_and(|top| top.phase() == PseudoRegion::Body)
    {
        on_event(Event::LoopExit, thread, region);
        has_left = true;
    }
    if let Some(single) = top_of(thread, RegionKind::Single) {
        on_event(Event::SingleEnd, thread, single);
        on_event(Event::SingleExit, thread, single);
        has_left = true;
    }
    has_left
}
