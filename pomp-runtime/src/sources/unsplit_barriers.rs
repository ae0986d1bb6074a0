//! The barrier at the end of a construct that could not be split, such as one that contains a
//! `cancel`: the compiler calls the runtime for the barrier, after the construct's work.
//!
//! Our functions are weak definitions of the runtimes' names. Each calls the runtime's own
//! function once. Where the runtime is linked statically, the linker takes the runtime's functions
//! instead. For GCC's `GOMP_barrier`, a part of the archive names the function to ensure that
//! (`packaging/archive`).

use std::ffi::{c_int, c_void};

use super::boundary::thread_event;
use super::weak::{in_front_of_runtime, of_runtime};
use crate::measure::records::region;
use crate::measure::{clock, state};

/// Passes a barrier, which counts for the construct that the barrier ends.
#[inline(always)]
fn pass<R>(barrier: impl FnOnce() -> R) -> R {
    match region::some_is_unsplit() {
        true => measured(barrier),
        false => barrier(),
    }
}

#[cold]
#[inline(never)]
fn measured<R>(barrier: impl FnOnce() -> R) -> R {
    if state::is_off() {
        return barrier();
    }
    let end = thread_event(|thread| thread.arrive_at_unsplit_barrier(clock::now));
    let result = barrier();
    if let Some(Some(end)) = end {
        thread_event(move |thread| thread.leave_unsplit_barrier(end, clock::now));
    }
    result
}

in_front_of_runtime! { GOMP_barrier romp_gomp_barrier() -> (), (), pass }
of_runtime! { GOMP_loop_end romp_gomp_loop_end() -> (), (), pass }
of_runtime! { GOMP_loop_end_cancel romp_gomp_loop_end_cancel() -> bool, false, pass }
of_runtime! { GOMP_sections_end romp_gomp_sections_end() -> (), (), pass }
of_runtime! { GOMP_sections_end_cancel romp_gomp_sections_end_cancel() -> bool, false, pass }
of_runtime! {
    __kmpc_barrier romp_kmpc_barrier(source: *mut c_void, thread: c_int) -> (), (), pass
}
of_runtime! {
    __kmpc_cancel_barrier romp_kmpc_cancel_barrier(
        source: *mut c_void,
        thread: c_int
    ) -> c_int, 0, pass
}
// Where the construct has a reduction, LLVM's runtime has the threads wait for each other in one of these.
of_runtime! {
    __kmpc_reduce romp_kmpc_reduce(
        source: *mut c_void,
        thread: c_int,
        variables: c_int,
        bytes: usize,
        data: *mut c_void,
        combine: *mut c_void,
        lock: *mut c_void
    ) -> c_int, 0, pass
}
of_runtime! {
    __kmpc_end_reduce romp_kmpc_end_reduce(
        source: *mut c_void,
        thread: c_int,
        lock: *mut c_void
    ) -> (), (), pass
}
