//! The ids of waits, which a collector gets besides their begin and end. If the user asks for it
//! (`ROMP_ORA_WAITS=contended`), only waits in which another thread is in the way are reported.
//!
//! The id of a wait is a number of the thread's own for each kind, which grows with
//! each wait. All of this is kept while a session lasts, and not without one.

use std::sync::atomic::{AtomicBool, Ordering};

use profile::region_kind::{PseudoRegion, RegionKind};

use super::events::{Activity, Event};
use super::session::{is_listening, notify, number};
use crate::measure::collector_counts::{Kind, Occupants, WaitCounts};
use crate::measure::records::Frame;
use crate::measure::thread::{self, Thread};

impl Kind {
    pub(super) fn of(activity: Activity) -> Option<Self> {
        match activity {
            Activity::ImplicitBarrier => Some(Self::ImplicitBarrier),
            Activity::Barrier => Some(Self::Barrier),
            Activity::CriticalWait => Some(Self::Critical),
            Activity::OrderedWait => Some(Self::Ordered),
            Activity::AtomicWait => Some(Self::Atomic),
            Activity::Ordered | Activity::Master | Activity::Single | Activity::TaskCreation => {
                None
            }
        }
    }

    /// Whether a thread may find nobody in the way.
    fn is_for_one_at_a_time(self) -> bool {
        !matches!(self, Self::ImplicitBarrier | Self::Barrier)
    }
}

impl WaitCounts {
    /// The id of the latest wait of a kind; 0 if there was none in a session.
    pub(super) fn id(&self, kind: Kind) -> u64 {
        self.counts[kind as usize].get()
    }

    /// Whether a frame could wait and does not.
    pub(super) fn is_passing(&self, frame: &Frame) -> bool {
        self.passing.get() == address(frame)
    }

    /// Whether a construct combines its parts of a reduction.
    pub(super) fn is_reducing(&self, frame: &Frame) -> bool {
        let [start, phase] = &self.reducing;
        frame.start() == start.get() && frame.phase() as u64 == phase.get()
    }

    /// Whether the end of idleness is being reported.
    pub(super) fn is_waking(&self) -> bool {
        self.is_waking.get() != 0
    }
}

fn address(frame: &Frame) -> u64 {
    std::ptr::from_ref(frame).addr() as u64
}

impl Occupants {
    fn count(word: u64) -> u32 {
        match word >> 32 == u64::from(number()) {
            true => word as u32,
            false => 0,
        }
    }

    fn change(&self, by: fn(u32, u32) -> u32) {
        let changed = |word| Some(u64::from(number()) << 32 | u64::from(by(Self::count(word), 1)));
        let order = (Ordering::AcqRel, Ordering::Relaxed);
        let _ = self.0.fetch_update(order.0, order.1, changed);
    }

    fn are_there(&self) -> bool {
        Self::count(self.0.load(Ordering::Acquire)) > 0
    }
}

/// Whether only waits in which another thread is in the way are reported.
static ONLY_CONTENDED: AtomicBool = AtomicBool::new(false);

/// From now on only waits in which another thread is in the way are reported.
pub(crate) fn notify_only_contended() {
    ONLY_CONTENDED.store(true, Ordering::Relaxed);
}

/// Whether a thread has to find out beforehand whether it will have to wait.
#[inline]
pub(crate) fn are_only_contended() -> bool {
    is_listening() && ONLY_CONTENDED.load(Ordering::Relaxed)
}

/// A frame that may have to wait is in a new phase. Returns whether the begin of its activity is to
/// be reported, and counts the wait if it is.
pub(super) fn begins(thread: &Thread, frame: &Frame, activity: Activity) -> bool {
    let Some(kind) = Kind::of(activity) else {
        return true;
    };
    let occupants = frame.region().map(|region| region.occupants());
    let is_free = || !occupants.is_some_and(Occupants::are_there);
    if kind.is_for_one_at_a_time() && are_only_contended() && is_free() {
        thread.waits.passing.set(address(frame));
        return false;
    }
    thread.waits.counts[kind as usize].add(1);
    true
}

/// A phase ends. Returns whether the begin of its activity was reported.
pub(super) fn ends(frame: &Frame) -> bool {
    let Some(waits) = thread::current().map(|thread| &thread.waits) else {
        return true;
    };
    let is_passing = waits.is_passing(frame);
    if is_passing {
        waits.passing.set(0);
    }
    !is_passing
}

/// The count of a frame's region, if that is for one thread at a time and this thread has it.
fn occupied(frame: &Frame) -> Option<&'static Occupants> {
    let region = frame.region()?;
    let has_it = match (region.kind, frame.phase()) {
        (RegionKind::Critical | RegionKind::Ordered, PseudoRegion::Body) => true,
        (kind, _) => kind == RegionKind::Atomic,
    };
    (has_it && are_only_contended()).then(|| region.occupants())
}

/// A frame is in a new phase, which may be one for one thread at a time.
pub(super) fn enter(frame: &Frame) {
    if let Some(occupants) = occupied(frame) {
        occupants.change(u32::saturating_add);
    }
}

/// A phase ends, which may be one for one thread at a time.
pub(super) fn leave(frame: &Frame) {
    if let Some(occupants) = occupied(frame) {
        occupants.change(u32::saturating_sub);
    }
}

impl Thread {
    /// This thread is about to wait for a lock.
    pub(crate) fn notify_lock_wait(&self) {
        if is_listening() {
            self.waits.counts[Kind::Lock as usize].add(1);
            notify(Event::BeginLockWait);
        }
    }

    /// The construct on top begins to combine its parts of a reduction, if it has one. Unit tests
    /// lack this function: only linked programs have the event source that calls it.
    #[cfg(not(test))]
    pub(crate) fn begin_reduction(&self) {
        let top = self.top();
        let top = top.filter(|top| top.region().is_some_and(|region| region.may_reduce()));
        if let Some(top) = top {
            let [start, phase] = &self.waits.reducing;
            phase.set(top.phase() as u64);
            start.set(top.start());
        }
    }

    /// A worker is in a team, and was idle until now: reports that this has ended. If its begin was
    /// not reported in this session, it is reported now, so that each end has its begin.
    pub(crate) fn notify_awake(&self) {
        self.waits.is_waking.set(1);
        if self.waits.was_idle.get() != u64::from(number()) {
            self.notify_idle();
        }
        notify(Event::EndIdle);
        self.waits.is_waking.set(0);
    }

    /// A worker is in no team.
    pub(crate) fn notify_idle(&self) {
        self.waits.was_idle.set(u64::from(number()));
        notify(Event::BeginIdle);
    }
}
