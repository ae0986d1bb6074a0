//! The library that `romp run` has the dynamic linker load before a program that was not built
//! with Romp. It defines the entry points of GCC's OpenMP runtime.
//!
//! Only the names are here. Each jumps to the shape that its row in the table asks for
//! (`pomp::gomp`), and hands on the address to which the call returns. Only programs that are
//! started in this way get these names: programs that are linked with `libpomp` never have them.
//! The entries of LLVM's runtime are in `llvm`, and those of both that hand out chunks of loops in `chunks`.

#![cfg(target_arch = "x86_64")]
#![allow(non_snake_case)] // The names are others'.

// A shape gets the six words in registers unchanged. On the stack it gets a word that aligns the
// stack, then the address to which the call returns, and then the words that the caller put there.
macro_rules! call_shape {
    ($($shape:tt)+) => {
        naked_asm!(
            ".cfi_startproc",
            "push r11",
            ".cfi_adjust_cfa_offset 8",
            "call {shape}",
            "pop r11",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            shape = sym $($shape)+,
        )
    };
}

mod chunks;
mod llvm;

use std::arch::naked_asm;
use std::ffi::{c_char, c_int, c_uint, c_void};

use pomp::gomp::{self, entries};
use pomp::{ompt, uninstrumented};

macro_rules! stubs {
    ($($name:ident: $shape:ident($($row:tt)*);)+) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            call_shape!(gomp::$shape::<entries::$name>)
        }
    )+};
}

pomp::for_gomp_entries!(stubs);

macro_rules! jumps {
    ($($name:ident => $target:literal;)+) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(concat!("jmp ", $target))
        }
    )+};
}

// Ends of the process that run no exit handlers, and calls that replace the program by another.
jumps! {
    _exit => "romp_end_process";
    _Exit => "romp_end_process";
    daemon => "romp_daemon";
    execve => "romp_report_then_execve";
    execv => "romp_report_then_execv";
    execvp => "romp_report_then_execvp";
    execvpe => "romp_report_then_execvpe";
    execl => "romp_report_then_execl";
    execlp => "romp_report_then_execlp";
    execle => "romp_report_then_execle";
    fexecve => "romp_report_then_fexecve";
    execveat => "romp_report_then_execveat";
}

/// The dynamic linker calls it when the program and its libraries are loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    uninstrumented::at_load();
    ompt::entries::find_targets();
}

/// AddressSanitizer's library asks for its options here, unless the program answers. It would end
/// a program in which another library is loaded before it; ours takes the place of nothing that
/// it needs to see.
#[unsafe(no_mangle)]
extern "C" fn __asan_default_options() -> *const c_char {
    c"verify_asan_link_order=0".as_ptr()
}

/// LLVM's runtime and its kin ask for a tool with this function.
///
/// # Safety
/// As OpenMP says.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompt_start_tool(
    version: c_uint,
    runtime: *const c_char,
) -> *const ompt::StartResult {
    // SAFETY: as the caller promises.
    unsafe { ompt::start(version, runtime) }
}

/// A tool for the collector interface sends its requests here (see `build.rs`).
///
/// # Safety
/// `requests` is null or a buffer as the interface demands.
#[unsafe(no_mangle)]
unsafe extern "C" fn romp_run_collector_api(requests: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { uninstrumented::answer_collector(requests) }
}

/// Programs that were built with Romp call this when they begin to measure themselves.
#[unsafe(no_mangle)]
extern "C" fn romp_run_stand_back() {
    uninstrumented::stand_back();
}

// Questions of the library to the OpenMP runtime go to these functions (see `build.rs`).
#[unsafe(no_mangle)]
extern "C" fn romp_run_get_level() -> i32 {
    gomp::asked::level()
}

#[unsafe(no_mangle)]
extern "C" fn romp_run_get_team_size(level: i32) -> i32 {
    gomp::asked::team_size(level)
}

#[unsafe(no_mangle)]
extern "C" fn romp_run_get_num_procs() -> i32 {
    gomp::asked::num_procs()
}
