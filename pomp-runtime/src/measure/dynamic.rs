//! Questions to the dynamic linker: which function a name would lead to if this library did not
//! define it, and whether the program exports a function with a given name.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

type Lookup = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

unsafe extern "C" {
    static romp_dlsym: Option<Lookup>;
    static romp_dlopen: Option<Open>;
}

// Weak references: they are not needed in a static executable, and the linker
// would warn of them.
std::arch::global_asm!(
    ".weak dlsym",
    ".weak dlopen",
    ".pushsection .data.rel.ro.romp_dynamic, \"aw\"",
    ".balign 8",
    ".hidden romp_dlsym",
    ".globl romp_dlsym",
    "romp_dlsym: .8byte dlsym",
    ".hidden romp_dlopen",
    ".globl romp_dlopen",
    "romp_dlopen: .8byte dlopen",
    ".popsection",
);

/// A name of a function, from a text that ends with a zero byte.
pub(crate) const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// Looks the function up, once. Null in a static executable.
#[inline(always)]
pub(crate) fn next(found: &AtomicPtr<c_void>, name: &CStr) -> *const c_void {
    match found.load(Ordering::Acquire) {
        function if function.is_null() => look_up_next(found, name),
        function => function,
    }
}

#[cold]
#[inline(never)]
fn look_up_next(found: &AtomicPtr<c_void>, name: &CStr) -> *const c_void {
    // SAFETY: the static is never written, and the lookup is that of the C library.
    if let Some(lookup) = unsafe { romp_dlsym } {
        // SAFETY: as above.
        let function = unsafe { lookup(libc::RTLD_NEXT, name.as_ptr()) };
        found.store(function, Ordering::Release);
    }
    found.load(Ordering::Acquire)
}

/// Whether the executable, or a library loaded with it, exports a function of this name. Waits for
/// libraries that other threads load.
pub(crate) fn program_shows(name: &CStr) -> bool {
    exported_address(name).is_none_or(|function| !function.is_null())
}

/// Calls a function of ours without arguments that the executable, or a library loaded with it,
/// exports under this name. It is no error if there is none.
pub(crate) fn call_if_exported(name: &CStr) {
    // SAFETY: null is the `None` of a function pointer, and only we give such names.
    let function = exported_address(name).and_then(|function| unsafe {
        std::mem::transmute::<*mut c_void, Option<extern "C" fn()>>(function)
    });
    if let Some(function) = function {
        function();
    }
}

/// Whether the C library knows of only one thread so far. A library that does not say so is taken to know
/// of one.
pub(crate) fn has_one_thread() -> bool {
    let is_single =
        exported_address(c"__libc_single_threaded").filter(|address| !address.is_null());
    // SAFETY: glibc defines a `char` of this name (since 2.32), and nobody else may use the name.
    is_single.is_none_or(|address| unsafe { address.cast::<c_char>().read_volatile() } != 0)
}

/// The address that is exported under a name; none in a static executable.
fn exported_address(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the statics are never written, and the functions are those of the
    // C library.
    let (open, lookup) = unsafe { (romp_dlopen?, romp_dlsym?) };
    // SAFETY: as above. What stands for the program need not be closed.
    unsafe {
        let program = open(std::ptr::null(), libc::RTLD_LAZY);
        match program.is_null() {
            true => Some(program),
            false => Some(lookup(program, name.as_ptr())),
        }
    }
}
