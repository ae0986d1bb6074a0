//! Chunks of loops, where LLVM's runtime hands them out. The entry that begins a loop is given its
//! bounds, which are kept until the runtime reports, in the same call, that the loop begins. If the
//! iterations are shared out once for all, the thread's part is known then; otherwise another entry
//! gives the next chunk. A sample of these requests is timed.

use std::cell::Cell;
use std::ffi::c_int;
#[cfg(target_arch = "x86_64")]
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use trace::schedule::Kind;

use super::super::boundary::{passing_event_of, thread_event};
use super::super::called;
use super::super::chunk_requests::counted;
use super::abi::{Data, Lookup};
#[cfg(target_arch = "x86_64")]
use super::entries::{REQUESTS, target};
use crate::measure::clock::now;
pub use crate::measure::handed_out::SHOWS_CHUNKS;
use crate::measure::handed_out::is_on;
use crate::measure::modules;
use crate::measure::records::Region;
use crate::measure::shared_loop::{End, Schedule, Shared};

/// A type of loop variables.
pub trait Value: Copy {
    #[doc(hidden)]
    const IS_SIGNED: bool;
    /// As 64 bits.
    #[doc(hidden)]
    fn wide(self) -> u64;
}

macro_rules! values {
    ($($value:ident: $is_signed:literal;)+) => {$(
        impl Value for $value {
            const IS_SIGNED: bool = $is_signed;

            #[inline(always)]
            fn wide(self) -> u64 {
                i128::from(self) as u64
            }
        }
    )+};
}

values! {
    i32: true;
    u32: false;
    i64: true;
    u64: false;
}

/// A loop that is about to begin on this thread.
#[derive(Clone, Copy)]
struct Due {
    shared: Shared,
    /// The thread's part of it, if it gets one part only.
    part: Option<Part>,
}

/// Where the runtime writes a thread's part of a loop: the addresses of its first and its last value.
#[derive(Clone, Copy)]
struct Part {
    read: unsafe fn(usize, usize) -> (u64, End),
    from: usize,
    to: usize,
}

thread_local! {
    static DUE: Cell<Option<Due>> = const { Cell::new(None) };
}

/// The argument words of a call: those in registers, from the last to the first, the vector count, where the
/// call returns to, and those on the stack.
pub type SavedWords = [usize; 11];

/// The number of the word in `SavedWords`, by its number in the call.
const fn at(number: usize) -> usize {
    match number {
        0..=5 => 5 - number,
        _ => number + 2,
    }
}

/// A word of the call, as a value of a type.
///
/// # Safety
/// The word is one of this type.
unsafe fn word<V: Copy>(words: &SavedWords, number: usize) -> V {
    // SAFETY: a word is at least as long as the value, which is in its lowest bytes.
    unsafe { std::ptr::from_ref(&words[at(number)]).cast::<V>().read() }
}

/// A loop begins whose chunks other calls will give. The arguments: place, thread, schedule, first
/// value, last value, step, chunk size.
///
/// # Safety
/// They are those of a call of `__kmpc_dispatch_init_*` for this type.
pub unsafe extern "C" fn begins_dispatch<V: Value>(words: &SavedWords) {
    // SAFETY: as the caller promises; the step and the size have the width of the value.
    unsafe {
        let [first, last, step, size] = [3, 4, 5, 6].map(|number| word::<V>(words, number).wide());
        let step = signed_step::<V>(step);
        let schedule = schedule(word(words, 2), size.cast_signed());
        let shared = shared::<V>(first, last, step, schedule);
        DUE.set(Some(Due { shared, part: None }));
    }
}

/// A loop begins of which each thread gets its part now. The arguments: place, thread, schedule,
/// whether it is the last, first value, last value, distance of parts, step, chunk size.
///
/// # Safety
/// They are those of a call of `__kmpc_for_static_init_*` for this type.
pub unsafe extern "C" fn begins_static<V: Value>(words: &SavedWords) {
    DUE.set(None);
    // SAFETY: as the caller promises; the step has the width of the value.
    unsafe {
        let schedule = schedule(word(words, 2), 0);
        let (from, to) = (word::<usize>(words, 4), word::<usize>(words, 5));
        if !is_one_part(word(words, 2)) || from == 0 || to == 0 {
            return;
        }
        let step = signed_step::<V>(word::<V>(words, 7).wide());
        let [first, last] = [from, to].map(|at| value::<V>(at));
        DUE.set(Some(Due {
            shared: shared::<V>(first, last, step, schedule),
            part: Some(Part {
                read: part::<V>,
                from,
                to,
            }),
        }));
    }
}

