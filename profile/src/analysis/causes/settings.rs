//! The user's settings (environment variables) as far as they explain a cause, and advice on them.

use std::collections::BTreeSet;

use super::Facts;
use crate::analysis::words::{self, count};
use crate::model::Run;

/// A team or a barrier that costs at least this much, in nanoseconds, has threads that slept before it.
const SLEEPS_NS: u64 = 5_000;

/// Whether the user has chosen that threads spin while they wait.
pub(super) fn waits_actively(facts: &Facts<'_, '_>) -> bool {
    let policy = facts.profile.run.settings.get("OMP_WAIT_POLICY");
    policy.is_some_and(|policy| policy.trim().eq_ignore_ascii_case("active"))
}

/// The user's setting by which threads sleep as soon as they wait. None if there is none, or if there
/// are too many threads: then it is right.
pub(super) fn sleeps_at_once(facts: &Facts<'_, '_>) -> Option<String> {
    const SETTINGS: [(&str, &str); 3] = [
        ("OMP_WAIT_POLICY", "passive"),
        ("GOMP_SPINCOUNT", "0"),
        ("KMP_BLOCKTIME", "0"),
    ];
    let settings = &facts.profile.run.settings;
    let is_set = |(name, value): &(&str, &str)| {
        settings
            .get(*name)
            .is_some_and(|set| set.trim().eq_ignore_ascii_case(value))
    };
    let found = SETTINGS.into_iter().find(is_set);
    found
        .filter(|_| !facts.is_crowded())
        .map(|(name, value)| format!("{name}={value}"))
}

/// Whether threads that wait for the next team sleep after the time that is usual for their runtime, or at once.
pub(super) fn has_usual_waits(facts: &Facts<'_, '_>) -> bool {
    let names = [
        "OMP_WAIT_POLICY",
        "GOMP_SPINCOUNT",
        "KMP_BLOCKTIME",
        "KMP_LIBRARY",
    ];
    let settings = &facts.profile.run.settings;
    sleeps_at_once(facts).is_some() || !names.iter().any(|name| settings.contains_key(*name))
}

/// The advice not to have threads sleep at once, where a team or a barrier costs this many nanoseconds; empty
/// if they do not.
pub(super) fn advice_on_waking(facts: &Facts<'_, '_>, cost_ns: u64) -> String {
    let setting = sleeps_at_once(facts).filter(|_| cost_ns >= SLEEPS_NS);
    setting.map_or(String::new(), |setting| {
        format!(
            "{setting} makes threads sleep as soon as they wait, and waking them takes long: try without it. "
        )
    })
}

/// The words `8 threads shared 4 processors`.
pub(super) fn shared(facts: &Facts<'_, '_>, threads: u64) -> String {
    words::shared(threads, facts.profile.run.processors.into())
}

/// The advice for inner teams with too many threads. Regions nest if a variable says so (OpenMP 5.2, 2.4), or
/// a call of the program, which comes later.
pub(super) fn advice_against_nesting(facts: &Facts<'_, '_>) -> String {
    let settings = &facts.profile.run.settings;
    let is = |name: &str, allows: &dyn Fn(&str) -> bool| {
        let value = settings.get(name);
        value.is_some_and(|value| allows(value.trim()))
    };
    let is_list = |value: &str| value.contains(',');
    let is_by_variable = is("OMP_MAX_ACTIVE_LEVELS", &|value| value != "1")
        || is("OMP_NESTED", &|value| value.eq_ignore_ascii_case("true"))
        || is("OMP_NUM_THREADS", &is_list)
        || is("OMP_PROC_BIND", &is_list);
    let avoid = match is_by_variable {
        true => "Parallel regions are nested: set OMP_MAX_ACTIVE_LEVELS=1",
        false => {
            "Parallel regions are nested because the program asks for it: call omp_set_max_active_levels(1) instead"
        }
    };
    format!(
        "{avoid}, or choose num_threads so that all levels together have no more threads than processors."
    )
}

/// The first number of a setting that is a list of numbers (OpenMP 5.2, 21.1.2).
fn number(facts: &Facts<'_, '_>, name: &str) -> Option<u64> {
    let list = facts.profile.run.settings.get(name)?;
    list.split(',').next()?.trim().parse().ok()
}

/// How many threads an outermost team has where the program says nothing else, as far as processors can serve them.
pub(super) fn threads_of_team(facts: &Facts<'_, '_>) -> u64 {
    let run = &facts.profile.run;
    let asked = number(facts, "OMP_NUM_THREADS").unwrap_or(run.processors.into());
    let limit = number(facts, "OMP_THREAD_LIMIT").unwrap_or(asked);
    run.at_once(asked.min(limit))
}

/// The reason why a team has this number of threads, in words: `OMP_NUM_THREADS is 4`, or the number of processors.
pub(super) fn reason_for_threads(facts: &Facts<'_, '_>, threads: u64) -> String {
    match number(facts, "OMP_NUM_THREADS") {
        Some(asked) => format!("OMP_NUM_THREADS is {asked}"),
        None => format!("the process may use {}", count(threads, "processor")),
    }
}

/// Whether the process may use fewer processors than one around it, such as its shell.
pub(super) fn is_process_bound(run: &Run) -> bool {
    run.processors_around > run.processors
}

/// Advice where threads are bound to fewer processors than they could use.
pub(super) fn advice_on_binding(run: &Run) -> String {
    match is_process_bound(run) {
        true => format!(
            "The process around it may use {}: see what binds this one, such as taskset, mpirun --bind-to, a batch \
             job, or a call of sched_setaffinity.",
            count(run.processors_around.into(), "processor")
        ),
        false => {
            "Give each thread a place of its own: see OMP_PLACES and OMP_PROC_BIND.".to_owned()
        }
    }
}

/// How many threads of a process start outermost teams.
fn forking_threads(facts: &Facts<'_, '_>) -> u64 {
    if facts.overheads.processes > 1 {
        return 1;
    }
    let teams = facts.tree.nodes.iter().filter(|it| it.is_outermost_team());
    let members = teams.flat_map(|node| node.members().map(|row| row.row.thread));
    let first = members.filter_map(|thread| facts.profile.threads[thread].path.first());
    first.collect::<BTreeSet<_>>().len() as u64
}

/// Advice to run no more threads than there are processors.
pub(super) fn advice_on_fewer_threads(facts: &Facts<'_, '_>) -> String {
    let mut nodes = facts.tree.nodes.iter();
    let forking = forking_threads(facts);
    let fewer = match number(facts, "OMP_NUM_THREADS") {
        _ if nodes.any(|node| facts.has_inner_teams(node)) => advice_against_nesting(facts),
        _ if forking > 1 => format!(
            "{} of the program start teams of their own: let all teams together have no more threads than \
             processors (OMP_NUM_THREADS, num_threads).",
            count(forking, "thread")
        ),
        Some(number) if number < facts.overheads.threads => format!(
            "Use no more threads than processors: OMP_NUM_THREADS is {number}, but the program \
             asks for more with num_threads or omp_set_num_threads."
        ),
        Some(_) => "Use no more threads than processors: lower OMP_NUM_THREADS.".to_owned(),
        None => {
            "Use no more threads than processors: set OMP_NUM_THREADS or num_threads.".to_owned()
        }
    };
    match waits_actively(facts) {
        true => format!(
            "{fewer} If the program needs more threads, set OMP_WAIT_POLICY=passive, so that waiting threads \
             leave their processors to those that have work."
        ),
        false => fewer,
    }
}
