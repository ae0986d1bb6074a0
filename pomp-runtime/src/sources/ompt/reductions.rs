//! Reductions in which LLVM's runtime has each thread combine its part by atomic updates. The runtime
//! reports nothing of it, so the thread's next event ends the time of its part.

use std::ffi::{c_int, c_void};

use super::super::boundary::thread_event;
use super::super::reductions::{BY_UPDATES, is_part_measured};
use super::entries::target;
use crate::measure::clock::now;

type GivePart = unsafe extern "C-unwind" fn(
    *mut c_void,
    usize,
    usize,
    usize,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;

/// Entries by which a thread gives its part of a reduction. The result says what is left to the thread.
///
/// # Safety
/// Only for the stubs: the arguments are those of the call, and `caller` is where it returns to.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn give_part<const NUMBER: usize>(
    place: *mut c_void,
    thread: usize,
    variables: usize,
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
        let give: GivePart = std::mem::transmute(target(NUMBER, caller));
        give(place, thread, variables, bytes, data, combine, lock)
    };
    if let Some(since) = since.filter(|_| left == BY_UPDATES) {
        thread_event(|thread| thread.combines_its_part(since));
    }
    left
}