/// Steps have a sign, also of loops over values without one.
fn signed_step<V: Value>(step: u64) -> i64 {
    match size_of::<V>() {
        4 => i64::from(step as i32),
        _ => step.cast_signed(),
    }
}

fn shared<V: Value>(first: u64, last: u64, step: i64, schedule: Schedule) -> Shared {
    let end = End::With(last);
    match V::IS_SIGNED {
        true => Shared::signed(first.cast_signed(), end, step, schedule),
        false => Shared::unsigned(step > 0, (first, end, step.cast_unsigned()), schedule),
    }
}

/// # Safety
/// It is the address of a value of this type.
unsafe fn value<V: Value>(at: usize) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*std::ptr::with_exposed_provenance::<V>(at)).wide() }
}

/// # Safety
/// They are addresses of values of this type.
unsafe fn part<V: Value>(from: usize, to: usize) -> (u64, End) {
    // SAFETY: as the caller promises.
    unsafe { (value::<V>(from), End::With(value::<V>(to))) }
}

/// The numbers of the runtime's schedules.
mod numbers {
    pub(super) const STATIC_CHUNKED: i32 = 33;
    pub(super) const STATIC: i32 = 34;
    pub(super) const DYNAMIC: i32 = 35;
    pub(super) const GUIDED: i32 = 36;
    pub(super) const RUNTIME: i32 = 37;
    pub(super) const AUTO: i32 = 38;
    pub(super) const BALANCED: i32 = 41;
    pub(super) const BALANCED_CHUNKED: i32 = 45;
    pub(super) const GUIDED_SIMD: i32 = 46;
    pub(super) const RUNTIME_SIMD: i32 = 47;
    /// Those of loops with `ordered` are this much larger.
    pub(super) const ORDERED: i32 = 32;
    /// Of all these; the rest are modifiers.
    pub(super) const ALL: i32 = (1 << 29) - 1;
}

/// The number without what does not matter here.
fn plain(number: i32) -> i32 {
    use numbers::{ALL, ORDERED, RUNTIME_SIMD, STATIC_CHUNKED};
    match number & ALL {
        ordered if (STATIC_CHUNKED + ORDERED..=RUNTIME_SIMD + ORDERED).contains(&ordered) => {
            ordered - ORDERED
        }
        number => number,
    }
}

/// Whether each thread gets at most one chunk.
fn is_one_part(number: i32) -> bool {
    matches!(plain(number), numbers::STATIC | numbers::BALANCED)
}

fn schedule(number: i32, size: i64) -> Schedule {
    use numbers::{
        AUTO, BALANCED, BALANCED_CHUNKED, DYNAMIC, GUIDED, GUIDED_SIMD, RUNTIME, RUNTIME_SIMD,
        STATIC, STATIC_CHUNKED,
    };
    let kind = match plain(number) {
        STATIC_CHUNKED | BALANCED_CHUNKED => Kind::Static,
        STATIC | BALANCED => return (Kind::Static, Kind::Static, 0),
        DYNAMIC => Kind::Dynamic,
        GUIDED | GUIDED_SIMD => Kind::Guided,
        AUTO => Kind::Auto,
        RUNTIME | RUNTIME_SIMD => {
            let (kind, size) = runtime_schedule();
            return (Kind::Runtime, Kind::of_runtime(kind), size.into());
        }
        _ => Kind::Other,
    };
    (kind, kind, size)
}

/// The runtime's `omp_get_schedule`, and its question for a parallel region; 0 if it has none.
static GET_SCHEDULE: AtomicUsize = AtomicUsize::new(0);
static GET_PARALLEL: AtomicUsize = AtomicUsize::new(0);

