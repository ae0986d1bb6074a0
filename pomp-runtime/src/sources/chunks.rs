//! Chunks of loops: the functions that a program calls if it was instrumented with `--chunks`.

use std::ffi::{c_char, c_long};

use super::boundary::{passing_event_of, thread_event};
use super::descriptor::OmpRegDescr;
use super::fortran::pompf;
use super::literal::Literal;
use super::regions::region_of;
use trace::replay::MOST_LEVELS;

use crate::measure::chunk_requests::{begin_requests, end_requests};
use crate::measure::chunks::{FIRST_LEVEL, LEVEL, Words};
use crate::measure::clock::now;
use crate::measure::region::Region;
use crate::measure::thread::Thread;

/// Where the program keeps the words of a loop.
#[derive(Clone, Copy)]
struct LoopWords(*mut c_long);

impl LoopWords {
    /// Runs `action` on the words, which nobody else uses meanwhile. None if the address is null.
    ///
    /// # Safety
    /// The place is null or that of the words of a loop, the first of which says for
    /// how many levels there are words. Nobody else uses them meanwhile.
    #[inline(always)]
    unsafe fn with<R>(self, action: impl FnOnce(&mut Words<'_>) -> R + Copy) -> Option<R> {
        // SAFETY: as the caller promises. The words are not used behind the call.
        unsafe {
            let levels = usize::try_from(*self.0.as_ref()?).ok()?;
            let count = FIRST_LEVEL + LEVEL * levels.clamp(1, MOST_LEVELS);
            let words = std::slice::from_raw_parts_mut(self.0.cast::<i64>(), count);
            Some(action(&mut Words(words)))
        }
    }
}

/// The iterations of a loop begin on this thread, in the region that `find` finds.
/// Gives a value that its innermost variable never has, and the step.
///
/// # Safety
/// As in [`LoopWords::with`].
#[inline(always)]
unsafe fn begin(
    place: LoopWords,
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
) -> (c_long, c_long) {
    // SAFETY: as the caller promises.
    let prepared = unsafe { place.with(|words| (words.prepare(), words.inner().1)) };
    let Some(((count, never), step)) = prepared else {
        return (0, 0);
    };
    passing_event_of(find, move |thread, region| {
        // SAFETY: as the caller promises.
        unsafe { place.with(|words| thread.begin_chunks(region, words, count, now())) };
    });
    // SAFETY: as the caller promises. The words stay where they are until the loop is over.
    unsafe {
        if place.with(|words| words.want_requests()) == Some(true) {
            begin_requests(place.0.cast());
        }
    }
    (never, step)
}

/// A loop variable does not have the value that comes next, or the chunk is over. Gives the value
/// of the innermost variable at which to call again.
///
/// # Safety
/// As in [`LoopWords::with`].
unsafe fn turn(place: LoopWords, next: c_long) -> c_long {
    let turned = |words: &mut Words<'_>| {
        let chunk = words.are_traced().then(|| words.turn(next)).flatten();
        (chunk, words.stop())
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
/// As in [`LoopWords::with`].
unsafe fn end(place: LoopWords, next: c_long) {
    let ended = |words: &mut Words<'_>| words.are_traced().then(|| words.last(next)).flatten();
    // SAFETY: as the caller promises.
    let length = unsafe {
        end_requests(place.0.cast());
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
/// `descriptor` is null or points to a descriptor; `words` as in [`LoopWords::with`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Chunks_begin(
    descriptor: *const OmpRegDescr,
    words: *mut c_long,
) -> c_long {
    // SAFETY: as the caller promises.
    unsafe { begin(LoopWords(words), move |_| region_of(descriptor.as_ref()?)).0 }
}

/// See `turn`.
///
/// # Safety
/// As in [`LoopWords::with`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Chunk_begin(words: *mut c_long, next: c_long) -> c_long {
    // SAFETY: as the caller promises.
    unsafe { turn(LoopWords(words), next) }
}

/// See `end`.
///
/// # Safety
/// As in [`LoopWords::with`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Chunks_end(words: *mut c_long, next: c_long) {
    // SAFETY: as the caller promises.
    unsafe { end(LoopWords(words), next) }
}

pompf! {
    /// See `begin`; what C gets as a result is written to variables.
    "chunks_begin"(
        text: *const c_char, words: *mut c_long, next: *mut c_long, stop: *mut c_long,
        step: *mut c_long, length: usize
    ) {
        // SAFETY: a compiler passes the literal and its length, and variables.
        unsafe {
            let literal = Literal::new(text, length);
            let (never, by) = begin(LoopWords(words), move |thread| literal.region(thread));
            (*next, *stop, *step) = (never, never, by);
        }
    }
}

pompf! {
    /// See `turn`; what C gets as a result is written to a variable.
    "chunk_begin"(words: *mut c_long, next: *const c_long, stop: *mut c_long) {
        // SAFETY: a compiler passes variables.
        unsafe { *stop = turn(LoopWords(words), *next) }
    }
}

pompf! {
    /// See `end`.
    "chunks_end"(words: *mut c_long, next: *const c_long) {
        // SAFETY: a compiler passes variables.
        unsafe { end(LoopWords(words), *next) }
    }
}
