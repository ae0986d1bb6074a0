//! Whether there is anything to do: the one global that every event reads.
//!
//! ```text
//! New -> Starting -> On <-> Paused
//!                 -> Off
//!
//! Every state can become Off.
//! ```

use std::sync::atomic::{AtomicU8, Ordering};

const NEW: u8 = 0;
const STARTING: u8 = 1;
const ON: u8 = 2;
const OFF: u8 = 3;
const PAUSED: u8 = 4;

static STATE: AtomicU8 = AtomicU8::new(NEW);

/// Whether events are measured.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    STATE.load(Ordering::Relaxed) == ON
}

/// Whether nothing has happened yet.
#[inline(always)]
pub(crate) fn is_new() -> bool {
    STATE.load(Ordering::Relaxed) <= STARTING
}

/// Whether events are measured, or will be when the program switches
/// measurement on again.
pub(crate) fn is_on_or_paused() -> bool {
    matches!(STATE.load(Ordering::Relaxed), ON | PAUSED)
}

/// Measures no more for a time.
pub(super) fn pause() {
    let _ = STATE.compare_exchange(ON, PAUSED, Ordering::AcqRel, Ordering::Relaxed);
}

/// Measures again.
pub(super) fn resume() {
    let _ = STATE.compare_exchange(PAUSED, ON, Ordering::AcqRel, Ordering::Relaxed);
}

/// Takes it upon this thread to start; false if another thread did.
pub(super) fn claim_start() -> bool {
    STATE
        .compare_exchange(NEW, STARTING, Ordering::AcqRel, Ordering::Acquire)
        .is_ok()
}

/// Waits until the thread that starts is done.
pub(super) fn wait_for_start() {
    while STATE.load(Ordering::Acquire) == STARTING {
        std::thread::yield_now();
    }
}

/// The start is done.
pub(super) fn set_started(on: bool) {
    STATE.store(if on { ON } else { OFF }, Ordering::Release);
}

/// Measures no more, for good.
pub(crate) fn turn_off() {
    STATE.store(OFF, Ordering::Release);
}
