//! The function of a runtime that a module would reach without Romp.
//!
//! The linker looks first in the program and the libraries that it was started with, and then in
//! the libraries that the module itself asked for: no other module finds a library that was loaded
//! for a plugin alone.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::measure::message;

/// The function of this name that the module in a file calls.
pub(super) fn by(module: &Path, name: &CStr) -> Option<*mut c_void> {
    by_all(name).or_else(|| {
        // SAFETY: the name is a C string, and the handle is one of the loader's.
        let found = unsafe { libc::dlsym(loaded(module)?, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    })
}

/// The function of this name that all modules call, if the program was started with one.
pub(super) fn by_all(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The loader's handle for a file that it has loaded.
pub(super) fn loaded(path: &Path) -> Option<*mut c_void> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: the path is a C string. The call loads nothing new. A library that serves the
    // program is never unloaded from then on, since we keep its functions.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!handle.is_null()).then_some(handle)
}

/// Ends the program as the dynamic linker does if a called function is defined nowhere.
#[cold]
pub(super) fn cannot_call(name: &CStr) -> ! {
    let name = name.to_string_lossy();
    message::say(&format!("symbol lookup error: undefined symbol: {name}"));
    std::process::exit(127);
}
