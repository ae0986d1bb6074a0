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

super::weak::define_weakly! {
    "_exit" => "romp_end_process",
    "_Exit" => "romp_end_process",
}
