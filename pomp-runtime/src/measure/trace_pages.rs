//! Pages: memory that goes from a thread to the writer and back, without locks.
//!
//! Every page stands in a table for good. A thread that finds a free page takes it by changing its
//! state. Full pages form a chain that only the writer takes apart, all at once. Pages are made
//! when they are first needed, up to a limit.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use trace::layout::{PAYLOAD_WORDS, SlotHead, SlotKind};

use crate::measure::helper_requests;
use crate::measure::shared::{SharedRef, SharedU64, leak, leak_slice};

/// More pages than this are not made, whatever the limit: a gigabyte.
const MOST_PAGES: usize = 1 << 14;

const FREE: u8 = 0;
const TAKEN: u8 = 1;

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    state: AtomicU8,
    /// The full page that was handed over before.
    next: SharedRef<Page>,
    stream: AtomicU32,
    sequence: SharedU64,
    base: SharedU64,
    dropped: SharedU64,
    used: AtomicUsize,
    /// The slot of the file to which the page was written before it was full; 0 if there is none.
    slot: SharedU64,
    words: &'static [std::sync::atomic::AtomicU64],
}

/// All pages that were made.
static PAGES: [SharedRef<Page>; MOST_PAGES] = [const { SharedRef::none() }; MOST_PAGES];
/// How many may be made.
static LIMIT: AtomicUsize = AtomicUsize::new(0);
/// Where the search for a free page begins.
static HINT: AtomicUsize = AtomicUsize::new(0);
/// Set when no page was free, until one is.
static NONE_FREE: AtomicBool = AtomicBool::new(false);
/// The full page that was handed over last.
static FULL: SharedRef<Page> = SharedRef::none();

/// Limits the memory for pages to this many bytes.
pub(super) fn limit(bytes: u64) {
    let pages = usize::try_from(bytes).unwrap_or(usize::MAX) / trace::layout::SLOT_BYTES;
    LIMIT.store(pages.clamp(2, MOST_PAGES), Ordering::Relaxed);
}

/// A forked child has no threads that hold pages.
pub(super) fn start_anew() {
    FULL.set(None);
    for page in PAGES.iter().filter_map(SharedRef::get) {
        page.state.store(FREE, Ordering::Relaxed);
    }
    NONE_FREE.store(false, Ordering::Relaxed);
}

/// A free page, or a new one; none if there is none.
pub(super) fn take() -> Option<&'static Page> {
    helper_requests::ensure();
    if NONE_FREE.load(Ordering::Relaxed) {
        return None;
    }
    let limit = LIMIT.load(Ordering::Relaxed);
    let hint = HINT.load(Ordering::Relaxed);
    let mut made = None;
    for index in (0..limit).map(|index| (hint + index) % limit) {
        match PAGES[index].get() {
            Some(page) if page.claim() => {
                HINT.store((index + 1) % limit, Ordering::Relaxed);
                return Some(page);
            }
            Some(_) => {}
            None => {
                let page = made.take().or_else(make)?;
                if PAGES[index].replace_if(None, page) {
                    return Some(page);
                }
                // Another thread has put its page there meanwhile. This one goes to the next
                // empty place.
                made = Some(page);
            }
        }
    }
    NONE_FREE.store(true, Ordering::Relaxed);
    None
}

fn make() -> Option<&'static Page> {
    let words = leak_slice(PAYLOAD_WORDS, std::sync::atomic::AtomicU64::default)?;
    leak(Page {
        state: AtomicU8::new(TAKEN),
        next: SharedRef::none(),
        stream: AtomicU32::new(0),
        sequence: SharedU64::new(0),
        base: SharedU64::new(0),
        dropped: SharedU64::new(0),
        used: AtomicUsize::new(0),
        slot: SharedU64::new(0),
        words,
    })
}

/// Hands a full page to the writer, and wakes it if it has no other.
pub(super) fn hand_over(page: &'static Page) {
    loop {
        let before = FULL.get();
        page.next.set(before);
        if FULL.replace_if(before, page) {
            if before.is_none() {
                helper_requests::write_trace();
            }
            return;
        }
    }
}

/// All full pages, oldest first. For the writer alone.
pub(super) fn take_full() -> Vec<&'static Page> {
    let latest = FULL.take();
    let mut pages: Vec<_> = std::iter::successors(latest, |page| page.next.get()).collect();
    pages.reverse();
    pages
}

impl Page {
    fn claim(&self) -> bool {
        self.state
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// The page can be used again.
    pub(super) fn give_back(&self) {
        self.state.store(FREE, Ordering::Release);
        NONE_FREE.store(false, Ordering::Relaxed);
    }

    /// Begins the page: which stream its records are of, which page of the stream it is, when it
    /// begins, and how many events were dropped before.
    pub(super) fn begin(&self, stream: u32, sequence: u64, base: u64, dropped: u64) {
        self.stream.store(stream, Ordering::Relaxed);
        self.sequence.set(sequence);
        self.base.set(base);
        self.dropped.set(dropped);
        self.slot.set(0);
    }

    /// The slot of the file to which it was written already; for the writer alone.
    pub(super) fn slot(&self) -> Option<u64> {
        Some(self.slot.get()).filter(|slot| *slot != 0)
    }

    /// Notes the slot of the file in which the page was written. Only the writer calls this.
    pub(super) fn set_slot(&self, slot: u64) {
        self.slot.set(slot);
    }

    /// Sets the number of words in use, when the page is full or is written before that.
    pub(super) fn close(&self, used: usize) {
        self.used.store(used.min(PAYLOAD_WORDS), Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &'static [std::sync::atomic::AtomicU64] {
        self.words
    }

    /// The head of the slot that it fills.
    pub(super) fn head(&self) -> SlotHead {
        SlotHead {
            kind: SlotKind::Records,
            stream: u64::from(self.stream.load(Ordering::Relaxed)),
            sequence: self.sequence.get(),
            used: self.used.load(Ordering::Relaxed),
            base: self.base.get(),
            dropped: self.dropped.get(),
        }
    }

    /// The words that it holds.
    pub(super) fn payload(&self) -> impl Iterator<Item = u64> {
        let used = self.used.load(Ordering::Relaxed);
        let words = self.words.iter().take(used);
        words.map(|word| word.load(Ordering::Relaxed))
    }
}
