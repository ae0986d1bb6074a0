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
    // SAFETY: as the caller promises.
    event_of(|_| region_of(unsafe { descriptor.as_ref() }?), action)
}

/// Runs `action` for an event of the region that `find` finds, if it is to be
/// measured.
#[inline(always)]
pub(super) fn event_of<R>(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region>,
    action: impl FnOnce(&'static Thread, &'static Region) -> R,
) -> Option<R> {
    if !state::is_on() && !start() {
        return None;
    }
    recorded(find, action)
}

/// As `event_of`, also while the program has switched measurement off.
#[inline(always)]
pub(super) fn lasting_event_of<R>(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region>,
    action: impl FnOnce(&'static Thread, &'static Region) -> R,
) -> Option<R> {
    if !state::is_on_or_paused() {
        return None;
    }
    recorded(find, action)
}

#[inline(always)]
fn recorded<R>(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region>,
    action: impl FnOnce(&'static Thread, &'static Region) -> R,
) -> Option<R> {
    let measured = |thread| find(thread).filter(|region| !region.off);
    caught(|| with_current(|thread| Some(action(thread, measured(thread)?)))?)
}

/// What is done for an event. Interfaces of other tools pass it to one function each,
/// since every program carries them, whether it uses them or not.
pub(super) type Action = fn(&'static Thread, &'static Region);

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
