//! The helper: a thread of our own that writes the profile where the program's threads
//! cannot. A signal handler may allocate nothing, and the thread that ends the program may
//! have little stack left. The helper also writes the profile at intervals, and the trace
//! page by page.
//!
//! It is made when the program forks its first team, which is when the program
//! has threads anyway. It blocks all signals, so that it takes none that is
//! meant for the program, and sleeps unless it is asked for something.
//!
//! If `main` has called `pthread_exit`, a program ends with its last thread, and that must not be
//! the helper. So the helper then checks now and then whether it is alone, and ends if it is. The
//! C library does the rest, as it does for every last thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use super::signals;
use super::writing::{self, Saying};
use crate::measure::helper_requests::{
    self, DUMP, DUMP_NOW, FINISH, FirstThread, STOP, TRACE, ask,
};
use crate::measure::mutex::lock;
use crate::measure::pace::Pace;
use crate::measure::trace;
use crate::measure::{clock, coarse_clock, errno, limits, quiesce, rights, signal_mask, thread};

/// Set when the helper has written the last profile.
static FINISHED: AtomicBool = AtomicBool::new(false);
/// Set when the helper has written a profile that a thread waits for.
static DUMPED: AtomicBool = AtomicBool::new(false);

/// The latest helper, kept also when it has ended. Rust's library keeps the thread's record in the
/// program's heap. The record is never freed, and tools that look for lost memory must still find
/// a pointer to it. They do not look into the memory that this library takes elsewhere.
static LATEST: Mutex<Option<Thread>> = Mutex::new(None);

static HANDLE: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Makes the helper, unless there is one. Called inside the library.
pub(super) fn make() {
    let mut handle = handle();
    if handle.is_some() {
        return;
    }
    let Some(wanted) = wanted() else {
        return;
    };
    errno::keep(|| {
        *handle = signal_mask::with_all_blocked(|before| {
            std::thread::Builder::new()
                .name("romp".to_owned())
                .spawn(move || {
                    helper_requests::begins(thread::number());
                    quiesce::register();
                    thread::inside(|| work(wanted.interval));
                    before.apply();
                })
                .ok()
        });
        if let Some(handle) = &*handle {
            *lock(&LATEST) = Some(handle.thread().clone());
            helper_requests::is_made(handle.thread());
            if wanted.signals {
                signals::install();
            }
        }
    });
}

/// The reasons for a helper.
struct Wanted {
    /// Dumps that the program does not ask for.
    interval: Option<Duration>,
    /// Whether signals are handled.
    signals: bool,
}

/// The reasons for a helper; none if there is no reason.
fn wanted() -> Option<Wanted> {
    let start = writing::started();
    let config = &start.as_ref()?.config;
    let wanted = Wanted {
        interval: config.dump_interval,
        signals: config.signals,
    };
    let is_needed = wanted.signals || wanted.interval.is_some() || config.trace.is_some();
    (is_needed && !limits::threads_are_scarce()).then_some(wanted)
}

/// The handle, locked.
pub(super) fn handle() -> MutexGuard<'static, Option<JoinHandle<()>>> {
    lock(&HANDLE)
}

/// The outcome of a request.
#[cfg(not(test))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// There is no helper.
    Nobody,
    Done,
    /// The helper may be waiting for something that the calling thread holds.
    Late,
}

/// Has the last profile written, and waits for it. Callable from a signal handler:
/// should the thread that it interrupted hold what the helper needs, the wait ends in
/// time.
#[cfg(not(test))]
pub(super) fn finish() -> Answer {
    ask_and_wait(FINISH, &FINISHED)
}

/// Has everything written that there is so far, and waits for it. Callable like `finish`.
#[cfg(all(target_arch = "x86_64", not(test)))]
pub(super) fn dump_now() -> Answer {
    DUMPED.store(false, Ordering::Release);
    ask_and_wait(DUMP_NOW, &DUMPED)
}

#[cfg(not(test))]
fn ask_and_wait(request: u32, done: &AtomicBool) -> Answer {
    /// How long the program waits for the profile.
    const PATIENCE: Duration = Duration::from_secs(5);
    /// How often it looks.
    const LOOK: Duration = Duration::from_millis(1);

    let until = Instant::now() + PATIENCE;
    if !ask(request) {
        return Answer::Nobody;
    }
    while !done.load(Ordering::Acquire) {
        if Instant::now() >= until {
            return Answer::Late;
        }
        std::thread::sleep(LOOK);
    }
    Answer::Done
}

