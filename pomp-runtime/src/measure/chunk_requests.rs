//! Requests for the next chunk of a loop, of which a sample is timed. In a loop whose chunks are
//! traced, each request marks the loop's record.

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;

use super::chunks::Head;
use super::cost;
use super::frame::{Frame, Role};
use super::omp;
use super::thread::Thread;

/// One request of this many is timed. The number is a prime, so that in loops of equal length it
/// is not always the same request that is timed.
pub(crate) const PERIOD: u32 = 61;

thread_local! {
    /// The requests of this thread until one is looked at.
    static LEFT: Cell<u32> = const { Cell::new(PERIOD) };
    /// The requests until one is timed, while all are looked at.
    static KEPT: Cell<u32> = const { Cell::new(PERIOD) };
    /// The record of the innermost loop that wants to know of requests; null if there is none.
    static LOOP: Cell<*mut Head> = const { Cell::new(null_mut()) };
}

/// Counts one request down to the one that is due.
#[inline(always)]
fn is_due(left: &Cell<u32>) -> bool {
    let now = left.get() - 1;
    left.set(if now == 0 { PERIOD } else { now });
    now == 0
}

/// Whether a request is timed or marks a loop.
#[inline(always)]
pub(crate) fn is_looked_at() -> bool {
    LEFT.with(is_due)
}

/// Whether a request that is looked at is timed.
pub(crate) fn is_timed() -> bool {
    if LOOP.get().is_null() {
        return true;
    }
    LEFT.set(1);
    KEPT.with(is_due)
}

/// The runtime has answered a request: a chunk begins in the loop that made it.
pub(crate) fn handed_out() {
    let place = LOOP.get();
    if place.is_null() {
        return;
    }
    let level = omp::omp_get_level();
    // SAFETY: `begin_requests` was given this record, and `end_requests` comes before it goes.
    // Only its thread uses it, which is here.
    unsafe { Head::mark(place, level) };
}

/// From now on requests of the thread mark the record of a loop. Requests of loops within
/// it, which are in teams of their own, do not.
///
/// # Safety
/// The record stays where it is until `end_requests`. The same thread calls it.
pub(crate) unsafe fn begin_requests(place: *mut Head) {
    let around = LOOP.replace(place);
    // SAFETY: as the caller promises.
    unsafe { Head::stand_within(place, around, omp::omp_get_level()) };
    if around.is_null() {
        KEPT.set(LEFT.replace(1));
    }
}

/// The loop of this record is over.
///
/// # Safety
/// The place is that of the record of a loop.
pub(crate) unsafe fn end_requests(place: *mut Head) {
    if LOOP.get() != place {
        return;
    }
    // SAFETY: as the caller promises; `begin_requests` has set them.
    let around = unsafe { Head::around(place) };
    LOOP.set(around);
    if around.is_null() {
        LEFT.set(KEPT.get());
    }
}

/// A request that takes longer than this many reads of the clock was interrupted: the rest is left
/// out.
const INTERRUPTED: u64 = 100;

impl Thread {
    /// Adds this many requests for chunks of the innermost loop. One of them took `ticks`, from one
    /// read of the clock to the next.
    pub(crate) fn add_chunk_requests(&'static self, requests: u64, ticks: u64) {
        static READ: AtomicU64 = AtomicU64::new(0);
        let timed = self.top().filter(|frame| frame.role() != Role::Untimed);
        let node = timed.and_then(Frame::node).filter(|node| {
            let region = node.region();
            region.is_some_and(|region| region.descriptor.schedule.is_some())
        });
        let Some(node) = node else {
            return;
        };
        let read = cost::found_once(&READ, cost::ticks_of_read_in_order);
        let most = read.saturating_mul(INTERRUPTED);
        let ticks = ticks.saturating_sub(read).min(most);
        node.chunk_requests.count.add(requests);
        node.chunk_requests
            .ticks
            .add(ticks.saturating_mul(requests));
    }
}
