//! The functions by which a loop asks its runtime for the next chunk, where the schedule
//! hands chunks out while the loop runs (`dynamic`, `guided`, `runtime`).
//!
//! Our functions are weak definitions of the runtimes' names. In programs that were not built with Romp,
//! `pomp-run` defines these names. Each function calls the runtime's own one once, with the same arguments,
//! unless [chunks are handed out together](crate::measure::joined_chunks).
//!
//! A request takes no longer than a few reads of the clock. So a thread times only one of [`PERIOD`] requests,
//! which stands for all of them. In a loop whose chunks are traced, each request tells that another chunk
//! begins. Where the runtime is linked statically, the linker takes the runtime's functions instead, and no
//! request is seen.

use std::ffi::{c_int, c_void};

use super::boundary::thread_event;
use super::weak::{define_weakly, in_front_of, of_runtime};
use crate::measure::chunk_requests::{
    Look, count_anew, handed_out, is_free_to_join, is_work_timed, look,
};
use crate::measure::joined_chunks::{Chunk, is_any_held, join, take_held};
use crate::measure::request_count::{PERIOD, is_looked_at};
use crate::measure::{clock, state};

/// Makes a request, and adds what it took to the loop if it is one of those that are timed.
#[cold]
#[inline(never)]
fn looked_at<R: Default + PartialEq>(request: impl FnOnce() -> R) -> R {
    let look = match look() {
        Look::Times if state::is_off() => Look::Marks,
        look => look,
    };
    let start = match look {
        Look::Marks => 0,
        _ => clock::now_in_order(),
    };
    if look == Look::EndsWork {
        thread_event(move |thread| thread.add_chunk_work(start));
    }
    let result = request();
    let end = match look {
        Look::Times => clock::now_in_order(),
        _ => 0,
    };
    handed_out();
    if look == Look::Times {
        let ticks = end.wrapping_sub(start);
        let got_chunk = result != R::default();
        thread_event(move |thread| {
            thread.add_chunk_requests(u64::from(PERIOD), ticks);
            if got_chunk {
                thread.begin_chunk_work(1, clock::now_in_order);
            }
        });
    }
    result
}

/// Makes a request.
#[inline(always)]
pub(super) fn counted<R: Default + PartialEq>(request: impl FnOnce() -> R) -> R {
    match is_looked_at() {
        true => looked_at(request),
        false => request(),
    }
}

/// A request of GCC's runtime. It is given the places for the first value of the chunk, and for the one behind
/// its last. Where we define these names, `long` has 64 bits.
type GompRequest = unsafe extern "C-unwind" fn(from: *mut u64, to: *mut u64) -> bool;

/// Makes a request of a loop whose chunks may be handed out together, or gives the loop the chunk that was held
/// back for it.
///
/// # Safety
/// As the runtime asks of a request.
#[cold]
#[inline(never)]
unsafe fn looked_at_or_joined(from: *mut u64, to: *mut u64, request: GompRequest) -> bool {
    // SAFETY: the caller gives the places for a chunk.
    let hand_out = |[first, behind]: Chunk| unsafe {
        from.write(first);
        to.write(behind);
        true
    };
    let ask = || {
        let [mut first, mut behind] = [0; 2];
        // SAFETY: as the caller promises; these are places for a chunk.
        unsafe { request(&raw mut first, &raw mut behind) }.then_some([first, behind])
    };
    if is_any_held() {
        if is_work_timed() {
            let end = clock::now_in_order();
            thread_event(move |thread| thread.add_chunk_work(end));
            count_anew();
        }
        // The held chunk belongs to the loop that asked for it. A loop inside that one asks for its
        // own chunks.
        return take_held(from.addr()).or_else(ask).is_some_and(hand_out);
    }
    if !is_free_to_join() || thread_event(|thread| thread.joins_chunks()) != Some(true) {
        return looked_at(|| ask().is_some_and(hand_out));
    }
    let Some(joined) = join(from.addr(), ask) else {
        return false;
    };
    let requests = u64::from(PERIOD) - 1 + joined.requests;
    thread_event(move |thread| {
        thread.add_untimed_chunk_requests(requests);
        if joined.is_timed() {
            thread.begin_chunk_work(joined.number, clock::now_in_order);
        }
    });
    hand_out(joined.chunk)
}

