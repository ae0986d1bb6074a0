//! The functions by which a loop asks its runtime for the next chunk, where the schedule
//! hands chunks out while the loop runs (`dynamic`, `guided`, `runtime`).
//!
//! All are defined weakly, and each calls the runtime's own, once, with the same words. One
//! request in [`PERIOD`] is timed and told to the loop, for all of them: a request takes as
//! long as a few reads of the clock. Where the runtime is linked statically its own
//! definitions are taken, and nothing is known.

use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::boundary::thread_event;
use crate::measure::{clock, dynamic, state};

/// Requests of a thread of which one is timed: a prime, so that it is not the same one of
/// every loop.
const PERIOD: u32 = 61;

thread_local! {
    /// Requests of this thread until one is timed.
    static LEFT: Cell<u32> = const { Cell::new(PERIOD) };
}

/// Whether this request is to be timed.
#[inline(always)]
fn is_timed() -> bool {
    LEFT.with(|left| {
        let now = left.get() - 1;
        left.set(if now == 0 { PERIOD } else { now });
        now == 0
    })
}

/// Makes a request and tells the loop what it took.
#[cold]
#[inline(never)]
fn timed<R>(request: impl FnOnce() -> R) -> R {
    if state::is_off() {
        return request();
    }
    let start = clock::now_in_order();
    let result = request();
    let ticks = clock::now_in_order().wrapping_sub(start);
    thread_event(move |thread| thread.add_chunk_requests(u64::from(PERIOD), ticks));
    result
}

/// The runtime's function of a name: looked up once.
#[inline(always)]
fn of_the_runtime(found: &AtomicPtr<c_void>, name: &CStr) -> *const c_void {
    match found.load(Ordering::Acquire) {
        function if function.is_null() => look_up(found, name),
        function => function,
    }
}

#[cold]
#[inline(never)]
fn look_up(found: &AtomicPtr<c_void>, name: &CStr) -> *const c_void {
    dynamic::next(found, name)
}

/// Defines requests: the name of the runtime, our name twice, what is passed, and what says that
/// there is no chunk.
macro_rules! requests {
    ($($name:literal $target:literal $ours:ident($($word:ident: $type:ty),+) -> $result:ty, $none:expr;)+) => {$(
        /// # Safety
        /// As the runtime asks of its own function, which is called with the same words.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $ours($($word: $type),+) -> $result {
            static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            };
            type Request = unsafe extern "C-unwind" fn($($type),+) -> $result;
            // SAFETY: null is the `None` of a function pointer, and a function of this name
            // has this type.
            let next: Option<Request> = unsafe { std::mem::transmute(of_the_runtime(&NEXT, NAME)) };
            let Some(next) = next else {
                return $none;
            };
            match is_timed() {
                // SAFETY: as the caller promises.
                true => timed(|| unsafe { next($($word),+) }),
                // SAFETY: as the caller promises.
                false => unsafe { next($($word),+) },
            }
        }
        super::weak::define_weakly! { $name => $target }
    )+};
}

type Place = *mut c_void;

requests! {
    "GOMP_loop_dynamic_next" "romp_gomp_dynamic_next" romp_gomp_dynamic_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_guided_next" "romp_gomp_guided_next" romp_gomp_guided_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_runtime_next" "romp_gomp_runtime_next" romp_gomp_runtime_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_nonmonotonic_dynamic_next" "romp_gomp_any_dynamic_next" romp_gomp_any_dynamic_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_nonmonotonic_guided_next" "romp_gomp_any_guided_next" romp_gomp_any_guided_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_nonmonotonic_runtime_next" "romp_gomp_any_runtime_next" romp_gomp_any_runtime_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_maybe_nonmonotonic_runtime_next" "romp_gomp_maybe_runtime_next" romp_gomp_maybe_runtime_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_dynamic_next" "romp_gomp_ull_dynamic_next" romp_gomp_ull_dynamic_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_guided_next" "romp_gomp_ull_guided_next" romp_gomp_ull_guided_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_runtime_next" "romp_gomp_ull_runtime_next" romp_gomp_ull_runtime_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_nonmonotonic_dynamic_next" "romp_gomp_ull_any_dynamic_next" romp_gomp_ull_any_dynamic_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_nonmonotonic_guided_next" "romp_gomp_ull_any_guided_next" romp_gomp_ull_any_guided_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_nonmonotonic_runtime_next" "romp_gomp_ull_any_runtime_next" romp_gomp_ull_any_runtime_next(from: Place, to: Place) -> bool, false;
    "GOMP_loop_ull_maybe_nonmonotonic_runtime_next" "romp_gomp_ull_maybe_runtime_next" romp_gomp_ull_maybe_runtime_next(from: Place, to: Place) -> bool, false;
    "__kmpc_dispatch_next_4" "romp_kmpc_dispatch_next_4" romp_kmpc_dispatch_next_4(source: Place, thread: c_int, last: Place, from: Place, to: Place, step: Place) -> c_int, 0;
    "__kmpc_dispatch_next_4u" "romp_kmpc_dispatch_next_4u" romp_kmpc_dispatch_next_4u(source: Place, thread: c_int, last: Place, from: Place, to: Place, step: Place) -> c_int, 0;
    "__kmpc_dispatch_next_8" "romp_kmpc_dispatch_next_8" romp_kmpc_dispatch_next_8(source: Place, thread: c_int, last: Place, from: Place, to: Place, step: Place) -> c_int, 0;
    "__kmpc_dispatch_next_8u" "romp_kmpc_dispatch_next_8u" romp_kmpc_dispatch_next_8u(source: Place, thread: c_int, last: Place, from: Place, to: Place, step: Place) -> c_int, 0;
}