/// The runtime is there: its functions are looked up.
pub(super) fn find_questions(lookup: Lookup) {
    if !is_on() {
        return;
    }
    // SAFETY: the name is a C string.
    let found = unsafe { lookup(c"ompt_get_parallel_info".as_ptr()) };
    GET_PARALLEL.store(found.expose_provenance(), Ordering::Relaxed);
    let file = modules::module_at((lookup as *const ()).addr());
    let handle = file.and_then(|(path, _)| called::loaded(&path));
    if let Some(handle) = handle {
        // SAFETY: the handle is the loader's, the name a C string.
        let found = unsafe { libc::dlsym(handle, c"omp_get_schedule".as_ptr()) };
        GET_SCHEDULE.store(found.expose_provenance(), Ordering::Relaxed);
    }
}

fn runtime_schedule() -> (c_int, c_int) {
    type GetSchedule = unsafe extern "C" fn(*mut c_int, *mut c_int);
    let (mut kind, mut size) = (0, 0);
    // SAFETY: 0 is the `None` of a function pointer, and OpenMP says what a function of this name
    // takes. Both are valid places to write to.
    unsafe {
        let ask: Option<GetSchedule> = std::mem::transmute(GET_SCHEDULE.load(Ordering::Relaxed));
        if let Some(ask) = ask {
            ask(&raw mut kind, &raw mut size);
        }
    }
    (kind, size)
}

/// The number of threads in the innermost team.
fn team_size() -> u32 {
    type GetParallel = unsafe extern "C" fn(c_int, *mut Data, *mut c_int) -> c_int;
    let (mut data, mut size) = (std::ptr::null_mut(), 1);
    // SAFETY: as above.
    unsafe {
        let ask: Option<GetParallel> = std::mem::transmute(GET_PARALLEL.load(Ordering::Relaxed));
        if let Some(ask) = ask {
            ask(0, &raw mut data, &raw mut size);
        }
    }
    u32::try_from(size).unwrap_or(1).max(1)
}

/// A construct begins whose iterations or parts are shared out; `region` only if it is a loop.
#[cold]
#[inline(never)]
pub(super) fn begin_construct(region: Option<&'static Region>) {
    let due = DUE.take();
    let team = team_size();
    let is_begun = due.and_then(|Due { shared, part }| {
        // SAFETY: the runtime has written the thread's part, in the call that goes on here.
        let part = part.map(|Part { read, from, to }| unsafe { read(from, to) });
        passing_event_of(
            |_| region,
            |thread, region| {
                let at = now();
                thread.begin_shared(region, &shared, team, at);
                if let Some((from, end)) = part {
                    thread.begin_chunk(from, end, at);
                }
            },
        )
    });
    if is_begun.is_none() {
        thread_event(|thread| thread.begin_unshared());
    }
}

/// Gives the next chunk; the result says whether there is one.
///
/// # Safety
/// Only for the stubs: the arguments are those of a call of `__kmpc_dispatch_next_*` for this type, and
/// `caller` is where it returns to.
#[cfg(target_arch = "x86_64")]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn request<V: Value, const NUMBER: usize>(
    place: *mut c_void,
    thread: usize,
    last: *mut c_int,
    from: *mut V,
    to: *mut V,
    step: *mut V,
    _padding: usize,
    caller: usize,
) -> c_int {
    type Next<V> = unsafe extern "C-unwind" fn(
        *mut c_void,
        usize,
        *mut c_int,
        *mut V,
        *mut V,
        *mut V,
    ) -> c_int;
    // SAFETY: the runtime's function of this name takes these arguments.
    let next: Next<V> = unsafe { std::mem::transmute(target(REQUESTS + NUMBER, caller)) };
    // SAFETY: as above.
    let result = counted(|| unsafe { next(place, thread, last, from, to, step) });
    // The runtime has reported the end of the loop if there is no more.
    if result != 0 && is_on() {
        // SAFETY: the runtime has written the chunk that it gives.
        let (from, end) = unsafe { ((*from).wide(), End::With((*to).wide())) };
        thread_event(|thread| thread.begin_chunk(from, end, now()));
    }
    result
}
