//! Whether there is anything to do: the one global that every event reads.
//!
//! ```text
//! New -> Starting -> On <-> Paused
//!                 -> Off
//!
//! Every state can become Off.
//! ```
//!
//! On has two forms. If a thread may be cancelled at any instruction, each of its events has to be
//! recorded with cancellation held off (`cancellation`). From then on the state is `ON_WITH_CARE`,
//! which closes the quick way into the library to all threads.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const NEW: u8 = 0;
const STARTING: u8 = 1;
const ON: u8 = 2;
const OFF: u8 = 3;
const PAUSED: u8 = 4;
const ON_WITH_CARE: u8 = 5;

static STATE: AtomicU8 = AtomicU8::new(NEW);

/// Whether On is [`ON_WITH_CARE`].
static CARE: AtomicBool = AtomicBool::new(false);

/// Whether events are measured, and nothing else is to be done for them.
#[inline(always)]
pub(crate) fn is_quick() -> bool {
    STATE.load(Ordering::Relaxed) == ON
}

/// Whether events are measured.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    matches!(STATE.load(Ordering::Relaxed), ON | ON_WITH_CARE)
}

/// Whether nothing is measured, nor will be.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    STATE.load(Ordering::Relaxed) == OFF
}

/// Whether nothing has happened yet.
#[inline(always)]
pub(crate) fn is_new() -> bool {
    STATE.load(Ordering::Relaxed) <= STARTING
}

/// Whether no thread has begun to start measurement.
#[cfg(not(test))]
pub(crate) fn is_untouched() -> bool {
    STATE.load(Ordering::Relaxed) == NEW
}

/// Whether events are measured, or will be when the program switches
/// measurement on again.
pub(crate) fn is_on_or_paused() -> bool {
    is_on() || STATE.load(Ordering::Relaxed) == PAUSED
}

/// Measures no more for a time.
pub(super) fn pause() {
    change(ON, PAUSED);
    change(ON_WITH_CARE, PAUSED);
}

/// Measures again.
pub(super) fn resume() {
    change(PAUSED, ON);
    take_care_if_asked();
}

/// Measures with care from now on.
pub(super) fn take_care() {
    CARE.store(true, Ordering::SeqCst);
    take_care_if_asked();
}

fn take_care_if_asked() {
    if CARE.load(Ordering::SeqCst) {
        change(ON, ON_WITH_CARE);
    }
}

fn change(from: u8, to: u8) {
    let _ = STATE.compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed);
}

/// Takes it upon this thread to start; false if another thread did.
pub(crate) fn claim_start() -> bool {
    STATE
        .compare_exchange(NEW, STARTING, Ordering::AcqRel, Ordering::Acquire)
        .is_ok()
}

/// Waits until the thread that starts is done.
pub(crate) fn wait_for_start() {
    while STATE.load(Ordering::Acquire) == STARTING {
        std::thread::yield_now();
    }
}

/// The start is done.
pub(crate) fn set_started(on: bool) {
    STATE.store(if on { ON } else { OFF }, Ordering::SeqCst);
    take_care_if_asked();
}

/// As if measurement had started, for tests.
#[cfg(test)]
pub(super) fn set_on_for_test() {
    STATE.store(ON, Ordering::SeqCst);
}

/// Measures no more, for good.
pub(crate) fn turn_off() {
    STATE.store(OFF, Ordering::Release);
}
