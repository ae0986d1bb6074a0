//! Ends of the process that run no exit handlers: `_exit`, `_Exit`, and `daemon`. The caller of
//! `daemon` goes on as a child, while the process itself ends without exit handlers.
//!
//! All are defined weakly, so that a definition of the program's own is taken instead. Where the C
//! library is a shared one, calls from the program's own code come here first. Some ends call no
//! function: `SIGKILL`, signals that are errors of the program, and the system call itself. After
//! these, the profile that was written last is left (`ROMP_DUMP_INTERVAL`).

use std::ffi::c_int;

use super::boundary::caught;
use crate::run::life_cycle;

/// Ends the process after the profile has been written.
#[unsafe(no_mangle)]
pub(super) extern "C-unwind" fn romp_end_process(status: c_int) -> ! {
    caught(|| {
        life_cycle::finish_at_once();
        Some(())
    });
    loop {
        // SAFETY: this is all that the C library's `_exit` does.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// The C library's `daemon`, with an end of the parent that is noticed here. Work before the call
/// is in the parent's profile, and work after it in the child's, as with `fork`.
#[unsafe(no_mangle)]
extern "C" fn romp_daemon(keeps_directory: c_int, keeps_files: c_int) -> c_int {
    // SAFETY: the calls take numbers and a constant.
    unsafe {
        match libc::fork() {
            -1 => return -1,
            0 => {}
            _ => romp_end_process(0),
        }
        if libc::setsid() == -1 {
            return -1;
        }
        if keeps_directory == 0 {
            libc::chdir(c"/".as_ptr());
        }
    }
    match keeps_files {
        0 => use_null_device(),
        _ => 0,
    }
}

/// Standard input and output lead nowhere, if there is such a place.
fn use_null_device() -> c_int {
    /// The number of the null device: 1 and 3.
    const NUMBER: libc::dev_t = libc::makedev(1, 3);
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the places are valid, and all zeros is a valid `stat`.
    unsafe {
        let file = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        if file == -1 || libc::fstat(file, about.as_mut_ptr()) == -1 {
            libc::close(file);
            return -1;
        }
        let about = about.assume_init();
        if about.st_mode & libc::S_IFMT != libc::S_IFCHR || about.st_rdev != NUMBER {
            libc::close(file);
            *libc::__errno_location() = libc::ENODEV;
            return -1;
        }
        for standard in libc::STDIN_FILENO..=libc::STDERR_FILENO {
            libc::dup2(file, standard);
        }
        if file > libc::STDERR_FILENO {
            libc::close(file);
        }
    }
    0
}

super::weak::define_weakly! {
    "daemon" => "romp_daemon",
    "_exit" => "romp_end_process",
    "_Exit" => "romp_end_process",
}
