//! Losses caused by the machine: threads were ready to run and had no processor. The kernel
//! reports for how long ([`crate::model::Scheduling`]), but not where. So the analysis assumes:
//!
//! - The same part of all useful time was spent without a processor.
//! - Waits that no uneven work explains were waits for threads without a processor.

use super::before::times_of;
use super::kernel::{explained_ns, others_of_program, scheduling};
use super::ledger::Amount;
use super::settings::{self, advice_on_fewer_threads, shared, waits_actively};
use super::{
    Cause, Causes, Doubt, Facts, Kind, Place, contention, reductions, small, spinning, tasks,
};
use crate::analysis::remedy::EXPLAINED_WAIT_SHARE;
use crate::analysis::words::{count, percent, time};
use crate::model::Scheduling;

/// Threads without a processor are only reported if at least this percentage of the run can be
/// won. Every machine has something else to do now and then.
pub(super) const NO_PROCESSOR_PERCENT: f64 = 5.0;

/// More threads than processors are only reported if at least this percentage of the run can be won.
/// Their turns on the processors end at different times. That alone can look like a loss of half as much.
const CROWDED: f64 = 10.0;

/// The part of the time that threads were ready from which on a machine is too busy to judge waits, if
/// they had no processor for as long: even if most of that time was in waits.
const VERY_BUSY: f64 = 0.5;

/// Linux lets a thread keep its processor for this long at least while others wait for it, in nanoseconds.
const SLICE_NS: u64 = 1_000_000;

/// Work counts as different if the most work of a thread is more than this many times the
/// least.
const UNEVEN_FACTOR: f64 = 1.1;

/// Beside other programs, it must be this many times the least. The processors' caches are shared, too.
const UNEVEN_FACTOR_WHEN_BUSY: f64 = 1.5;

/// Threads that ran for less than this part of the time for which the processors could have run them
/// wait by yielding, mostly for each other.
const HARDLY_RAN: f64 = 0.25;

/// About how long Linux lets a thread run while others wait for its processor, in nanoseconds.
const TURN_NS: f64 = 4e6;

/// Whether a cause is a machine so busy that nothing else is to be said first.
pub(super) fn was_busy(cause: &Cause) -> bool {
    let ran = cause.number("ran_percent") as f64;
    cause.kind == Kind::NoProcessor && ran <= 100.0 * (1.0 - VERY_BUSY)
}

/// Adjusts the causes by the time that threads lost because they had no processor.
pub(super) fn weigh(facts: &Facts<'_, '_>, causes: &mut Causes) {
    let Some(scheduling) = scheduling(facts) else {
        return;
    };
    let without = part(scheduling.ready_ns, scheduling.run_ns);
    let kind = kind(facts, &scheduling);
    doubt_short_waits(facts, kind, &scheduling, &mut causes.list);
    // Threads that mostly sleep are ready for a large part of the time that they are awake.
    let is_long = facts.share(scheduling.ready_ns as f64) >= NO_PROCESSOR_PERCENT;
    let is_busy = kind == Kind::NoProcessor && without >= VERY_BUSY && is_long;
    doubt_what_others_may_cause(facts, kind, is_busy, &mut causes.list);
    let mut list = causes.list.clone();
    let mut amount = useful_without(facts, kind, &scheduling);
    amount += serial_without(facts, &scheduling, &mut list);
    amount += by_chance(facts, kind, &scheduling, &mut list);
    if kind == Kind::Oversubscription {
        amount += turns_without_processor(facts, &mut list);
    }
    let win = match kind {
        Kind::NoProcessor => amount.likely,
        _ => amount.upper,
    };
    let least = match kind {
        Kind::Oversubscription => CROWDED,
        _ => NO_PROCESSOR_PERCENT,
    };
    if facts.share(win) < least && !is_busy {
        return;
    }
    if kind == Kind::NoProcessor {
        let most = scheduling.ready_ns as f64 - amount.likely;
        amount += within_others(facts, &scheduling, most.max(0.0), &mut list);
        amount = amount.at_most(most_when_quiet(facts));
        if facts.share(amount.likely) < NO_PROCESSOR_PERCENT && !is_busy {
            return;
        }
    }
    if is_busy {
        doubt_what_is_not_evident(facts, &scheduling, &mut list);
    }
    // The program's own threads keep each other waiting, too.
    let ran = (1.0 - without) * facts.overheads.threads as f64;
    let hardly_ran = ran < HARDLY_RAN * f64::from(facts.profile.run.processors);
    let is_nothing_evident = !list.iter().any(Cause::is_worth_a_line);
    let block_each_other = is_busy && facts.is_crowded() && hardly_ran && is_nothing_evident;
    causes.list = list;
    amount.lost = scheduling.ready_ns;
    let processors = processors(facts, kind, &scheduling);
    let evidence = [
        ("ran_percent", (100.0 * (1.0 - without)).round() as u64),
        ("ready_ns", scheduling.ready_ns),
        ("processors", processors),
        ("threads", facts.overheads.threads),
    ];
    // Teams with too many threads may already be a cause, found by what they cost. Both are one
    // cause.
    let mut known = causes.list.iter_mut();
    if let Some(teams) = known.find(|it| it.kind == kind) {
        teams.add(facts, amount);
        teams.evidence.extend_from_slice(&evidence);
        return;
    }
    let mut say = |kind: Kind| {
        let (what, remedy) = finding_and_remedy(facts, kind, without, processors);
        let cause = facts.cause_of(kind, Place::everywhere(), amount);
        let cause = cause.showing(&evidence).saying(what, remedy);
        causes.list.push(cause);
    };
    say(kind);
    if block_each_other {
        say(Kind::Oversubscription);
    }
}

