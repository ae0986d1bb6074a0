//! The functions of the OpenMP runtime. The symbols are those of the runtime that the measured
//! program is linked with, whichever that is.

pub(crate) use runtime::*;

#[cfg(not(test))]
mod runtime {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        pub(crate) safe fn omp_get_thread_num() -> c_int;
        pub(crate) safe fn omp_get_num_threads() -> c_int;
        pub(crate) safe fn omp_get_max_threads() -> c_int;
        pub(crate) safe fn omp_get_num_procs() -> c_int;
        pub(crate) safe fn omp_get_level() -> c_int;
        pub(crate) safe fn omp_get_ancestor_thread_num(level: c_int) -> c_int;
        pub(crate) safe fn omp_get_team_size(level: c_int) -> c_int;
        pub(crate) fn omp_get_schedule(kind: *mut c_int, chunk: *mut c_int);
        pub(crate) fn omp_init_lock(lock: *mut c_void);
        pub(crate) fn omp_destroy_lock(lock: *mut c_void);
        pub(crate) fn omp_set_lock(lock: *mut c_void);
        pub(crate) fn omp_unset_lock(lock: *mut c_void);
        pub(crate) fn omp_test_lock(lock: *mut c_void) -> c_int;
        pub(crate) fn omp_init_nest_lock(lock: *mut c_void);
        pub(crate) fn omp_destroy_nest_lock(lock: *mut c_void);
        pub(crate) fn omp_set_nest_lock(lock: *mut c_void);
        pub(crate) fn omp_unset_nest_lock(lock: *mut c_void);
        pub(crate) fn omp_test_nest_lock(lock: *mut c_void) -> c_int;

        static romp_init_lock_with_hint: Option<InitWithHint>;
        static romp_init_nest_lock_with_hint: Option<InitWithHint>;
    }

    type InitWithHint = unsafe extern "C" fn(*mut c_void, c_int);

    // GCC's runtime has these two routines from version 13 on only. So they are
    // referred to weakly: where the runtime lacks them their address is null.
    std::arch::global_asm!(
        ".weak omp_init_lock_with_hint",
        ".weak omp_init_nest_lock_with_hint",
        ".pushsection .data.rel.ro.romp_omp, \"aw\"",
        ".balign 8",
        ".hidden romp_init_lock_with_hint",
        ".globl romp_init_lock_with_hint",
        "romp_init_lock_with_hint: .8byte omp_init_lock_with_hint",
        ".hidden romp_init_nest_lock_with_hint",
        ".globl romp_init_nest_lock_with_hint",
        "romp_init_nest_lock_with_hint: .8byte omp_init_nest_lock_with_hint",
        ".popsection",
    );

    pub(crate) unsafe fn omp_init_lock_with_hint(lock: *mut c_void, hint: c_int) {
        // SAFETY: the statics are never written; otherwise as the caller promises.
        unsafe {
            match romp_init_lock_with_hint {
                Some(routine) => routine(lock, hint),
                None => omp_init_lock(lock),
            }
        }
    }

    pub(crate) unsafe fn omp_init_nest_lock_with_hint(lock: *mut c_void, hint: c_int) {
        // SAFETY: as above.
        unsafe {
            match romp_init_nest_lock_with_hint {
                Some(routine) => routine(lock, hint),
                None => omp_init_nest_lock(lock),
            }
        }
    }
}

/// A runtime that the unit tests can link: one thread, locks that count.
#[cfg(test)]
#[allow(clippy::missing_safety_doc)]
mod runtime {
    use std::ffi::{c_int, c_void};

    pub(crate) fn omp_get_thread_num() -> c_int {
        0
    }
    pub(crate) fn omp_get_num_threads() -> c_int {
        1
    }

    pub(crate) fn omp_get_max_threads() -> c_int {
        1
    }
    pub(crate) fn omp_get_num_procs() -> c_int {
        2
    }
    pub(crate) unsafe fn omp_get_schedule(_kind: *mut c_int, _chunk: *mut c_int) {}
    pub(crate) fn omp_get_level() -> c_int {
        0
    }
    pub(crate) fn omp_get_ancestor_thread_num(_level: c_int) -> c_int {
        0
    }
    pub(crate) fn omp_get_team_size(_level: c_int) -> c_int {
        2
    }

    /// Adds to the lock, which is a `c_int` here, and says what it was.
    unsafe fn add(lock: *mut c_void, change: c_int) -> c_int {
        // SAFETY: the tests pass a pointer to a `c_int` that no other thread uses.
        unsafe {
            let lock = lock.cast::<c_int>();
            let before = *lock;
            *lock = before + change;
            before
        }
    }

    macro_rules! stubs {
        ($($name:ident($change:expr $(, $hint:ident: c_int)?);)+) => {$(
            pub(crate) unsafe fn $name(lock: *mut c_void $(, $hint: c_int)?) {
                $(let _ = $hint;)?
                // SAFETY: as the caller promises.
                unsafe { add(lock, $change) };
            }
        )+};
    }
    stubs! {
        omp_init_lock(0);
        omp_init_lock_with_hint(0, hint: c_int);
        omp_destroy_lock(0);
        omp_set_lock(1);
        omp_unset_lock(-1);
        omp_init_nest_lock(0);
        omp_init_nest_lock_with_hint(0, hint: c_int);
        omp_destroy_nest_lock(0);
        omp_set_nest_lock(1);
        omp_unset_nest_lock(-1);
    }
    pub(crate) unsafe fn omp_test_lock(lock: *mut c_void) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { c_int::from(add(lock, 0) == 0 && add(lock, 1) == 0) }
    }
    pub(crate) unsafe fn omp_test_nest_lock(lock: *mut c_void) -> c_int {
        // SAFETY: as the caller promises.
        unsafe { add(lock, 1) + 1 }
    }
}
