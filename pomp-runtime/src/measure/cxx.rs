//! Asks the C++ runtime, if the program has one, for the names of symbols.

use std::ffi::{CStr, CString, c_char, c_int};

/// `__cxa_demangle` of the C++ ABI: symbol, buffer and its size, status.
type Demangle =
    unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

#[cfg(not(test))]
mod runtime {
    use super::Demangle;

    unsafe extern "C" {
        pub(super) static romp_cxa_demangle: Option<Demangle>;
    }

    // A weak reference: null in programs without C++.
    std::arch::global_asm!(
        ".weak __cxa_demangle",
        ".pushsection .data.rel.ro.romp_cxx, \"aw\"",
        ".balign 8",
        ".hidden romp_cxa_demangle",
        ".globl romp_cxa_demangle",
        "romp_cxa_demangle: .8byte __cxa_demangle",
        ".popsection",
    );
}

#[cfg(not(test))]
fn demangle() -> Option<Demangle> {
    // SAFETY: nobody writes to it.
    unsafe { runtime::romp_cxa_demangle }
}

#[cfg(test)]
fn demangle() -> Option<Demangle> {
    None
}

/// A symbol as C++ spells it; none if it is not one of C++, or the program has no
/// runtime of C++.
pub(crate) fn demangled(symbol: &str) -> Option<String> {
    let demangle = demangle()?;
    let symbol = CString::new(symbol).ok()?;
    let mut status = 0;
    let (no_buffer, no_size) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the symbol ends with a null byte, and the text is ours to free.
    unsafe {
        let text = demangle(symbol.as_ptr(), no_buffer, no_size, &raw mut status);
        let copy = (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned());
        libc::free(text.cast());
        copy.filter(|_| status == 0)
    }
}
