//! The functions by which a thread begins to combine its part of a reduction with those of
//! the others, as compilers call them where a construct ends without a barrier of its own. A
//! collector may ask for the state meanwhile.
//!
//! Our functions have the runtimes' names, weakly, as those that ask for chunks. That a
//! reduction has ended is not asked for: `GOMP_atomic_end` is the runtime's alone, so that a
//! runtime that is linked statically brings both. A reduction is the last part of its
//! construct, which the next event of the thread ends.
//!
//! GCC adds up a single number by one instruction, and calls nobody.

use std::ffi::{c_int, c_void};

use super::boundary::thread_event;
use super::weak::of_runtime;
use crate::measure::collector;

/// Tells that it begins, where anybody listens.
#[inline(always)]
fn told<R>(begin: impl FnOnce() -> R) -> R {
    if collector::is_listening() {
        thread_event(|thread| thread.begin_reduction());
    }
    begin()
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
    ) -> c_int, 0, told
}
