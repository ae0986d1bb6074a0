//! The error number of the C library belongs to the program.

/// Runs something that may call the system, and leaves errno as it was.
pub(crate) fn keep<R>(action: impl FnOnce() -> R) -> R {
    let before = get();
    let result = action();
    set(before);
    result
}

pub(super) fn get() -> libc::c_int {
    // SAFETY: the place is the calling thread's own.
    unsafe { *libc::__errno_location() }
}

fn set(value: libc::c_int) {
    // SAFETY: as in `get`.
    unsafe { *libc::__errno_location() = value };
}
