//! The boundary that every entry point passes: is measurement on, is the
//! descriptor there and known, is the thread inside the library already; and a
//! panic turns measurement off instead of unwinding into the program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::descriptor::{OmpRegDescr, region_of};
use crate::measure::region::Region;
use crate::measure::thread::{Thread, with_current};
use crate::measure::{life_cycle, state};

/// Runs `action` for an event of a region, if it is to be measured.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(always)]
pub(super) unsafe fn event<R>(
    descriptor: *const OmpRegDescr,
    action: impl FnOnce(&'static Thread, &'static Region) -> R,
) -> Option<R> {
    if !state::is_on() && !start() {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe { recorded(descriptor, action) }
}

/// As `event`, also while the program has switched measurement off.
///
/// # Safety
/// As `event`.
pub(super) unsafe fn lasting_event<R>(
    descriptor: *const OmpRegDescr,
    action: impl FnOnce(&'static Thread, &'static Region) -> R,
) -> Option<R> {
    if !state::is_on_or_paused() {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe { recorded(descriptor, action) }
}

#[inline(always)]
unsafe fn recorded<R>(
    descriptor: *const OmpRegDescr,
    action: impl FnOnce(&'static Thread, &'static Region) -> R,
) -> Option<R> {
    // SAFETY: as the caller promises.
    let descriptor = unsafe { descriptor.as_ref()? };
    caught(|| with_current(|thread| Some(action(thread, region_of(descriptor)?)))?)
}

/// Runs `action` for an event of no region.
#[inline(always)]
pub(super) fn thread_event<R>(action: impl FnOnce(&'static Thread) -> R) -> Option<R> {
    if !state::is_on() {
        return None;
    }
    caught(|| with_current(action))
}

/// Runs what a source does apart from events.
pub(super) fn caught<R>(action: impl FnOnce() -> Option<R>) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(result) => result,
        Err(_) => {
            life_cycle::fail("an internal error has ended the measurement; no profile is written");
            None
        }
    }
}

/// Measurement is not on: perhaps because this is the first event.
#[inline(always)]
fn start() -> bool {
    state::is_new() && caught(|| Some(life_cycle::ensure_started())).unwrap_or(false)
}
