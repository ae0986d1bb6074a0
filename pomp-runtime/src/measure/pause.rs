//! Measurement that the program switches off and on again.
//!
//! What is open when it is switched off ends at that moment: its exit may never
//! be seen. Only the regions that the user marked around everything else go on,
//! since their ends are seen also while measurement is off. Each thread closes
//! its own, when it has its first event after the pause.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use profile::region_kind::RegionKind;

use super::mutex::lock;
use super::stack::{Frame, Role};
use super::thread::{self, Thread};
use super::{clock, errno, state};

/// When measurement was switched off, each time.
static TIMES: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// How often it was.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// How often measurement was switched off.
#[inline(always)]
pub(crate) fn count() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// When measurement was switched off after so many times; none if it was not.
pub(crate) fn time(after: u32) -> Option<u64> {
    if after >= count() {
        return None;
    }
    lock(&TIMES).get(after as usize).copied()
}

/// The program switches measurement off.
pub(crate) fn switch_off() {
    thread::inside(|| {
        let mut times = lock(&TIMES);
        if state::is_on() && errno::keep(|| times.try_reserve(1)).is_ok() {
            times.push(clock::now());
            COUNT.fetch_add(1, Ordering::Relaxed);
            state::pause();
        }
    });
}

/// The program switches measurement on again.
pub(crate) fn switch_on() {
    state::resume();
}

impl Thread {
    /// There was a pause since this thread's last event.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&'static self) {
        if let Some(at) = time(self.pauses()) {
            self.leave_for_pause(at);
        }
        self.set_pauses(count());
    }

    /// Closes what does not go on over a pause that began at this time.
    pub(super) fn leave_for_pause(&'static self, at: u64) {
        if let (Some(top), Some(lasting)) = (self.top(), self.lasting()) {
            // The last event may have been under way when the pause began.
            self.close_above(lasting, at.max(top.last_event()));
        }
        self.forget_locks();
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
            Role::Construct => region.is_some_and(|region| region.kind == RegionKind::User),
            Role::Fork | Role::Member => false,
        }
    }
}
