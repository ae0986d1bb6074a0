//! A coarse clock, for instances that are too short to read the real one: a number that the helper
//! raises every millisecond once the clock is started, or less often ([`pace`](super::pace)). A read
//! costs one load. An instance that lasts for two steps of the clock is long.
//!
//! The upper bits of the same number count the requests to all threads. So a thread that finds the
//! mark that it saw last knows both that little time has passed and that there is no new request.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::helper_requests::{COARSE_CLOCK, ask};

/// The number of latest steps whose times are kept.
const KEPT: usize = 64;

/// The unit of the count of requests, which is in the upper bits of the mark. The count of steps is
/// in the bits below.
const REQUEST: u64 = 1 << 48;

/// The helper writes it, and all other threads read it.
#[derive(Debug)]
#[repr(align(128))]
struct Clock {
    /// Never 0.
    mark: AtomicU64,
    /// The time of the latest step, or of the end of the latest pause.
    latest: AtomicU64,
    times: [AtomicU64; KEPT],
    /// The shortest time between two steps so far, in ticks.
    shortest: AtomicU64,
    /// The sum of the times between steps, in ticks, and the sum of their squares. Both are
    /// floating-point numbers, and the helper alone uses them while the program runs.
    sums: [AtomicU64; 2],
}

impl Clock {
    const fn new() -> Self {
        Self {
            mark: AtomicU64::new(REQUEST),
            latest: AtomicU64::new(0),
            times: [const { AtomicU64::new(0) }; KEPT],
            shortest: AtomicU64::new(NO_STEP),
            sums: [const { AtomicU64::new(0) }; 2],
        }
    }
}

/// Longer than any time between two steps.
const NO_STEP: u64 = u64::MAX / 4;

#[cfg(not(test))]
#[inline(always)]
fn clock() -> &'static Clock {
    static CLOCK: Clock = Clock::new();
    &CLOCK
}

/// Each unit test plays all threads of a program of its own.
#[cfg(test)]
fn clock() -> &'static Clock {
    std::thread_local! {
        static CLOCK: &'static Clock = Box::leak(Box::new(Clock::new()));
    }
    CLOCK.with(|clock| *clock)
}

static IS_STARTED: AtomicBool = AtomicBool::new(false);

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
        let between = at.saturating_sub(last);
        // The helper comes late at times, never early.
        clock().shortest.fetch_min(between, Ordering::Relaxed);
        let between = between as f64;
        for (sum, more) in clock().sums.iter().zip([between, between * between]) {
            let sum_so_far = f64::from_bits(sum.load(Ordering::Relaxed));
            sum.store((sum_so_far + more).to_bits(), Ordering::Relaxed);
        }
    }
    clock().times[place(steps)].store(at, Ordering::Relaxed);
    clock().latest.fetch_max(at, Ordering::Relaxed);
    clock().mark.fetch_add(1, Ordering::Release);
}

/// The number of requests and steps so far.
#[inline(always)]
pub(super) fn mark() -> u64 {
    clock().mark.load(Ordering::Relaxed)
}

/// The time of the latest step, in ticks. A time that something takes by this clock is a whole
/// number of steps. Its expected value is the true time, since the steps do not depend on what
/// the program does.
#[inline(always)]
pub(super) fn now() -> u64 {
    clock().latest.load(Ordering::Relaxed)
}

/// A pause ends at this time: what begins from now on begins after it.
pub(super) fn pause_ends(at: u64) {
    clock().latest.fetch_max(at, Ordering::Relaxed);
}

/// A forked child has no helper yet, so the clock stands still.
pub(super) fn start_anew() {
    clock().latest.store(0, Ordering::Relaxed);
    request();
}

/// Whether the clock runs, as seen at this time in ticks.
pub(super) fn is_running(at: u64) -> bool {
    /// The helper may come late by this many periods, of which a long one is sixteen.
    const MOST_PERIODS_LATE: u64 = 64;
    let period = clock().shortest.load(Ordering::Relaxed);
    period != NO_STEP && at.saturating_sub(now()) < MOST_PERIODS_LATE * period
}

/// The mean time from one step to the next in ticks, as a moment chosen at random sees it: longer
/// times between steps weigh more.
pub(super) fn period() -> f64 {
    let [all, squares] = sums();
    squares / all.max(1.0)
}

/// The mean time from one step to the next in ticks.
pub(super) fn mean_period() -> f64 {
    let [all, _] = sums();
    (all / steps_of(mark()).max(1) as f64).max(1.0)
}

/// The sum of the times between steps, and the sum of their squares.
fn sums() -> [f64; 2] {
    let sums = clock().sums.each_ref();
    sums.map(|of| f64::from_bits(of.load(Ordering::Relaxed)))
}

/// The variable with the mark, for programs that read it without a call.
pub(super) fn mark_variable() -> &'static AtomicU64 {
    &clock().mark
}

/// As `mark`. Whatever was written before a request in the mark is visible after this read.
pub(super) fn mark_of_all_before() -> u64 {
    clock().mark.load(Ordering::Acquire)
}

/// The number of steps in a mark.
pub(super) fn steps_of(mark: u64) -> u64 {
    mark % REQUEST
}

/// Changes the mark, so that all threads look for something to do.
pub(super) fn request() {
    clock().mark.fetch_add(REQUEST, Ordering::Release);
}

/// The number of ticks from which on an instance lasts for two steps, and so is always noticed.
pub(crate) fn always_noticed() -> u64 {
    clock().shortest.load(Ordering::Relaxed).saturating_mul(2)
}

/// About how many ticks something lasted that began at step `first` and ends now, at step
/// `last`. It is off by half a period. None if it did not last for two steps.
pub(crate) fn elapsed(first: u64, last: u64, now: u64) -> Option<u64> {
    if last < first + 2 {
        return None;
    }
    let half = clock().shortest.load(Ordering::Relaxed) / 2;
    let begin = match last - first < KEPT as u64 {
        true => time_of(first + 1)?.saturating_sub(half),
        // The time of that step is not kept any more. Each step took a period at least.
        false => now.saturating_sub((last - first) * 2 * half),
    };
    now.checked_sub(begin)
}

fn time_of(step: u64) -> Option<u64> {
    let time = clock().times.get(place(step));
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
