//! Counts a thread's requests for chunks: one in [`PERIOD`] is in the sample.

use std::cell::Cell;

use super::thread_word::thread_word;

/// One request of this many is timed. The number is a prime, so that in loops of equal length it
/// is not always the same request that is timed.
pub(crate) const PERIOD: u32 = 61;

thread_word! {
    /// The requests of this thread since one was looked at.
    fn since_look() -> u32 = "romp_requests_since_look";
}

/// With this many requests since the last look, the next one is looked at.
pub(super) const NEXT: u32 = PERIOD - 1;

/// A bit of the number of requests. It is set while each request is looked at, since a chunk is held back.
const HOLDS: u32 = 1 << 31;

/// Counts one request. Returns whether it is due.
#[inline(always)]
pub(super) fn is_due(since: &Cell<u32>) -> bool {
    let now = since.get() + 1;
    since.set(if now == PERIOD { 0 } else { now });
    now == PERIOD
}

/// Whether a request is looked at.
#[inline(always)]
pub(crate) fn is_looked_at() -> bool {
    since_look().get() >= HOLDS || is_due(since_look())
}

/// The number of requests since the last look.
pub(super) fn requests_since_look() -> u32 {
    since_look().get() & !HOLDS
}

/// Sets the number of requests since the last look.
pub(super) fn set_since_look(number: u32) {
    let holds = since_look().get() & HOLDS;
    since_look().set(number | holds);
}

/// From now on all requests of the thread are looked at, or as many as usual.
pub(super) fn look_at_all(all: bool) {
    let holds = if all { HOLDS } else { 0 };
    since_look().set(requests_since_look() | holds);
}
