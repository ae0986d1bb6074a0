//! Cancellation of threads (`pthread_cancel`): no thread is cancelled in the middle of what
//! the library does for it.
//!
//! The C library ends a thread by unwinding its stack. Code that catches panics, or holds a lock,
//! cannot be unwound in this way: the process would be aborted, or others would wait for the lock
//! for ever. A thread is cancelled where it calls the system, and, if it has asked for that, at any
//! instruction. So everything but an event on the quick way runs with cancellation held off. Once a
//! thread has asked to be cancelled at any instruction, no event takes the quick way any more. The
//! code between the program and the place where cancellation is held off has nothing that unwinding
//! would have to clean up.
//!
//! LLVM's runtime has each thread that it creates ask for that. These threads are never cancelled,
//! so they are not counted: otherwise each program would lose the quick way with its first team.

use std::cell::Cell;
use std::ffi::c_int;

use super::{omp, state};

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, before: *mut c_int) -> c_int;
}

/// As in `pthread.h` of Linux.
const DISABLED: c_int = 1;
const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;

thread_local! {
    /// Whether this thread has been seen as a member of a team that it did not fork.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Whether the OpenMP runtime made this thread. The question does not make a thread known to the
/// runtime: of a thread of the program that it has not met it says 0.
fn is_worker() -> bool {
    IS_WORKER.with(|known| {
        if !known.get() {
            known.set(omp::omp_get_thread_num() > 0);
        }
        known.get()
    })
}

/// Cancellation is held off until this is released. To drop it does not release it: the thread may
/// end where it is released.
#[must_use]
pub(crate) struct Held {
    state: c_int,
    kind: c_int,
}

/// Holds cancellation off. The kind is set first: while cancellation is being disabled, some
/// versions of the C library obey a request that is under way.
pub(crate) fn hold() -> Held {
    let (mut state, mut kind) = (DISABLED, DEFERRED);
    // SAFETY: the places are valid.
    unsafe {
        pthread_setcanceltype(DEFERRED, &raw mut kind);
        pthread_setcancelstate(DISABLED, &raw mut state);
    }
    if kind == ASYNCHRONOUS && !is_worker() {
        state::take_care();
    }
    Held { state, kind }
}

impl Held {
    /// Allows what was allowed before. A thread that is cancelled at any instruction
    /// may end here.
    pub(crate) fn release(self) {
        let (mut disabled, mut deferred) = (DISABLED, DEFERRED);
        // SAFETY: the places are valid, and the rest is what the calls in `hold` gave.
        unsafe {
            pthread_setcancelstate(self.state, &raw mut disabled);
            pthread_setcanceltype(self.kind, &raw mut deferred);
        }
    }
}
