//! Signals that would end the program without a profile, and the one that asks
//! for it.
//!
//! Only signals for which the program has the default action are handled, and
//! it may install handlers of its own at any time: then ours is gone. A deadly
//! one is handled once; the second one kills at once. The handler does nothing
//! but wake the helper, so the program goes on for the moment that it takes to
//! write the profile, and then dies of the signal.

use std::mem::MaybeUninit;

use libc::{SIGINT, SIGTERM, SIGUSR1, SIGXCPU, c_int};

use super::{errno, helper};

/// Signals after which the profile is written and the program dies.
const DEADLY: [c_int; 3] = [SIGTERM, SIGINT, SIGXCPU];
/// The signal after which it is written and the program goes on.
const ASKING: c_int = SIGUSR1;

/// Handles the signals for which the program has the default action.
pub(super) fn install() {
    for signal in DEADLY {
        replace(
            signal,
            libc::SIG_DFL,
            handler(),
            libc::SA_RESTART | libc::SA_RESETHAND,
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

/// Changes what is done at a signal, if that is what is expected.
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

/// Also called in a child that shares the parent's memory, or has a copy of it,
/// but not the helper.
extern "C" fn on_signal(signal: c_int) {
    errno::keep(|| {
        let is_done = super::life_cycle::is_own_process()
            && match signal {
                ASKING => helper::dump(),
                _ => helper::die_of(signal),
            };
        if !is_done {
            // It is blocked while it is handled, and so comes after that.
            replace(signal, handler(), libc::SIG_DFL, 0);
            // SAFETY: what the signal does is what it would have done.
            unsafe { libc::raise(signal) };
        }
    });
}

/// Ends the process by the default action of a signal; 0 is none.
pub(super) fn die(signal: c_int) {
    if signal == 0 {
        return;
    }
    // SAFETY: the set is initialised by the first call, and the signal is one
    // that this thread may raise.
    unsafe {
        let mut only = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(only.as_mut_ptr());
        libc::sigaddset(only.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, only.as_ptr(), std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// Which signals a thread blocks.
#[derive(Clone, Copy)]
pub(super) struct Blocked(libc::sigset_t);

impl Blocked {
    /// Has this thread block them, and no others.
    pub(super) fn apply(self) {
        // SAFETY: the set is what the system has given.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

/// Runs `action` with all signals blocked, for threads that it makes. It is told which
/// were blocked before.
pub(super) fn with_all_blocked<R>(action: impl FnOnce(Blocked) -> R) -> R {
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the sets are valid places; all zeros is a set, should the call
    // fail.
    let before = unsafe {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        Blocked(before.assume_init())
    };
    let result = action(before);
    before.apply();
    result
}
