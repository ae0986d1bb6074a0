//! A clock that is read in no time: a number that the helper raises every
//! millisecond, while somebody looks at it. What saw two beats go by was long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::helper_requests::{BEAT, ask};

/// The time from one beat to the next.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);

/// Of so many beats it is known when they were.
const KNOWN: usize = 64;

/// Only the helper writes them, and all others read them.
#[repr(align(128))]
struct Beats {
    number: AtomicU64,
    times: [AtomicU64; KNOWN],
}

static BEATS: Beats = Beats {
    number: AtomicU64::new(0),
    times: [const { AtomicU64::new(0) }; KNOWN],
};

static WANTED: AtomicBool = AtomicBool::new(false);
/// The ticks of a period.
static TICKS: AtomicU64 = AtomicU64::new(u64::MAX / 4);

/// From now on there are beats.
#[cold]
pub(crate) fn want() {
    if !WANTED.swap(true, Ordering::Relaxed) {
        ask(BEAT);
    }
}

/// Whether there are to be beats.
pub(crate) fn are_wanted() -> bool {
    WANTED.load(Ordering::Relaxed)
}

/// One more, at this time. For the helper alone.
pub(crate) fn beat(at: u64) {
    let number = BEATS.number.load(Ordering::Relaxed) + 1;
    if let Some(last) = time_of(number - 1).filter(|last| *last != 0) {
        // The helper comes late at times, never early.
        TICKS.fetch_min(at.saturating_sub(last), Ordering::Relaxed);
    }
    BEATS.times[place(number)].store(at, Ordering::Relaxed);
    BEATS.number.store(number, Ordering::Release);
}

/// How many there were.
#[inline(always)]
pub(crate) fn number() -> u64 {
    BEATS.number.load(Ordering::Relaxed)
}

/// The ticks from which what is passed over is seen to be long.
pub(crate) fn long() -> u64 {
    TICKS.load(Ordering::Relaxed).saturating_mul(2)
}

/// About how many ticks went by since something began between a beat and the next; none
/// if no two beats went by. It is off by half a period.
pub(crate) fn since(first: u64, number: u64, now: u64) -> Option<u64> {
    if number < first + 2 {
        return None;
    }
    let half = TICKS.load(Ordering::Relaxed) / 2;
    let begin = match number - first < KNOWN as u64 {
        true => time_of(first + 1)?.saturating_sub(half),
        // The beats that were missed are at least so long ago.
        false => now.saturating_sub((number - first) * 2 * half),
    };
    now.checked_sub(begin)
}

fn time_of(number: u64) -> Option<u64> {
    BEATS
        .times
        .get(place(number))
        .map(|at| at.load(Ordering::Relaxed))
}

fn place(number: u64) -> usize {
    (number % KNOWN as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since there is one clock.
    #[test]
    fn what_saw_two_beats_was_long() {
        let from = number();
        for at in [1_000, 2_000, 3_000, 4_000] {
            beat(at);
        }
        assert_eq!(long(), 2_000);
        assert_eq!(since(from + 1, from + 1, 1_900), None);
        assert_eq!(since(from + 1, from + 2, 2_100), None);
        assert_eq!(since(from + 1, from + 3, 3_100), Some(3_100 - 1_500));
        for at in 5..200 {
            beat(at * 1_000);
        }
        let all = number() - from;
        assert_eq!(
            since(from + 1, from + all, 199_500),
            Some((all - 1) * 1_000)
        );
    }
}
