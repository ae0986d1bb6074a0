//! The lock routines with their call site. Each calls the OpenMP routine of the same name exactly
//! once, measured or not. There is one exception: a measured set routine first calls the test
//! routine, and needs no other call if that finds the lock free and sets it. No event is under way
//! during the call, so that a wait can be interrupted by whatever the program does.

use std::ffi::{c_int, c_void};

use super::boundary::{is_switched_off, passing_event_of, thread_event};
use super::descriptor::OmpRegDescr;
use super::regions::region_of;
use crate::measure::clock::{now, now_in_order};
use crate::measure::collector::waits::are_only_contended;
use crate::measure::lock::{LockCall, Unset};
use crate::measure::passed::is_call_passed_over;
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use crate::measure::{collector, omp, passed_locks, state, work_between};

/// The call begins, at the region that `find` finds.
#[inline(always)]
pub(super) fn begin(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
) -> Option<LockCall> {
    passing_event_of(find, |thread, region| thread.lock_call(region, now))?
}

/// A call that waits for a lock begins, at the region that `find` finds.
#[inline(always)]
pub(super) fn begin_wait(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    lock: *mut c_void,
) -> Option<LockCall> {
    let action = |thread: &'static Thread, region| {
        thread.end_work_between(region, now_in_order);
        thread.lock_wait(region, lock.addr(), now)
    };
    passing_event_of(find, action)?
}

/// Sets the lock if it is free, and returns whether it did. One read of the clock is enough, since
/// there is nothing to wait for. Where few calls are timed, there are two: they show whether another
/// processor had the lock in its cache. A collector that wants to know of each call must hear of it
/// before the call, so for such a collector the lock is not tried here. `known` gives the region if
/// it is known.
#[inline(always)]
pub(super) fn is_set_at_once(
    known: impl FnOnce() -> Option<&'static Region> + Copy,
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    lock: *mut c_void,
    test: impl FnOnce() -> c_int + Copy,
) -> bool {
    let may_ask = state::is_on() && (!collector::is_listening() || are_only_contended());
    let sampled = known().filter(|region| may_ask && region.is_sampled());
    work_between::end_in_front_of(sampled);
    let begin = sampled.map(|_| now_in_order());
    let is_set = may_ask && test() != 0;
    if is_set {
        let test = begin.map(|begin| [begin, now_in_order()]);
        passing_event_of(find, move |thread, region| {
            thread.lock_got(region, lock.addr(), test, now);
            thread.begin_hold(lock.addr(), now_in_order);
        });
    }
    is_set
}

/// Tests a lock if the test need not be timed, and returns what the test says. If it has set the lock,
/// that is recorded as for a call that finds it free. `known` gives the region if it is known. A function of
/// its own: what is recorded may have to be undone when the stack is unwound.
#[inline(never)]
pub(super) fn tested_untimed(
    known: impl FnOnce() -> Option<&'static Region> + Copy,
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    lock: *mut c_void,
    test: impl FnOnce() -> c_int,
) -> Option<c_int> {
    let node = passed_locks::leaves_test_untimed(known)?;
    let result = test();
    if result == 0 {
        node.has_failed_untimed();
    } else if let Some(thread) = passed_locks::passes_over_at_once(known, lock.addr()) {
        node.ends_tests();
        thread.has_set_passed_lock(lock.addr());
    } else {
        passing_event_of(find, move |thread, region| {
            thread.lock_got(region, lock.addr(), None, now);
            thread.begin_hold(lock.addr(), now_in_order);
        });
    }
    Some(result)
}

/// An unset call begins. Returns the call that set the lock, and the time, if the duration of the
/// unset call is worth measuring. It is not if the lock was obtained at once: no thread was in the
/// way then, so there is hardly a thread to be woken.
#[inline(always)]
pub(super) fn release(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    lock: *mut c_void,
) -> Option<(Unset, u64)> {
    let action = |thread: &'static Thread, _| {
        // A calculation that the processor has not ended is part of the hold.
        let at = match thread.is_hold_sampled(lock.addr()) {
            true => now_in_order(),
            false => now(),
        };
        let unset = thread.lock_release(lock.addr(), at)?;
        if unset.was_waited_for() {
            return Some((unset, at));
        }
        thread.lock_released(unset, at, at);
        None
    };
    passing_event_of(find, action)?
}

/// A call that neither sets nor unsets has returned.
#[inline(always)]
pub(super) fn called(call: Option<LockCall>) {
    if let Some(call) = call {
        let at = now();
        thread_event(move |thread| thread.lock_called(call, at));
    }
}

/// The unset call has returned. Work begins.
#[inline(always)]
pub(super) fn released(set: Option<(Unset, u64)>) {
    if let Some((set, start)) = set {
        let at = now();
        thread_event(move |thread| thread.lock_released(set, start, at));
    }
    work_between::begin_behind();
}

/// A set or test call has returned. It has set the lock if `acquired` holds.
#[inline(always)]
pub(super) fn tried(call: Option<LockCall>, lock: *mut c_void, acquired: bool) {
    let Some(call) = call else { return };
    let at = now();
    thread_event(move |thread| match acquired {
        true => {
            thread.lock_acquired(call, lock.addr(), at);
            thread.begin_hold(lock.addr(), now_in_order);
        }
        false => thread.lock_refused(call, at),
    });
}

