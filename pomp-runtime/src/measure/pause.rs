//! The pauses of measurement, and the mark by which a thread sees that there is something to do
//! before its next event. The reactions of threads are in `pausing`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::mutex::lock;
use super::{attention, clock, coarse_clock, errno, state};

/// When measurement was switched off, and on again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pause {
    begin: u64,
    /// None while it lasts.
    end: Option<u64>,
}

/// All pauses, in order.
static PAUSES: Mutex<Vec<Pause>> = Mutex::new(Vec::new());

/// How many pauses are over; [`PAUSED`] while one lasts, and [`STILL`] while every
/// thread must stand still.
static MARK: AtomicU32 = AtomicU32::new(0);

/// Set in the mark for as long as the threads' records are copied.
const STILL: u32 = 1 << 31;
/// Set in the mark for as long as a pause lasts.
const PAUSED: u32 = 1 << 30;

/// The mark that a thread compares at each event: any difference to the one that it saw last means
/// that there is something to do first.
#[inline(always)]
pub(super) fn mark() -> u32 {
    MARK.load(Ordering::Relaxed)
}

/// How often measurement was switched off.
#[inline(always)]
pub(crate) fn count() -> u32 {
    let mark = mark();
    (mark & !STILL & !PAUSED) + u32::from(mark & PAUSED != 0)
}

/// Whether every thread must stand still.
pub(super) fn is_quiet() -> bool {
    mark() & STILL != 0
}

/// Makes threads stand still at their next event; false if another has done so.
pub(super) fn stop_threads() -> bool {
    let was_quiet = MARK.fetch_or(STILL, Ordering::SeqCst) & STILL != 0;
    coarse_clock::request();
    !was_quiet
}

/// Lets threads go on.
pub(super) fn let_threads_go() {
    MARK.fetch_and(!STILL, Ordering::SeqCst);
}

/// The pauses, locked.
pub(crate) fn pauses() -> MutexGuard<'static, Vec<Pause>> {
    lock(&PAUSES)
}

/// Forgets all pauses: a forked child is a run of its own.
pub(crate) fn start_anew() {
    pauses().clear();
    MARK.store(0, Ordering::Relaxed);
}

/// The program switches measurement off. Called inside the library.
pub(super) fn switch_off() {
    let mut pauses = pauses();
    if state::is_on() && errno::keep(|| pauses.try_reserve(1)).is_ok() {
        attention::need();
        state::pause();
        pauses.push(Pause {
            begin: clock::now(),
            end: None,
        });
        MARK.fetch_or(PAUSED, Ordering::Release);
        coarse_clock::request();
    }
}

/// The program switches measurement on again. Called inside the library.
pub(super) fn switch_on() {
    let mut pauses = pauses();
    if let Some(last) = pauses.last_mut().filter(|last| last.end.is_none()) {
        let end = clock::now();
        last.end = Some(end);
        coarse_clock::pause_ends(end);
        // One more is over.
        MARK.fetch_sub(PAUSED - 1, Ordering::Release);
        state::resume();
    }
}

/// How many pauses are over.
pub(super) fn over() -> u32 {
    MARK.load(Ordering::Acquire) & !STILL & !PAUSED
}

/// Begin and end of a pause that is over, by its number.
pub(super) fn of_number(number: u32) -> Option<(u64, u64)> {
    let pause = pauses().get(number as usize).copied()?;
    Some((pause.begin, pause.end?))
}

/// Whether there was a pause since this many of them were over, or one lasts.
#[inline(always)]
pub(super) fn was_since(over: u32) -> bool {
    mark() & !STILL != over
}

/// A time without the pauses before it. The first `first` pauses are not taken out.
pub(crate) fn without(first: u32, at: u64) -> u64 {
    if count() == 0 {
        return at;
    }
    let overlap = |pause: &Pause| {
        let end = pause.end.map_or(at, |end| end.min(at));
        end.saturating_sub(pause.begin)
    };
    let skipped = pauses().iter().skip(first as usize).map(overlap).sum();
    at.saturating_sub(skipped)
}

/// How long a span lasted without the pauses in it.
#[inline(always)]
pub(crate) fn between(start: u64, end: u64) -> u64 {
    if count() == 0 {
        return end.wrapping_sub(start);
    }
    without(0, end).wrapping_sub(without(0, start))
}

/// When the current pause began; none if there is none.
pub(crate) fn begin() -> Option<u64> {
    if mark() & PAUSED == 0 {
        return None;
    }
    let pauses = pauses();
    let last = pauses.last().filter(|last| last.end.is_none())?;
    Some(last.begin)
}