/// Marks causes as doubtful that other programs may have produced: too few tasks on a very busy
/// machine, and small regions whose threads may have lacked processors.
fn doubt_what_others_may_cause(
    facts: &Facts<'_, '_>,
    kind: Kind,
    is_busy: bool,
    causes: &mut [Cause],
) {
    let is_doubted = |it: &&mut Cause| {
        // LLVM's threads wait for tasks by yielding, so the kernel counts them as ready, too.
        let few_tasks = it.kind == Kind::TooFewTasks && !tasks::are_fewer_than_threads(it);
        is_busy && few_tasks || kind == Kind::NoProcessor && small::may_lack_processors(facts, it)
    };
    for cause in causes.iter_mut().filter(is_doubted) {
        cause.doubt = Doubt::ByChance;
    }
}

/// The most that a quiet machine wins, in nanoseconds: the first thread still does its own work then, and
/// sleeps as long.
fn most_when_quiet(facts: &Facts<'_, '_>) -> f64 {
    let first = facts.first_thread;
    first.map_or(f64::MAX, |first| {
        first.ready.saturating_add(first.lost) as f64
    })
}

/// Marks what threads without a processor may have caused as doubtful.
fn doubt_what_is_not_evident(facts: &Facts<'_, '_>, scheduling: &Scheduling, causes: &mut [Cause]) {
    let others = causes.iter_mut();
    for cause in others.filter(|cause| !is_evident(facts, cause, scheduling)) {
        cause.doubt = cause.doubt.max(match cause.kind {
            // The work that only one thread may do is counted, so it shows on a busy machine as
            // well.
            Kind::Atomic | Kind::Critical | Kind::Lock | Kind::SerialPart => Doubt::Short,
            // The rest of the others may be chance.
            _ => Doubt::ByChance,
        });
    }
}

/// Marks short waits as doubtful if threads were ready without a processor for as long: the
/// waits may be for such a thread. Every machine does something else now and then. Threads that
/// keep one another from running share the processors evenly, so work that differs has another reason.
fn doubt_short_waits(
    facts: &Facts<'_, '_>,
    kind: Kind,
    scheduling: &Scheduling,
    causes: &mut [Cause],
) {
    for cause in causes.iter_mut().filter(|cause| cause.is_wait) {
        let is_explained =
            kind == Kind::Oversubscription && differs(facts, cause, kind, scheduling);
        if cause.lost.ns <= explained_ns(facts, scheduling) && !is_explained {
            cause.doubt = cause.doubt.max(Doubt::Short);
        }
    }
}

