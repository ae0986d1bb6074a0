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
    /// The work of the thread in a chunk, while it is timed.
    static WORK: Cell<Option<Work>> = const { Cell::new(None) };
    /// The record of the innermost loop that wants to know of requests; null if there is none.
    static LOOP: Cell<*mut Head> = const { Cell::new(null_mut()) };
}

/// The work in a chunk.
#[derive(Clone, Copy)]
struct Work {
    /// The chunk's loop.
    node: &'static Node,
    /// When it began, in ticks.
    since: u64,
    /// How often the thread had lost its processor, if its team has more threads than processors.
    switches: Option<u64>,
    /// How many chunks were handed out together.
    chunks: u64,
}

/// Whether work is being timed that ends with the next request.
pub(crate) fn is_work_timed() -> bool {
    WORK.get().is_some()
}

/// The work that is being timed ends without a request: the chunk behind it was held back.
pub(crate) fn count_anew() {
    set_since_look(0);
}

/// Whether chunks of the thread's innermost loop may be handed out together: not if they are traced, or while
/// something else goes on.
pub(crate) fn is_free_to_join() -> bool {
    is_allowed() && LOOP.get().is_null() && WORK.get().is_none() && !is_any_held()
}

/// What is done at a request that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// It is timed.
    Times,
    /// The work in front of it ends, and was timed.
    EndsWork,
    /// It only marks a loop.
    Marks,
}

/// What to do at a request that is looked at.
pub(crate) fn look() -> Look {
    let ends_work = WORK.get().is_some();
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

/// The work in so many chunks must be known before chunks are handed out together.
const ENOUGH_ALONE: u64 = 16;

/// So many chunks must have been handed out together before their work is used.
const ENOUGH_JOINED: u64 = 128;

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

    /// The work in so many chunks of the innermost loop begins, and is timed.
    pub(crate) fn begin_chunk_work(&'static self, chunks: u64, now: impl FnOnce() -> u64) {
        let Some(node) = self.requesting() else {
            return;
        };
        if LOOP.get().is_null() {
            set_since_look(NEXT);
        }
        let switches = (threads_per_processor() > 1.0).then(facts::switches_of_thread);
        let since = now();
        WORK.set(Some(Work {
            node,
            since,
            switches,
            chunks,
        }));
    }

    /// The work in a chunk that was timed ends.
    pub(crate) fn add_chunk_work(&'static self, now: u64) {
        let Some(work) = WORK.take() else {
            return;
        };
        // One that was interrupted says more of the other threads than of the loop.
        let is_whole = work
            .switches
            .is_none_or(|before| before == facts::switches_of_thread());
        let innermost = self.requesting();
        if is_whole && innermost.is_some_and(|it| std::ptr::eq(it, work.node)) {
            let ticks = now.wrapping_sub(work.since);
            let ticks = ticks.saturating_sub(ticks_of_read_in_order());
            match work.chunks {
                1 => {
                    let chunks = &work.node.chunk_work;
                    chunks.add(ticks, ticks_of_read_in_order(), threads_per_processor());
                }
                many => {
                    work.node.joined_work.count.add(many);
                    work.node.joined_work.ticks.add(ticks);
                }
            }
        }
    }

    /// Whether to hand out chunks of the innermost loop together now: not if they may have to come one by one, or
    /// are so long that it matters which thread gets them.
    pub(crate) fn joins_chunks(&'static self) -> bool {
        let Some(node) = self.requesting() else {
            return false;
        };
        let descriptor = node.region().map(|region| &region.descriptor);
        let is_ordered = |it: &Descriptor| it.other.contains_key("hasOrdered");
        let is_fit = descriptor.is_some_and(|it| it.code.is_none() && !is_ordered(it));
        is_fit && node.has_little_work_in_chunks() && self.sampler.one_of(2)
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
    /// The ticks of all requests for chunks of this loop, in whose body the thread was for `body`.
    pub(crate) fn ticks_of_chunk_requests(&self, body: u64) -> u64 {
        let timed = self.chunk_requests.ticks.get();
        let number = self.chunk_requests.count.get();
        let Some(work) = self.chunk_work.mean(timed / number.max(1)) else {
            return timed;
        };
        let of_all = |work: f64| (work * number as f64) as u64;
        match of_all(work) <= LITTLE_WORK.saturating_mul(timed) {
            true => timed.max(body.saturating_sub(of_all(self.work_in_larger_chunks(work)))),
            false => timed,
        }
    }

    /// The ticks that the work of a chunk takes if several are handed out together, so that a request ends no
    /// work that overlaps. By itself it takes the ticks `alone`.
    fn work_in_larger_chunks(&self, alone: f64) -> f64 {
        match self.joined_work.count.get() {
            ..ENOUGH_JOINED => alone,
            chunks => {
                let each = self.joined_work.ticks.get() as f64 / chunks as f64;
                alone.min(each * threads_per_processor())
            }
        }
    }

    /// Whether it is known that the work in a chunk takes little time.
    fn has_little_work_in_chunks(&self) -> bool {
        let requests = &self.chunk_requests;
        let request = requests.ticks.get() / requests.count.get().max(1);
        let most = LITTLE_WORK.saturating_mul(request);
        let work = self.chunk_work.mean(request);
        self.chunk_work.all().count.get() >= ENOUGH_ALONE
            && work.is_some_and(|work| work <= most as f64)
    }
}
