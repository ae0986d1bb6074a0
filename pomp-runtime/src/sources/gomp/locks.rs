//! Lock routines: each call of one is a region.

use std::ffi::{c_int, c_void};

use super::super::locks::{begin, begin_wait, called, release, released, tested_untimed, tried};
use super::super::ompt;
use super::site::{self, Call};
use super::table::Entry;
use crate::measure::passed::is_call_passed_over;
use crate::measure::passed_locks;
use crate::measure::records::Region;
use crate::measure::thread::Thread;

type Routine = unsafe extern "C-unwind" fn(*mut c_void, usize) -> c_int;

/// The region of a call of this thread. An end that was put off is reported first: the call is not
/// inside that construct.
fn region(thread: &'static Thread, call: Call) -> Option<&'static Region> {
    ompt::catch_up(thread);
    call.measured_region()
}

/// Sets a lock by `call`, unless the call is passed over: then this thread is what `passed` gives.
#[inline(always)]
fn set(
    lock: *mut c_void,
    found: Call,
    call: impl FnOnce() -> c_int,
    passed: impl FnOnce() -> Option<&'static Thread>,
) -> c_int {
    if ompt::may_pass_over()
        && let Some(thread) = passed()
    {
        let result = call();
        thread.has_set_passed_lock(lock.addr());
        return result;
    }
    let begun = begin_wait(move |thread| region(thread, found), lock);
    let result = call();
    tried(begun, lock, true);
    result
}

/// Unsets a lock by `call`, of which there may be no more to do.
#[inline(always)]
fn unset(lock: *mut c_void, found: Call, call: impl FnOnce() -> c_int, is_passed: bool) -> c_int {
    if is_passed {
        return call();
    }
    let set = release(move |thread| region(thread, found), lock);
    let result = call();
    released(set);
    result
}

/// Tests a lock by `call`, and records how long that takes.
#[inline(always)]
fn test(lock: *mut c_void, found: Call, call: impl FnOnce() -> c_int) -> c_int {
    let begun = begin(move |thread| region(thread, found));
    let result = call();
    tried(begun, lock, result != 0);
    result
}

macro_rules! shapes {
    ($($(#[$about:meta])* $name:ident($lock:ident, $found:ident, $call:ident) $body:block)+) => {$(
        $(#[$about])*
        ///
        /// # Safety
        /// Only for the stubs: `caller` is where the call returns to, the other words are
        /// its own.
        #[allow(clippy::too_many_arguments)]
        pub unsafe extern "C-unwind" fn $name<E: Entry>(
            $lock: *mut c_void,
            hint: usize,
            _c: usize,
            _d: usize,
            _e: usize,
            _f: usize,
            _padding: usize,
            caller: usize,
        ) -> c_int {
            let $found = site::of::<E>(site::of_caller(caller), 0);
            let $call = || {
                // SAFETY: the runtime's function of this name takes these arguments.
                unsafe {
                    let routine: Routine = std::mem::transmute($found.function);
                    routine($lock, hint)
                }
            };
            $body
        }
    )+};
}

shapes! {
    /// Makes a lock, or removes it.
    lock_call(lock, found, call) {
        if ompt::may_pass_over() && is_call_passed_over(found.measured_region()) {
            return call();
        }
        let begun = begin(move |thread| region(thread, found));
        let result = call();
        called(begun);
        result
    }

    /// Sets a lock.
    lock_set(lock, found, call) {
        let measured = || found.measured_region();
        let passed = || passed_locks::passes_over(measured, lock.addr());
        set(lock, found, call, passed)
    }

    /// Sets a nestable lock.
    nest_lock_set(lock, found, call) {
        let measured = || found.measured_region();
        let passed = || passed_locks::passes_over_nestable(measured, lock.addr());
        set(lock, found, call, passed)
    }

    /// Unsets a lock.
    lock_unset(lock, found, call) {
        unset(lock, found, call, passed_locks::is_passed_over(lock.addr()))
    }

    /// Unsets a nestable lock.
    nest_lock_unset(lock, found, call) {
        unset(lock, found, call, passed_locks::is_nestable_passed_over(lock.addr()))
    }

    /// Sets a lock that is free.
    lock_test(lock, found, call) {
        let measured = || found.measured_region();
        let find = move |thread| region(thread, found);
        let untimed = match ompt::may_pass_over() {
            true => tested_untimed(measured, find, lock, call),
            false => None,
        };
        untimed.unwrap_or_else(|| test(lock, found, call))
    }

    /// Sets a nestable lock that is free, or that this thread holds.
    nest_lock_test(lock, found, call) {
        test(lock, found, call)
    }
}
