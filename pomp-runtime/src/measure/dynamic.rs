//! The function of a name that stands for ours at first: the one that the next
//! object in the order of the dynamic linker defines.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

unsafe extern "C" {
    static romp_dlsym: Option<Lookup>;
}

// A weak reference: it is not needed in a static executable, and the linker
// would warn of it.
std::arch::global_asm!(
    ".weak dlsym",
    ".pushsection .data.rel.ro.romp_dynamic, \"aw\"",
    ".balign 8",
    ".hidden romp_dlsym",
    ".globl romp_dlsym",
    "romp_dlsym: .8byte dlsym",
    ".popsection",
);

/// Looks the function up, once. Null in a static executable.
pub(crate) fn next(found: &AtomicPtr<c_void>, name: &CStr) -> *const c_void {
    if found.load(Ordering::Acquire).is_null() {
        // SAFETY: the static is never written, and the lookup is that of the C
        // library.
        if let Some(lookup) = unsafe { romp_dlsym } {
            // SAFETY: as above.
            let function = unsafe { lookup(libc::RTLD_NEXT, name.as_ptr()) };
            found.store(function, Ordering::Release);
        }
    }
    found.load(Ordering::Acquire)
}
