//! The lock routines in Fortran, with their call site. Each calls the routine of
//! the same name exactly once, as [`super::locks`] does in C.
//!
//! `call omp_set_lock(l)` becomes `call POMPF_Set_lock('...', l)`, which needs no declaration. A
//! function would need one. So calls of `omp_test_lock` and `omp_test_nest_lock` stay as they are.
//! They arrive here because the library defines these names too, weakly, in front of the OpenMP
//! runtime. Their call site is the one that this thread has named last:
//! `call POMPF_Lock_site('...')`. For a thread that has named none, all calls of a routine are one
//! region.

use std::ffi::{c_char, c_int, c_void};

use super::boundary::{event_of, is_switched_off};
use super::fortran::pompf;
use super::literal::Literal;
use super::locks::{
    begin, begin_wait, called, is_set_at_once, release, released, tested_untimed, tried,
};
use super::routine::Routine;
use crate::measure::passed::is_call_passed_over;
use crate::measure::thread::{self, Thread};
use crate::measure::{fortran_omp as omp, passed_locks, state};

/// Defines the routines of one kind of lock.
macro_rules! routines {
    (called: { $($called:literal => $called_omp:ident($($hint:ident)?),)+ },
     set: $set:literal => $set_omp:ident, passed over by $at_once:path, $passes_over:path;
     unset: $unset:literal => $unset_omp:ident, passed over by $is_passed:path,
     test: $test:ident => $test_omp:ident($name:literal) $(, untimed by $untimed:path)?,) => {
        $(pompf! {
            /// Calls the routine.
            $called(
                text: *const c_char, lock: *mut c_void $(, $hint: *const c_int)?, length: usize
            ) {
                // SAFETY: a compiler passes the literal and its length, and
                // otherwise what the routine demands.
                unsafe {
                    let literal = Literal::new(text, length);
                    if is_call_passed_over(literal.known_region()) {
                        return omp::$called_omp(lock $(, $hint)?);
                    }
                    let call = begin(move |thread| literal.region(thread));
                    omp::$called_omp(lock $(, $hint)?);
                    called(call);
                }
            }
        })+

        pompf! {
            /// Calls the routine. Recording has a function of its own, as in C.
            $set(text: *const c_char, lock: *mut c_void, length: usize) {
                /// Sets the lock, and records the call if it is not passed over.
                #[inline(never)]
                unsafe extern "C-unwind" fn recorded(
                    text: *const c_char, lock: *mut c_void, length: usize
                ) {
                    // SAFETY: as above.
                    unsafe {
                        let literal = Literal::new(text, length);
                        let known = || literal.known_region();
                        if is_switched_off(known()) {
                            return omp::$set_omp(lock);
                        }
                        if let Some(thread) = $passes_over(known, lock.addr()) {
                            omp::$set_omp(lock);
                            return thread.has_set_passed_lock(lock.addr());
                        }
                        let find = move |thread: &_| literal.region(thread);
                        if !is_set_at_once(known, find, lock, || omp::$test_omp(lock)) {
                            let call = begin_wait(find, lock);
                            omp::$set_omp(lock);
                            tried(call, lock, true);
                        }
                    }
                }
                // SAFETY: as above.
                unsafe {
                    if state::is_off() {
                        return omp::$set_omp(lock);
                    }
                    let literal = Literal::new(text, length);
                    if let Some(thread) = $at_once(|| literal.near_region(), lock.addr()) {
                        omp::$set_omp(lock);
                        return thread.has_set_passed_lock(lock.addr());
                    }
                    recorded(text, lock, length);
                }
            }
        }

        pompf! {
            /// Calls the routine. The hold that it ends counts for the call that set the lock.
            $unset(text: *const c_char, lock: *mut c_void, length: usize) {
                /// Unsets the lock, and records the call.
                #[inline(never)]
                unsafe extern "C-unwind" fn recorded(
                    text: *const c_char, lock: *mut c_void, length: usize
                ) {
                    // SAFETY: as above.
                    unsafe {
                        let literal = Literal::new(text, length);
                        if is_switched_off(literal.known_region()) {
                            return omp::$unset_omp(lock);
                        }
                        let set = release(move |thread| literal.region(thread), lock);
                        omp::$unset_omp(lock);
                        released(set);
                    }
                }
                // SAFETY: as above.
                unsafe {
                    match state::is_off() || $is_passed(lock.addr()) {
                        true => omp::$unset_omp(lock),
                        false => recorded(text, lock, length),
                    }
                }
            }
        }

        /// Calls the function of the OpenMP runtime, at the latest call site
        /// of this thread. The result fits a logical of every size.
        ///
        /// # Safety
        /// As the function demands.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $test(lock: *mut c_void) -> i64 {
            static ROUTINE: Routine = Routine::new($name);
            let find = move |thread: &'static Thread| {
                thread.lock_site.get().or_else(|| ROUTINE.region())
            };
            $(let known = || thread::current()?.lock_site.get();
            // SAFETY: as the caller promises.
            let test = || unsafe { omp::$test_omp(lock) };
            if let Some(result) = $untimed(known, find, lock, test) {
                return i64::from(result);
            })?
            let call = begin(find);
            // SAFETY: as the caller promises.
            let result = unsafe { omp::$test_omp(lock) };
            tried(call, lock, result != 0);
            i64::from(result)
        }
    };
}

routines! {
    called: {
        "init_lock" => omp_init_lock_(),
        "init_lock_with_hint" => omp_init_lock_with_hint_(hint),
        "destroy_lock" => omp_destroy_lock_(),
    },
    set: "set_lock" => omp_set_lock_,
        passed over by passed_locks::passes_over_at_once, passed_locks::passes_over;
    unset: "unset_lock" => omp_unset_lock_, passed over by passed_locks::is_passed_over,
    test: romp_fortran_test_lock => omp_test_lock_("omp_test_lock"), untimed by tested_untimed,
}

routines! {
    called: {
        "init_nest_lock" => omp_init_nest_lock_(),
        "init_nest_lock_with_hint" => omp_init_nest_lock_with_hint_(hint),
        "destroy_nest_lock" => omp_destroy_nest_lock_(),
    },
    set: "set_nest_lock" => omp_set_nest_lock_,
        passed over by passed_locks::passes_over_nestable_at_once, passed_locks::passes_over_nestable;
    unset: "unset_nest_lock" => omp_unset_nest_lock_, passed over by passed_locks::is_nestable_passed_over,
    test: romp_fortran_test_nest_lock => omp_test_nest_lock_("omp_test_nest_lock"),
}

pompf! {
    /// The call site of the functions in the statement that follows.
    "lock_site"(text: *const c_char, length: usize) {
        // SAFETY: a compiler passes the literal and its length.
        let literal = unsafe { Literal::new(text, length) };
        event_of(
            move |thread| literal.region(thread),
            |thread, region| thread.lock_site.set(Some(region)),
        );
    }
}
