//! Requests for the next chunk of a loop, of which a sample is timed. In a loop whose chunks are
//! traced, each request marks the loop's record.
//!
//! A request that is timed takes less time than others: while its thread reads the clock, other
//! threads take their chunks. So the work in the chunk behind it is timed, too. In a loop with little
//! work, the requests take what is left of the loop's time.

use std::cell::Cell;
use std::ptr::null_mut;

use profile::descriptor::Descriptor;
use profile::region_kind::RegionKind;

use super::chunks::Head;
use super::cost::ticks_of_read_in_order;
use super::crowding::threads_per_processor;
use super::facts;
use super::joined_chunks::{is_allowed, is_any_held};
use super::omp;
use super::records::Frame;
use super::records::frame::Role;
use super::request_count::{NEXT, is_due, requests_since_look, set_since_look};
use super::thread::Thread;
use crate::measure::records::Node;

thread_local! {
    /// The requests since one was timed, while all are looked at.
    static SINCE_TIMED: Cell<u32> = const { Cell::new(0) };
    /// Whether the thread's work in a chunk is timed. A request is looked at before the thread's block is known.
    static TIMES_WORK: Cell<bool> = const { Cell::new(false) };
    /// The record of the innermost loop that wants to know of requests; null if there is none.
    static LOOP: Cell<*mut Head> = const { Cell::new(null_mut()) };
}

/// Whether work is being timed that ends with the next request.
pub(crate) fn is_work_timed() -> bool {
    TIMES_WORK.get()
}

/// The work that is being timed ends without a request: the chunk behind it was held back.
pub(crate) fn count_anew() {
    set_since_look(0);
}

/// Whether chunks of the thread's innermost loop may be handed out together: not if they are traced, or while
/// something else goes on.
pub(crate) fn is_free_to_join() -> bool {
    is_allowed() && LOOP.get().is_null() && !is_work_timed() && !is_any_held()
}

/// The measurement at a request that is in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It is timed.
    Times,
    /// The work in front of it ends, and was timed.
    EndsWork,
    /// It only marks a loop.
    Marks,
}

/// The measurement for a request that is in the sample.
pub(crate) fn look() -> Look {
    let ends_work = is_work_timed();
    let times = match LOOP.get().is_null() {
        true => {
            if ends_work {
                set_since_look(1);
            }
            true
        }
        false => {
            set_since_look(NEXT);
            SINCE_TIMED.with(is_due)
        }
    };
    match (ends_work, times) {
        (true, _) => Look::EndsWork,
        (false, true) => Look::Times,
        (false, false) => Look::Marks,
    }
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
        SINCE_TIMED.set(requests_since_look());
        set_since_look(NEXT);
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
        set_since_look(SINCE_TIMED.get());
    }
}

/// A request that takes longer than this many reads of the clock was interrupted: the rest is left
/// out.
const INTERRUPTED: u64 = 100;

/// In a loop whose work in a chunk takes at most this many times as long as a request, the requests
/// take what is left of the loop's time.
const LITTLE_WORK: u64 = 4;

/// The work in this many chunks must be known before chunks are handed out together.
const ENOUGH_ALONE: u64 = 16;

/// Chunks must have been handed out together this many times before their work is used.
const ENOUGH_JOINED: u64 = 16;

/// No request lies between chunks that are handed out together, so none of their work is taken for a wait.
const NOTHING_BETWEEN: u64 = 0;

/// Work that gets less than a tenth shorter may do so by chance.
const ALIKE_WORK_RATIO: f64 = 0.9;

/// Chunks are handed out together if the work in one takes at most this many times as long as a request.
const LONGEST_JOINED: u64 = 16;

impl Thread {
    /// Adds this many requests for chunks of the innermost loop. One of them took `ticks`, from one
    /// read of the clock to the next.
    pub(crate) fn add_chunk_requests(&'static self, requests: u64, ticks: u64) {
        let Some(node) = self.requesting() else {
            return;
        };
        let read = ticks_of_read_in_order();
        let most = read.saturating_mul(INTERRUPTED);
        let ticks = ticks.saturating_sub(read).min(most);
        node.chunk_requests.count.add(requests);
        node.chunk_requests
            .ticks
            .add(ticks.saturating_mul(requests));
    }

    /// Adds this many requests for chunks of the innermost loop, of which none was timed.
    pub(crate) fn add_untimed_chunk_requests(&'static self, requests: u64) {
        if let Some(node) = self.requesting() {
            let known = &node.chunk_requests;
            let each = known.ticks.get() / known.count.get().max(1);
            known.count.add(requests);
            known.ticks.add(each.saturating_mul(requests));
        }
    }

