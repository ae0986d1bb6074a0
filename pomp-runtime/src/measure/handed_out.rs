//! Chunks that a runtime hands out, of loops in programs that were not built with Romp. The runtime
//! is given the bounds of a loop, and gives back the bounds of each chunk.

use std::iter::successors;
use std::sync::atomic::{AtomicBool, Ordering};

use profile::environment;
use trace::schedule::How;

use super::config;
use super::errno;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::shared::leak;
use super::shared_loop::{Current, End, Shared, Turn, size_of_chunks};
use super::thread::Thread;
use crate::measure::trace::{Chunk, LoopRecord};

/// Whether the user wants to see these chunks. `pomp-run` reads it.
#[cfg_attr(test, allow(unreachable_pub))]
pub static SHOWS_CHUNKS: AtomicBool = AtomicBool::new(false);

/// Whether the user wants to see these chunks.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    SHOWS_CHUNKS.load(Ordering::Relaxed)
}

/// Reads whether the user wants to see these chunks. Only a trace has them.
pub(crate) fn ask() {
    let is_on = |name| {
        let value = config::variable(name);
        value.and_then(|value| environment::truth(value.to_str()?)) == Some(true)
    };
    let shows = ["ROMP_CHUNKS", "ROMP_TRACE"].into_iter().all(is_on);
    SHOWS_CHUNKS.store(shows, Ordering::Relaxed);
}

/// The record of a loop that is shared out in a team, for the trace.
fn record(shared: &Shared, (label, number): (u64, u64), team: u32) -> LoopRecord {
    let (clause, kind, size) = shared.schedule;
    LoopRecord {
        label,
        number,
        lower: shared.first.cast_signed(),
        upper: shared.bound.cast_signed(),
        step: shared.step.cast_signed(),
        how: How {
            kind,
            clause,
            levels: 1,
            team,
        },
        chunk: size_of_chunks(kind, size),
        count: shared.count,
    }
}

impl Thread {
    /// The part of a team in which the thread is.
    fn part(&self) -> Option<&'static Frame> {
        successors(self.top(), |frame| frame.below()).find(|frame| !frame.role().is_construct())
    }

    /// The loop whose chunks are handed to this thread.
    fn current(&self) -> Option<&'static Current> {
        let current = self.part()?.handed_out.get();
        current.filter(|current| current.is_open())
    }

    /// The runtime shares a region's loop out among this many threads.
    pub(crate) fn begin_shared(
        &'static self,
        region: &'static Region,
        shared: &Shared,
        team: u32,
        at: u64,
    ) {
        let Some(part) = self.part().filter(|_| self.trace.is_on()) else {
            return;
        };
        let current = part.handed_out.get().or_else(|| {
            let new = errno::keep(|| leak(Current::default()));
            part.handed_out.set(new);
            new
        });
        // Without memory, the loop is not traced.
        let Some(current) = current else { return };
        current.begin(shared);
        let instance = match part.role() {
            Role::Member => (part.label.get(), part.next_loop()),
            _ => (self.trace.label(), 0),
        };
        self.trace_loop(region, record(shared, instance, team), at);
    }

    /// The runtime has handed a chunk to this thread, from this value of the loop variable on.
    pub(crate) fn begin_chunk(&'static self, from: u64, end: End, at: u64) {
        let turn = self.current().and_then(|current| current.turn(from, end));
        if let Some(Turn { length, gap, first }) = turn {
            self.trace_chunk(Chunk { length, gap, first }, at);
        }
    }

    /// The runtime has no more chunks for this thread.
    pub(crate) fn end_chunks(&'static self, at: u64) {
        if let Some(length) = self.current().and_then(Current::end) {
            self.trace_last_chunk(length, at);
        }
    }

    /// A construct begins whose chunks are not handed out, or not seen.
    pub(crate) fn begin_unshared(&'static self) {
        if let Some(current) = self.current() {
            current.close();
        }
    }
}
