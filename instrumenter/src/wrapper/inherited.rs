//! State that a process inherits besides its arguments and environment: dispositions of
//! signals, and which standard streams are open. The compiler must get this state as the
//! wrapper got it. But Rust's runtime ignores SIGPIPE and opens closed streams before `main`,
//! and waiting for a compiler needs a SIGCHLD that is not ignored. In the other direction, a
//! signal to the wrapper is handed on to the running compiler, and the wrapper ends by the
//! signal that ended the compiler.
//!
//! This is the only module of the crate with `unsafe`: the standard library has no interface
//! for signals.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};

/// Signals whose disposition is changed in our process, by us or by Rust's runtime, and that
/// would stay ignored across an `exec`.
const CHANGED: [i32; 2] = [libc::SIGPIPE, libc::SIGCHLD];

/// Signals by which a user or a build ends a command.
const ENDING: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// The standard streams.
const STREAMS: std::ops::Range<i32> = 0..3;

/// Which of [`CHANGED`] were ignored when the process began; one bit each.
static IGNORED: AtomicU8 = AtomicU8::new(0);

/// Which of [`STREAMS`] were closed when the process began; one bit each.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// The process that a signal is handed on to.
static CHILD: AtomicI32 = AtomicI32::new(NONE);
/// No child runs: a signal ends us.
const NONE: i32 = 0;
/// A child is about to run.
const STARTING: i32 = -1;

/// The signal received since the child was started; zero if none was.
static RECEIVED_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The signal that ended the last compiler; zero if it ended by itself.
static ENDED_BY: AtomicI32 = AtomicI32::new(0);

/// Runs before `main`, and so before Rust's runtime.
#[used]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static RUN_BEFORE_MAIN: extern "C" fn() = note;

extern "C" fn note() {
    for (bit, signal) in CHANGED.into_iter().enumerate() {
        if is_ignored(signal) {
            IGNORED.fetch_or(1 << bit, Ordering::Relaxed);
        }
    }
    for stream in STREAMS {
        // SAFETY: `fcntl` asks for the flags of a descriptor, open or not.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } < 0 {
            CLOSED.fetch_or(1 << stream, Ordering::Relaxed);
        }
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action `sigaction` only writes the old one, and all bytes
    // zero are one, should it fail.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Sets the disposition of a signal. Any function given for `to` must be safe to call in a
/// signal handler. If the call fails, the disposition stays as it is.
fn dispose(signal: i32, to: libc::sighandler_t) {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all bytes zero are an action with an empty mask, of which two fields are
    // set; `to` is one of the two constants or a handler of this module.
    unsafe {
        let filled = action.as_mut_ptr();
        (*filled).sa_sigaction = to;
        (*filled).sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, filled, std::ptr::null_mut());
    }
}

/// Prepares our process to wait for compilers. An `exec` resets signal handlers, so a compiler
/// sees only the changes that [`hand_on`] undoes.
pub(crate) fn prepare() {
    static IS_PREPARED: AtomicBool = AtomicBool::new(false);
    if IS_PREPARED.swap(true, Ordering::Relaxed) {
        return;
    }
    dispose(libc::SIGCHLD, libc::SIG_DFL);
    for signal in ENDING {
        if !is_ignored(signal) {
            dispose(signal, forward as *const () as libc::sighandler_t);
        }
    }
    // A write beyond the file size limit then fails with an error that we can report, instead
    // of ending the process.
    if !is_ignored(libc::SIGXFSZ) {
        dispose(libc::SIGXFSZ, pass_over as *const () as libc::sighandler_t);
    }
}

extern "C" fn pass_over(_: i32) {}

/// Hands a signal on to the running compiler. If none runs, the signal ends us.
extern "C" fn forward(signal: i32) {
    match CHILD.load(Ordering::SeqCst) {
        NONE => by_default(signal),
        child => {
            RECEIVED_SIGNAL.store(signal, Ordering::SeqCst);
            if child > 0 {
                // SAFETY: `kill` may be called in a handler.
                unsafe { libc::kill(child, signal) };
            }
        }
    }
}

/// Does the work of a command, on a stack that is large enough whatever limit the user has set
/// for programs (`ulimit -s`). The limit itself is left for the programs that we start.
pub(crate) fn with_stack(work: fn() -> ExitCode) -> ExitCode {
    /// Twice what the deepest of our work needs: the choice of the command line.
    const ENOUGH_STACK_BYTES: u64 = 2 << 20;
    const WORKER_STACK_BYTES: usize = 8 << 20;
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the call fills the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    if limit.rlim_cur >= ENOUGH_STACK_BYTES {
        return work();
    }
    let worker = std::thread::Builder::new()
        .stack_size(WORKER_STACK_BYTES)
        .spawn(work);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // It panicked, and has said so.
        Ok(Err(_)) => ExitCode::from(101),
        Err(_) => work(),
    }
}

