//! Constructs whose end no call marks: single constructs, and loops that are known by what is asked
//! at their head. Such a construct is over when something comes that cannot be inside it.
//!
//! A barrier behind a single construct may be the one at its end, or another one, if the construct
//! has `nowait`. Nothing tells them apart here. So each is a region of its own, which is joined with
//! the construct when the program has ended and its source says that the barrier is the one at the
//! end.

use std::cell::Cell;

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::pomp::on_event;
use crate::measure::clock::now;
use crate::measure::region::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

pub(super) fn top_kind(thread: &'static Thread) -> Option<RegionKind> {
    Some(thread.top()?.region()?.kind)
}

pub(super) fn top_of(thread: &'static Thread, kind: RegionKind) -> Option<&'static Region> {
    thread.top()?.region().filter(|region| region.kind == kind)
}

/// Whether a region is a loop that was found by what was asked at its head.
pub(super) fn is_head(region: &'static Region) -> bool {
    region.kind == RegionKind::Loop && region.descriptor.schedule.is_some()
}

/// Ends the loop on top of the stack, if there is one.
pub(super) fn leave_loop(thread: &'static Thread) {
    let region = top_of(thread, RegionKind::Loop).filter(|region| is_head(region));
    if let Some(region) = region
        && thread
            .top()
            .is_some_and(|top| top.phase() == PseudoRegion::Body)
    {
        on_event(Event::LoopExit, thread, region);
    }
}

thread_local! {
    /// When this thread passed the latest single construct that it does not execute.
    static PASSED: Cell<u64> = const { Cell::new(0) };
}

/// This thread passes a single construct that it does not execute.
#[inline(always)]
pub(super) fn pass_single() {
    PASSED.set(now());
}

/// Ends the single construct on top, if there is one. For a thread that does not execute it, the
/// construct ended when the thread passed it.
pub(super) fn leave_single(thread: &'static Thread) {
    let Some((top, single)) = thread.top().zip(top_of(thread, RegionKind::Single)) else {
        return;
    };
    let passed = PASSED.get();
    match top.phase() {
        PseudoRegion::Body => {
            on_event(Event::SingleEnd, thread, single);
            on_event(Event::SingleExit, thread, single);
        }
        _ => thread.on_event(Event::SingleExit, single, || passed),
    }
}
