//! Cancellation of threads (`pthread_cancel`): no thread is cancelled in the middle of what
//! the library does for it.
//!
//! The C library ends a thread by unwinding its stack. Code that catches panics, or
//! holds a lock, cannot be unwound in this way: the process would be aborted, or
//! others would wait for the lock for ever. A thread is cancelled where it calls the
//! system, and, if it has asked for that, at any instruction. So whatever is more
//! than an event on the quick way runs with cancellation held off; and from the first
//! thread on that has asked for it no event takes the quick way. What lies between
//! the program and the place where that is done has nothing that unwinding must see.
//!
//! LLVM's runtime has each thread that it makes ask for that. Nobody cancels those, so
//! they are not counted: else each program would lose the quick way with its first team.

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

/// Whether the OpenMP runtime made this thread. The runtime is only asked what it knows: of
/// a thread of the program that it has not met it says 0.
fn is_worker() -> bool {
    IS_WORKER.with(|known| {
        if !known.get() {
            known.set(omp::omp_get_thread_num() > 0);
        }
        known.get()
    })
}

/// Cancellation is held off until this is released. Not by dropping it: the thread
/// may end where it is released.
#[must_use]
pub(crate) struct Held {
    state: c_int,
    kind: c_int,
}

/// Holds cancellation off. The kind comes first: some versions of the C library obey a
/// request that is under way as it is disabled.
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
