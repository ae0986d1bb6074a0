//! Ends of the process that run no exit handlers: `_exit` and `_Exit`.
//!
//! Both are defined weakly, so that a definition of the program's own is taken
//! instead; where the C library is a shared one, calls from the program's own
//! code come here first.

use std::ffi::c_int;

use super::boundary::caught;
use crate::measure::life_cycle;

/// Ends the process after the profile has been written.
#[unsafe(no_mangle)]
pub(super) extern "C" fn romp_end_process(status: c_int) -> ! {
    caught(|| {
        life_cycle::finish_at_once();
        Some(())
    });
    loop {
        // SAFETY: this is all that the C library's `_exit` does.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    () => {
        "jmp"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    () => {
        "b"
    };
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
std::arch::global_asm!(
    ".pushsection .text.romp_ends, \"ax\", %progbits",
    ".hidden romp_end_process",
    ".weak _exit",
    ".type _exit, %function",
    ".weak _Exit",
    ".type _Exit, %function",
    "_exit:",
    "_Exit:",
    concat!(jump!(), " romp_end_process"),
    ".size _exit, . - _exit",
    ".size _Exit, . - _Exit",
    ".popsection",
);
