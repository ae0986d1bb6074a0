//! Calls of the system under names that no program has.
//!
//! ISO C leaves names such as `read`, `write` or `close` to programs. If a program has a function
//! or an array of such a name, the linker does not take the C library's function, and gives the
//! program's to Rust's library, too. So the shared library (`build.rs`) and the installed archive
//! (`install`) are linked with `--defsym NAME=romp_system_NAME` for each function here. Their
//! calls then reach our functions, whatever the program defines.
//!
//! A function is here if Rust's library calls it, its name is a word that programs use, and it is
//! nothing but a call of the system. The C library's functions are also cancellation points; ours
//! are not.

use libc::{c_char, c_int, c_uint, c_void, iovec, nfds_t, pid_t, pollfd, size_t, ssize_t};
use libc::{rusage, statx};

macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $call:ident($($word:expr),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: as for the function whose name this one's ends with, which passes
            // the same words to the system. What it returns fits the type.
            unsafe { libc::syscall(libc::$call $(, $word)*) as $result }
        }
    )*};
}

calls! {
    romp_system_close(file: c_int) -> c_int = SYS_close(file);
    romp_system_read(file: c_int, to: *mut c_void, size: size_t) -> ssize_t = SYS_read(file, to, size);
    romp_system_write(file: c_int, from: *const c_void, size: size_t) -> ssize_t
        = SYS_write(file, from, size);
    romp_system_writev(file: c_int, parts: *const iovec, count: c_int) -> ssize_t
        = SYS_writev(file, parts, count);
    romp_system_linkat(
        old_folder: c_int, old: *const c_char, folder: c_int, new: *const c_char, flags: c_int
    ) -> c_int = SYS_linkat(old_folder, old, folder, new, flags);
    romp_system_mkdir(path: *const c_char, mode: libc::mode_t) -> c_int
        = SYS_mkdirat(libc::AT_FDCWD, path, mode);
    romp_system_readlink(path: *const c_char, to: *mut c_char, size: size_t) -> ssize_t
        = SYS_readlinkat(libc::AT_FDCWD, path, to, size);
    romp_system_unlink(path: *const c_char) -> c_int = SYS_unlinkat(libc::AT_FDCWD, path, 0);
    romp_system_statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, to: *mut statx)
        -> c_int = SYS_statx(folder, path, flags, mask, to);
    romp_system_getpid() -> pid_t = SYS_getpid();
    romp_system_gettid() -> pid_t = SYS_gettid();
    romp_system_getrandom(to: *mut c_void, size: size_t, flags: c_uint) -> ssize_t
        = SYS_getrandom(to, size, flags);
    romp_system_getrusage(whose: c_int, to: *mut rusage) -> c_int = SYS_getrusage(whose, to);
}

/// Not every machine has the system call of the same name.
#[unsafe(no_mangle)]
unsafe extern "C" fn romp_system_poll(
    files: *mut pollfd,
    count: nfds_t,
    milliseconds: c_int,
) -> c_int {
    let limit = libc::timespec {
        tv_sec: (milliseconds / 1000).into(),
        tv_nsec: (milliseconds % 1000 * 1_000_000).into(),
    };
    let limit = match milliseconds {
        ..0 => std::ptr::null(),
        _ => &raw const limit,
    };
    let none = std::ptr::null::<c_void>();
    // SAFETY: as for `poll`.
    unsafe { libc::syscall(libc::SYS_ppoll, files, count, limit, none, 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn romp_system_pause() -> c_int {
    // SAFETY: it waits for no file, and for ever.
    unsafe { romp_system_poll(std::ptr::null_mut(), 0, -1) }
}
