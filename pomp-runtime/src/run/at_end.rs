//! Exit handlers where several threads end the program at once, as with a `STOP`
//! that every thread of a team comes to.
//!
//! The C library hands each handler to one thread and does not wait for it. The next thread that
//! calls `exit` finds no handler left and ends the process, while our handler is still writing. So
//! several handlers are registered. Each of them registers another one before it begins, as does
//! each thread that takes one and waits.
//!
//! Handlers run in the reverse order of their registration. So ours are registered before the
//! program can register any. A library that is loaded with a program of which nothing is known yet
//! registers them at once; measurement may never start then.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use super::{helper, signals, writing};
use crate::measure::thread;

/// The thread whose handler ends measurement, by the system's number.
static ENDING: AtomicI32 = AtomicI32::new(NOBODY);
const NOBODY: i32 = 0;
/// The value of [`ENDING`] when that thread has ended measurement.
const ENDED: i32 = -1;

/// Whether measurement has started, so that handlers have something to end.
static HAS_STARTED: AtomicBool = AtomicBool::new(false);

/// Whether handlers are registered, and none has been called in vain.
static ARE_REGISTERED: AtomicBool = AtomicBool::new(false);

/// How long other threads wait for that thread. A signal handler that calls `exit` may have
/// interrupted one of them while it held something that the ending thread needs.
const PATIENCE: Duration = Duration::from_secs(30);

unsafe extern "C" {
    fn at_quick_exit(handler: extern "C" fn()) -> libc::c_int;
}

/// How many threads may be interrupted at once between the C library's call of a handler
/// and the registration of another.
const HANDLERS: usize = 16;

/// Measurement has started.
pub(super) fn start() {
    HAS_STARTED.store(true, Ordering::Release);
    register();
}

/// Registers the handlers, unless that was done. A handler that cannot be registered is no reason to
/// disturb the program.
pub(crate) fn register() {
    if ARE_REGISTERED.swap(true, Ordering::AcqRel) {
        return;
    }
    for _ in 0..HANDLERS {
        register_for_exit();
        register_for_quick_exit();
    }
}

fn register_for_exit() {
    // SAFETY: the handler is ours and may be called at any time.
    unsafe { libc::atexit(at_exit) };
}

fn register_for_quick_exit() {
    // SAFETY: as above.
    unsafe { at_quick_exit(at_quick_end) };
}

extern "C" fn at_exit() {
    end_once(register_for_exit);
}

extern "C" fn at_quick_end() {
    end_once(register_for_quick_exit);
}

/// This process is a child that is measured from now on.
pub(super) fn start_anew() {
    ENDING.store(NOBODY, Ordering::Release);
}

/// Ends measurement, or waits for the thread that does.
fn end_once(leave_another: fn()) {
    if !HAS_STARTED.load(Ordering::Acquire) {
        // If a later handler or a destructor starts it, there must be handlers again.
        ARE_REGISTERED.store(false, Ordering::Release);
        return;
    }
    if !writing::is_own_process() {
        // This is a child process, in which the thread that ends measurement may not exist.
        return end();
    }
    let own = thread::number();
    match ENDING.compare_exchange(NOBODY, own, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            leave_another();
            end();
            ENDING.store(ENDED, Ordering::Release);
        }
        Err(ENDED) => {}
        // This thread is ending the program already, and a signal handler does so again.
        Err(other) if other == own => {}
        Err(_) => {
            leave_another();
            thread::inside(wait);
        }
    }
}

/// The program ends; called once.
fn end() {
    let finished = std::panic::catch_unwind(|| {
        let has_finished = !writing::is_own_process() || helper::finish_and_stop();
        if writing::is_own_process() {
            writing::finish();
            signals::uninstall();
        }
        thread::unwatch();
        has_finished
    });
    if !finished.unwrap_or(false) {
        writing::fail("an internal error prevented the profile from being written");
    }
}

fn wait() {
    let until = Instant::now() + PATIENCE;
    while ENDING.load(Ordering::Acquire) != ENDED && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}
