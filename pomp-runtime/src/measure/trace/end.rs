//! The end of a trace: open frames are closed as the profile closes them, and the file becomes
//! complete.

use std::sync::atomic::Ordering;

use trace::clock::Pair;
use trace::record::Op;

use super::hooks::LockRecord;
use super::writer::{self, Finished};
use crate::measure::open_frames::open_frames;
use crate::measure::pause;
use crate::measure::thread::Thread;
use crate::measure::trace_stream::ON;

/// Closes the open frames of all threads, which stand still or record no more.
pub(crate) fn close(threads: &[&'static Thread], at: u64) {
    if !ON.load(Ordering::Relaxed) {
        return;
    }
    // Full pages are written first: otherwise there may be no pages for the ends.
    writer::write();
    for thread in threads.iter().filter(|thread| thread.trace.is_on()) {
        thread.close_trace(at);
        thread.trace.hand_over();
    }
}

/// Writes what all threads, which stand still, have recorded; they go on afterwards.
pub(crate) fn write_so_far(threads: &[&'static Thread]) {
    if ON.load(Ordering::Relaxed) {
        writer::write_unfinished(threads);
    }
}

/// Completes the file: none if nothing was traced.
pub(crate) fn finish(
    threads: &[&'static Thread],
    start: Pair,
    end: Pair,
) -> Option<Result<Finished, String>> {
    if !ON.load(Ordering::Relaxed) {
        return None;
    }
    let dropped = threads.iter().map(|thread| thread.trace.dropped.get());
    writer::finish(dropped.sum(), start, end)
}

impl Thread {
    fn close_trace(&'static self, at: u64) {
        let at = pause::begin().unwrap_or(at);
        for (frame, left) in open_frames(self) {
            self.trace_cut(frame, left.unwrap_or(at));
        }
        if self.is_paused() {
            return;
        }
        for held in self.held_locks() {
            let Some((node, start, _)) = held.holding() else {
                continue;
            };
            for op in [Op::LockUnset, Op::LockFree] {
                let record = LockRecord {
                    op,
                    node,
                    start,
                    address: held.address(),
                    is_cut: true,
                };
                self.trace_lock(at, record);
            }
        }
    }
}
