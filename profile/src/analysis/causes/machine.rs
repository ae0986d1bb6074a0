//! What the machine did to the run: threads that were ready and had no processor. The
//! kernel tells for how long ([`crate::model::Scheduling`]), not where. So:
//!
//! - the same part of all useful time was none, and
//! - waits that no uneven work explains were for threads without a processor.

use super::ledger::Amount;
use super::{Cause, Causes, Facts, Kind, Place};
use crate::analysis::NEGLIGIBLE;
use crate::analysis::remedy::EXPLAINS;
use crate::analysis::words::{count, percent, time};
use crate::model::Scheduling;

/// Weighs causes against what threads lost for want of a processor.
pub(super) fn weigh(facts: &Facts<'_, '_>, causes: &mut Causes) {
    let Some(scheduling) = facts.profile.run.scheduling else {
        return;
    };
    let without = part(scheduling.ready_ns, scheduling.run_ns);
    let kind = kind(facts, &scheduling);
    let mut amount = useful_without(facts, kind, &scheduling);
    amount += serial_without(facts, &scheduling, &mut causes.list);
    if facts.share(amount.upper) < NEGLIGIBLE {
        return;
    }
    amount += by_chance(facts, &scheduling, &mut causes.list);
    amount.lost = scheduling.ready_ns;
    if kind == Kind::Oversubscription {
        // Larger teams would share the same processors.
        causes.list.retain(|cause| cause.kind != Kind::SmallTeams);
    }
    let processors = processors(facts, kind, &scheduling);
    let cause = facts.cause_of(kind, Place::everywhere(), amount).showing(&[
        ("ran_percent", (100.0 * (1.0 - without)).round() as u64),
        ("ready_ns", scheduling.ready_ns),
        ("processors", processors),
        ("threads", facts.overheads.threads),
    ]);
    let (what, remedy) = words(facts, kind, without, processors);
    causes.list.push(cause.saying(what, remedy));
}

/// The part of the time that a thread was ready in which it did not run.
fn part(ready: u64, run: u64) -> f64 {
    ready as f64 / (ready as f64 + run as f64).max(1.0)
}

/// Of a time that threads were busy: how much of it they had no processor. No more than the
/// kernel says: those that sleep are not ready.
fn lost_of(busy: f64, ready: u64, run: u64, threads: u32) -> f64 {
    (busy * part(ready, run)).min(ready as f64 / f64::from(threads.max(1)))
}

