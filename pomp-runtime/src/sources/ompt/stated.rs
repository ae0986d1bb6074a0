//! The place that a compiler states for a call. LLVM's compilers pass a record as the first word of
//! a call of the runtime. With debug information it names file, function, line and column of the
//! directive, which the address that the call returns to often doesn't: a compiler turns the last
//! call of a function into a jump.
//!
//! The entries in front of the runtime's (`pomp-run`) note the record and the address that the call
//! returns to. The runtime reports its events with the same address. An event with another address
//! is one of another call, so the record says nothing of it.

use std::ffi::{CStr, c_char, c_int};

use profile::descriptor::SourceLines;

use crate::measure::modules;

// What this thread noted last: the record, and where the call returns to. The library is loaded
// with the program, so its thread-local data has a fixed place.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .tbss.romp_stated, \"awT\", @nobits",
    ".balign 8",
    ".hidden romp_stated",
    ".globl romp_stated",
    ".type romp_stated, @tls_object",
    ".size romp_stated, 16",
    "romp_stated: .zero 16",
    ".popsection",
);

/// The address of the record that was passed to the call which returns to this address; 0 if it is
/// not known.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn record(back: usize) -> usize {
    let (record, noted): (usize, usize);
    // SAFETY: it reads two words of this thread, which nobody else writes.
    unsafe {
        std::arch::asm!(
            "mov {noted}, qword ptr [rip + romp_stated@GOTTPOFF]",
            "mov {record}, qword ptr fs:[{noted}]",
            "mov {noted}, qword ptr fs:[{noted} + 8]",
            record = out(reg) record,
            noted = out(reg) noted,
            options(nostack, readonly, preserves_flags),
        );
    }
    match noted == back {
        true => record,
        false => 0,
    }
}

/// Nothing notes records on other machines.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn record(_back: usize) -> usize {
    0
}

/// The record, as the compilers lay it out.
#[repr(C)]
struct Record {
    _reserved: [c_int; 4],
    text: *const c_char,
}

/// The place of a directive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) lines: SourceLines,
    pub(super) column: u32,
    pub(super) function: Option<String>,
}

/// The place that a record states, if it states one.
pub(super) fn place(record: usize) -> Option<Place> {
    // A record that a compiler made is a constant of a module, and so is its text. Others may be
    // gone when they are read.
    modules::of(record).filter(|_| record.is_multiple_of(align_of::<Record>()))?;
    // SAFETY: the program passed it to the runtime, as a record that is laid out so.
    let text = unsafe { (*std::ptr::with_exposed_provenance::<Record>(record)).text };
    modules::of(text.addr())?;
    // SAFETY: the runtime reads it as a C string, too.
    let text = unsafe { CStr::from_ptr(text) };
    parsed(text.to_str().ok()?)
}

/// Reads `;file;function;line;column;;`. Without debug information, file and line are unknown.
fn parsed(text: &str) -> Option<Place> {
    let text = text.strip_prefix(';')?.strip_suffix(";;")?;
    let mut parts = text.rsplitn(4, ';');
    let column = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    let function = parts.next()?;
    let file = parts.next()?;
    let is_known = line > 0 && !file.is_empty() && file != "unknown";
    is_known.then(|| Place {
        lines: SourceLines {
            file: file.to_owned(),
            first: line,
            last: line,
        },
        column,
        function: (!matches!(function, "" | "unknown")).then(|| function.to_owned()),
    })
}