/// Applies the default action of a signal to our process.
fn by_default(signal: i32) {
    dispose(signal, libc::SIG_DFL);
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the functions may be called in a handler, and fill the set first.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// While this value lives, signals to us are handed on to a child.
pub(crate) struct Forwarding;

impl Forwarding {
    /// Starts before the child does, so that no signal ends us alone.
    pub(crate) fn begin() -> Self {
        RECEIVED_SIGNAL.store(0, Ordering::SeqCst);
        CHILD.store(STARTING, Ordering::SeqCst);
        Self
    }

    /// Names the child. A signal that came before is handed on now.
    pub(crate) fn to(&self, child: u32) {
        let child = i32::try_from(child).unwrap_or(STARTING);
        CHILD.store(child, Ordering::SeqCst);
        let came = RECEIVED_SIGNAL.load(Ordering::SeqCst);
        if came != 0 && child > 0 {
            // SAFETY: `kill` takes any two numbers; the child has not been waited for.
            unsafe { libc::kill(child, came) };
        }
    }

    /// The child has ended. A signal that was handed on to it ends us too: nothing else should
    /// be tried.
    pub(crate) fn end(self) {
        drop(self);
        let came = RECEIVED_SIGNAL.load(Ordering::SeqCst);
        if came != 0 {
            by_default(came);
        }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        CHILD.store(NONE, Ordering::SeqCst);
    }
}

/// How a program of the user's ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its process.
    pub(crate) process: u32,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
    /// The status to end with, as [`end`] takes it.
    pub(crate) code: u8,
}

/// Runs a program of the user's in our place: it inherits the state that we inherited, and
/// signals to us are handed on to it.
///
/// # Errors
/// If it can't be started.
pub(crate) fn run_program(command: &mut Command) -> io::Result<Ended> {
    prepare();
    for signal in [libc::SIGUSR1, libc::SIGUSR2] {
        if !is_ignored(signal) {
            dispose(signal, forward as *const () as libc::sighandler_t);
        }
    }
    // A terminal sends these signals to the program, too.
    // SAFETY: the call asks whether a descriptor is a terminal.
    if unsafe { libc::isatty(libc::STDIN_FILENO) } == 1 {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            if !is_ignored(signal) {
                dispose(signal, pass_over as *const () as libc::sighandler_t);
            }
        }
    }
    hand_on(command, [false; 3]);
    let forwarding = Forwarding::begin();
    let mut child = command.spawn()?;
    forwarding.to(child.id());
    let status = child.wait();
    drop(forwarding);
    let status = status?;
    Ok(Ended {
        process: child.id(),
        signal: status.signal(),
        code: ended_by(status),
    })
}

/// Gives a compiler the state that we began with. `piped` tells which streams it gets from us.
pub(crate) fn hand_on(command: &mut Command, piped: [bool; 3]) {
    let ignored = IGNORED.load(Ordering::Relaxed);
    let ours = piped.iter().zip(STREAMS).filter(|(piped, _)| **piped);
    let ours = ours.fold(0, |bits, (_, stream)| bits | 1 << stream);
    let closed = CLOSED.load(Ordering::Relaxed) & !ours;
    // With a `pre_exec` function, our whole memory would be copied first.
    if ignored == 0 && closed == 0 {
        return;
    }
    let restore = move || restore(ignored, closed);
    // SAFETY: what runs between `fork` and `exec` calls `sigaction` and `close` and
    // touches no memory but its own.
    unsafe { command.pre_exec(restore) };
}

fn restore(ignored: u8, closed: u8) -> io::Result<()> {
    for (bit, signal) in CHANGED.into_iter().enumerate() {
        if ignored & (1 << bit) != 0 {
            dispose(signal, libc::SIG_IGN);
        }
    }
    for stream in STREAMS {
        if closed & (1 << stream) != 0 {
            // SAFETY: in the new process nothing else uses the standard streams.
            unsafe { libc::close(stream) };
        }
    }
    Ok(())
}

/// Notes how a compiler ended. Returns the status to end with, as [`end`] takes it. For a
/// signal it is the number that shells use.
pub(crate) fn ended_by(status: ExitStatus) -> u8 {
    ENDED_BY.store(status.signal().unwrap_or(0), Ordering::Relaxed);
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

/// Ends as the compiler did: by the same signal, if `code` is the number that shells have for
/// it.
pub(crate) fn end(code: u8) -> ExitCode {
    let signal = ENDED_BY.load(Ordering::Relaxed);
    if signal != 0 && i32::from(code) == 128 + signal {
        // A core file of our process would be useless; only the compiler's is of interest.
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: it reads the structure.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
        by_default(signal);
    }
    ExitCode::from(code)
}