/// Why they had no processor.
fn kind(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> Kind {
    let run = &facts.profile.run;
    let threads = facts.overheads.threads;
    let binds = [
        "OMP_PROC_BIND",
        "OMP_PLACES",
        "GOMP_CPU_AFFINITY",
        "KMP_AFFINITY",
    ];
    let is_bound = binds.iter().any(|name| run.settings.contains_key(*name));
    let allowed = u64::from(scheduling.processors);
    match u64::from(run.processors) {
        _ if is_bound && allowed > 0 && allowed < threads => Kind::Affinity,
        0 => Kind::NoProcessor,
        processors if threads > processors && wanted(facts, scheduling) > processors as f64 => {
            Kind::Oversubscription
        }
        _ => Kind::NoProcessor,
    }
}

/// How many processors the threads wanted at a time, on average. If that is no more than
/// there are, it was not these threads that kept each other from running.
fn wanted(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> f64 {
    let wanted = scheduling.run_ns as f64 + scheduling.ready_ns as f64;
    wanted / facts.overheads.duration_ns.max(1) as f64
}

fn processors(facts: &Facts<'_, '_>, kind: Kind, scheduling: &Scheduling) -> u64 {
    match kind {
        Kind::Affinity => u64::from(scheduling.processors),
        _ => u64::from(facts.profile.run.processors),
    }
}

/// Useful time of teams in which threads had no processor.
fn useful_without(facts: &Facts<'_, '_>, kind: Kind, scheduling: &Scheduling) -> Amount {
    let sum = &facts.overheads.whole_sum;
    let had = sum.total.ns as f64;
    let useful = (had - sum.overhead.ns as f64 - sum.untold.ns as f64).max(0.0);
    let elapsed = facts.overheads.coverage.ns as f64 * useful / had.max(1.0);
    let Scheduling {
        threads,
        run_ns,
        ready_ns,
        ..
    } = *scheduling;
    let lost = lost_of(elapsed, ready_ns, run_ns, threads);
    let likely = match kind {
        // What processors do for all threads does not get less with fewer threads.
        Kind::Oversubscription => {
            let ran = useful * (1.0 - lost / elapsed.max(1.0));
            let processors = f64::from(facts.profile.run.processors.max(1));
            (elapsed - ran / processors).clamp(0.0, lost)
        }
        _ => lost,
    };
    Amount {
        lost: 0,
        likely,
        upper: lost,
    }
}

/// The serial part is shorter with a processor, and so is what can be won of it.
fn serial_without(facts: &Facts<'_, '_>, scheduling: &Scheduling, causes: &mut [Cause]) -> Amount {
    let serial = facts.overheads.serial.ns as f64;
    let (ready, run) = (scheduling.first_ready_ns, scheduling.first_run_ns);
    let likely = lost_of(serial, ready, run, 1);
    let rest = 1.0 - likely / serial.max(1.0);
    for cause in causes.iter_mut().filter(|it| it.kind == Kind::SerialPart) {
        cause.likely = facts.elapsed(cause.likely.ns as f64 * rest);
    }
    Amount {
        lost: 0,
        likely,
        upper: likely,
    }
}

/// Takes over the waits that come of it, as many as it explains: for each thread that has
/// no processor, all others may wait.
fn by_chance(facts: &Facts<'_, '_>, scheduling: &Scheduling, causes: &mut [Cause]) -> Amount {
    let others = facts.overheads.threads.saturating_sub(1);
    let mut explains = scheduling.ready_ns.saturating_mul(others);
    let mut amount = Amount::default();
    for cause in causes.iter_mut().filter(|cause| cause.is_by_chance) {
        let lost = cause.lost.ns.min(explains);
        explains -= lost;
        // What is mostly explained has no reason of its own.
        let part = match lost as f64 / cause.lost.ns.max(1) as f64 {
            EXPLAINS.. => 1.0,
            part => part,
        };
        amount.likely += part * cause.likely.ns as f64;
        amount.upper += part * cause.upper.ns as f64;
        let rest = (1.0 - part) * cause.likely.ns as f64;
        cause.likely = facts.elapsed(rest);
    }
    amount
}

fn words(facts: &Facts<'_, '_>, kind: Kind, without: f64, processors: u64) -> (String, String) {
    let had = percent(100.0 * (1.0 - without));
    let threads = count(facts.overheads.threads, "thread");
    let processors = count(processors, "processor");
    let ready = facts.profile.run.scheduling.map_or(0, |it| it.ready_ns);
    match kind {
        Kind::Oversubscription => {
            let nested = facts.efficiency.levels.len() > 1;
            (
                format!("{threads} shared {processors}, and had one {had} of the time"),
                match nested {
                    true => "Parallel regions nest: set OMP_MAX_ACTIVE_LEVELS=1, or num_threads \
                             so that all levels together have no more threads than processors."
                        .to_owned(),
                    false => format!(
                        "Use no more threads than processors: {}.",
                        match facts.profile.run.settings.contains_key("OMP_NUM_THREADS") {
                            true => "lower OMP_NUM_THREADS",
                            false => "set OMP_NUM_THREADS or num_threads",
                        }
                    ),
                },
            )
        }
        Kind::Affinity => (
            format!("{threads} were bound to {processors}, and had one {had} of the time"),
            "Give each thread a place of its own: see OMP_PLACES and OMP_PROC_BIND.".to_owned(),
        ),
        _ => (
            format!(
                "the machine was busy: threads had a processor {had} of the time, and waited {} \
                 for one",
                time(ready)
            ),
            "Measure again with nothing else on its processors; until then take what is said \
             of times below with care."
                .to_owned(),
        ),
    }
}