/// Limits what sharing out the work of one thread wins, if there are more threads than processors: no more
/// threads than processors can do a part of it at once. A longer wait is for a processor.
pub(super) fn limit_to_processors(facts: &Facts<'_, '_>, causes: &mut [Cause]) {
    if !facts.is_crowded() {
        return;
    }
    let at_once = facts.profile.run.at_once(facts.overheads.threads).max(1) as f64;
    let is_alone = |it: &&mut Cause| matches!(it.kind, Kind::Single | Kind::Master);
    for cause in causes.iter_mut().filter(is_alone) {
        let Some(&region) = cause.place.regions.first() else {
            continue;
        };
        let alone: u64 = times_of(facts, region).iter().map(|(_, ns)| ns).sum();
        let most = alone as f64 * (at_once - 1.0) / at_once;
        cause.likely = facts.elapsed(most.min(cause.likely.ns as f64));
    }
}

/// The most elapsed time that causes can win, in nanoseconds. It is the whole run, unless there are more
/// threads than processors: then another thread computes while one waits, and even without the waits
/// the processors need as long for the work of all threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct MostToWin {
    /// By all causes together.
    pub(super) all: u64,
    /// By fewer threads alone: what keeps a processor busy is still done then.
    fewer_threads: u64,
}

impl MostToWin {
    /// By one cause.
    pub(super) fn by(&self, cause: &Cause) -> u64 {
        match cause.kind {
            Kind::Oversubscription => self.fewer_threads,
            _ => self.all,
        }
    }
}

/// The most that causes can win. System time does not count as work, as far as threads were awake while they
/// waited: LLVM's threads wait by yielding. Requests for chunks, combining reductions, atomic updates and what
/// small tasks cost occupy processors like work, but can be won.
pub(super) fn most_to_win(facts: &Facts<'_, '_>, causes: &[Cause]) -> MostToWin {
    let duration = facts.overheads.duration_ns;
    let whole = MostToWin {
        all: duration,
        fewer_threads: duration,
    };
    let Some(scheduling) = scheduling(facts) else {
        return whole;
    };
    if !facts.is_crowded() || kind(facts, &scheduling) == Kind::Affinity {
        return whole;
    }
    let lost_in = |is_it: &dyn Fn(&Cause) -> bool| -> f64 {
        let its = causes.iter().filter(|cause| is_it(cause));
        its.map(|cause| cause.lost.ns as f64).sum()
    };
    // The profile counts requests as work, and so what it takes to combine parts of a reduction.
    let requests = lost_in(&|it| it.kind == Kind::SmallChunks);
    let reductions = causes.iter().map(reductions::combining_ns).sum::<u64>() as f64;
    let is_update = |it: &Cause| it.kind == Kind::Atomic || contention::is_taken_at_once(facts, it);
    let updates = lost_in(&is_update);
    // The time of untimed updates is that of short ones, during which a thread kept its processor.
    let untimed_updates =
        lost_in(&|it| is_update(it) && contention::are_mostly_untimed(facts, &it.place.regions));
    // While one thread executes all tasks of a taskloop, the others do not run.
    let tasks = lost_in(&|it| it.kind == Kind::SmallTasks && !tasks::are_kept(it));
    let computing = useful(facts) + facts.overheads.serial.ns as f64 + updates + tasks;
    let awake = awake_in_waits(facts, &scheduling) as u64;
    let waited = spun(facts, &scheduling).max(facts.profile.run.system_ns.min(awake));
    let ran = scheduling.run_ns.saturating_sub(waited) as f64;
    // Threads that polled had a processor for the same part of their time as the others.
    let all = facts.overheads.whole_sum.total.ns as f64 + facts.overheads.serial.ns as f64;
    let polling = lost_in(&spinning::is_polling) / all.max(1.0);
    let ran = ran * (1.0 - polling).max(0.0);
    let removed = requests + reductions + updates + tasks - untimed_updates;
    let processors = f64::from(facts.profile.run.processors);
    let rest = |needed: f64| duration.saturating_sub((needed.max(0.0) / processors) as u64);
    let without_holds = computing - held_too_long(facts);
    let part = removed / without_holds.max(1.0);
    MostToWin {
        all: rest(ran.min(without_holds) * (1.0 - part) - untimed_updates),
        fewer_threads: rest(ran.min(computing)),
    }
}

