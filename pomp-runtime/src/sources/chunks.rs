//! Chunks of loops: what a program calls that was instrumented with `--chunks`.

use std::ffi::c_long;

use super::boundary::{event, thread_event};
use super::descriptor::OmpRegDescr;
use crate::measure::chunks::{FIRST_LEVEL, LEVEL, MOST_LEVELS, Words};
use crate::measure::clock::now;

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
/// innermost variable never has.
///
/// # Safety
/// `descriptor` is null or points to a descriptor; `loop_words` as in `words`.
#[unsafe(no_mangle)]
unsafe extern "C" fn POMP_Chunks_begin(
    descriptor: *const OmpRegDescr,
    loop_words: *mut c_long,
) -> c_long {
    // SAFETY: as the caller promises.
    let Some(mut words) = (unsafe { words(loop_words) }) else {
        return 0;
    };
    let (count, never) = words.prepare();
    // SAFETY: as the caller promises.
    unsafe {
        event(descriptor, |thread, region| {
            thread.begin_chunks(region, &mut words, count, now());
        });
    }
    never
}

/// The variables are not `next`, or the chunk is over. Gives the value at which
/// to call again.
///
/// # Safety
/// As in `words`.
#[unsafe(no_mangle)]
unsafe extern "C" fn POMP_Chunk_begin(loop_words: *mut c_long, next: c_long) -> c_long {
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
#[unsafe(no_mangle)]
unsafe extern "C" fn POMP_Chunks_end(loop_words: *mut c_long, next: c_long) {
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
