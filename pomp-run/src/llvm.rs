//! Entries of LLVM's runtime. Each notes its first word, which states the place of the construct,
//! the address that the call returns to, and the kinds of regions whose events it reports. Then it
//! jumps to the runtime's function: the words of the call, the stack and all registers that a
//! function may expect are as the caller left them. The entries that end a section note nothing.
//! They report the end where the runtime can't.

use std::arch::naked_asm;

use pomp::keeping_words;
use pomp::ompt::around;
use pomp::ompt::chunks::{self, SHOWS_CHUNKS};
use pomp::ompt::entries::{Number, TARGETS, target};
use pomp::ompt::kinds;
use pomp::ompt::outlived::{self, ENTRIES_REPORT_ENDS};

/// Jumps to the runtime's function. r10 has the address that the call returns to.
macro_rules! go_on {
    () => {
        "mov r11, qword ptr [rip + {targets} + {number} * 8]
        test r11, r11
        jz 2f
        jmp r11
        2:
        mov r11d, {number}
        jmp {look_up}"
    };
}

/// Notes the call. r10 gets the address that it returns to.
macro_rules! note {
    () => {
        "mov r11, qword ptr [rip + romp_stated@GOTTPOFF]
        mov r10, qword ptr [rsp]
        mov qword ptr fs:[r11], rdi
        mov qword ptr fs:[r11 + 8], r10
        mov qword ptr fs:[r11 + 16], {kinds}"
    };
}

/// Notes the call, and jumps to the runtime's function.
macro_rules! note_and_go_on {
    ($name:ident, $kinds:expr) => {
        naked_asm!(
            note!(),
            go_on!(),
            targets = sym TARGETS,
            kinds = const $kinds,
            number = const Number::$name as usize,
            look_up = sym look_up,
        )
    };
}

macro_rules! entry {
    ($name:ident $kinds:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            note_and_go_on!($name, kinds::$kinds)
        }
    };
    // Its end is recorded when it returns.
    ($name:ident $kinds:ident $around:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            #[unsafe(naked)]
            unsafe extern "C" fn noted() {
                call_shape!(around::call::<around::$around, { Number::$name as usize }>)
            }
            naked_asm!(
                note!(),
                "jmp {noted}",
                kinds = const kinds::$kinds,
                noted = sym noted,
            )
        }
    };
    // It begins a loop: shows the words of the call if the user wants to see chunks.
    ($name:ident $kinds:ident $begins:ident $value:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            #[unsafe(naked)]
            unsafe extern "C" fn noted() {
                note_and_go_on!($name, kinds::$kinds)
            }
            naked_asm!(
                ".cfi_startproc",
                "cmp byte ptr [rip + {shows_chunks}], 0",
                "je {noted}",
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
                shows_chunks = sym SHOWS_CHUNKS,
                begins = sym chunks::$begins::<$value>,
                noted = sym noted,
            )
        }
    };
}

macro_rules! entries {
    ($($name:ident($kinds:ident $(, $does:ident $($value:ident)?)?))+; $($end:ident($reports:ident))+) => {$(
        entry!($name $kinds $($does $($value)?)?);
    )+
    $(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $end() {
            naked_asm!(
                ".cfi_startproc",
                "cmp byte ptr [rip + {are_reported}], 0",
                "je 3f",
                keeping_words!("call {reports}"),
                "3:",
                "mov r10, qword ptr [rsp]",
                go_on!(),
                ".cfi_endproc",
                are_reported = sym ENTRIES_REPORT_ENDS,
                reports = sym outlived::$reports,
                targets = sym TARGETS,
                number = const Number::$end as usize,
                look_up = sym look_up,
            )
        }
    )+};
}

pomp::for_llvm_entries!(entries);

/// Looks up the function that the caller reaches, and jumps to it. r11 has the number of the entry,
/// r10 the address that the call returns to. No entry has words in vector registers.
#[unsafe(naked)]
unsafe extern "C" fn look_up() {
    naked_asm!(
        ".cfi_startproc",
        keeping_words!(
            "mov rdi, r11
            mov rsi, r10
            call {target}
            mov r11, rax"
        ),
        "jmp r11",
        ".cfi_endproc",
        target = sym target,
    )
}
