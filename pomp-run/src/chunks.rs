//! What the entries do that hand out chunks of loops. The entries are in a library of their own
//! (`pomp-run-chunks`), which is loaded only where the user wants to see chunks. Each jumps to the
//! function here that has its name with `romp_run_` in front.

use std::arch::naked_asm;

use pomp::gomp::{self, Request};
use pomp::ompt::chunks::{begins_dispatch, begins_static, request};
use pomp::ompt::entries::{Chunks, Number, TARGETS};
use pomp::ompt::kinds;
use pomp::uninstrumented;

use super::llvm::{go_on, look_up, note_and_go_on};

/// The library with the entries is there.
#[unsafe(no_mangle)]
extern "C" fn romp_run_sees_chunks() {
    uninstrumented::sees_chunks();
}

macro_rules! gomp {
    ($($name:ident)+) => {$(
        #[unsafe(export_name = concat!("romp_run_", stringify!($name)))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            call_shape!(gomp::request::<{ Request::$name as usize }>)
        }
    )+};
}

pomp::for_gomp_requests!(gomp);

macro_rules! llvm {
    ($($name:ident: $what:ident($value:ident);)+) => {$(
        llvm_entry!($what $name $value);
    )+};
}

macro_rules! llvm_entry {
    (request $name:ident $value:ident) => {
        #[unsafe(export_name = concat!("romp_run_", stringify!($name)))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            call_shape!(request::<$value, { Chunks::$name as usize }>)
        }
    };
    // Shows the words of the call, and goes on as the entry in `llvm`. That one can't be called by
    // its name, which the entry in front has taken.
    ($begins:ident $name:ident $value:ident) => {
        #[unsafe(export_name = concat!("romp_run_", stringify!($name)))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            #[unsafe(naked)]
            unsafe extern "C" fn noted() {
                note_and_go_on!($name, kinds::SHARED)
            }
            naked_asm!(
                ".cfi_startproc",
                "push rax",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                ".cfi_adjust_cfa_offset 56",
                "mov rdi, rsp",
                "call {begins}",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "pop rax",
                ".cfi_adjust_cfa_offset -56",
                "jmp {noted}",
                ".cfi_endproc",
                begins = sym $begins::<$value>,
                noted = sym noted,
            )
        }
    };
}

pomp::for_llvm_chunks!(llvm);
