//! Avoids a crash of LLVM's runtime after the end of its first thread. That thread is not the
//! program's initial thread if another one used OpenMP first.
//!
//! Where LLVM's runtime reports that a mutex was released, it looks up what it keeps of its first
//! thread, and crashes once this thread has ended. So such a runtime is not asked for these reports.
//! The entries of the calls that release a mutex (`entries`) report them instead, just before the
//! runtime releases it. An event that begins a section counts only if its call came through an entry,
//! too: its end will be reported then.

use std::sync::atomic::{AtomicBool, Ordering};

use profile::event::Event;
use profile::region_kind::RegionKind;

use super::report::report_events_of_open;
use super::stated;

/// Whether the ends of sections are reported by entries.
pub static ENTRIES_REPORT_ENDS: AtomicBool = AtomicBool::new(false);

/// A runtime begins on this thread. Whether it will not ask for reports of releases.
pub(super) fn may_outlive_this_thread() -> bool {
    // SAFETY: plain system calls.
    let is_outlived = unsafe { libc::gettid() != libc::getpid() };
    if is_outlived {
        ENTRIES_REPORT_ENDS.store(true, Ordering::Relaxed);
    }
    entries_report_ends()
}

#[inline(always)]
pub(super) fn entries_report_ends() -> bool {
    ENTRIES_REPORT_ENDS.load(Ordering::Relaxed)
}

/// The constructs of such a runtime that are not visible: its calls that release an atomic's lock have no entry.
pub(super) fn not_visible() -> Option<&'static str> {
    entries_report_ends().then_some("atomic")
}

/// Whether the end of what begins now will be reported.
#[inline(always)]
pub(super) fn end_is_reported(kind: RegionKind) -> bool {
    !entries_report_ends() || stated::noted_call().reports(kind)
}

/// A critical section is about to be left.
pub extern "C" fn critical_ends() {
    report_events_of_open(
        RegionKind::Critical,
        &[Event::CriticalEnd, Event::CriticalExit],
    );
}

/// The part of an iteration that is ordered is about to be left.
pub extern "C" fn ordered_ends() {
    report_events_of_open(
        RegionKind::Ordered,
        &[Event::OrderedEnd, Event::OrderedExit],
    );
}
