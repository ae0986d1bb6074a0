//! Chunks of loops: the functions that a program calls if it was instrumented with `--chunks`.

use std::ffi::{c_char, c_long};

use super::boundary::{passing_event_of, thread_event};
use super::descriptor::OmpRegDescr;
use super::fortran::pompf;
use super::literal::Literal;
use super::regions::region_of;

use crate::measure::chunk_requests::{begin_requests, end_requests};
use crate::measure::chunks::{Head, Loop};
use crate::measure::clock::now;
use crate::measure::records::Region;
use crate::measure::thread::Thread;

/// Where the program keeps the record of a loop.
#[derive(Clone, Copy)]
struct LoopRecord(*mut Head);

impl LoopRecord {
    /// Runs `action` on the record, which is not used behind this call. None if the address is
    /// null.
    ///
    /// # Safety
    /// The place is null or that of the record of a loop, which says how many levels it has.
    /// Nobody else uses it meanwhile.
    #[inline(always)]
    unsafe fn with<R>(self, action: impl FnOnce(&mut Loop<'_>) -> R + Copy) -> Option<R> {
        // SAFETY: as the caller promises.
        Some(action(&mut unsafe { Loop::at(self.0) }?))
    }
}

/// The iterations of a loop begin on this thread, in the region that `find` finds.
/// Gives a value that its innermost variable never has, and the step.
///
/// # Safety
/// As in [`LoopRecord::with`].
#[inline(always)]
unsafe fn begin(
    place: LoopRecord,
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
) -> (c_long, c_long) {
    // SAFETY: as the caller promises.
    let prepared = unsafe { place.with(|record| (record.prepare(), record.step())) };
    let Some((never, step)) = prepared else {
        return (0, 0);
    };
    passing_event_of(find, move |thread, region| {
        // SAFETY: as the caller promises.
        unsafe { place.with(|record| thread.begin_chunks(region, record, now())) };
    });
    // SAFETY: as the caller promises. The record stays where it is until the loop is over.
    unsafe {
        if place.with(|record| record.wants_requests()) == Some(true) {
            begin_requests(place.0);
        }
    }
    (never, step)
}

/// A loop variable does not have the value that comes next, or the chunk is over. Gives the value
/// of the innermost variable at which to call again.
///
/// # Safety
/// As in [`LoopRecord::with`].
unsafe fn turn(place: LoopRecord, next: c_long) -> c_long {
    let turned = |record: &mut Loop<'_>| {
        let chunk = record.is_traced().then(|| record.turn(next)).flatten();
        (chunk, record.stop())
    };
    // SAFETY: as the caller promises.
    let Some((chunk, stop)) = (unsafe { place.with(turned) }) else {
        return 0;
    };
    if let Some(chunk) = chunk {
        let at = now();
        thread_event(move |thread| thread.trace_chunk(chunk, at));
    }
    stop
}

/// This thread has no more iterations of the loop.
///
/// # Safety
/// As in [`LoopRecord::with`].
unsafe fn end(place: LoopRecord, next: c_long) {
    let ended = |record: &mut Loop<'_>| record.is_traced().then(|| record.last(next)).flatten();
    // SAFETY: as the caller promises.
    let length = unsafe {
        end_requests(place.0);
        place.with(ended)
    };
    if let Some(length) = length.flatten() {
        let at = now();
        thread_event(move |thread| thread.trace_last_chunk(length, at));
    }
}

/// See `begin`.
///
/// # Safety
/// `descriptor` is null or points to a descriptor; `record` as in [`LoopRecord::with`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Chunks_begin(
    descriptor: *const OmpRegDescr,
    record: *mut Head,
) -> c_long {
    // SAFETY: as the caller promises.
    unsafe { begin(LoopRecord(record), move |_| region_of(descriptor.as_ref()?)).0 }
}

/// See `turn`.
///
/// # Safety
/// As in [`LoopRecord::with`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Chunk_begin(record: *mut Head, next: c_long) -> c_long {
    // SAFETY: as the caller promises.
    unsafe { turn(LoopRecord(record), next) }
}

/// See `end`.
///
/// # Safety
/// As in [`LoopRecord::with`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Chunks_end(record: *mut Head, next: c_long) {
    // SAFETY: as the caller promises.
    unsafe { end(LoopRecord(record), next) }
}

pompf! {
    /// See `begin`; what C gets as a result is written to variables.
    "chunks_begin"(
        text: *const c_char, record: *mut Head, next: *mut c_long, stop: *mut c_long,
        step: *mut c_long, length: usize
    ) {
        // SAFETY: a compiler passes the literal and its length, and variables.
        unsafe {
            let literal = Literal::new(text, length);
            let (never, by) = begin(LoopRecord(record), move |thread| literal.region(thread));
            (*next, *stop, *step) = (never, never, by);
        }
    }
}

pompf! {
    /// See `turn`; what C gets as a result is written to a variable.
    "chunk_begin"(record: *mut Head, next: *const c_long, stop: *mut c_long) {
        // SAFETY: a compiler passes variables.
        unsafe { *stop = turn(LoopRecord(record), *next) }
    }
}

pompf! {
    /// See `end`.
    "chunks_end"(record: *mut Head, next: *const c_long) {
        // SAFETY: a compiler passes variables.
        unsafe { end(LoopRecord(record), *next) }
    }
}
