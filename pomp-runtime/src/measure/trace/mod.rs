//! The trace: every event with its time, page by page.
//!
//! A thread writes records into a page of its own. A full page is handed to whichever thread writes
//! the file, without a lock, and the thread takes an empty one. If there is none, events are
//! dropped and counted until there is. All times are those that the profile gets, so that both
//! agree. The format is defined by the crate `trace`.

mod end;
mod hooks;
mod pages;
mod paths;
mod writer;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use trace::layout::{PAYLOAD_WORDS, label};
use trace::record::{Op, TICKS_LIMIT, head, timed};

use crate::measure::shared::{SharedRef, SharedU64};
use crate::measure::thread::Thread;
pub(crate) use end::{close, finish, write_so_far};
pub(crate) use hooks::{LockRecord, LoopRecord};
use pages::Page;
pub(crate) use writer::{Finished, Writer, locked, number, prepare, start_anew, write};

/// Whether the events of new threads are traced.
static ON: AtomicBool = AtomicBool::new(false);
/// Number of the next stream.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// What one thread traces.
#[derive(Debug)]
pub(crate) struct Stream {
    is_on: AtomicBool,
    number: AtomicU32,
    /// The page that is written to; none at first, and while no page is free.
    page: SharedRef<Page>,
    /// Words of it that are used.
    used: AtomicUsize,
    /// Time of the last record, in ticks.
    last: SharedU64,
    /// Pages so far.
    sequence: SharedU64,
    /// Events that were not recorded.
    dropped: SharedU64,
    /// Labels that were given out.
    labels: SharedU64,
}

impl Stream {
    pub(crate) const fn new() -> Self {
        Self {
            is_on: AtomicBool::new(false),
            number: AtomicU32::new(0),
            page: SharedRef::none(),
            used: AtomicUsize::new(0),
            last: SharedU64::new(0),
            sequence: SharedU64::new(0),
            dropped: SharedU64::new(0),
            labels: SharedU64::new(0),
        }
    }

    /// A thread begins to use this, if traces are wanted.
    pub(crate) fn open(&self) {
        if ON.load(Ordering::Relaxed) && !self.is_on() {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            self.number.store(number, Ordering::Relaxed);
            self.is_on.store(true, Ordering::Relaxed);
        }
    }

    /// Whether events are traced.
    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// A label that nothing else has.
    pub(crate) fn label(&self) -> u64 {
        self.labels.add(1);
        label(
            u64::from(self.number.load(Ordering::Relaxed)),
            self.labels.get(),
        )
    }

    /// Gives the page away.
    fn hand_over(&self) {
        if let Some(page) = self.page.get() {
            self.page.set(None);
            page.close(self.used.load(Ordering::Relaxed));
            pages::hand_over(page);
        }
    }
}

impl Thread {
    /// Appends a record.
    #[inline(always)]
    fn write_record<const N: usize>(&'static self, head: u64, at: u64, operands: [u64; N]) {
        let stream = &self.trace;
        let used = stream.used.load(Ordering::Relaxed);
        let ticks = at.wrapping_sub(stream.last.get());
        let page = stream.page.get();
        let words = page.and_then(|page| page.words().get(used..used + 1 + N));
        match words {
            Some([first, rest @ ..]) if ticks < TICKS_LIMIT => {
                first.store(timed(head, ticks), Ordering::Relaxed);
                for (word, operand) in rest.iter().zip(operands) {
                    word.store(operand, Ordering::Relaxed);
                }
                stream.last.set(at);
                stream.used.store(used + 1 + N, Ordering::Release);
            }
            _ => self.record_slowly(head, at, &operands),
        }
    }

    /// Appends a record that needs a new page, or a `Time` record in front.
    #[cold]
    #[inline(never)]
    fn record_slowly(&'static self, head: u64, at: u64, operands: &[u64]) {
        let stream = &self.trace;
        let room = PAYLOAD_WORDS.saturating_sub(stream.used.load(Ordering::Relaxed));
        let has_page = stream.page.get().is_some() && room >= operands.len() + 3;
        if !has_page && !self.next_page(at) {
            return stream.dropped.add(1);
        }
        let mut ticks = at.wrapping_sub(stream.last.get());
        if ticks >= TICKS_LIMIT {
            stream.append(trace::record::head(Op::Time, 0, 0), &[at]);
            ticks = 0;
        }
        stream.append(timed(head, ticks), operands);
        stream.last.set(at);
    }

    /// Takes a new page, which begins with the open frames. False if there is none.
    fn next_page(&'static self, at: u64) -> bool {
        let stream = &self.trace;
        stream.hand_over();
        let Some(page) = pages::take() else {
            return false;
        };
        page.begin(
            stream.number.load(Ordering::Relaxed),
            stream.sequence.get(),
            at,
            stream.dropped.get(),
        );
        stream.sequence.add(1);
        stream.used.store(0, Ordering::Relaxed);
        stream.last.set(at);
        stream.page.set(Some(page));
        self.record_context();
        true
    }

    /// Records the open frames, unless they are so many that little else would fit.
    fn record_context(&'static self) {
        const MOST: usize = PAYLOAD_WORDS / 2 / (1 + Op::Open.operands());
        if self.frames().count() > MOST {
            return;
        }
        for frame in self.frames() {
            let (operands, region, phase) = hooks::context(frame);
            self.trace.append(head(Op::Open, phase, region), &operands);
        }
    }
}

impl Stream {
    /// Appends words, which fit.
    fn append(&self, first: u64, rest: &[u64]) {
        let used = self.used.load(Ordering::Relaxed);
        let Some(page) = self.page.get() else { return };
        let words = page.words().iter().skip(used);
        for (word, value) in words.zip(std::iter::once(&first).chain(rest)) {
            word.store(*value, Ordering::Relaxed);
        }
        self.used.store(used + 1 + rest.len(), Ordering::Release);
    }
}
