//! The boundary that every entry point passes. It asks whether measurement is on, whether
//! the descriptor is known, and whether the thread is inside the library already. A panic
//! turns measurement off instead of unwinding into the program.
//!
//! The program may unwind through an entry point. So each entry point is a `C-unwind` function,
//! and all values that it holds are `Copy`. It calls the function that catches panics: directly on
//! the fast path, and otherwise with cancellation held off (`cancellation`).

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::descriptor::OmpRegDescr;
use super::regions::region_of;
use crate::measure::records::Region;
use crate::measure::thread::{self, Thread};
use crate::measure::{cancellation, state};
use crate::run::{life_cycle, writing};

/// Runs `action` for an event of a region, if it is to be measured.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(always)]
pub(super) unsafe fn event<R: Copy>(
    descriptor: *const OmpRegDescr,
    action: impl FnOnce(&'static Thread, &'static Region) -> R + Copy,
) -> Option<R> {
    // SAFETY: as the caller promises.
    let descriptor = unsafe { descriptor.as_ref() };
    match is_switched_off(descriptor.and_then(OmpRegDescr::known_region)) {
        true => None,
        false => event_of(move |_| region_of(descriptor?), action),
    }
}

/// Whether the user has switched the region off. Asked first where a region is known, since it spares
/// all that recording an event takes.
#[inline(always)]
pub(super) fn is_switched_off(region: Option<&Region>) -> bool {
    region.is_some_and(|region| region.off)
}

/// Runs `action` for an event of the region that `find` finds, if the region is to be measured. It
/// also runs while the program has switched measurement off, since these events say where the
/// thread is.
#[inline(always)]
pub(super) fn event_of<R: Copy>(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    action: impl FnOnce(&'static Thread, &'static Region) -> R + Copy,
) -> Option<R> {
    on_thread(state::is_on_or_paused, move |thread| {
        let region = find(thread).filter(|region| !region.off)?;
        Some(action(thread, region))
    })
}

/// Like `event_of`, for events that last only a moment: they are ignored while the program has
/// switched measurement off.
#[inline(always)]
pub(super) fn passing_event_of<R: Copy>(
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    action: impl FnOnce(&'static Thread, &'static Region) -> R + Copy,
) -> Option<R> {
    on_thread(state::is_on, move |thread| {
        let region = find(thread).filter(|region| !region.off)?;
        Some(action(thread, region))
    })
}

/// The action for an event. Each interface of another tool passes its actions to one shared
/// function, since every program carries these interfaces, whether it uses them or not.
pub(super) type Action = fn(&'static Thread, &'static Region);

/// Runs `action` for a momentary event that belongs to no region.
#[inline(always)]
pub(super) fn thread_event<R: Copy>(action: impl FnOnce(&'static Thread) -> R + Copy) -> Option<R> {
    on_thread(state::is_on, move |thread| Some(action(thread)))
}

#[inline(always)]
fn on_thread<R: Copy>(
    is_wanted: fn() -> bool,
    action: impl FnOnce(&'static Thread) -> Option<R> + Copy,
) -> Option<R> {
    if state::is_quick()
        && let Some(thread) = thread::current()
    {
        recorded(thread, action)
    } else if state::is_off() {
        None
    } else {
        carefully(is_wanted, action)
    }
}

/// Runs `action` and catches panics. Entry points jump to this function.
#[inline(never)]
fn recorded<R: Copy>(
    thread: &'static Thread,
    action: impl FnOnce(&'static Thread) -> Option<R> + Copy,
) -> Option<R> {
    let begin = thread.own_time.begin();
    let result = or_fail(|| thread.enter(action)?);
    thread.own_time.end(begin);
    result
}

/// Handles the first event of the program or of this thread, events while the program has switched
/// measurement off, and every event where threads may be cancelled at any instruction.
#[cold]
#[inline(never)]
fn carefully<R: Copy>(
    is_wanted: fn() -> bool,
    action: impl FnOnce(&'static Thread) -> Option<R> + Copy,
) -> Option<R> {
    let held = cancellation::hold();
    let result = match attached(is_wanted) {
        Some(thread) => recorded(thread, action),
        None => None,
    };
    held.release();
    result
}

/// Returns this thread's block if measurement is in the wanted state.
#[cold]
#[inline(never)]
fn attached(is_wanted: fn() -> bool) -> Option<&'static Thread> {
    or_fail(|| {
        if !life_cycle::ensure_started() || !is_wanted() {
            return None;
        }
        thread::current().or_else(thread::attach)
    })
}

/// Runs work of a source that is not an event.
#[inline(always)]
pub(super) fn caught<R: Copy>(action: impl FnOnce() -> Option<R> + Copy) -> Option<R> {
    let held = cancellation::hold();
    let result = done(action);
    held.release();
    result
}

#[inline(never)]
fn done<R: Copy>(action: impl FnOnce() -> Option<R> + Copy) -> Option<R> {
    or_fail(action)
}

#[inline(always)]
fn or_fail<R>(action: impl FnOnce() -> Option<R> + Copy) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(result) => result,
        Err(_) => {
            writing::fail("an internal error has ended the measurement; no profile is written");
            None
        }
    }
}
