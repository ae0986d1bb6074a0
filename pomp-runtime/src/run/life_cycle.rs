//! The start and the end of measurement.
//!
//! Measurement starts with the first table that is registered or the first event; the run is then
//! taken to have begun with the process ([`super::beginning`]). It ends with the exit handlers.
//! Our handler is registered at the start, or when the library is loaded, so it runs after those that
//! the program registers, and their events are measured.

use super::beginning::Beginning;
use super::writing::{self, Saying, Start};
use super::{at_end, fork, helper};
use crate::measure::collector;
use crate::measure::config::Config;
use crate::measure::trace;
use crate::measure::{
    clock, counters, errno, estimate, helper_requests, joined_chunks, memory, message, quiesce,
    rights, sampling, state, stderr, thread, untimed,
};
#[cfg(all(target_arch = "x86_64", not(test)))]
use {crate::measure::run_list, profile::run_list::Mark};

/// Starts measurement, unless that was tried before. Returns whether measurement is on then.
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
    if rights::are_lent() {
        return false;
    }
    stderr::remember();
    rights::remember();
    let (config, problems) = Config::from_environment();
    if config.quiet {
        message::silence();
    }
    problems.iter().for_each(|problem| message::say(problem));
    if !config.measure {
        return false;
    }
    #[cfg(not(test))]
    take_over_from_run_library();
    set_panic_hook();
    clock::choose(config.clock);
    quiesce::prepare();
    memory::limit(config.memory);
    if let Some(limit) = config.throttle {
        untimed::throttle(limit);
    }
    if config.contended_waits {
        collector::waits::notify_only_contended();
    }
    if let Some(list) = &config.counters {
        counters::choose(list);
    }
    counters::check_formulas(&config.formulas);
    // There is no sampling in three cases: a trace has every event, counters are read at each
    // event, and throttled regions are not sampled.
    let is_wanted_whole = config.counters.is_some() || config.trace.is_some();
    if !is_wanted_whole && config.throttle.is_none() {
        sampling::limit(config.budget);
        estimate::leave_out_timing();
        if config.budget > 0.0 && !config.may_cancel {
            joined_chunks::allow();
        }
    }
    let start = Start {
        config,
        beginning: Beginning::of_process(),
        is_child: false,
    };
    if let Some(options) = &start.config.trace {
        trace::prepare(
            options,
            writing::files_of(&start.config),
            start.beginning.clock.into(),
        );
    }
    writing::begin(start);
    helper_requests::make_with(helper::make);
    at_end::start();
    fork::watch();
    thread::watch_main();
    true
}

/// The program ends measurement before it ends itself.
pub(crate) fn finish_now() {
    thread::inside(|| errno::keep(writing::finish));
}

/// The program wants the profile as it is now.
pub(crate) fn dump_now() {
    thread::inside(|| errno::keep(|| writing::dump(Saying::Where)));
}

/// The program ends at once, without exit handlers.
#[cfg(not(test))]
pub(crate) fn finish_at_once() {
    let is_measured = writing::is_own_process() && state::is_on_or_paused();
    // If the helper has written the profile, `finish_now` writes nothing more. If the helper is
    // late, this thread must not write the profile either.
    if is_measured && helper::finish() != helper::Answer::Late {
        finish_now();
    }
}

/// Another program is about to take the place of this one.
#[cfg(all(target_arch = "x86_64", not(test)))]
pub(crate) fn before_exec() {
    let is_measured = writing::is_own_process() && state::is_on_or_paused();
    if is_measured && helper::dump_now() == helper::Answer::Nobody {
        dump_now();
    }
    run_list::note(Mark::Replaced, b"");
}

/// The message about a panic is ours to give, by `writing::fail`.
fn set_panic_hook() {
    #[cfg(not(test))]
    std::panic::set_hook(Box::new(|_| state::turn_off()));
}

/// Tells the library that `romp run` has loaded, if there is one, that this program measures
/// itself. The library is looked for under `romp run` only: for a name that is not found, the C
/// library allocates an error on the program's heap.
#[cfg(not(test))]
fn take_over_from_run_library() {
    if !rights::are_lent() && std::env::var_os(profile::run_list::VARIABLE).is_some() {
        crate::measure::dynamic::call_if_exported(c"romp_run_stand_back");
    }
}
