//! Writes the results of a run: the profile, and the end of the trace.
//!
//! The profile can be written before the end, any number of times. Each time it replaces the files
//! that were written last, so that one run leaves one pair of files.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

use profile::model::{Profile, rows_are_many};
use profile::save::{SaveOptions, Saved, save, save_over};

use super::beginning::Beginning;
use crate::measure::config::Config;
use crate::measure::mutex::lock;
use crate::measure::records::region;
use crate::measure::trace;
use crate::measure::{
    allocator, annotations, clock, config, cost, counters, facts, message, quiesce, rights,
    signal_mask, state, thread,
};
use crate::result::merge::{self, Ending, Snapshot};

/// The facts that are kept from the start of the run.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) config: Config,
    pub(super) beginning: Beginning,
    /// Whether this process was forked by one that is measured.
    pub(super) is_child: bool,
}

static START: Mutex<Option<Start>> = Mutex::new(None);

/// The files that were written last. Locked while they are written.
static SAVED: Mutex<Option<Saved>> = Mutex::new(None);

/// The process that is measured. A child that `vfork` or `clone` made runs no
/// fork handlers, and must write nothing.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Set when measurement failed, so that nothing is written.
static FAILED: AtomicBool = AtomicBool::new(false);

/// The message of a dump to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saying {
    /// Where the profile was written.
    Where,
    /// Nothing, unless it failed.
    Nothing,
}

/// This process is measured from now on.
pub(super) fn begin(start: Start) {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    *started() = Some(start);
}

/// The facts that are kept from the start of the run, locked.
pub(super) fn started() -> MutexGuard<'static, Option<Start>> {
    lock(&START)
}

/// The files that were written last, locked.
pub(super) fn saved() -> MutexGuard<'static, Option<Saved>> {
    lock(&SAVED)
}

/// Whether this is the process that is measured.
pub(super) fn is_own_process() -> bool {
    PROCESS.load(Ordering::Relaxed) == std::process::id()
}

/// This process is a child that is measured from now on.
pub(super) fn start_anew() {
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    *saved() = None;
    annotations::start_anew();
    if let Some(start) = &mut *started() {
        start.beginning = Beginning::now();
        start.is_child = true;
    }
}

/// This process is a child that cannot be measured.
pub(super) fn give_up() {
    state::turn_off();
    FAILED.store(true, Ordering::Relaxed);
}

/// Measurement ends here and writes nothing; said once.
#[cold]
pub(crate) fn fail(reason: &str) {
    state::turn_off();
    if !FAILED.swap(true, Ordering::AcqRel) {
        say_lost(reason);
    }
}

/// Ends measurement and writes what was measured.
pub(super) fn finish() {
    signal_mask::held_back(finish_undisturbed);
}

fn finish_undisturbed() {
    state::turn_off();
    let mut files = saved();
    let start = started().take();
    let Some(start) = start else { return };
    if FAILED.load(Ordering::Acquire) || !is_own_process() {
        return;
    }
    let written = || write(&start, true, files.as_ref());
    let written = match is_large() {
        true => allocator::with_large_pages(written),
        false => written(),
    };
    match written {
        Some(Ok(saved)) => {
            report_saved(&saved);
            *files = Some(saved);
        }
        Some(Err(problem)) => say_lost(&problem),
        None if listener_takes(SaveOutcome::Nothing) || start.is_child => {}
        None => message::say("the run reached no measured OpenMP construct; no profile is written"),
    }
}

/// Writes what was measured so far, and goes on.
pub(super) fn dump(saying: Saying) {
    if state::is_on_or_paused() && is_own_process() {
        signal_mask::held_back(|| dump_undisturbed(saying));
    }
}

fn dump_undisturbed(saying: Saying) {
    let mut files = saved();
    let start = started().clone();
    let Some(start) = start else { return };
    match write(&start, false, files.as_ref()) {
        Some(Ok(saved)) => {
            match saying {
                Saying::Where => report_saved(&saved),
                // The process may be killed before it writes again.
                Saying::Nothing if files.is_none() => {
                    listener_takes(SaveOutcome::Saved(&saved));
                }
                Saying::Nothing => {}
            }
            *files = Some(saved);
        }
        Some(Err(problem)) => say_lost(&problem),
        None => {
            listener_takes(SaveOutcome::Nothing);
        }
    }
}

/// Whether so much was recorded that it takes long to write.
fn is_large() -> bool {
    rows_are_many(rows())
}

/// How many rows the profile has at most.
fn rows() -> usize {
    let threads = thread::all();
    let nodes = threads.iter().flat_map(|thread| thread.tree.nodes());
    nodes.map(<[_]>::len).sum()
}

/// Whether there is memory to write the profile. A failed request for memory would end the program by a
/// signal. Writing takes up to 3 MB, and 450 bytes for each row; what the system gives may be in pieces.
fn has_memory() -> bool {
    const BASE: usize = 8 << 20;
    const OF_A_ROW: usize = 1 << 10;
    allocator::has_room_for(BASE.saturating_add(rows().saturating_mul(OF_A_ROW)))
}

