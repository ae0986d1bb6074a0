//! The start and the end of measurement.
//!
//! It starts with the first table that is registered or the first event, and
//! ends with the exit handlers. Ours is registered at the start, so it runs
//! after those that the program registers, and their events are measured.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use profile::save::{SaveOptions, Saved, save};

use super::config::Config;
use super::mutex::lock;
use super::{clock, config, errno, facts, message, region, state, thread};
use crate::sinks::merge::{self, Ending};

/// What must be remembered from the start.
struct Start {
    config: Config,
    time: SystemTime,
    clock: clock::Pair,
    pid: u32,
}

static START: Mutex<Option<Start>> = Mutex::new(None);

/// Set when measurement failed, so that nothing is written.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Starts, unless that was tried before. Whether measurement is on then.
#[cold]
#[inline(never)]
pub(crate) fn ensure_started() -> bool {
    if !state::is_new() {
        return state::is_on_or_paused();
    }
    thread::inside(|| {
        if state::claim_start() {
            state::set_started(errno::keep(start));
        } else {
            state::wait_for_start();
        }
    });
    state::is_on_or_paused()
}

fn start() -> bool {
    let (config, problems) = Config::from_environment();
    if config.quiet {
        message::silence();
    }
    problems.iter().for_each(|problem| message::say(problem));
    if !config.measure {
        return false;
    }
    set_panic_hook();
    clock::choose(config.clock);
    let start = Start {
        config,
        time: SystemTime::now(),
        clock: clock::Pair::read(),
        pid: std::process::id(),
    };
    *lock(&START) = Some(start);
    register_handlers();
    true
}

unsafe extern "C" {
    fn at_quick_exit(handler: extern "C" fn()) -> libc::c_int;
}

/// A handler that cannot be registered is no reason to disturb the program.
fn register_handlers() {
    // SAFETY: the handlers are ours and may be called at any time.
    unsafe {
        libc::atexit(at_exit);
        at_quick_exit(at_exit);
        libc::pthread_atfork(None, None, Some(in_forked_child));
    }
}

/// The program ends measurement before it ends itself.
pub(crate) fn finish_now() {
    thread::inside(|| errno::keep(finish));
}

extern "C" fn at_exit() {
    if std::panic::catch_unwind(finish).is_err() {
        fail("an internal error prevented the profile from being written");
    }
}

/// A forked child has the parent's data but is not the parent: it is not
/// measured and writes nothing.
unsafe extern "C" fn in_forked_child() {
    state::turn_off();
    FAILED.store(true, Ordering::Relaxed);
}

/// Measurement ends here and writes nothing; said once.
#[cold]
pub(crate) fn fail(reason: &str) {
    state::turn_off();
    if !FAILED.swap(true, Ordering::AcqRel) {
        message::say(reason);
    }
}

/// The message about a panic is ours to give, by `fail`.
fn set_panic_hook() {
    #[cfg(not(test))]
    std::panic::set_hook(Box::new(|_| state::turn_off()));
}

/// Ends measurement and writes what was measured.
fn finish() {
    state::turn_off();
    thread::unwatch();
    let start = lock(&START).take();
    let Some(start) = start else { return };
    // `vfork` and `clone` run no fork handlers.
    if FAILED.load(Ordering::Acquire) || start.pid != std::process::id() {
        return;
    }
    let end_clock = clock::Pair::read();
    let threads = thread::all();
    if threads.is_empty() {
        message::say("no OpenMP construct that is measured was reached; no profile is written");
        return;
    }
    let ending = Ending {
        at: end_clock.ticks,
        scale: clock::Scale::between(start.clock, end_clock),
    };
    let mut profile = merge::merge(&threads, &region::all(), ending);
    facts::describe(&mut profile.run, &start.config.application, start.time);
    profile.run.rank = start.config.rank;
    profile.run.duration_ns = end_clock.ns.saturating_sub(start.clock.ns);
    let options = SaveOptions {
        directory: start.config.output,
        application: start.config.application,
        rank: start.config.rank,
    };
    match save(&profile, &options) {
        Ok(saved) => message::say(&summary(&saved)),
        Err(error) => message::say(&format!("the profile is lost: {error}")),
    }
}

fn summary(saved: &Saved) -> String {
    let Saved {
        json,
        text,
        headline,
    } = saved;
    format!(
        "{headline} [{}, {}]",
        config::short(text).display(),
        config::short(json).display()
    )
}