/// Defines the routines of one kind of lock.
macro_rules! routines {
    (called: { $($called:ident => $called_omp:ident($($hint:ident)?),)+ },
     set: $set:ident => $set_omp:ident, passed over by $at_once:path, $passes_over:path;
     unset: $unset:ident => $unset_omp:ident, passed over by $is_passed:path,
     test: $test:ident => $test_omp:ident $(, untimed by $untimed:path)?,) => {
        $(
            /// Calls the routine.
            ///
            /// # Safety
            /// As the routine demands; `descriptor` is null or a descriptor.
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $called(
                descriptor: *const OmpRegDescr, lock: *mut c_void $(, $hint: c_int)?
            ) {
                // SAFETY: as the caller promises.
                unsafe {
                    let known = descriptor.as_ref().and_then(OmpRegDescr::known_region);
                    if is_call_passed_over(known) {
                        return omp::$called_omp(lock $(, $hint)?);
                    }
                    let call = begin(move |_| region_of(descriptor.as_ref()?));
                    omp::$called_omp(lock $(, $hint)?);
                    called(call);
                }
            }
        )+

        /// Calls the routine. Other threads may wait for the lock until this function has returned
        /// and the one that unsets it has called OpenMP's. So the recording is in functions of its
        /// own, apart from this short path, which then saves few registers.
        ///
        /// # Safety
        /// As the routine demands; `descriptor` is null or a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $set(descriptor: *const OmpRegDescr, lock: *mut c_void) {
            /// Sets the lock, and records the call if it is not passed over.
            #[inline(never)]
            unsafe extern "C-unwind" fn recorded(descriptor: *const OmpRegDescr, lock: *mut c_void) {
                // SAFETY: as the caller promises.
                unsafe {
                    let known = || descriptor.as_ref()?.known_region();
                    if let Some(thread) = $passes_over(known, lock.addr()) {
                        omp::$set_omp(lock);
                        return thread.has_set_passed_lock(lock.addr());
                    }
                    let find = move |_| region_of(descriptor.as_ref()?);
                    if !is_set_at_once(known, find, lock, || omp::$test_omp(lock)) {
                        let call = begin_wait(find, lock);
                        omp::$set_omp(lock);
                        tried(call, lock, true);
                    }
                }
            }
            // SAFETY: as the caller promises.
            unsafe {
                let known = || descriptor.as_ref()?.known_region();
                if state::is_off() || is_switched_off(known()) {
                    return omp::$set_omp(lock);
                }
                if let Some(thread) = $at_once(known, lock.addr()) {
                    omp::$set_omp(lock);
                    return thread.has_set_passed_lock(lock.addr());
                }
                recorded(descriptor, lock);
            }
        }

        /// Calls the routine. The hold that it ends counts for the call that set the lock.
        ///
        /// # Safety
        /// As the routine demands; `descriptor` is null or a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $unset(descriptor: *const OmpRegDescr, lock: *mut c_void) {
            /// Unsets the lock, and records the call.
            #[inline(never)]
            unsafe extern "C-unwind" fn recorded(descriptor: *const OmpRegDescr, lock: *mut c_void) {
                // SAFETY: as the caller promises.
                unsafe {
                    let set = release(move |_| region_of(descriptor.as_ref()?), lock);
                    omp::$unset_omp(lock);
                    released(set);
                }
            }
            // SAFETY: as the caller promises.
            unsafe {
                let known = || descriptor.as_ref()?.known_region();
                match state::is_off() || $is_passed(lock.addr()) || is_switched_off(known()) {
                    true => omp::$unset_omp(lock),
                    false => recorded(descriptor, lock),
                }
            }
        }

        /// Calls the routine.
        ///
        /// # Safety
        /// As the routine demands; `descriptor` is null or a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $test(descriptor: *const OmpRegDescr, lock: *mut c_void) -> c_int {
            // SAFETY: as the caller promises.
            unsafe {
                let find = move |_| region_of(descriptor.as_ref()?);
                $(let known = || descriptor.as_ref()?.known_region();
                if let Some(result) = $untimed(known, find, lock, || omp::$test_omp(lock)) {
                    return result;
                })?
                let call = begin(find);
                let result = omp::$test_omp(lock);
                tried(call, lock, result != 0);
                result
            }
        }
    };
}

routines! {
    called: {
        POMP_Init_lock_at => omp_init_lock(),
        POMP_Init_lock_with_hint_at => omp_init_lock_with_hint(hint),
        POMP_Destroy_lock_at => omp_destroy_lock(),
    },
    set: POMP_Set_lock_at => omp_set_lock,
        passed over by passed_locks::passes_over_at_once, passed_locks::passes_over;
    unset: POMP_Unset_lock_at => omp_unset_lock, passed over by passed_locks::is_passed_over,
    test: POMP_Test_lock_at => omp_test_lock, untimed by tested_untimed,
}

routines! {
    called: {
        POMP_Init_nest_lock_at => omp_init_nest_lock(),
        POMP_Init_nest_lock_with_hint_at => omp_init_nest_lock_with_hint(hint),
        POMP_Destroy_nest_lock_at => omp_destroy_nest_lock(),
    },
    set: POMP_Set_nest_lock_at => omp_set_nest_lock,
        passed over by passed_locks::passes_over_nestable_at_once, passed_locks::passes_over_nestable;
    unset: POMP_Unset_nest_lock_at => omp_unset_nest_lock, passed over by passed_locks::is_nestable_passed_over,
    test: POMP_Test_nest_lock_at => omp_test_nest_lock,
}
