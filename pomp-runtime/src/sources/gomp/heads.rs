//! Loops with a static schedule, which GCC's compilers spread without the runtime. At the
//! head of such a loop the program asks for the number of threads and then for the number
//! of this thread. The user's code may ask the same: which of both it was is decided with
//! the source, when the program has ended.

use std::cell::Cell;

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::pomp::report;
use super::runtime::asked;
use super::shapes::{tell, top_of};
use super::site;
use super::table::Entry;
use crate::measure::frame::Role;
use crate::measure::region::Region;
use crate::measure::thread::Thread;
use profile::event::Event;

type Ask = unsafe extern "C-unwind" fn() -> usize;

/// How far apart the two calls are at most, in bytes.
const NEAR: usize = 48;

thread_local! {
    /// Where this thread asked last how many threads there are.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// How many threads there are.
///
/// # Safety
/// Only for the stubs: `caller` is where the call returns to.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn head_begins<E: Entry>(
    _a: usize,
    _b: usize,
    _c: usize,
    _d: usize,
    _e: usize,
    _f: usize,
    _padding: usize,
    caller: usize,
) -> usize {
    ASKED.set(caller);
    // SAFETY: the runtime's function of this name takes nothing.
    unsafe {
        let function: Ask = std::mem::transmute(site::function::<E>(caller));
        function()
    }
}

/// Who this thread is.
///
/// # Safety
/// As for [`head_begins`].
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn head_ends<E: Entry>(
    _a: usize,
    _b: usize,
    _c: usize,
    _d: usize,
    _e: usize,
    _f: usize,
    _padding: usize,
    caller: usize,
) -> usize {
    if super::own::holds(caller) {
        return asked::thread_num();
    }
    // SAFETY: the runtime's function of this name takes nothing.
    let result = unsafe {
        let function: Ask = std::mem::transmute(site::function::<E>(caller));
        function()
    };
    if caller.wrapping_sub(ASKED.replace(0)) <= NEAR {
        let call = site::of::<E>(caller, 0);
        tell::<E>(call, |thread, region| {
            if is_in_team(thread) {
                leave_loop(thread);
                super::shapes::leave_single(thread);
                E::before(thread, region);
            }
        });
    }
    result
}

/// Whether the thread is in its part of a parallel region, and in nothing inside it that
/// no loop may stand in.
fn is_in_team(thread: &'static Thread) -> bool {
    let mut frame = thread.top();
    while let Some(open) = frame {
        if !open.role().is_construct() {
            return open.role() == Role::Member;
        }
        let may_hold = open.region().is_some_and(|region| {
            matches!(region.kind, RegionKind::Single | RegionKind::Function) || is_head(region)
        });
        if !may_hold {
            return false;
        }
        frame = open.below();
    }
    false
}

/// Whether a region is a loop that was met here.
pub(super) fn is_head(region: &'static Region) -> bool {
    region.kind == RegionKind::Loop && region.descriptor.schedule.is_some()
}

/// The loop on top is over, if there is one: nothing tells where it ends, but that what
/// follows cannot stand in it.
pub(super) fn leave_loop(thread: &'static Thread) {
    let region = top_of(thread, RegionKind::Loop).filter(|region| is_head(region));
    if let Some(region) = region
        && thread
            .top()
            .is_some_and(|top| top.phase() == PseudoRegion::Body)
    {
        report(Event::LoopExit, thread, region);
    }
}
