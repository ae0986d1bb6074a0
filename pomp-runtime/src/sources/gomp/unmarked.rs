//! Constructs whose end no call marks: single constructs, and loops that are known by what is asked
//! at their head. Such a construct is over when something comes that cannot be inside it.

use std::cell::Cell;

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::pomp::on_event;
use crate::measure::clock::now;
use crate::measure::frame::Frame;
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

/// The longest time, in ticks, that a thread without work takes from a single construct that it
/// does not execute to the barrier at its end. If the time is longer, the thread has worked after
/// the construct.
const AT_ONCE: u64 = 2_000;

/// Whether the barrier that this thread comes to is the one at the end of the single construct on
/// top.
pub(super) fn waits_at_its_end(thread: &'static Thread) -> bool {
    let Some(top) = thread.top() else {
        return false;
    };
    top.phase() == PseudoRegion::Body || now().wrapping_sub(PASSED.get()) < AT_ONCE
}

pub(super) fn begin_barrier_of_single(thread: &'static Thread) {
    let Some(single) = top_of(thread, RegionKind::Single) else {
        return;
    };
    if thread.top().map(Frame::phase) == Some(PseudoRegion::Body) {
        on_event(Event::SingleEnd, thread, single);
    }
    on_event(Event::ImplicitBarrierEnter, thread, single);
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
