//! Chunks of loops, where the runtime hands them out. The entry that begins a loop is given its
//! bounds, and gives the first chunk; others give the next ones. A sample of the latter is timed.

use std::ffi::CStr;

use trace::schedule::Kind;

use super::super::boundary::{passing_event_of, thread_event};
use super::super::chunk_requests::counted;
use super::runtime::Runtime;
use super::site::{self, Call};
use super::table::{REQUESTS, row::Row};
use crate::measure::clock::now;
use crate::measure::handed_out::is_on;
use crate::measure::records::Region;
use crate::measure::shared_loop::{End, Schedule, Shared};
use crate::measure::thread::Thread;

/// The words of the stack that are handed on. If a call has fewer argument words, the rest belong
/// to its caller, and the runtime's function does not use them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StackWords([usize; 18]);

impl StackWords {
    /// Words of which only the first is known.
    pub(super) fn beginning_with(first: usize) -> Self {
        let mut words = [0; 18];
        words[0] = first;
        Self(words)
    }
}

/// The argument words of a call, from the first.
#[derive(Clone, Copy)]
pub(super) struct CallWords {
    pub(super) registers: [usize; 6],
    /// The words on the stack, if any are read.
    pub(super) stack: Option<StackWords>,
}

impl CallWords {
    fn word(&self, number: usize) -> usize {
        let stack = self
            .stack
            .as_ref()
            .map_or(&[][..], |StackWords(words)| words);
        let words = self.registers.iter().chain(stack);
        words.copied().nth(number).unwrap_or(0)
    }
}

/// The meaning of the arguments of an entry that gets the bounds of a loop. It follows from the entry's name.
#[derive(Clone, Copy)]
struct Layout {
    /// The number of the word with the first value, or with the number of loops.
    first: usize,
    bounds: Bounds,
    /// None if a word says it.
    schedule: Option<Kind>,
    /// Whether a word has the chunk size.
    has_size: bool,
    /// Whether it gives the first chunk.
    gives_chunk: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    /// First value, bound, step.
    Signed,
    /// The same, behind a word that says whether the loop counts up.
    Unsigned,
    /// The number of nested loops, and the address of the iterations of each.
    Counts,
}

const fn has(name: &[u8], part: &[u8]) -> bool {
    let mut at = 0;
    while at + part.len() <= name.len() {
        let mut same = 0;
        while same < part.len() && name[at + same] == part[same] {
            same += 1;
        }
        if same == part.len() {
            return true;
        }
        at += 1;
    }
    false
}

/// None if an entry is given no bounds.
const fn layout(name: &CStr) -> Option<Layout> {
    let name = name.to_bytes();
    let is_parallel = has(name, b"GOMP_parallel_loop_");
    let is_start = has(name, b"GOMP_loop_") && has(name, b"_start");
    if !is_parallel && !is_start {
        return None;
    }
    let schedule = if has(name, b"_static") {
        Some(Kind::Static)
    } else if has(name, b"_dynamic") {
        Some(Kind::Dynamic)
    } else if has(name, b"_guided") {
        Some(Kind::Guided)
    } else if has(name, b"_runtime") {
        Some(Kind::Runtime)
    } else {
        None
    };
    let (first, bounds) = if is_parallel {
        // Behind the body, its data and the number of threads.
        (3, Bounds::Signed)
    } else if has(name, b"_doacross") {
        (0, Bounds::Counts)
    } else if has(name, b"_ull") {
        (1, Bounds::Unsigned)
    } else {
        (0, Bounds::Signed)
    };
    Some(Layout {
        first,
        bounds,
        schedule,
        has_size: !matches!(schedule, Some(Kind::Runtime)),
        gives_chunk: !is_parallel,
    })
}

impl Layout {
    /// The number of the word behind the bounds.
    const fn behind_bounds(self) -> usize {
        match self.bounds {
            Bounds::Counts => self.first + 2,
            _ => self.first + 3,
        }
    }

    /// The number of the word that has the address of the first chunk's begin.
    const fn chunk(self) -> usize {
        self.behind_bounds() + self.schedule.is_none() as usize + self.has_size as usize
    }

    fn schedule(
        self,
        passed: &CallWords,
        runtime_schedule: impl FnOnce() -> (i32, i32),
    ) -> Schedule {
        let at = self.behind_bounds();
        let clause = self
            .schedule
            .unwrap_or_else(|| match passed.word(at) as i32 {
                kind if kind & i32::MAX == 0 => Kind::Runtime,
                kind => Kind::of_runtime(kind),
            });
        if clause == Kind::Runtime {
            let (kind, size) = runtime_schedule();
            return (clause, Kind::of_runtime(kind), size.into());
        }
        let size = at + usize::from(self.schedule.is_none());
        (clause, clause, passed.word(size) as i64)
    }

