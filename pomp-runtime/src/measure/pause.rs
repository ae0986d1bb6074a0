//! Measurement that the program switches off and on again.
//!
//! What is open when it is switched off ends at that moment: its exit may never
//! be seen. Only the regions that the user marked around everything else go on,
//! since their ends are seen also while measurement is off. Each thread closes
//! its own, when it has its first event after the pause.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Mutex, MutexGuard};

use profile::region_kind::RegionKind;

use super::mutex::lock;
use super::stack::{Frame, Role};
use super::thread::{self, Thread};
use super::{clock, errno, state, still};

/// When measurement was switched off, each time.
static TIMES: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// How often it was, and [`STILL`] while every thread must stand still.
static MARK: AtomicU32 = AtomicU32::new(0);

/// Set in the mark for as long as the threads' records are copied.
const STILL: u32 = 1 << 31;

/// What a thread compares at each event: any difference to what it saw last
/// means that there is something to do first.
#[inline(always)]
pub(super) fn mark() -> u32 {
    MARK.load(Ordering::Relaxed)
}

/// How often measurement was switched off.
pub(crate) fn count() -> u32 {
    mark() & !STILL
}

/// Whether every thread must stand still.
pub(super) fn is_still() -> bool {
    mark() & STILL != 0
}

/// Makes threads stand still at their next event; false if another has done so.
pub(super) fn stop_threads() -> bool {
    MARK.fetch_or(STILL, Ordering::SeqCst) & STILL == 0
}

/// Lets threads go on.
pub(super) fn let_threads_go() {
    MARK.fetch_and(!STILL, Ordering::SeqCst);
}

/// The times, locked.
pub(super) fn times() -> MutexGuard<'static, Vec<u64>> {
    lock(&TIMES)
}

/// Forgets all pauses: a forked child is a run of its own.
pub(super) fn start_anew() {
    times().clear();
    MARK.store(0, Ordering::Relaxed);
}

/// When measurement was switched off after so many times; none if it was not.
pub(crate) fn time(after: u32) -> Option<u64> {
    if after >= count() {
        return None;
    }
    times().get(after as usize).copied()
}

/// The program switches measurement off.
pub(crate) fn switch_off() {
    thread::inside(|| {
        let mut times = times();
        if state::is_on() && errno::keep(|| times.try_reserve(1)).is_ok() {
            // Who sees the new mark sees the pause too, unless it is over.
            state::pause();
            times.push(clock::now());
            MARK.fetch_add(1, Ordering::Release);
        }
    });
}

/// The program switches measurement on again.
pub(crate) fn switch_on() {
    state::resume();
}

impl Thread {
    /// There was a pause since this thread's last event, or threads must stand
    /// still. Whether the event is to be measured then.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&'static self) -> bool {
        still::stand(self);
        if !state::is_on_or_paused() {
            return false;
        }
        let count = count();
        fence(Ordering::Acquire);
        if let Some(at) = time(self.pauses()) {
            self.leave_for_pause(at);
        }
        // An event that was under way as the pause began is recorded in it: what it
        // leaves open, such as a lock that it got, is closed at the next one.
        let lasts = u32::from(!state::is_on());
        self.set_pauses(count.saturating_sub(lasts));
        true
    }

    /// Closes what does not go on over a pause that began at this time.
    pub(super) fn leave_for_pause(&'static self, at: u64) {
        if let (Some(top), Some(lasting)) = (self.top(), self.lasting()) {
            // The last event may have been under way when the pause began.
            self.close_above(lasting, at.max(top.last_event()));
        }
        self.forget_locks();
    }

    /// Whether there was a pause since its last event.
    pub(crate) fn is_paused(&self) -> bool {
        time(self.pauses()).is_some()
    }

    /// The innermost frame that goes on over a pause.
    pub(crate) fn lasting(&self) -> Option<&'static Frame> {
        let mut lasting = self.top();
        let mut frame = lasting;
        while let Some(open) = frame {
            frame = open.below();
            if !open.is_lasting() {
                lasting = frame;
            }
        }
        lasting
    }
}

impl Frame {
    fn is_lasting(&self) -> bool {
        let region = self.node().and_then(|node| node.region());
        match self.role() {
            Role::Base => true,
            Role::Construct | Role::Again => {
                region.is_some_and(|region| region.kind == RegionKind::User)
            }
            Role::Fork | Role::Member | Role::Silent => false,
        }
    }
}