/// By how much estimates of holds exceed the run, of resources that one thread holds at a time, in nanoseconds:
/// a thread that holds one may lose its processor.
fn held_too_long(facts: &Facts<'_, '_>) -> f64 {
    let duration = facts.overheads.duration_ns;
    let guards = facts.profile.contention.iter();
    let too_long = guards.map(|guard| guard.held_ns(u64::MAX) - guard.held_ns(duration));
    too_long.sum::<u64>() as f64
}

/// The time for which threads waited and did not sleep, in nanoseconds: they spun or yielded.
fn awake_in_waits(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> f64 {
    let awake = scheduling.run_ns.saturating_add(scheduling.ready_ns) as f64;
    let computing = useful(facts) + facts.overheads.serial.ns as f64;
    (awake - computing).max(0.0)
}

/// The time for which threads spun on a processor, in nanoseconds. With more threads than
/// processors the runtimes let a waiting thread sleep or yield. Only with
/// `OMP_WAIT_POLICY=active` it spins.
fn spun(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> u64 {
    if !waits_actively(facts) {
        return 0;
    }
    let ran = 1.0 - part(scheduling.ready_ns, scheduling.run_ns);
    (awake_in_waits(facts, scheduling) * ran) as u64
}

/// The part of a thread's ready and running time in which it did not run.
fn part(ready: u64, run: u64) -> f64 {
    ready as f64 / (ready as f64 + run as f64).max(1.0)
}

/// The part of a busy time in which threads had no processor. It is at most the ready time per
/// thread that the kernel reports: sleeping threads are not ready.
fn time_without_processor(busy: f64, ready: u64, run: u64, threads: u32) -> f64 {
    (busy * part(ready, run)).min(ready as f64 / f64::from(threads.max(1)))
}

/// Why threads had no processor.
fn kind(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> Kind {
    let run = &facts.profile.run;
    let threads = facts.overheads.threads;
    let binds = [
        "OMP_PROC_BIND",
        "OMP_PLACES",
        "GOMP_CPU_AFFINITY",
        "KMP_AFFINITY",
    ];
    let is_set = binds.iter().any(|name| run.settings.contains_key(*name));
    let is_bound = is_set || settings::is_process_bound(run);
    let allowed = u64::from(scheduling.processors);
    match u64::from(run.processors) {
        _ if is_bound && allowed > 0 && allowed < threads => Kind::Affinity,
        0 => Kind::NoProcessor,
        processors if threads > processors => {
            match can_block_each_other(scheduling, threads, processors) {
                true => Kind::Oversubscription,
                false => Kind::NoProcessor,
            }
        }
        _ => Kind::NoProcessor,
    }
}

/// Other programs run now and then. So the time that threads were ready without a processor may
/// exceed, by up to this factor, the time that the program's own threads explain. Threads that
/// wait by yielding are ready all the time.
const MOST_UNEXPLAINED: f64 = 1.25;

/// Whether the program's own threads can explain the time without a processor. While all of
/// them are ready, `threads - processors` of them have no processor.
fn can_block_each_other(scheduling: &Scheduling, threads: u64, processors: u64) -> bool {
    let without = threads.saturating_sub(processors);
    let most = scheduling.run_ns as f64 * without as f64 / processors.max(1) as f64;
    scheduling.ready_ns as f64 <= MOST_UNEXPLAINED * most
}

fn processors(facts: &Facts<'_, '_>, kind: Kind, scheduling: &Scheduling) -> u64 {
    match kind {
        Kind::Affinity => u64::from(scheduling.processors),
        _ => u64::from(facts.profile.run.processors),
    }
}

/// Thread time of teams that was useful work, in nanoseconds.
fn useful(facts: &Facts<'_, '_>) -> f64 {
    let sum = &facts.overheads.whole_sum;
    let lost = sum.overhead.ns as f64 + sum.untold.ns as f64;
    (sum.total.ns as f64 - lost).max(0.0)
}

/// The loss of useful time in teams because threads had no processor.
fn useful_without(facts: &Facts<'_, '_>, kind: Kind, scheduling: &Scheduling) -> Amount {
    let had = facts.overheads.whole_sum.total.ns as f64;
    let useful = useful(facts);
    let elapsed = facts.overheads.coverage.ns as f64 * useful / had.max(1.0);
    let Scheduling {
        threads,
        run_ns,
        ready_ns,
        ..
    } = *scheduling;
    let lost = time_without_processor(elapsed, ready_ns, run_ns, threads);
    let likely = match kind {
        // With fewer threads, the processors still have the same total work to do.
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

/// With a processor all the time, the serial part is shorter. So less of it is left to win.
fn serial_without(facts: &Facts<'_, '_>, scheduling: &Scheduling, causes: &mut [Cause]) -> Amount {
    let serial = facts.overheads.serial.ns as f64;
    let (ready, run) = (scheduling.first_ready_ns, scheduling.first_run_ns);
    let likely = time_without_processor(serial, ready, run, 1);
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

/// Other causes also contain time without a processor. A thread that holds a lock or starts a
/// team lacks a processor for the same part of its time as a thread that works, unless it sleeps. All
/// of them together lose at most `most` nanoseconds: the ready time that nothing else explains.
fn within_others(
    facts: &Facts<'_, '_>,
    scheduling: &Scheduling,
    most: f64,
    causes: &mut [Cause],
) -> Amount {
    let part = part(scheduling.ready_ns, scheduling.run_ns);
    let mut amount = Amount::default();
    let others = causes.iter_mut().filter(|it| it.kind != Kind::SerialPart);
    for cause in others {
        let mut likely = part * cause.likely.ns as f64;
        if cause.kind == Kind::Ordered {
            // Turns cost no more than the time in ordered regions. Longer waits are for a thread
            // that had no processor before its turn.
            let longer = cause.likely.ns as f64 - cause.number("held_ns") as f64;
            likely = likely.max(longer);
        }
        likely = likely.min(most - amount.likely);
        amount.likely += likely;
        amount.upper += likely;
        if !is_evident(facts, cause, scheduling) {
            cause.likely = facts.elapsed(cause.likely.ns as f64 - likely);
        }
    }
    amount
}

/// Moves waits for turns in ordered regions that last as long as a thread keeps its processor: the thread
/// whose turn it was waited for a processor, while others looked whether it had gone on.
fn turns_without_processor(facts: &Facts<'_, '_>, causes: &mut [Cause]) -> Amount {
    let mut amount = Amount::default();
    let is_long = |it: &&mut Cause| {
        it.kind == Kind::Ordered && it.lost.ns >= it.number("times").saturating_mul(SLICE_NS)
    };
    for cause in causes.iter_mut().filter(is_long) {
        let longer = cause.likely.ns.saturating_sub(cause.number("held_ns")) as f64;
        amount.likely += longer;
        amount.upper += longer;
        cause.likely = facts.elapsed(cause.likely.ns as f64 - longer);
    }
    amount
}

/// Moves doubtful waits to the machine's cause, up to the amount that it explains: for each
/// thread without a processor, all other threads may wait. Where threads share processors in
/// turns, no thread is always late for that reason. Work that differs in sum, and a thread that
/// is always late, then have a reason of their own.
fn by_chance(
    facts: &Facts<'_, '_>,
    kind: Kind,
    scheduling: &Scheduling,
    causes: &mut [Cause],
) -> Amount {
    let others = facts.overheads.threads.saturating_sub(1);
    let mut explains = scheduling.ready_ns.saturating_mul(others);
    let mut amount = Amount::default();
    let is_doubted = |cause: &&mut Cause| match cause.doubt {
        Doubt::ByChance => true,
        Doubt::LateThread => kind != Kind::Oversubscription,
        Doubt::None | Doubt::Short => false,
    };
    for cause in causes.iter_mut().filter(is_doubted) {
        if differs(facts, cause, kind, scheduling) {
            continue;
        }
        let lost = cause.lost.ns.min(explains);
        explains -= lost;
        // A wait that the machine mostly explains has no other reason.
        let part = match lost as f64 / cause.lost.ns.max(1) as f64 {
            EXPLAINED_WAIT_SHARE.. => 1.0,
            part => part,
        };
        amount.likely += part * cause.likely.ns as f64;
        amount.upper += part * cause.upper.ns as f64;
        let rest = (1.0 - part) * cause.likely.ns as f64;
        cause.likely = facts.elapsed(rest);
    }
    amount
}

/// Whether the evidence of a cause does not depend on which thread had a processor when, while other
/// programs ran. Then the cause and the busy machine lose the same time, and either remedy wins it.
fn is_evident(facts: &Facts<'_, '_>, cause: &Cause, scheduling: &Scheduling) -> bool {
    match cause.kind {
        Kind::Critical | Kind::Lock => contention::mostly_wait(facts, cause),
        Kind::Ordered => {
            let in_turns = cause.number("held_ns") as f64 * facts.overheads.threads as f64;
            in_turns >= useful(facts)
        }
        Kind::SmallRegions => !small::may_lack_processors(facts, cause),
        Kind::SmallLoops | Kind::SmallTasks | Kind::SmallChunks => true,
        Kind::Oversubscription | Kind::Reduction | Kind::Single | Kind::Master => true,
        Kind::TooFewTasks => tasks::are_fewer_than_threads(cause),
        _ => differs(facts, cause, Kind::NoProcessor, scheduling),
    }
}

/// Whether the sums of the threads' work differ by more than chance. Each thread's turns on a
/// processor last about [`TURN_NS`] and add up independently of those of other threads. So the
/// difference that chance makes grows with the square root of the number of turns. Other programs may
/// also keep one thread from running more than the others.
fn differs(facts: &Facts<'_, '_>, cause: &Cause, kind: Kind, scheduling: &Scheduling) -> bool {
    let (most, least) = (
        cause.number("most_ns") as f64,
        cause.number("least_ns") as f64,
    );
    let ready = scheduling.ready_ns as f64 / f64::from(scheduling.threads.max(1));
    let least_ratio = match kind {
        Kind::Oversubscription => UNEVEN_FACTOR,
        // A thread that seldom runs has long parts of both loops.
        Kind::NoProcessor if cause.kind == Kind::BarrierBetween => UNEVEN_FACTOR,
        Kind::NoProcessor => UNEVEN_FACTOR_WHEN_BUSY * slowdown(facts, scheduling),
        _ => return false,
    };
    most > least_ratio * least && most - least > (ready * TURN_NS).sqrt()
}

/// How many times as long as the others the thread that lacked a processor most needed for the same work.
fn slowdown(facts: &Facts<'_, '_>, scheduling: &Scheduling) -> f64 {
    let Scheduling {
        run_ns,
        ready_ns,
        most_ready_ns,
        ..
    } = *scheduling;
    let threads = facts.overheads.threads.max(2) as f64;
    let awake = (run_ns as f64 + ready_ns as f64) / threads;
    let ran = |ready: f64| (1.0 - ready / awake.max(1.0)).max(0.01);
    let others = ready_ns.saturating_sub(most_ready_ns) as f64 / (threads - 1.0);
    ran(others) / ran(most_ready_ns as f64)
}

fn finding_and_remedy(
    facts: &Facts<'_, '_>,
    kind: Kind,
    without: f64,
    processors: u64,
) -> (String, String) {
    let had = percent(100.0 * (1.0 - without));
    let threads = count(facts.overheads.threads, "thread");
    let processors = count(processors, "processor");
    let ready = scheduling(facts).map_or(0, |it| it.ready_ns);
    match kind {
        Kind::Oversubscription => (
            format!(
                "{}, and each had one for {had} of the time",
                shared(facts, facts.overheads.threads)
            ),
            advice_on_fewer_threads(facts),
        ),
        Kind::Affinity => (
            format!("{threads} were bound to {processors}, and each had one for {had} of the time"),
            settings::advice_on_binding(&facts.profile.run),
        ),
        _ => {
            let (ready, why, remedy) = match others_of_program(facts) {
                Some((ran, ready)) => {
                    let ran = time(ran);
                    let why = format!(
                        "since other threads of the program, which are not measured, ran for {ran}"
                    );
                    (ready, why, LEAVE_ROOM)
                }
                None => (ready, "since the machine was busy".to_owned(), WHEN_QUIET),
            };
            (
                format!(
                    "threads were ready to run for {} but had no processor, {why}; they had one for {had} of the time",
                    time(ready)
                ),
                remedy.to_owned(),
            )
        }
    }
}

const WHEN_QUIET: &str = "Measure again on a quiet machine; until then do not trust these times.";

const LEAVE_ROOM: &str = "Leave processors to them: start smaller teams (OMP_NUM_THREADS), or let those \
                          threads sleep when they have nothing to do.";