    /// # Safety
    /// The arguments are those of a call of such an entry.
    unsafe fn shared(self, passed: &CallWords, schedule: Schedule) -> Shared {
        let [first, bound, step] = [0, 1, 2].map(|at| passed.word(self.first + at) as u64);
        let end = End::Before(bound);
        match self.bounds {
            Bounds::Signed => {
                Shared::signed(first.cast_signed(), end, step.cast_signed(), schedule)
            }
            Bounds::Unsigned => {
                let is_up = passed.word(0) as u8 != 0;
                Shared::unsigned(is_up, (first, end, step), schedule)
            }
            Bounds::Counts => {
                let counts = std::ptr::with_exposed_provenance::<u64>(bound as usize);
                // SAFETY: the runtime reads the first of them, too.
                let end = End::Before(unsafe { *counts });
                Shared::unsigned(true, (0, end, 1), schedule)
            }
        }
    }
}

/// The loop that the call of an entry begins, if it does and chunks are to be seen.
///
/// # Safety
/// The arguments are those of the call.
#[inline(always)]
pub(super) unsafe fn begun_loop<E: Row>(
    call: Call,
    passed: impl FnOnce() -> CallWords,
) -> Option<Shared> {
    let layout = const { layout(E::NAME) }?;
    if !is_on() {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe { read(layout, call, &passed()) }
}

/// # Safety
/// As in [`begun_loop`].
#[cold]
#[inline(never)]
unsafe fn read(layout: Layout, call: Call, passed: &CallWords) -> Option<Shared> {
    let runtime = call.runtime?;
    let schedule = layout.schedule(passed, || runtime.schedule());
    // SAFETY: as the caller promises.
    Some(unsafe { layout.shared(passed, schedule) })
}

/// The call of an entry has begun a loop: the loop and its first chunk.
///
/// # Safety
/// The arguments are those of the call, and the result is what it gave.
#[inline(always)]
pub(super) unsafe fn after_start<E: Row>(
    call: Call,
    passed: impl FnOnce() -> CallWords,
    result: usize,
) {
    if let Some(layout) = const { layout(E::NAME) }
        && layout.gives_chunk
        && is_on()
    {
        // SAFETY: as the caller promises.
        unsafe { started(layout, call, &passed(), result) }
    }
}

/// # Safety
/// As in [`after_start`].
#[cold]
#[inline(never)]
unsafe fn started(layout: Layout, call: Call, passed: &CallWords, result: usize) {
    // SAFETY: as the caller promises.
    let Some((runtime, shared)) = (unsafe { call.runtime.zip(read(layout, call, passed)) }) else {
        return;
    };
    let [from, to] = [0, 1].map(|at| passed.word(layout.chunk() + at));
    if from == 0 {
        // The iterations are shared out without the runtime.
        thread_event(|thread| thread.begin_unshared());
        return;
    }
    // SAFETY: as the caller promises; the result is a truth value.
    let chunk = unsafe { given(result as u8 != 0, from, to) };
    let is_begun = passing_event_of(
        |_| call.region,
        |thread, region| {
            let at = now();
            begin(thread, region, runtime, &shared, at);
            if let Some((from, end)) = chunk {
                thread.begin_chunk(from, end, at);
            }
        },
    );
    if is_begun.is_none() {
        thread_event(|thread| thread.begin_unshared());
    }
}

/// A member of a team meets a loop.
pub(super) fn begin(
    thread: &'static Thread,
    region: &'static Region,
    runtime: &'static Runtime,
    shared: &Shared,
    at: u64,
) {
    thread.begin_shared(region, shared, runtime.num_threads(), at);
}

/// The chunk that a call gave.
///
/// # Safety
/// The call was given these addresses, and gave this result.
unsafe fn given(result: bool, from: usize, to: usize) -> Option<(u64, End)> {
    if !result {
        return None;
    }
    let value = |at| std::ptr::with_exposed_provenance::<u64>(at);
    // SAFETY: the runtime wrote them.
    unsafe { Some((*value(from), End::Before(*value(to)))) }
}

/// Entries that give the next chunk: whether there is one.
///
/// # Safety
/// As for `around`.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn request<const NUMBER: usize>(
    from: usize,
    to: usize,
    _c: usize,
    _d: usize,
    _e: usize,
    _f: usize,
    _padding: usize,
    caller: usize,
) -> bool {
    let function = site::request(NUMBER, REQUESTS[NUMBER], site::of_caller(caller));
    // SAFETY: the runtime's function of this name takes two addresses, and says whether there is a chunk.
    let function: unsafe extern "C-unwind" fn(usize, usize) -> bool =
        unsafe { std::mem::transmute(function) };
    // SAFETY: as above.
    let result = counted(|| unsafe { function(from, to) });
    if is_on() {
        // SAFETY: the call was given these addresses.
        let chunk = unsafe { given(result, from, to) };
        thread_event(|thread| match chunk {
            Some((from, end)) => thread.begin_chunk(from, end, now()),
            None => thread.end_chunks(now()),
        });
    }
    result
}