/// Defines requests of GCC's runtime for chunks that may be handed out together: its name, and ours.
macro_rules! gomp_joined {
    ($($name:ident => $ours:ident,)+) => {$(
        in_front_of! {
            $name $ours(from: *mut u64, to: *mut u64) -> bool, false, crate::measure::dynamic::next,
            |next| match is_looked_at() {
                // SAFETY: as the caller promises.
                true => unsafe { looked_at_or_joined(from, to, next) },
                // SAFETY: as the caller promises.
                false => unsafe { next(from, to) },
            }
        }
        define_weakly! { stringify!($name) => stringify!($ours) }
    )+};
}

/// Defines requests of GCC's runtime: its name, and ours.
macro_rules! gomp {
    ($($name:ident => $ours:ident,)+) => {$(
        of_runtime! { $name $ours(from: *mut c_void, to: *mut c_void) -> bool, false, counted }
    )+};
}

/// Defines requests of LLVM's runtime: its name, and ours.
macro_rules! kmpc {
    ($($name:ident => $ours:ident,)+) => {$(
        of_runtime! {
            $name $ours(
                source: *mut c_void,
                thread: c_int,
                last: *mut c_void,
                from: *mut c_void,
                to: *mut c_void,
                step: *mut c_void
            ) -> c_int, 0, counted
        }
    )+};
}

gomp_joined! {
    GOMP_loop_dynamic_next => romp_gomp_dynamic_next,
    GOMP_loop_nonmonotonic_dynamic_next => romp_gomp_nonmonotonic_dynamic_next,
    GOMP_loop_ull_dynamic_next => romp_gomp_ull_dynamic_next,
    GOMP_loop_ull_nonmonotonic_dynamic_next => romp_gomp_ull_nonmonotonic_dynamic_next,
    GOMP_loop_runtime_next => romp_gomp_runtime_next,
    GOMP_loop_nonmonotonic_runtime_next => romp_gomp_nonmonotonic_runtime_next,
    GOMP_loop_maybe_nonmonotonic_runtime_next => romp_gomp_maybe_nonmonotonic_runtime_next,
    GOMP_loop_ull_runtime_next => romp_gomp_ull_runtime_next,
    GOMP_loop_ull_nonmonotonic_runtime_next => romp_gomp_ull_nonmonotonic_runtime_next,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next => romp_gomp_ull_maybe_nonmonotonic_runtime_next,
}

gomp! {
    GOMP_loop_guided_next => romp_gomp_guided_next,
    GOMP_loop_nonmonotonic_guided_next => romp_gomp_nonmonotonic_guided_next,
    GOMP_loop_ordered_dynamic_next => romp_gomp_ordered_dynamic_next,
    GOMP_loop_ordered_guided_next => romp_gomp_ordered_guided_next,
    GOMP_loop_ordered_runtime_next => romp_gomp_ordered_runtime_next,
    GOMP_loop_ull_ordered_dynamic_next => romp_gomp_ull_ordered_dynamic_next,
    GOMP_loop_ull_ordered_guided_next => romp_gomp_ull_ordered_guided_next,
    GOMP_loop_ull_ordered_runtime_next => romp_gomp_ull_ordered_runtime_next,
    GOMP_loop_ull_guided_next => romp_gomp_ull_guided_next,
    GOMP_loop_ull_nonmonotonic_guided_next => romp_gomp_ull_nonmonotonic_guided_next,
}

kmpc! {
    __kmpc_dispatch_next_4 => romp_kmpc_dispatch_next_4,
    __kmpc_dispatch_next_4u => romp_kmpc_dispatch_next_4u,
    __kmpc_dispatch_next_8 => romp_kmpc_dispatch_next_8,
    __kmpc_dispatch_next_8u => romp_kmpc_dispatch_next_8u,
}
