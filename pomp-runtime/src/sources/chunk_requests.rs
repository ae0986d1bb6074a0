//! The functions by which a loop asks its runtime for the next chunk, where the schedule
//! hands chunks out while the loop runs (`dynamic`, `guided`, `runtime`).
//!
//! Our functions are weak definitions of the runtimes' names. In programs that were not built with Romp,
//! `pomp-run` defines these names. Each function calls the runtime's own one once, with the same arguments. A
//! request takes no longer than a few reads of the clock. So a thread times only one of [`PERIOD`] requests, which stands for all of them. In a
//! loop whose chunks are traced, each request tells that another chunk begins. Where
//! the runtime is linked statically, the linker takes the runtime's functions instead, and no
//! request is seen.

use std::ffi::{c_int, c_void};

use super::boundary::thread_event;
use super::weak::of_runtime;
use crate::measure::chunk_requests::{Look, PERIOD, handed_out, is_looked_at, look};
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
                thread.begin_chunk_work(clock::now_in_order);
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

gomp! {
    GOMP_loop_dynamic_next => romp_gomp_dynamic_next,
    GOMP_loop_guided_next => romp_gomp_guided_next,
    GOMP_loop_runtime_next => romp_gomp_runtime_next,
    GOMP_loop_nonmonotonic_dynamic_next => romp_gomp_nonmonotonic_dynamic_next,
    GOMP_loop_nonmonotonic_guided_next => romp_gomp_nonmonotonic_guided_next,
    GOMP_loop_nonmonotonic_runtime_next => romp_gomp_nonmonotonic_runtime_next,
    GOMP_loop_maybe_nonmonotonic_runtime_next => romp_gomp_maybe_nonmonotonic_runtime_next,
    GOMP_loop_ordered_dynamic_next => romp_gomp_ordered_dynamic_next,
    GOMP_loop_ordered_guided_next => romp_gomp_ordered_guided_next,
    GOMP_loop_ordered_runtime_next => romp_gomp_ordered_runtime_next,
    GOMP_loop_ull_ordered_dynamic_next => romp_gomp_ull_ordered_dynamic_next,
    GOMP_loop_ull_ordered_guided_next => romp_gomp_ull_ordered_guided_next,
    GOMP_loop_ull_ordered_runtime_next => romp_gomp_ull_ordered_runtime_next,
    GOMP_loop_ull_dynamic_next => romp_gomp_ull_dynamic_next,
    GOMP_loop_ull_guided_next => romp_gomp_ull_guided_next,
    GOMP_loop_ull_runtime_next => romp_gomp_ull_runtime_next,
    GOMP_loop_ull_nonmonotonic_dynamic_next => romp_gomp_ull_nonmonotonic_dynamic_next,
    GOMP_loop_ull_nonmonotonic_guided_next => romp_gomp_ull_nonmonotonic_guided_next,
    GOMP_loop_ull_nonmonotonic_runtime_next => romp_gomp_ull_nonmonotonic_runtime_next,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next => romp_gomp_ull_maybe_nonmonotonic_runtime_next,
}

kmpc! {
    __kmpc_dispatch_next_4 => romp_kmpc_dispatch_next_4,
    __kmpc_dispatch_next_4u => romp_kmpc_dispatch_next_4u,
    __kmpc_dispatch_next_8 => romp_kmpc_dispatch_next_8,
    __kmpc_dispatch_next_8u => romp_kmpc_dispatch_next_8u,
}
