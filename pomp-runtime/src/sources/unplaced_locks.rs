//! The lock routines under the names that OPARI and OPARI2 give them. These tools rename the
//! calls, but do not pass the call site. So all calls of one routine are one region.

use std::ffi::{c_int, c_void};

use super::locks::{begin, begin_wait, called, release, released, tried};
use super::routine::Routine;
use super::spelling::subroutine;
use crate::measure::{fortran_omp, omp};

/// Defines one routine in both languages, under each name; `$around` calls what
/// it is given.
macro_rules! routines {
    ($([$($function:ident)+], $name:literal, $c:ident, $f:ident -> ($($result:ty)?)
       => $around:ident as $routine:ident($omp:literal);)+) => {$(
        static $routine: Routine = Routine::new($omp);

        routines! { @ [$($function)+] $c -> ($($result)?) => $around as $routine }
        routines! { @ "pomp_", $name, $f -> ($($result)?) => $around as $routine }
        routines! { @ "pomp2_", $name, $f -> ($($result)?) => $around as $routine }
    )+};
    (@ [$($function:ident)+] $c:ident -> $result:tt => $around:ident as $routine:ident) => {
        $(routines! { @@ $function $c -> $result => $around as $routine })+
    };
    (@@ $function:ident $c:ident -> ($($result:ty)?) => $around:ident as $routine:ident) => {
        /// Calls the routine.
        ///
        /// # Safety
        /// As the routine demands.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(lock: *mut c_void) $(-> $result)? {
            // SAFETY: as the caller promises.
            $around(&$routine, lock, || unsafe { omp::$c(lock) })
        }
    };
    (@ $prefix:literal, $name:literal, $f:ident -> ($($result:ty)?)
       => $around:ident as $routine:ident) => {
        subroutine! {
            /// Calls the routine.
            $prefix, $name(lock: *mut c_void) $(-> $result)? {
                // SAFETY: as the routine demands.
                $around(&$routine, lock, || unsafe { fortran_omp::$f(lock) })
            }
        }
    };
}

fn plain(routine: &'static Routine, _: *mut c_void, call: impl FnOnce()) {
    let begun = begin(move |_| routine.region());
    call();
    called(begun);
}

fn setting(routine: &'static Routine, lock: *mut c_void, call: impl FnOnce()) {
    let begun = begin_wait(move |_| routine.region(), lock);
    call();
    tried(begun, lock, true);
}

fn unsetting(routine: &'static Routine, lock: *mut c_void, call: impl FnOnce()) {
    let set = release(move |_| routine.region(), lock);
    call();
    released(set);
}

fn testing(routine: &'static Routine, lock: *mut c_void, call: impl FnOnce() -> c_int) -> c_int {
    let begun = begin(move |_| routine.region());
    let result = call();
    tried(begun, lock, result != 0);
    result
}

routines! {
    [POMP2_Init_lock POMP_Init_lock pomp_init_lock], "init_lock", omp_init_lock, omp_init_lock_ -> ()
        => plain as INIT("omp_init_lock");
    [POMP2_Destroy_lock POMP_Destroy_lock pomp_destroy_lock], "destroy_lock", omp_destroy_lock, omp_destroy_lock_ -> ()
        => plain as DESTROY("omp_destroy_lock");
    [POMP2_Set_lock POMP_Set_lock pomp_set_lock], "set_lock", omp_set_lock, omp_set_lock_ -> ()
        => setting as SET("omp_set_lock");
    [POMP2_Unset_lock POMP_Unset_lock pomp_unset_lock], "unset_lock", omp_unset_lock, omp_unset_lock_ -> ()
        => unsetting as UNSET("omp_unset_lock");
    [POMP2_Test_lock POMP_Test_lock pomp_test_lock], "test_lock", omp_test_lock, omp_test_lock_ -> (c_int)
        => testing as TEST("omp_test_lock");
    [POMP2_Init_nest_lock POMP_Init_nest_lock pomp_init_nest_lock], "init_nest_lock", omp_init_nest_lock, omp_init_nest_lock_ -> ()
        => plain as INIT_NEST("omp_init_nest_lock");
    [POMP2_Destroy_nest_lock POMP_Destroy_nest_lock pomp_destroy_nest_lock], "destroy_nest_lock", omp_destroy_nest_lock, omp_destroy_nest_lock_ -> ()
        => plain as DESTROY_NEST("omp_destroy_nest_lock");
    [POMP2_Set_nest_lock POMP_Set_nest_lock pomp_set_nest_lock], "set_nest_lock", omp_set_nest_lock, omp_set_nest_lock_ -> ()
        => setting as SET_NEST("omp_set_nest_lock");
    [POMP2_Unset_nest_lock POMP_Unset_nest_lock pomp_unset_nest_lock], "unset_nest_lock", omp_unset_nest_lock, omp_unset_nest_lock_ -> ()
        => unsetting as UNSET_NEST("omp_unset_nest_lock");
    [POMP2_Test_nest_lock POMP_Test_nest_lock pomp_test_nest_lock], "test_nest_lock", omp_test_nest_lock, omp_test_nest_lock_ -> (c_int)
        => testing as TEST_NEST("omp_test_nest_lock");
}
