//! Which signals a thread takes: signals meant for the program are kept from threads of ours, and
//! signals that the system sends for our writing are kept from the program.

use std::mem::MaybeUninit;

use libc::c_int;

/// Which signals a thread blocks.
#[derive(Clone, Copy)]
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    /// Has this thread block them, and no others.
    pub(crate) fn apply(self) {
        // SAFETY: the set is what the system has given.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

/// Runs `action` with all signals blocked, for threads that it makes. It gets the signals that were
/// blocked before.
pub(crate) fn with_all_blocked<R>(action: impl FnOnce(Blocked) -> R) -> R {
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

/// Signals that the system sends a thread because of a write: to a pipe without a reader, beyond
/// the limit of a file's size, or to the terminal from the background. The last one is not sent if
/// it is blocked.
const OF_WRITING: [c_int; 3] = [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGTTOU];

/// Runs `action`, which writes, so that none of these signals reaches the program: they are blocked
/// in this thread, and those that the system sent for our writing are taken back. Signals that the
/// program has pending, or that others send it meanwhile, stay.
pub(crate) fn held_back<R>(action: impl FnOnce() -> R) -> R {
    let of_writing = set_of(&OF_WRITING);
    let (mut before, mut pending) = (set_of(&[]), set_of(&[]));
    // SAFETY: the sets are initialised, and the places valid.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const of_writing, &raw mut before);
        libc::sigpending(&raw mut pending);
    }
    let result = action();
    for signal in OF_WRITING {
        // SAFETY: as above.
        if unsafe { libc::sigismember(&raw const pending, signal) } == 0 {
            take_back(signal);
        }
    }
    // SAFETY: the set is what the first call has stored.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    result
}

/// Takes a pending signal back if the system sent it for what this thread wrote.
fn take_back(signal: c_int) {
    let (only, now) = (
        set_of(&[signal]),
        libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
    );
    let mut about = MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the places are valid, and all zeros is a valid `siginfo_t`.
    unsafe {
        let taken = libc::sigtimedwait(&raw const only, about.as_mut_ptr(), &raw const now);
        let mut about = about.assume_init();
        let own = libc::getpid();
        // The system describes a signal for a write in this way.
        let is_ours = about.si_code == libc::SI_USER && about.si_pid() == own;
        if taken == signal && !is_ours {
            libc::syscall(libc::SYS_rt_sigqueueinfo, own, signal, &raw mut about);
        }
    }
}

/// A set of these signals.
pub(crate) fn set_of(signals: &[c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the set is initialised by the first call, and these are signals.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}
