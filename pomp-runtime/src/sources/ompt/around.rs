//! Entries that record something when the runtime's function has returned. The runtime reports nothing of it.

use std::ffi::{c_int, c_void};

use super::super::boundary::thread_event;
use super::super::reductions::{BY_UPDATES, is_part_measured};
use super::entries::target;
use super::tasks;
use crate::measure::clock::now;

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

/// Entries by which a thread gives its part of a reduction. The result says what is left to the thread: if it is to
/// combine its part by atomic updates, its next event ends the time of its part.
///
/// # Safety
/// Only for the stubs: the arguments are those of the call, and `caller` is where it returns to.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn reduces<const NUMBER: usize>(
    place: *mut c_void,
    thread: usize,
    variables: *mut c_void,
    bytes: usize,
    data: *mut c_void,
    combine: *mut c_void,
    _padding: usize,
    caller: usize,
    lock: *mut c_void,
) -> c_int {
    let since = is_part_measured().then(now);
    // SAFETY: the runtime's function of this name takes these arguments.
    let left = unsafe {
        let reduce: Function = std::mem::transmute(target(NUMBER, caller));
        reduce(place, thread, variables, bytes, data, combine, lock)
    };
    if let Some(since) = since.filter(|_| left == BY_UPDATES) {
        thread_event(|thread| thread.combines_its_part(since));
    }
    left
}

/// Entries that create a task. The runtime reports the begin of the creation only.
///
/// # Safety
/// Only for the stubs: the arguments are those of the call, and `caller` is where it returns to.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn creates<const NUMBER: usize>(
    place: *mut c_void,
    thread: usize,
    task: *mut c_void,
    number: usize,
    list: *mut c_void,
    more: *mut c_void,
    _padding: usize,
    caller: usize,
    others: *mut c_void,
) -> c_int {
    let outer = tasks::creation_is_called();
    // SAFETY: the runtime's function of this name takes these arguments, or fewer.
    let result = unsafe {
        let create: Function = std::mem::transmute(target(NUMBER, caller));
        create(place, thread, task, number, list, more, others)
    };
    tasks::creation_returns(outer);
    result
}
