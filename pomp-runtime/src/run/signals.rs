//! Signals that would end the program without a profile, and the one that asks
//! for it.
//!
//! Only signals for which the program has the default action are handled, and it may install
//! handlers of its own at any time: then ours is gone. A deadly signal is handled once; the second
//! one kills at once. The handler does nothing but wake the helper and wait: the profile is
//! written, and the program dies of the signal. Code after the program's own `raise` is not
//! reached, just as without Romp. Only a thread that is inside the library leaves the library
//! first, and goes on until the program dies.
//!
//! Our own writing raises no signal: see `measure/signal_mask.rs`.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use libc::{SIGINT, SIGTERM, SIGUSR1, SIGXCPU, c_int};

use super::writing;
use crate::measure::helper_requests::{DUMP, FINISH, ask};
use crate::measure::signal_mask::set_of;
use crate::measure::{errno, thread};

/// Signals after which the profile is written and the program dies.
const DEADLY: [c_int; 3] = [SIGTERM, SIGINT, SIGXCPU];
/// The signal after which the profile is written and the program goes on.
const ASKING: c_int = SIGUSR1;
/// How long a thread that got a deadly signal waits for the profile.
const PATIENCE: Duration = Duration::from_secs(5);

/// A signal that the process is to die of, or 0.
static DYING_OF: AtomicI32 = AtomicI32::new(0);

thread_local! {
    /// Whether this thread holds what the helper needs, or is about to.
    static IS_HOLDING_UP: Cell<bool> = const { Cell::new(false) };
}

/// Handles the signals for which the program has the default action.
pub(super) fn install() {
    for signal in DEADLY {
        replace(
            signal,
            libc::SIG_DFL,
            handler(),
            libc::SA_RESTART | libc::SA_RESETHAND | libc::SA_NODEFER,
        );
    }
    replace(ASKING, libc::SIG_DFL, handler(), libc::SA_RESTART);
}

/// Gives back the default action to signals that are still handled here.
pub(super) fn uninstall() {
    for signal in DEADLY.into_iter().chain([ASKING]) {
        replace(signal, handler(), libc::SIG_DFL, 0);
    }
}

fn handler() -> libc::sighandler_t {
    on_signal as extern "C" fn(c_int) as libc::sighandler_t
}

/// Changes the action for a signal to `to`, if it is `from`.
fn replace(signal: c_int, from: libc::sighandler_t, to: libc::sighandler_t, flags: c_int) {
    // SAFETY: all zeros is a valid `sigaction`, both places are valid, and the
    // handler is for such a signal.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        if libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == from
        {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = to;
            action.sa_flags = flags;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// Also called in a child that shares the parent's memory or has a copy of it, but that does not
/// have the helper.
extern "C" fn on_signal(signal: c_int) {
    errno::keep(|| {
        let is_done = writing::is_own_process()
            && match signal {
                ASKING => ask(DUMP),
                _ => ask_for_death(signal) && (is_needed() || !outlives_patience()),
            };
        if !is_done {
            replace(signal, handler(), libc::SIG_DFL, 0);
            // SAFETY: what the signal does is what it would have done.
            unsafe { libc::raise(signal) };
        }
    });
}

/// Asks for the last profile, and then death by this signal.
fn ask_for_death(signal: c_int) -> bool {
    DYING_OF.swap(signal, Ordering::SeqCst);
    ask(FINISH)
}

/// From now on the helper can do nothing before this thread goes on, or it can again.
pub(super) fn set_holding_up(is_so: bool) {
    IS_HOLDING_UP.set(is_so);
}

/// Whether the helper waits for this thread, or may.
fn is_needed() -> bool {
    thread::is_inside() || IS_HOLDING_UP.get()
}

/// Waits for the death of the process. Returns true if it does not come.
fn outlives_patience() -> bool {
    let until = Instant::now() + PATIENCE;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        std::thread::sleep(left);
    }
    true
}

/// Ends the process by the default action of the signal that it is to die of, if there is one.
pub(super) fn die() {
    let signal = DYING_OF.swap(0, Ordering::SeqCst);
    if signal == 0 {
        return;
    }
    let only = set_of(&[signal]);
    // SAFETY: the set is initialised, and the signal is one that this thread may raise.
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, std::ptr::null_mut());
        libc::raise(signal);
    }
}
