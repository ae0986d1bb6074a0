//! Measurement that the program switches off and on again.
//!
//! A pause takes no time: regions that are open go on after it as if the program had stood still.
//! Threads go on to open and close frames in a pause, so that regions after it have their place on
//! the call paths. A region that both begins and ends in a pause is not recorded (`passing`).
//!
//! No frame is changed when a pause begins or ends. At its next event each thread moves the times
//! of its own frames by the lengths of the pauses since its last event.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use super::frame::{Frame, Role};
use super::mutex::lock;
use super::team::stale_since;
use super::thread::{self, Thread};
use super::{attention, clock, coarse_clock, errno, quiesce, state};

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

/// The program switches measurement off.
pub(crate) fn switch_off() {
    thread::inside(|| {
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
    });
}

/// The program switches measurement on again.
pub(crate) fn switch_on() {
    thread::inside(|| {
        let mut pauses = pauses();
        if let Some(last) = pauses.last_mut().filter(|last| last.end.is_none()) {
            last.end = Some(clock::now());
            // One more is over.
            MARK.fetch_sub(PAUSED - 1, Ordering::Release);
            state::resume();
        }
    });
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

impl Thread {
    /// Does what is to be done before the next event: puts on the stack what is passed over, leaves
    /// an old team, stands still, and moves frames over pauses. Returns whether the event is to be
    /// measured.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&'static self) -> bool {
        if self.sampler.is_passing() {
            self.put_on_stack();
        } else if self.passed_member.is_in() {
            self.put_member_on_stack(false);
        } else {
            self.leave_old_team();
        }
        self.sampler.forget_place();
        self.looks_no_more();
        if self.sees(mark()) {
            return true;
        }
        quiesce::stand(self);
        if !state::is_on_or_paused() {
            return false;
        }
        let over = MARK.load(Ordering::Acquire) & !STILL & !PAUSED;
        for number in self.pauses()..over {
            let pause = pauses().get(number as usize).copied();
            if let Some((begin, end)) = pause.and_then(|pause| Some((pause.begin, pause.end?))) {
                self.skip(begin, end);
            }
        }
        self.set_pauses(over);
        self.looks_no_more();
        let paused = begin().unwrap_or(0);
        if paused != self.paused_at.get() {
            self.forget_locks();
        }
        self.paused_at.set(paused);
        true
    }

    /// Moves the open frames over a pause.
    pub(super) fn skip(&'static self, begin: u64, end: u64) {
        self.forget_locks();
        self.leave_teams_joined_before(begin);
        let mut frame = self.top();
        while let Some(open) = frame.filter(|open| open.role() != Role::Base) {
            if !open.role().is_untimed() {
                self.move_over(open, begin, end);
            }
            frame = open.below();
        }
    }

    /// Frames that `cancel` has left open ended when their team was joined.
    fn leave_teams_joined_before(&'static self, begin: u64) {
        let Some(top) = self.top() else { return };
        let mut frames = std::iter::successors(Some(top), |frame| frame.below());
        let member = frames.find(|frame| frame.role().is_member());
        if member
            .and_then(stale_since)
            .is_some_and(|join| join <= begin)
        {
            self.leave_frames(top, begin);
        }
    }

    fn move_over(&'static self, frame: &'static Frame, begin: u64, end: u64) {
        let has_begun_in_it = frame.start() > begin;
        frame.move_over(begin, end);
        if has_begun_in_it {
            self.begin_behind_pause(frame, end);
        }
    }

    /// Whether a frame has begun in the current pause.
    pub(crate) fn has_begun_in_pause(&self, frame: &Frame) -> bool {
        begin().is_some_and(|begin| self.paused_at.get() == begin && frame.start() > begin)
    }

    /// Whether there was a pause since its last event, or one lasts.
    pub(crate) fn is_paused(&self) -> bool {
        mark() & !STILL != self.pauses()
    }
}

impl Frame {
    /// As if the pause had taken no time.
    fn move_over(&self, begin: u64, end: u64) {
        let moved = |at: u64| at.min(begin).wrapping_add(end.wrapping_sub(begin));
        self.start.set(moved(self.start()));
        self.phase_start.set(moved(self.phase_start.get()));
    }
}
