//! The functions by which a thread begins to combine its part of a reduction with those of
//! the others, as compilers call them where a construct ends without a barrier of its own. A
//! collector may ask for the state meanwhile. LLVM's runtime may have the thread wait in the call for
//! the other parts; that wait belongs to the construct's barrier (`measure::reduction`).
//!
//! Our functions are weak definitions of the runtimes' names, like those in `chunk_requests`.
//! There is none for the end of a reduction: only the runtime defines `GOMP_atomic_end`, so that a
//! runtime that is linked statically brings both functions. A reduction is the last part of its
//! construct, and the next event of the thread ends it.
//!
//! GCC combines a single number by one instruction, without a call.

use std::ffi::{c_int, c_void};

use super::boundary::thread_event;
use super::weak::of_runtime;
use crate::measure::thread::{self, Thread};
use crate::measure::{clock, collector, state};

/// Reports the begin of a reduction, if a collector listens.
#[inline(always)]
fn report_begin<R>(begin: impl FnOnce() -> R) -> R {
    if collector::is_listening() {
        thread_event(|thread| thread.begin_reduction());
    }
    begin()
}

/// Whether the thread is in a construct with a reduction that is measured. A construct that is passed over has
/// no frame that could hold the part's time.
#[inline(always)]
pub(super) fn is_part_measured() -> bool {
    let reduces = |thread: &&Thread| !thread.is_passing_over() && thread.is_in_reduction();
    !state::is_off() && thread::current().filter(reduces).is_some()
}

/// Begins to combine the thread's part. `note` gets the time before the call, and its result.
#[inline(always)]
fn combine_part<R: Copy>(
    combine: impl FnOnce() -> R,
    note: impl FnOnce(&'static Thread, u64, R) + Copy,
) -> R {
    if !is_part_measured() {
        return report_begin(combine);
    }
    let since = clock::now();
    let result = report_begin(combine);
    thread_event(|thread| note(thread, since, result));
    result
}

/// The thread has its turn to combine its part.
#[inline(always)]
fn wait_for_turn(wait: impl FnOnce()) {
    combine_part(wait, |thread, since, ()| thread.combines_its_part(since));
}

/// The value that LLVM's runtime returns if the thread adds its part by an atomic update of each variable.
pub(super) const BY_UPDATES: c_int = 2;

/// The thread gives its part to LLVM's runtime, and may wait for other parts meanwhile.
#[inline(always)]
fn give_part(give: impl FnOnce() -> c_int) -> c_int {
    // The value that the runtime returns if another thread combines the parts.
    const NOTHING_LEFT: c_int = 0;
    combine_part(give, |thread, since, left| match left {
        BY_UPDATES => thread.combines_its_part(since),
        _ => thread.has_given_its_part(since, left != NOTHING_LEFT),
    })
}

of_runtime! { GOMP_atomic_start romp_gomp_atomic_start() -> (), (), wait_for_turn }

of_runtime! {
    __kmpc_reduce_nowait romp_kmpc_reduce_nowait(
        source: *mut c_void,
        thread: c_int,
        variables: c_int,
        bytes: usize,
        data: *mut c_void,
        combine: *mut c_void,
        lock: *mut c_void
    ) -> c_int, 0, give_part
}