/// Has the last profile written, and ends the helper. False if it failed. Also needed
/// where the library is unloaded before the program ends.
pub(super) fn finish_and_stop() -> bool {
    let handle = handle().take();
    // The last thread of a program calls the exit handlers, and may be the helper.
    let handle = handle.filter(|_| helper_requests::number() != thread::number());
    handle.is_none_or(|handle| {
        ask(FINISH | STOP);
        // A panic in the helper was handled in its own thread.
        let has_ended = handle.join().is_ok();
        helper_requests::is_gone();
        has_ended
    })
}

/// How often to check whether the helper is alone; none if it cannot be.
fn look() -> Option<Duration> {
    match helper_requests::first_thread() {
        FirstThread::Watched => None,
        FirstThread::Ended => Some(Duration::from_millis(5)),
        FirstThread::Unknown => Some(Duration::from_millis(100)),
    }
}

/// Whether no thread of the program is left. The first one stays as long as the
/// process does, as a zombie.
fn is_alone() -> bool {
    let Ok(stat) = std::fs::read("/proc/self/stat") else {
        // The system does not say. The program must end in any case.
        return helper_requests::first_thread() == FirstThread::Ended;
    };
    let (state, threads) = main_and_threads(&String::from_utf8_lossy(&stat)).unwrap_or_default();
    state == "Z" && threads <= 2
}

/// The state of a process' first thread, and the number of its threads.
fn main_and_threads(stat: &str) -> Option<(String, u32)> {
    // The program's name, which may have any character, stands in parentheses.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?.to_owned();
    let threads = fields.nth(16)?.parse().ok()?;
    Some((state, threads))
}

/// A forked child has no helper: threads are not inherited. Also forgets the requests to its
/// parent's helper.
pub(super) fn start_anew(handle: &mut Option<JoinHandle<()>>) {
    helper_requests::forget();
    FINISHED.store(false, Ordering::Relaxed);
    // Nothing may be done to the thread by this handle, which is the parent's.
    std::mem::forget(handle.take());
}

fn work(interval: Option<Duration>) {
    let mut next = interval.map(|interval| Instant::now() + interval);
    let mut looked = Instant::now();
    let mut pace = Pace::new();
    loop {
        let now = Instant::now();
        let until_next = next.map(|next| next.saturating_duration_since(now));
        let until_look = look().map(|every| (looked + every).saturating_duration_since(now));
        let until_step = coarse_clock::is_started().then(|| pace.until_step());
        match until_next
            .into_iter()
            .chain(until_look)
            .chain(until_step)
            .min()
        {
            Some(time) => std::thread::park_timeout(time),
            None => std::thread::park(),
        }
        let requests = helper_requests::take();
        if until_step.is_some() {
            coarse_clock::advance(clock::now());
        }
        if requests & (TRACE | DUMP_NOW) != 0 {
            trace::write();
        }
        if requests & FINISH != 0 {
            // Otherwise the thread that asks for the profile writes it, if it can.
            if rights::withheld().is_none() {
                writing::finish();
            }
            FINISHED.store(true, Ordering::Release);
            signals::die();
        }
        if requests & STOP != 0 {
            // From now on signals are no longer ours; one may have come before.
            helper_requests::is_gone();
            return signals::die();
        }
        if look().is_some_and(|every| looked.elapsed() >= every) {
            looked = Instant::now();
            if is_alone() {
                // From now on the system takes care of signals.
                return helper_requests::is_gone();
            }
        }
        let is_due = next.is_some_and(|next| Instant::now() >= next);
        if requests & (DUMP | DUMP_NOW) != 0 {
            writing::dump(Saying::Where);
            DUMPED.store(true, Ordering::Release);
        } else if is_due {
            writing::dump(Saying::Nothing);
        }
        if is_due {
            next = interval.map(|interval| Instant::now() + interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_process_is_read_whatever_its_name() {
        let stat = "17 (a ) R 3) Z 1 17 17 0 -1 4 0 0 0 0 0 0 0 0 20 0 2 0 35 0";
        assert_eq!(main_and_threads(stat), Some(("Z".to_owned(), 2)));
        assert_eq!(main_and_threads("17 (a) Z 1"), None);
        assert!(!is_alone());
    }
}
