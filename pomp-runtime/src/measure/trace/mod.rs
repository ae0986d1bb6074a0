//! The trace: every event with its time, page by page.
//!
//! A thread writes records into a page of its own. A full page is handed to whichever thread writes
//! the file, without a lock, and the thread takes an empty one. If there is none, events are
//! dropped and counted until there is. All times are those that the profile gets, so that both
//! agree. The format is defined by the crate `trace`.

mod end;
mod hooks;
mod paths;
mod writer;

use std::sync::atomic::Ordering;

use trace::layout::PAYLOAD_WORDS;
use trace::record::{Op, TICKS_LIMIT, head, timed};

use crate::measure::thread::Thread;
use crate::measure::trace_pages;
pub(crate) use end::{close, finish, write_so_far};
pub(crate) use hooks::{Chunk, LockRecord, LoopRecord};
pub(crate) use writer::{Finished, Writer, locked, number, prepare, start_anew, write};

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
        let Some(page) = trace_pages::take() else {
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
        const MOST_OPEN_FRAMES: usize = PAYLOAD_WORDS / 2 / (1 + Op::Open.operands());
        if self.frames().count() > MOST_OPEN_FRAMES {
            return;
        }
        for frame in self.frames() {
            let (operands, region, phase) = hooks::context(frame);
            self.trace.append(head(Op::Open, phase, region), &operands);
        }
    }
}
