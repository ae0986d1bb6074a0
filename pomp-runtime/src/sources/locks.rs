//! The lock routines with their call site. Each calls the OpenMP routine of the
//! same name exactly once, measured or not; no event is under way meanwhile, so
//! that a wait can be interrupted by whatever the program does.

use std::ffi::{c_int, c_void};

use super::boundary::{event, thread_event};
use super::descriptor::OmpRegDescr;
use crate::measure::clock::now;
use crate::measure::lock::{LockCall, Unset};
use crate::measure::omp;
use crate::measure::thread::Thread;

/// The call begins.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(always)]
unsafe fn begin(descriptor: *const OmpRegDescr) -> Option<LockCall> {
    // SAFETY: as the caller promises.
    unsafe { event(descriptor, |thread, region| thread.lock_call(region, now)) }?
}

/// An unset call begins. Gives the call that set the lock, and the time.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(always)]
unsafe fn release(descriptor: *const OmpRegDescr, lock: *mut c_void) -> Option<(Unset, u64)> {
    let action = |thread: &'static Thread, _| {
        let at = now();
        thread.lock_release(lock.addr(), at).map(|set| (set, at))
    };
    // SAFETY: as the caller promises.
    unsafe { event(descriptor, action) }?
}

/// The call, which sets the lock unless it says no, has returned.
#[inline(always)]
fn tried(call: Option<LockCall>, lock: *mut c_void, acquired: bool) {
    let Some(call) = call else { return };
    let at = now();
    thread_event(|thread| match acquired {
        true => thread.lock_acquired(call, lock.addr(), at),
        false => thread.lock_refused(call, at),
    });
}

/// Defines the routines of one kind of lock.
macro_rules! routines {
    (called: { $($called:ident => $called_omp:ident($($hint:ident)?),)+ },
     set: $set:ident => $set_omp:ident,
     unset: $unset:ident => $unset_omp:ident,
     test: $test:ident => $test_omp:ident,) => {
        $(
            /// Calls the routine.
            ///
            /// # Safety
            /// As the routine demands; `descriptor` is null or a descriptor.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $called(
                descriptor: *const OmpRegDescr, lock: *mut c_void $(, $hint: c_int)?
            ) {
                // SAFETY: as the caller promises.
                unsafe {
                    let call = begin(descriptor);
                    omp::$called_omp(lock $(, $hint)?);
                    if let Some(call) = call {
                        let at = now();
                        thread_event(|thread| thread.lock_called(call, at));
                    }
                }
            }
        )+

        /// Calls the routine.
        ///
        /// # Safety
        /// As the routine demands; `descriptor` is null or a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $set(descriptor: *const OmpRegDescr, lock: *mut c_void) {
            // SAFETY: as the caller promises.
            unsafe {
                let call = begin(descriptor);
                omp::$set_omp(lock);
                tried(call, lock, true);
            }
        }

        /// Calls the routine. What it ends is credited to the call that set.
        ///
        /// # Safety
        /// As the routine demands; `descriptor` is null or a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $unset(descriptor: *const OmpRegDescr, lock: *mut c_void) {
            // SAFETY: as the caller promises.
            unsafe {
                let set = release(descriptor, lock);
                omp::$unset_omp(lock);
                if let Some((set, start)) = set {
                    let at = now();
                    thread_event(|thread| thread.lock_released(set, start, at));
                }
            }
        }

        /// Calls the routine.
        ///
        /// # Safety
        /// As the routine demands; `descriptor` is null or a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $test(descriptor: *const OmpRegDescr, lock: *mut c_void) -> c_int {
            // SAFETY: as the caller promises.
            unsafe {
                let call = begin(descriptor);
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
    unset: POMP_Unset_lock_at => omp_unset_lock,
    test: POMP_Test_lock_at => omp_test_lock,
}

routines! {
    called: {
        POMP_Init_nest_lock_at => omp_init_nest_lock(),
        POMP_Init_nest_lock_with_hint_at => omp_init_nest_lock_with_hint(hint),
        POMP_Destroy_nest_lock_at => omp_destroy_nest_lock(),
    },
    set: POMP_Set_nest_lock_at => omp_set_nest_lock,
    unset: POMP_Unset_nest_lock_at => omp_unset_nest_lock,
    test: POMP_Test_nest_lock_at => omp_test_nest_lock,
}
