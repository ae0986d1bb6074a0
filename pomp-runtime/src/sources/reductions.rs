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
fn told<R>(begin: impl FnOnce() -> R) -> R {
    if collector::is_listening() {
        thread_event(|thread| thread.begin_reduction());
    }
    begin()
}

/// Combines the thread's part, and notes since when the thread may have waited for other parts.
#[inline(always)]
fn noted(combine: impl FnOnce() -> c_int) -> c_int {
    // What LLVM's runtime returns where another thread combines the parts, and where this one adds
    // its part by an atomic update of each variable.
    const NOTHING_LEFT: c_int = 0;
    const BY_UPDATES: c_int = 2;
    // What is passed over has no frame at which to note it.
    if state::is_off() || thread::current().is_some_and(Thread::is_passing_over) {
        return combine();
    }
    let since = clock::now();
    let left = told(combine);
    if left != BY_UPDATES {
        thread_event(|thread| thread.has_given_its_part(since, left != NOTHING_LEFT));
    }
    left
}

of_runtime! { GOMP_atomic_start romp_gomp_atomic_start() -> (), (), told }

of_runtime! {
    __kmpc_reduce_nowait romp_kmpc_reduce_nowait(
        source: *mut c_void,
        thread: c_int,
        variables: c_int,
        bytes: usize,
        data: *mut c_void,
        combine: *mut c_void,
        lock: *mut c_void
    ) -> c_int, 0, noted
}
