//! A coarse clock, for instances that are too short to read the real one: a number that the helper
//! raises every millisecond once the clock is started. A read costs one load. An instance that
//! lasts for two steps of the clock is long.
//!
//! The upper bits of the same number count the requests to all threads. So a thread that finds the
//! mark that it saw last knows both that little time has passed and that there is no new request.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::helper_requests::{COARSE_CLOCK, ask};

/// The time from one step to the next.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);

/// The number of latest steps whose times are kept.
const KEPT: usize = 64;

/// What one request adds to the mark; the steps are in the bits below.
const REQUEST: u64 = 1 << 48;

/// The helper writes it, and all other threads read it.
#[repr(align(128))]
struct Clock {
    /// Never 0.
    mark: AtomicU64,
    times: [AtomicU64; KEPT],
}

static CLOCK: Clock = Clock {
    mark: AtomicU64::new(REQUEST),
    times: [const { AtomicU64::new(0) }; KEPT],
};

static IS_STARTED: AtomicBool = AtomicBool::new(false);
/// The shortest time between two steps so far, in ticks.
static SHORTEST: AtomicU64 = AtomicU64::new(u64::MAX / 4);

/// Starts the clock, unless it runs.
#[cold]
pub(crate) fn start() {
    if !IS_STARTED.swap(true, Ordering::Relaxed) {
        ask(COARSE_CLOCK);
    }
}

/// Whether the clock runs, so that the helper is to advance it.
pub(crate) fn is_started() -> bool {
    IS_STARTED.load(Ordering::Relaxed)
}

/// Goes on by one step at this time, in ticks. For the helper alone.
pub(crate) fn advance(at: u64) {
    let steps = steps_of(mark()) + 1;
    if let Some(last) = time_of(steps - 1).filter(|last| *last != 0) {
        // The helper comes late at times, never early.
        SHORTEST.fetch_min(at.saturating_sub(last), Ordering::Relaxed);
    }
    CLOCK.times[place(steps)].store(at, Ordering::Relaxed);
    CLOCK.mark.fetch_add(1, Ordering::Release);
}

/// The number of requests and steps so far.
#[inline(always)]
pub(super) fn mark() -> u64 {
    CLOCK.mark.load(Ordering::Relaxed)
}

/// The variable with the mark, for programs that read it without a call.
pub(super) fn mark_variable() -> &'static AtomicU64 {
    &CLOCK.mark
}

/// As `mark`. Whatever was written before a request in the mark is visible after this read.
pub(super) fn mark_of_all_before() -> u64 {
    CLOCK.mark.load(Ordering::Acquire)
}

/// The number of steps in a mark.
pub(super) fn steps_of(mark: u64) -> u64 {
    mark % REQUEST
}

/// Changes the mark, so that all threads look for something to do.
pub(super) fn request() {
    CLOCK.mark.fetch_add(REQUEST, Ordering::Release);
}

/// The number of ticks from which on an instance lasts for two steps, and so is always noticed.
pub(crate) fn always_noticed() -> u64 {
    SHORTEST.load(Ordering::Relaxed).saturating_mul(2)
}

/// About how many ticks something lasted that began at step `first` and ends now, at step
/// `last`. It is off by half a period. None if it did not last for two steps.
pub(crate) fn elapsed(first: u64, last: u64, now: u64) -> Option<u64> {
    if last < first + 2 {
        return None;
    }
    let half = SHORTEST.load(Ordering::Relaxed) / 2;
    let begin = match last - first < KEPT as u64 {
        true => time_of(first + 1)?.saturating_sub(half),
        // The time of that step is not kept any more. Each step took a period at least.
        false => now.saturating_sub((last - first) * 2 * half),
    };
    now.checked_sub(begin)
}

fn time_of(step: u64) -> Option<u64> {
    let time = CLOCK.times.get(place(step));
    time.map(|time| time.load(Ordering::Relaxed))
}

fn place(step: u64) -> usize {
    (step % KEPT as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since there is one clock.
    #[test]
    fn what_lasts_for_two_steps_is_noticed() {
        let from = steps_of(mark());
        let seen = mark();
        request();
        assert!(mark() != seen && steps_of(mark()) == from);
        for at in [1_000, 2_000, 3_000, 4_000] {
            advance(at);
        }
        assert_eq!(always_noticed(), 2_000);
        assert_eq!(elapsed(from + 1, from + 1, 1_900), None);
        assert_eq!(elapsed(from + 1, from + 2, 2_100), None);
        assert_eq!(elapsed(from + 1, from + 3, 3_100), Some(3_100 - 1_500));
        for at in 5..200 {
            advance(at * 1_000);
        }
        let all = steps_of(mark()) - from;
        assert_eq!(
            elapsed(from + 1, from + all, 199_500),
            Some((all - 1) * 1_000)
        );
    }
}
