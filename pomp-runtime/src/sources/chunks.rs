//! Chunks of loops: what a program calls that was instrumented with `--chunks`.

use std::ffi::{c_char, c_long};

use super::boundary::{event, event_of, thread_event};
use super::descriptor::OmpRegDescr;
use super::fortran::pompf;
use super::literal::Literal;
use trace::replay::MOST_LEVELS;

use crate::measure::chunks::{FIRST_LEVEL, LEVEL, Words};
use crate::measure::clock::now;
use crate::measure::region::Region;
use crate::measure::thread::Thread;

/// The words of a loop; none without an address.
///
/// # Safety
/// `words` is null or points to the words of a loop, the first of which says for
/// how many levels there are words.
unsafe fn words<'a>(words: *mut c_long) -> Option<Words<'a>> {
    // SAFETY: as the caller promises.
    unsafe {
        let levels = usize::try_from(*words.as_ref()?).ok()?;
        let count = FIRST_LEVEL + LEVEL * levels.clamp(1, MOST_LEVELS);
        Some(Words(std::slice::from_raw_parts_mut(
            words.cast::<i64>(),
            count,
        )))
    }
}

/// The iterations of a loop begin on this thread. Gives a value that its
/// innermost variable never has, and the step.
///
/// # Safety
/// As in `words`; the region's descriptor is given by `event`, as that needs it.
unsafe fn begin(
    loop_words: *mut c_long,
    tell: impl FnOnce(&mut dyn FnMut(&'static Thread, &'static Region)),
) -> (c_long, c_long) {
    // SAFETY: as the caller promises.
    let Some(mut words) = (unsafe { words(loop_words) }) else {
        return (0, 0);
    };
    let (count, never) = words.prepare();
    tell(&mut |thread, region| thread.begin_chunks(region, &mut words, count, now()));
    (never, words.inner().1)
}

/// The variables are not `next`, or the chunk is over. Gives the value at which
/// to call again.
///
/// # Safety
/// As in `words`.
unsafe fn turn(loop_words: *mut c_long, next: c_long) -> c_long {
    // SAFETY: as the caller promises.
    let Some(mut words) = (unsafe { words(loop_words) }) else {
        return 0;
    };
    if words.are_traced()
        && let Some(chunk) = words.turn(next)
    {
        let at = now();
        thread_event(|thread| thread.trace_chunk(chunk, at));
    }
    words.stop()
}

/// This thread has no more iterations of the loop.
///
/// # Safety
/// As in `words`.
unsafe fn end(loop_words: *mut c_long, next: c_long) {
    // SAFETY: as the caller promises.
    let Some(words) = (unsafe { words(loop_words) }) else {
        return;
    };
    if words.are_traced()
        && let Some(length) = words.last(next)
    {
        let at = now();
        thread_event(|thread| thread.trace_last_chunk(length, at));
    }
}

/// See `begin`.
///
/// # Safety
/// `descriptor` is null or points to a descriptor; `words` as in `words`.
#[unsafe(no_mangle)]
unsafe extern "C" fn POMP_Chunks_begin(
    descriptor: *const OmpRegDescr,
    words: *mut c_long,
) -> c_long {
    // SAFETY: as the caller promises.
    unsafe { begin(words, |tell| _ = event(descriptor, tell)).0 }
}

/// See `turn`.
///
/// # Safety
/// As in `words`.
#[unsafe(no_mangle)]
unsafe extern "C" fn POMP_Chunk_begin(words: *mut c_long, next: c_long) -> c_long {
    // SAFETY: as the caller promises.
    unsafe { turn(words, next) }
}

/// See `end`.
///
/// # Safety
/// As in `words`.
#[unsafe(no_mangle)]
unsafe extern "C" fn POMP_Chunks_end(words: *mut c_long, next: c_long) {
    // SAFETY: as the caller promises.
    unsafe { end(words, next) }
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
            let (never, by) = begin(words, |tell| {
                _ = event_of(|thread| literal.region(thread), tell);
            });
            (*next, *stop, *step) = (never, never, by);
        }
    }
}

pompf! {
    /// See `turn`; what C gets as a result is written to a variable.
    "chunk_begin"(words: *mut c_long, next: *const c_long, stop: *mut c_long) {
        // SAFETY: a compiler passes variables.
        unsafe { *stop = turn(words, *next) }
    }
}

pompf! {
    /// See `end`.
    "chunks_end"(words: *mut c_long, next: *const c_long) {
        // SAFETY: a compiler passes variables.
        unsafe { end(words, *next) }
    }
}
