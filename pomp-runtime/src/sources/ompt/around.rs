//! Entries whose end is recorded when the runtime's function has returned. The runtime does not report that end.

use std::ffi::{c_int, c_void};

use super::super::boundary::thread_event;
use super::super::reductions::{BY_UPDATES, is_part_measured};
use super::entries::target;
use super::tasks::{self, OuterCreation};
use crate::measure::clock::now;

/// The actions before and after a call of the runtime.
pub trait Around {
    /// The state that is kept during the call.
    type Kept;

    /// The runtime's function is about to be called.
    fn before() -> Self::Kept;

    /// The runtime's function has returned this result.
    fn after(kept: Self::Kept, result: c_int);
}

/// A thread gives its part of a reduction.
#[derive(Debug)]
pub struct GivesPart;

impl Around for GivesPart {
    /// When the call began, in ticks; none if the part is not measured.
    type Kept = Option<u64>;

    fn before() -> Option<u64> {
        is_part_measured().then(now)
    }

    /// The result says what is left to the thread. If it is to combine its part by atomic updates, its next event
    /// ends the time of its part.
    fn after(since: Option<u64>, result: c_int) {
        if let Some(since) = since.filter(|_| result == BY_UPDATES) {
            thread_event(|thread| thread.combines_its_part(since));
        }
    }
}

/// A thread creates a task. The runtime reports the begin of the creation only.
#[derive(Debug)]
pub struct Creates;

impl Around for Creates {
    /// The state of the call around this one.
    type Kept = OuterCreation;

    fn before() -> OuterCreation {
        tasks::begin_call_of_creation()
    }

    fn after(outer: OuterCreation, _result: c_int) {
        tasks::end_call_of_creation(outer);
    }
}

/// A function of the runtime, with as many arguments as the longest of these entries has.
type Function = unsafe extern "C-unwind" fn(
    *mut c_void,
    usize,
    *mut c_void,
    usize,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;

/// Calls the runtime's function of an entry.
///
/// # Safety
/// Only for the stubs: the arguments are those of the call, and `caller` is where it returns to.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn call<A: Around, const NUMBER: usize>(
    first: *mut c_void,
    second: usize,
    third: *mut c_void,
    fourth: usize,
    fifth: *mut c_void,
    sixth: *mut c_void,
    _padding: usize,
    caller: usize,
    seventh: *mut c_void,
) -> c_int {
    let kept = A::before();
    // SAFETY: the runtime's function of this name takes these arguments, or the first of them.
    let result = unsafe {
        let function: Function = std::mem::transmute(target(NUMBER, caller));
        function(first, second, third, fourth, fifth, sixth, seventh)
    };
    A::after(kept, result);
    result
}
