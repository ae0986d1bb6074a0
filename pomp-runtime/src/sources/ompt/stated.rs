//! The place that a compiler states for a call. LLVM's compilers pass a record as the first word of
//! a call of the runtime. With debug information it names file, function, line and column of the
//! directive, which the address that the call returns to often doesn't: a compiler turns the last
//! call of a function into a jump.
//!
//! The entries in front of the runtime's (`pomp-run`) note the record, the address that the call
//! returns to, and the kinds of regions whose events the call reports. The first event of such a
//! kind belongs to the call, whatever address the runtime gives with it. LLVM's runtime keeps that
//! address for each thread, but a thread that leaves a critical section writes and clears the one of
//! the first thread. Other events belong to the call if their address is the one noted.

use std::ffi::{CStr, c_char, c_int};

use profile::descriptor::SourceLines;
use profile::region_kind::RegionKind;

use crate::measure::modules;

/// The kinds of regions whose events a call may report, as bits.
pub mod kinds {
    #![allow(missing_docs)] // Each is the region type of its name.

    use profile::region_kind::RegionKind;

    pub const NOTHING: u32 = 0;
    pub const PARALLEL: u32 = 1;
    pub const TEAMS: u32 = 1 << 1;
    pub const FOR: u32 = 1 << 2;
    pub const SECTIONS: u32 = 1 << 3;
    pub const SINGLE: u32 = 1 << 4;
    pub const SCOPE: u32 = 1 << 5;
    pub const DISTRIBUTE: u32 = 1 << 6;
    pub const MASTER: u32 = 1 << 7;
    pub const CRITICAL: u32 = 1 << 8;
    pub const ORDERED: u32 = 1 << 9;
    pub const BARRIER: u32 = 1 << 10;
    pub const FLUSH: u32 = 1 << 11;
    pub const TASK: u32 = 1 << 12;
    pub const TASKGROUP: u32 = 1 << 13;
    const LOOP_OF_TASKS: u32 = 1 << 14;
    pub const TASKWAIT: u32 = 1 << 15;
    pub const CANCEL: u32 = 1 << 16;
    /// Constructs whose iterations or parts are shared out. Their entries are the same.
    pub const SHARED: u32 = FOR | SECTIONS | DISTRIBUTE;
    /// The runtime opens a group for the loop.
    pub const TASKLOOP: u32 = LOOP_OF_TASKS | TASKGROUP;

    /// The bit of a kind.
    #[inline(always)]
    pub(in super::super) const fn of(kind: RegionKind) -> u32 {
        match kind {
            RegionKind::Parallel => PARALLEL,
            RegionKind::Teams => TEAMS,
            RegionKind::Loop => FOR,
            RegionKind::Sections => SECTIONS,
            RegionKind::Single => SINGLE,
            RegionKind::Scope => SCOPE,
            RegionKind::Distribute => DISTRIBUTE,
            RegionKind::Master => MASTER,
            RegionKind::Critical => CRITICAL,
            RegionKind::Ordered => ORDERED,
            RegionKind::Barrier => BARRIER,
            RegionKind::Flush => FLUSH,
            RegionKind::Task | RegionKind::UntiedTask => TASK,
            RegionKind::Taskgroup => TASKGROUP,
            RegionKind::Taskloop => LOOP_OF_TASKS,
            RegionKind::Taskwait => TASKWAIT,
            RegionKind::Cancel => CANCEL,
            _ => NOTHING,
        }
    }
}

// What this thread noted last: the record, where the call returns to, and the kinds. The library is
// loaded with the program, so its thread-local data has a fixed place.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".pushsection .tbss.romp_stated, \"awT\", @nobits",
    ".balign 8",
    ".hidden romp_stated",
    ".globl romp_stated",
    ".type romp_stated, @tls_object",
    ".size romp_stated, 24",
    "romp_stated: .zero 24",
    ".popsection",
);