/// Writes what was measured; none if there is nothing.
fn write(start: &Start, is_last: bool, before: Option<&Saved>) -> Option<Result<Saved, String>> {
    if !thread::all().is_empty() && !has_memory() {
        return Some(Err(message_of_loss(
            "the program has left too little memory to write it",
        )));
    }
    let profile = profile(start, is_last)?;
    if let Some(why) = rights::withheld() {
        return Some(Err(message_of_loss(why)));
    }
    let options = files_of(&start.config);
    let saved = match before {
        Some(before) => save_over(&profile, &options, before),
        None => save(&profile, &options),
    };
    Some(saved.map_err(message_of_loss))
}

/// The message that there is no profile, and why.
fn message_of_loss(why: impl std::fmt::Display) -> String {
    format!("the profile is lost: {why}")
}

/// Where the files go.
pub(super) fn files_of(config: &Config) -> SaveOptions {
    SaveOptions {
        directory: config.output.clone(),
        application: config.application.clone(),
        rank: config.rank,
        number: trace::number(),
    }
}

fn profile(start: &Start, is_last: bool) -> Option<Profile> {
    let threads = thread::all();
    if threads.is_empty() {
        return None;
    }
    let used = facts::ProcessorTime::read();
    let (snapshot, end) = quiesce::while_quiet(&threads, || {
        let end = clock::Pair::read();
        let snapshot = Snapshot::take(&threads, [start.beginning.clock.ticks, end.ticks]);
        match is_last {
            true => trace::close(&threads, end.ticks),
            false => trace::write_so_far(&threads),
        }
        (snapshot, end)
    });
    // The end of the run was read before, since looking for regions takes time.
    region::complete();
    if is_last {
        finish_trace(&threads, start.beginning.clock, end);
    }
    let ending = Ending {
        scale: clock::scale_between(start.beginning.clock, end),
        span: [start.beginning.clock.ticks, end.ticks],
        is_last,
    };
    let mut profile = merge::merge(&snapshot, &region::all(), ending);
    profile.run.duration_ns = start.beginning.until(end);
    facts::describe(&mut profile.run, &start.config.application, used);
    annotations::describe(&mut profile.run);
    profile.run.rank = start.config.rank;
    profile.run.settings.clone_from(&start.config.openmp);
    profile.run.notes.extend(region::switched_off());
    profile.run.counters = counters::names();
    profile.run.formulas = start.config.formulas.clone();
    profile.run.pair_cost_ps = cost::pair_cost(ending.scale);
    if snapshot.sampled().next().is_some() {
        profile.run.passed_pair_cost_ps = cost::of_untimed_pair(ending.scale, snapshot.untimed());
    }
    Some(profile)
}

/// Completes the trace, if there is one, and says what is not in it.
fn finish_trace(threads: &[&'static thread::Thread], start: clock::Pair, end: clock::Pair) {
    match trace::finish(threads, start.into(), end.into()) {
        None => {}
        Some(Err(problem)) => message::say(&problem),
        Some(Ok(trace::Finished {
            path,
            dropped,
            replaced,
        })) => {
            let path = config::short(&path).display();
            if dropped > 0 {
                message::say(&format!(
                    "{dropped} events are not in the trace {path}: the trace reached ROMP_TRACE_LIMIT, or \
                     ROMP_TRACE_MEMORY was full"
                ));
            }
            if replaced > 0 {
                message::say(&format!(
                    "the trace {path} holds the last events of the run only (ROMP_TRACE_LIMIT)"
                ));
            }
        }
    }
}

/// The outcome of writing a profile.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, allow(dead_code, reason = "unit tests have no sources"))]
pub(crate) enum SaveOutcome<'a> {
    /// It was written.
    Saved(&'a Saved),
    /// It could not be written, and the user got a message with the reason.
    Lost,
    /// There is nothing to write.
    Nothing,
}

/// A function that gets the outcome of writing a profile. It returns false if the user gets a message as well.
type OutcomeListener = fn(SaveOutcome<'_>) -> bool;

/// The function that gets the outcomes instead of the user.
static OUTCOME_LISTENER: Mutex<Option<OutcomeListener>> = Mutex::new(None);

/// From now on `listener` gets the outcomes. If it returns false, the user gets a message, too.
#[cfg_attr(test, allow(dead_code, reason = "unit tests have no sources"))]
pub(crate) fn set_outcome_listener(listener: OutcomeListener) {
    *lock(&OUTCOME_LISTENER) = Some(listener);
}

fn report_saved(saved: &Saved) {
    if !listener_takes(SaveOutcome::Saved(saved)) {
        message::say(&summary(saved));
    }
}

fn listener_takes(outcome: SaveOutcome<'_>) -> bool {
    let listener = *lock(&OUTCOME_LISTENER);
    listener.is_some_and(|takes| takes(outcome))
}

fn say_lost(problem: &str) {
    message::say(problem);
    listener_takes(SaveOutcome::Lost);
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
