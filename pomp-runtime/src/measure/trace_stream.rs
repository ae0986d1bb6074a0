//! The trace of one thread: a stream of records, in pages that go to the writer of the trace.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use trace::layout::label;

use super::shared::{SharedRef, SharedU64};
use super::trace_pages::{self, Page};

/// Whether the events of new threads are traced.
pub(super) static ON: AtomicBool = AtomicBool::new(false);
/// Number of the next stream.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The trace of one thread.
#[derive(Debug)]
pub(crate) struct Stream {
    is_on: AtomicBool,
    pub(super) number: AtomicU32,
    /// The page that is written to; none at first, and while no page is free.
    pub(super) page: SharedRef<Page>,
    /// Words of it that are used.
    pub(super) used: AtomicUsize,
    /// Time of the last record, in ticks.
    pub(super) last: SharedU64,
    /// Pages so far.
    pub(super) sequence: SharedU64,
    /// Events that were not recorded.
    pub(super) dropped: SharedU64,
    /// Labels that were given out.
    labels: SharedU64,
    /// The task that this thread created last: its label, and when the construct began.
    pub(super) created: SharedU64,
    pub(super) created_at: SharedU64,
    /// The label of the task that this thread is about to execute, if the runtime gave it; else 0.
    executes: SharedU64,
}

/// Whether the events of new threads are traced.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn is_wanted() -> bool {
    ON.load(Ordering::Relaxed)
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
            created: SharedU64::new(0),
            created_at: SharedU64::new(0),
            executes: SharedU64::new(0),
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

    /// The task that was created with this label begins next; 0 for an unknown one.
    #[cfg(not(test))]
    pub(crate) fn executes(&self, label: u64) {
        self.executes.set(label);
    }

    /// The label that the runtime gave for the task that begins now, or 0.
    pub(super) fn take_executed(&self) -> u64 {
        let label = self.executes.get();
        self.executes.set(0);
        label
    }

    /// Gives the page away.
    pub(super) fn hand_over(&self) {
        if let Some(page) = self.page.get() {
            self.page.set(None);
            page.close(self.used.load(Ordering::Relaxed));
            trace_pages::hand_over(page);
        }
    }

    /// Appends words, which fit.
    pub(super) fn append(&self, first: u64, rest: &[u64]) {
        let used = self.used.load(Ordering::Relaxed);
        let Some(page) = self.page.get() else { return };
        let words = page.words().iter().skip(used);
        for (word, value) in words.zip(std::iter::once(&first).chain(rest)) {
            word.store(*value, Ordering::Relaxed);
        }
        self.used.store(used + 1 + rest.len(), Ordering::Release);
    }
}
