//! Loops with a static schedule, whose iterations GCC's compilers share out without the runtime.
//! At the head of such a loop the program asks for the number of threads and then for the number
//! of this thread. The user's code may make the same two calls. Which of the two it was is decided
//! from the source when the program has ended.

use std::cell::Cell;

use profile::region_kind::RegionKind;

use super::super::own_code;
use super::runtime::asked;
use super::shapes::report_event;
use super::site;
use super::table::Entry;
use super::unmarked::{leave, leave_passed_over};
use crate::measure::passed::is_passed_over;
use crate::measure::passed_members;
use crate::measure::records::frame::Role;
use crate::measure::thread::Thread;
use crate::measure::thread_word::thread_word;
use profile::event::Event;

type GetNumber = unsafe extern "C-unwind" fn() -> usize;

/// How far apart the two calls are at most, in bytes.
const NEAR: usize = 48;

thread_word! {
    /// Where this thread last asked for the number of threads.
    fn asked_at() -> usize = "romp_asked_at";
}

/// Returns the number of threads.
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
    if own_code::holds(caller) {
        return asked::num_threads();
    }
    asked_at().set(caller);
    // SAFETY: the runtime's function of this name takes nothing.
    unsafe {
        let function: GetNumber = std::mem::transmute(site::function::<E>(caller));
        function()
    }
}

/// Returns the number of this thread.
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
    if own_code::holds(caller) {
        return asked::thread_num();
    }
    // SAFETY: the runtime's function of this name takes nothing.
    let result = unsafe {
        let function: GetNumber = std::mem::transmute(site::function::<E>(caller));
        function()
    };
    if caller.wrapping_sub(asked_at().replace(0)) <= NEAR {
        let call = site::of::<E>(caller, 0);
        if passed_members::passes_over_begin_of_loop(|| call.region) {
            return result;
        }
        leave_passed_over();
        // It is passed over only where one was recorded before, so the thread is in its team.
        if is_passed_over(Event::LoopEnter, || call.region) {
            return result;
        }
        let has_left = Cell::new(false);
        let has_left = &has_left;
        report_event::<E>(call, |thread, region| {
            if is_in_team(thread) {
                has_left.set(leave(thread));
                if !has_left.get() {
                    E::before(thread, region);
                }
            }
        });
        // Behind an open construct nothing is passed over. It has ended now, so the question is asked again.
        if has_left.get() && !is_passed_over(Event::LoopEnter, || call.region) {
            report_event::<E>(call, |thread, region| E::before(thread, region));
        }
    }
    result
}

/// Whether the thread is in its part of a parallel region, and in no construct inside it that
/// cannot contain a loop.
fn is_in_team(thread: &'static Thread) -> bool {
    let mut frame = thread.top();
    while let Some(open) = frame {
        if !open.role().is_construct() {
            return open.role() == Role::Member;
        }
        let may_hold = open.region().is_some_and(|region| {
            matches!(region.kind, RegionKind::Single | RegionKind::Function)
                || region.is_known_by_its_head()
        });
        if !may_hold {
            return false;
        }
        frame = open.below();
    }
    false
}