    /// The work in this many chunks of the innermost loop begins, and is timed.
    pub(crate) fn begin_chunk_work(&'static self, chunks: u64, now: impl FnOnce() -> u64) {
        let Some(node) = self.requesting() else {
            return;
        };
        if LOOP.get().is_null() {
            set_since_look(NEXT);
        }
        let work = &self.work_in_chunks;
        work.node.set(Some(node));
        work.chunks.set(chunks);
        if threads_per_processor() > 1.0 {
            work.switches.set(facts::switches_of_thread());
        }
        TIMES_WORK.set(true);
        work.since.set(now());
    }

    /// The work in chunks that was timed ends.
    pub(crate) fn add_chunk_work(&'static self, now: u64) {
        TIMES_WORK.set(false);
        let work = &self.work_in_chunks;
        let Some(node) = work.node.get() else {
            return;
        };
        work.node.set(None);
        let threads = threads_per_processor();
        // Work that was interrupted says more of the other threads than of the loop.
        let is_whole = threads <= 1.0 || work.switches.get() == facts::switches_of_thread();
        let innermost = self.requesting();
        if is_whole && innermost.is_some_and(|it| std::ptr::eq(it, node)) {
            let ticks = now.wrapping_sub(work.since.get());
            let ticks = ticks.saturating_sub(ticks_of_read_in_order());
            let number = work.chunks.get().max(1);
            let chunks = match number {
                1 => &node.chunk_work,
                _ => &node.joined_work,
            };
            let each = |ticks: u64| (ticks + number / 2) / number;
            chunks.add(each(ticks), each(ticks_of_read_in_order()), threads);
        }
    }

    /// Whether to hand out chunks of the innermost loop together now. They are not if the loop is
    /// ordered, or if the program was not built with Romp: then they may have to come one by one.
    /// Nor are long chunks, since it matters which thread gets them.
    pub(crate) fn joins_chunks(&'static self) -> bool {
        let Some(node) = self.requesting() else {
            return false;
        };
        let descriptor = node.region().map(|region| &region.descriptor);
        let is_ordered = |it: &Descriptor| it.other.contains_key("hasOrdered");
        let is_fit = descriptor.is_some_and(|it| it.code.is_none() && !is_ordered(it));
        is_fit && node.has_short_chunks() && self.pass_table.one_of(2)
    }

    /// The innermost loop, if the thread's requests are for its chunks. The schedule is not known of
    /// programs that were not built with Romp.
    fn requesting(&self) -> Option<&'static Node> {
        let timed = self.top().filter(|frame| frame.role() != Role::Untimed);
        timed.and_then(Frame::node).filter(|node| {
            let region = node.region();
            region.is_some_and(|region| {
                let is_loop = matches!(region.kind, RegionKind::Loop | RegionKind::ParallelLoop);
                let descriptor = &region.descriptor;
                descriptor.schedule.is_some() || descriptor.code.is_some() && is_loop
            })
        })
    }
}

impl Node {
    /// The ticks of all requests for chunks of this loop, in whose body the thread was for `body`. They include
    /// the time that work takes longer since it does not overlap.
    pub(crate) fn ticks_of_chunk_requests(&self, body: u64) -> u64 {
        let timed = self.chunk_requests.ticks.get();
        let number = self.chunk_requests.count.get();
        let Some(alone) = self.chunk_work.mean(self.ticks_of_request()) else {
            return timed;
        };
        let of_all = |work: f64| (work * number as f64) as u64;
        let joined = self.work_in_larger_chunks(alone);
        let beside_work = timed.max(body.saturating_sub(of_all(joined)));
        if of_all(alone) <= LITTLE_WORK.saturating_mul(timed) {
            return beside_work;
        }
        // Longer work varies, so it must get clearly shorter in larger chunks.
        if joined >= ALIKE_WORK_RATIO * alone {
            return timed;
        }
        let work = body.saturating_sub(timed) as f64;
        let overlap = (work * (1.0 - joined / alone)) as u64;
        beside_work.max(timed.saturating_add(overlap))
    }

    /// The mean ticks of a request.
    fn ticks_of_request(&self) -> u64 {
        self.chunk_requests.ticks.get() / self.chunk_requests.count.get().max(1)
    }

    /// The ticks that the work of a chunk takes if several are handed out together, so that a request ends no
    /// work that overlaps. By itself it takes the ticks `alone`.
    fn work_in_larger_chunks(&self, alone: f64) -> f64 {
        let joined = Some(&self.joined_work).filter(|it| it.all().count.get() >= ENOUGH_JOINED);
        let joined = joined.and_then(|it| it.mean(NOTHING_BETWEEN));
        joined.map_or(alone, |joined| alone.min(joined))
    }

    /// Whether the work in a chunk is known to take so little time that it matters whether it overlaps.
    fn has_short_chunks(&self) -> bool {
        let request = self.ticks_of_request();
        let most = LONGEST_JOINED.saturating_mul(request);
        let work = self.chunk_work.mean(request);
        self.chunk_work.all().count.get() >= ENOUGH_ALONE
            && work.is_some_and(|work| work <= most as f64)
    }
}
