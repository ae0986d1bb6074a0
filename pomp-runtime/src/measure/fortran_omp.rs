//! The lock routines of the OpenMP runtime as Fortran calls them. They are not
//! those of C: locks that nest have another size.

pub(crate) use runtime::*;

#[cfg(not(test))]
mod runtime {
    use std::ffi::{CStr, c_int, c_void};
    use std::sync::atomic::AtomicPtr;

    use crate::assembly::jump;
    use crate::measure::dynamic;

    unsafe extern "C" {
        pub(crate) fn omp_init_lock_(lock: *mut c_void);
        pub(crate) fn omp_destroy_lock_(lock: *mut c_void);
        pub(crate) fn omp_set_lock_(lock: *mut c_void);
        pub(crate) fn omp_unset_lock_(lock: *mut c_void);
        pub(crate) fn omp_init_nest_lock_(lock: *mut c_void);
        pub(crate) fn omp_destroy_nest_lock_(lock: *mut c_void);
        pub(crate) fn omp_set_nest_lock_(lock: *mut c_void);
        pub(crate) fn omp_unset_nest_lock_(lock: *mut c_void);

        static romp_fortran_init_with_hint: Option<InitWithHint>;
        static romp_fortran_init_nest_with_hint: Option<InitWithHint>;
    }

    type InitWithHint = unsafe extern "C" fn(*mut c_void, *const c_int);
    type Test = unsafe extern "C" fn(*mut c_void) -> c_int;

    // Weak references, as in `omp`. The two functions are weak definitions: in a
    // static executable those of the runtime win, and are not measured.
    std::arch::global_asm!(
        ".weak omp_init_lock_with_hint_",
        ".weak omp_init_nest_lock_with_hint_",
        ".pushsection .data.rel.ro.romp_fortran_omp, \"aw\"",
        ".balign 8",
        ".hidden romp_fortran_init_with_hint",
        ".globl romp_fortran_init_with_hint",
        "romp_fortran_init_with_hint: .8byte omp_init_lock_with_hint_",
        ".hidden romp_fortran_init_nest_with_hint",
        ".globl romp_fortran_init_nest_with_hint",
        "romp_fortran_init_nest_with_hint: .8byte omp_init_nest_lock_with_hint_",
        ".popsection",
        ".pushsection .text.romp_fortran_omp, \"ax\"",
        ".weak omp_test_lock_",
        ".type omp_test_lock_, %function",
        "omp_test_lock_:",
        concat!(jump!(), " romp_fortran_test_lock"),
        ".weak omp_test_nest_lock_",
        ".type omp_test_nest_lock_, %function",
        "omp_test_nest_lock_:",
        concat!(jump!(), " romp_fortran_test_nest_lock"),
        ".popsection",
    );

    pub(crate) unsafe fn omp_init_lock_with_hint_(lock: *mut c_void, hint: *const c_int) {
        // SAFETY: the statics are never written; otherwise as the caller promises.
        unsafe {
            match romp_fortran_init_with_hint {
                Some(routine) => routine(lock, hint),
                None => omp_init_lock_(lock),
            }
        }
    }

    pub(crate) unsafe fn omp_init_nest_lock_with_hint_(lock: *mut c_void, hint: *const c_int) {
        // SAFETY: as above.
        unsafe {
            match romp_fortran_init_nest_with_hint {
                Some(routine) => routine(lock, hint),
                None => omp_init_nest_lock_(lock),
            }
        }
    }

    pub(crate) unsafe fn omp_test_lock_(lock: *mut c_void) -> c_int {
        static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        // SAFETY: the name is that of such a function; otherwise as the caller promises.
        unsafe { test(&FOUND, c"omp_test_lock_", lock) }
    }

    pub(crate) unsafe fn omp_test_nest_lock_(lock: *mut c_void) -> c_int {
        static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        // SAFETY: as above.
        unsafe { test(&FOUND, c"omp_test_nest_lock_", lock) }
    }

    /// Calls the runtime's function of a name. The name leads to our function first, so the next
    /// definition of it is looked up. If there is none, the lock is not set.
    unsafe fn test(found: &AtomicPtr<c_void>, name: &CStr, lock: *mut c_void) -> c_int {
        // SAFETY: a null pointer is the `None` of a function pointer; otherwise as
        // the caller promises.
        unsafe {
            let function: Option<Test> = std::mem::transmute(dynamic::next(found, name));
            function.map_or(0, |function| function(lock))
        }
    }
}

/// A runtime that the unit tests can link, which never call it.
#[cfg(test)]
#[allow(clippy::missing_safety_doc)]
mod runtime {
    use std::ffi::{c_int, c_void};

    macro_rules! stubs {
        ($($name:ident($($hint:ident: *const c_int)?) -> $result:ty = $value:expr;)+) => {$(
            pub(crate) unsafe fn $name(_: *mut c_void $(, $hint: *const c_int)?) -> $result {
                $(let _ = $hint;)?
                $value
            }
        )+};
    }
    stubs! {
        omp_init_lock_() -> () = ();
        omp_init_lock_with_hint_(hint: *const c_int) -> () = ();
        omp_destroy_lock_() -> () = ();
        omp_set_lock_() -> () = ();
        omp_unset_lock_() -> () = ();
        omp_test_lock_() -> c_int = 0;
        omp_init_nest_lock_() -> () = ();
        omp_init_nest_lock_with_hint_(hint: *const c_int) -> () = ();
        omp_destroy_nest_lock_() -> () = ();
        omp_set_nest_lock_() -> () = ();
        omp_unset_nest_lock_() -> () = ();
        omp_test_nest_lock_() -> c_int = 0;
    }
}