/// The call that this thread noted last.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotedCall {
    /// The record that was passed.
    pub(super) record: usize,
    /// The address to which the call returns; 0 if no call was noted.
    pub(super) return_address: usize,
    /// The kinds whose events it may still report.
    kinds: u32,
}

impl NotedCall {
    /// Whether the next event of a kind is one of this call.
    #[inline(always)]
    pub(super) fn reports(self, kind: RegionKind) -> bool {
        self.kinds & kinds::of(kind) != 0
    }
}

/// The call that this thread noted last.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn noted_call() -> NotedCall {
    let (record, return_address, kinds): (usize, usize, usize);
    // SAFETY: it reads three words of this thread, which nobody else writes.
    unsafe {
        std::arch::asm!(
            "mov {kinds}, qword ptr [rip + romp_stated@GOTTPOFF]",
            "mov {record}, qword ptr fs:[{kinds}]",
            "mov {return_address}, qword ptr fs:[{kinds} + 8]",
            "mov {kinds}, qword ptr fs:[{kinds} + 16]",
            record = out(reg) record,
            return_address = out(reg) return_address,
            kinds = out(reg) kinds,
            options(nostack, readonly, preserves_flags),
        );
    }
    NotedCall {
        record,
        return_address,
        kinds: kinds as u32,
    }
}

/// Records that an event of a kind was reported: the next event of that kind does not belong to the noted call.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn mark_reported(noted: NotedCall, kind: RegionKind) {
    let kinds = noted.kinds & !kinds::of(kind);
    // SAFETY: it writes a word of this thread, which nobody else reads.
    unsafe {
        std::arch::asm!(
            "mov {place}, qword ptr [rip + romp_stated@GOTTPOFF]",
            "mov qword ptr fs:[{place} + 16], {kinds}",
            place = out(reg) _,
            kinds = in(reg) kinds as usize,
            options(nostack, preserves_flags),
        );
    }
}

/// Nothing notes calls on other machines.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn noted_call() -> NotedCall {
    NotedCall {
        record: 0,
        return_address: 0,
        kinds: 0,
    }
}

/// Nothing notes calls on other machines.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn mark_reported(_noted: NotedCall, _kind: RegionKind) {}

/// The record that compilers call `ident_t`, as they lay it out.
#[repr(C)]
struct Ident {
    _reserved: [c_int; 4],
    text: *const c_char,
}

/// The place of a directive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatedPlace {
    pub(super) lines: SourceLines,
    pub(super) column: u32,
    pub(super) function: Option<String>,
}

/// The place that a record states, if it states one.
pub(super) fn place(record: usize) -> Option<StatedPlace> {
    // A record that a compiler made is a constant of a module, and so is its text. Others may be
    // gone when they are read.
    modules::module_at(record).filter(|_| record.is_multiple_of(align_of::<Ident>()))?;
    // SAFETY: the program passed it to the runtime, as a record that is laid out so.
    let text = unsafe { (*std::ptr::with_exposed_provenance::<Ident>(record)).text };
    modules::module_at(text.addr())?;
    // SAFETY: the runtime reads it as a C string, too.
    let text = unsafe { CStr::from_ptr(text) };
    parsed(text.to_str().ok()?)
}

/// Reads `;file;function;line;column;;`. Without debug information, file and line are unknown.
fn parsed(text: &str) -> Option<StatedPlace> {
    let text = text.strip_prefix(';')?.strip_suffix(";;")?;
    let mut parts = text.rsplitn(4, ';');
    let column = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    let function = parts.next()?;
    let file = parts.next()?;
    let is_known = line > 0 && !file.is_empty() && file != "unknown";
    is_known.then(|| StatedPlace {
        lines: SourceLines {
            file: file.to_owned(),
            first: line,
            last: line,
        },
        column,
        function: (!matches!(function, "" | "unknown")).then(|| function.to_owned()),
    })
}
