//! Causes where only one thread at a time may proceed: critical sections, locks, atomics, and
//! the turns of ordered regions.

use std::collections::BTreeMap;

use super::ledger::{Entry, Ledger, largest};
use super::{Cause, Facts, Kind, Place, explains, mentions, queued};
use crate::advice::{LoopFacts, advice};
use crate::analysis::atomics::{has_many_variables, hidden_ns};
use crate::analysis::polling::reads_atomically;
use crate::analysis::tree::TreeNode;
use crate::analysis::words::{count, percent, time};
use crate::columns::Quantity;
use crate::model::{Contention, GuardKind};
use crate::overheads::Category;
use crate::region_kind::RegionKind;
use crate::schedule::Schedule;

/// Constructs for which threads queue.
const QUEUES: &[(RegionKind, Kind, &str)] = &[
    (RegionKind::Critical, Kind::Critical, "for"),
    (RegionKind::Lock, Kind::Lock, "for"),
    (RegionKind::Atomic, Kind::Atomic, "in"),
    (RegionKind::Ordered, Kind::Ordered, "in"),
];

/// A common holder or place is named if it accounts for at least this part of the waits.
const NAMED_HOLDER_SHARE: f64 = 0.7;

/// The time of an atomic update without contention, in nanoseconds: 16 to 20 cycles.
const UPDATE_NS: f64 = 4.0;

/// The most that an update then waits for one other thread, in nanoseconds. Longer waits were
/// measured only where the probes take longer than the update (Fortran).
const ONE_OTHER_NS: f64 = 5.0;

/// Entries seldom had to wait if fewer than this part of them did.
const SELDOM_WAITED_SHARE: f64 = 0.1;

/// If entries seldom had to wait, and to take the lock and to give it back took this many nanoseconds in the mean,
/// most of that was the time in which cache lines came from another processor or from memory.
const FETCHED_NS: f64 = 5.0;

/// To take a lock that is free and to give it back takes less than this many nanoseconds, also if its
/// cache line comes from another processor.
const TAKEN_NS: u64 = 500;

/// To enter a free critical section and to leave it takes up to about this many nanoseconds, if no other
/// processor had it meanwhile.
const FREE_NS: f64 = 10.0;

/// The data that a critical section protects come from another processor in about this time, in nanoseconds.
const DATA_NS: f64 = 80.0;

/// A critical section or lock is passed to another processor in at most about this time, in nanoseconds.
const HANDED_OVER_NS: u64 = 100;

/// A hot critical section or lock is only named in a note if the construct around it takes this part of the
/// thread time.
const MUCH_AROUND: f64 = 0.25;

/// Atomic updates that take this part of the thread time are mentioned, in percent.
const ATOMIC_NOTE_PERCENT: f64 = 5.0;

/// For an ordered region whose turns cannot come sooner.
const ORDERED_ONLY: &str =
    "Keep only what must happen in order in the ordered region, and do the rest before it.";

/// For an atomic update whose value is used, so that no reduction can replace it.
const CAPTURED: &str = "If the update hands out work items, take many of them at once, for example 1000, or \
                        let the schedule of a loop hand them out.";

/// One cause for each thing that threads queue for.
pub(super) fn queues(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let mut causes = Vec::new();
    let guards = facts.profile.contention.iter();
    for guard in guards.filter(|guard| guard.kind != GuardKind::Atomic) {
        let regions: Vec<usize> = guard.sites.iter().map(|site| site.region).collect();
        let taken = ledger.take(|entry| regions.contains(&entry.region));
        causes.extend(cause(facts, ledger, taken, Some(guard)));
    }
    // No thread waits for a thread that only reads.
    ledger.take(|entry| reads_atomically(&facts.profile.regions[entry.region]));
    let queue = |entry: &Entry| QUEUES.iter().position(|(kind, ..)| entry.is_of(&[*kind]));
    // All ordered regions of a loop have the same turns, and one change ends all updates in a loop.
    let mut rest: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
    for entry in ledger.take(|entry| queue(entry).is_some()) {
        let with_others = entry.is_of(&[RegionKind::Ordered, RegionKind::Atomic]);
        let region = Some(entry.region).filter(|_| with_others);
        let place = region.and_then(|region| facts.construct_around(region));
        let place = (queue(&entry), place.unwrap_or(entry.region));
        rest.entry(place).or_default().push(entry);
    }
    for taken in rest.into_values() {
        causes.extend(cause(facts, ledger, taken, None));
    }
    causes
}

fn cause(
    facts: &Facts<'_, '_>,
    ledger: &mut Ledger,
    mut taken: Vec<Entry>,
    guard: Option<&Contention>,
) -> Option<Cause> {
    let most = largest(&taken)?.clone();
    let (_, kind, preposition) = QUEUES.iter().find(|(kind, ..)| *kind == most.cost.kind)?;
    let place = place(facts, preposition, most.region, &taken);
    let mut regions: Vec<usize> = taken.iter().map(|entry| entry.region).collect();
    regions.dedup();
    if facts.matters(&taken) {
        taken.extend(queued::waits_around(facts, ledger, &regions));
    }
    let mut cause = facts.cause(*kind, place, &taken);
    cause.category = Some(most.category);
    if *kind == Kind::Atomic {
        let likely = without_updates(facts, &regions, cause.likely.ns);
        cause.likely = facts.elapsed(likely);
        cause.is_estimated = true;
    }
    let upper = cause.upper.ns.max(held(facts, &regions, cause.likely.ns));
    cause.upper = facts.elapsed(upper as f64);
    if *kind == Kind::Critical {
        let likely = cause.likely.ns as f64 * data_factor(facts, &regions);
        cause.likely = facts.elapsed(likely.min(upper as f64));
    }
    let (what, evidence) = finding(facts, *kind, most.region, &regions, guard);
    let cause = cause.showing(&evidence);
    let is_named = facts.profile.regions[most.region].name.is_some();
    let usual = remedy(facts, *kind, most.region);
    let remedy = match kind {
        Kind::Lock if is_taken_at_once(facts, &cause) => LOCK_IN_A_LINE.to_owned(),
        Kind::Critical if !is_named && regions.len() > 1 => format!("{SHARED_LOCK} {usual}"),
        _ => usual,
    };
    Some(cause.saying(what, remedy))
}

/// Said of several critical sections without a name (OpenMP 5.2, 15.2).
const SHARED_LOCK: &str = "All unnamed critical sections exclude each other: give names to those that protect \
                           different data.";

/// Advice for a lock that is free mostly, but whose cache line another thread has.
const LOCK_IN_A_LINE: &str = "Set the lock less often. If other locks or data share its cache line, as in an \
                              array of locks, give each lock a cache line of its own.";

/// The elapsed time that the run saves without the atomic updates, in nanoseconds. `measured`
/// is the time of the updates in the measured run.
///
/// Three or more processors always have one that waits for the variable, so an update takes as
/// long as in the measured run. Of two processors, one makes several updates before the other one
/// takes the cache line. Between two probes it can't. So the model assumes that waiting for one
/// other processor takes half as long without measurement, at most [`ONE_OTHER_NS`].
fn without_updates(facts: &Facts<'_, '_>, regions: &[usize], measured: u64) -> f64 {
    let overheads = facts.overheads;
    let at_once = facts.profile.run.at_once(overheads.threads).max(1) as f64;
    let updates = column_sum(facts, regions, Quantity::ExecCount) as f64 / at_once;
    // Updates keep a processor. So their elapsed time is their thread time, divided among the
    // processors, if there are fewer of them than threads.
    let measured = measured as f64 * (overheads.threads as f64 / at_once);
    let of_many = |region: &usize| has_many_variables(facts.profile, *region);
    if regions.iter().any(of_many) {
        let hidden = regions
            .iter()
            .map(|region| hidden_ns(facts.profile, facts.tree, *region));
        return (measured - updates * hidden.max().unwrap_or(0) as f64).max(0.0);
    }
    let alone = (updates * UPDATE_NS).min(measured);
    if at_once <= 1.0 {
        return alone;
    }
    // The times of updates that nobody timed are those without probes.
    if at_once > 2.0 || are_mostly_untimed(facts, regions) {
        return measured;
    }
    alone + ((measured - alone) / 2.0).min(updates * ONE_OTHER_NS)
}

/// The time that a run saves without critical sections, per time to enter and leave them. The data that they
/// protect comes from another processor, too, so their bodies mostly wait for it.
fn data_factor(facts: &Facts<'_, '_>, regions: &[usize]) -> f64 {
    let passing = mean(facts, regions, PASSING);
    let has_other = facts.profile.run.at_once(facts.overheads.threads) > 1;
    match has_other && passing >= FREE_NS {
        true => {
            let body = mean(facts, regions, &[Quantity::BodyTime]);
            1.0 + body.min(passing).min(DATA_NS) / passing
        }
        false => 1.0,
    }
}

/// Whether most instances of some regions were not timed.
pub(super) fn are_mostly_untimed(facts: &Facts<'_, '_>, regions: &[usize]) -> bool {
    timed_of(facts, regions) < column_sum(facts, regions, Quantity::ExecCount) / 2
}

/// Whether a cause is a critical section or a lock whose time is mostly that of taking it and giving it
/// back: entries seldom had to wait, and took little time.
pub(super) fn is_taken_at_once(facts: &Facts<'_, '_>, cause: &Cause) -> bool {
    let is_guard = matches!(cause.kind, Kind::Critical | Kind::Lock);
    let timed = timed_of(facts, &cause.place.regions);
    is_guard
        && (cause.number("waited") as f64) < SELDOM_WAITED_SHARE * timed as f64
        && cause.lost.ns < TAKEN_NS.saturating_mul(cause.number("times"))
}

/// Whether most entries of a critical section or a lock had to wait, as far as they were timed.
pub(super) fn mostly_wait(facts: &Facts<'_, '_>, cause: &Cause) -> bool {
    2 * cause.number("waited") > timed_of(facts, &cause.place.regions)
}

/// How many instances of some regions were timed.
fn timed_of(facts: &Facts<'_, '_>, regions: &[usize]) -> u64 {
    regions
        .iter()
        .map(|&region| facts.instances[region][0])
        .sum()
}

/// Notes on constructs that no cause names: atomic updates that took much of the thread time, and critical
/// sections, locks and turns that threads come to very often.
pub(super) fn notes(facts: &Facts<'_, '_>, causes: &[Cause]) -> Vec<String> {
    let regions = (0..facts.profile.regions.len()).filter(|&region| !explains(causes, region));
    let note = |region| note_on_updates(facts, region).or_else(|| note_on_hot_guard(facts, region));
    regions.filter_map(note).collect()
}

/// A note on a critical section, a lock, or a turn of an ordered loop that several threads come to so often that
/// it may cost most of the time, also where no entry has to wait. A processor works ahead while it waits for a
/// cache line, but not where the clock is read. So what this costs cannot be measured where there is work of a
/// similar length.
fn note_on_hot_guard(facts: &Facts<'_, '_>, region: usize) -> Option<String> {
    let regions = &facts.profile.regions;
    let kind = regions[region].kind;
    let remedy = match kind {
        RegionKind::Critical | RegionKind::Lock => {
            "If each thread can have a copy of the protected data, try that."
        }
        RegionKind::Ordered => "Try iterations with more work in each.",
        _ => return None,
    };
    let construct = facts.construct_around(region)?;
    // One note is enough for a loop's waits and the turns that they wait for.
    let mut before = (0..region).filter(|&other| regions[other].kind == RegionKind::Ordered);
    let is_known = |other| facts.construct_around(other) == Some(construct);
    if kind == RegionKind::Ordered && before.any(is_known) {
        return None;
    }
    // A routine that makes a lock or destroys it has no such times: nobody waits for it.
    let passing = [Quantity::EnterTime, Quantity::BodyTime];
    let is_set = passing.iter().any(|part| facts.sum_of(region, *part) > 0);
    if kind == RegionKind::Lock && !is_set || facts.table(region)?.rows().count() < 2 {
        return None;
    }
    let entries = facts.sum_of(region, Quantity::ExecCount);
    let around = facts.sum_of(construct, Quantity::ExecTime);
    let each_ns = around / entries.max(1);
    let is_much = around as f64 >= MUCH_AROUND * facts.overheads.thread_time_ns as f64;
    (is_much && each_ns <= HANDED_OVER_NS).then(|| {
        format!(
            "The {} was entered {}, by each thread every {}. Passing it from one processor to another takes \
             about as long; that time cannot be separated from the work there. {remedy}",
            facts.labels[region].in_words(),
            count(entries, "time"),
            time(each_ns)
        )
    })
}

/// A note on an atomic construct that took much of the thread time.
fn note_on_updates(facts: &Facts<'_, '_>, region: usize) -> Option<String> {
    let kind = facts.profile.regions[region].kind;
    let is_read = reads_atomically(&facts.profile.regions[region]);
    if kind != RegionKind::Atomic || is_read || !has_many_variables(facts.profile, region) {
        return None;
    }
    let (ns, updates) = (
        facts.sum_of(region, Quantity::ExecTime),
        facts.sum_of(region, Quantity::ExecCount),
    );
    let waited = facts.tree.nodes.iter().filter(|node| node.region == region);
    let waited: u64 = waited.map(TreeNode::waited_in_updates).sum();
    let share = 100.0 * waited as f64 / facts.overheads.thread_time_ns.max(1) as f64;
    let threads = facts.overheads.threads.max(1);
    (share >= ATOMIC_NOTE_PERCENT).then(|| {
        format!(
            "The {} took {} of the thread time, in {} of about {}. The updates that were timed seldom waited \
             for another thread; the others may have waited. If each thread can update a copy of its own, as \
             with a reduction over an array, up to {} can be won.",
            facts.labels[region].in_words(),
            percent(share),
            count(updates, "update"),
            time(ns / updates.max(1)),
            time(waited / threads),
        )
    })
}

/// The most that can be won: the wait, and the time spent inside.
fn held(facts: &Facts<'_, '_>, regions: &[usize], likely: u64) -> u64 {
    likely
        .saturating_add(column_sum(facts, regions, Quantity::BodyTime))
        .min(facts.overheads.duration_ns)
}

/// The time to take a lock or to enter a critical section, and to give it back.
const PASSING: &[Quantity] = &[Quantity::EnterTime, Quantity::ExitTime];

/// The mean of some times over all executions of some regions, in nanoseconds.
fn mean(facts: &Facts<'_, '_>, regions: &[usize], quantities: &[Quantity]) -> f64 {
    let times = column_sum(facts, regions, Quantity::ExecCount).max(1) as f64;
    let sums = quantities
        .iter()
        .map(|it| column_sum(facts, regions, *it) as f64);
    sums.sum::<f64>() / times
}

/// The sum of a column over all threads of some regions.
fn column_sum(facts: &Facts<'_, '_>, regions: &[usize], quantity: Quantity) -> u64 {
    let of = regions.iter().map(|&region| facts.sum_of(region, quantity));
    of.sum()
}

fn place(facts: &Facts<'_, '_>, preposition: &str, region: usize, taken: &[Entry]) -> Place {
    let mut regions = vec![region];
    regions.extend(
        taken
            .iter()
            .map(|entry| entry.region)
            .filter(|it| *it != region),
    );
    regions.dedup();
    let is_atomic = facts.profile.regions[region].kind == RegionKind::Atomic;
    match regions.len() > 1 && is_atomic {
        true => facts.in_all(regions, "atomic updates"),
        false => Place {
            words: format!("{preposition} {}", facts.the(region)),
            regions,
        },
    }
}

fn finding(
    facts: &Facts<'_, '_>,
    kind: Kind,
    region: usize,
    regions: &[usize],
    guard: Option<&Contention>,
) -> (String, Vec<(&'static str, u64)>) {
    let times = column_sum(facts, regions, Quantity::ExecCount);
    let duration = facts.overheads.duration_ns;
    let mut evidence = vec![("times", times)];
    let sum = |of: fn(&crate::model::ContentionSite) -> u64| -> u64 {
        guard.iter().flat_map(|guard| &guard.sites).map(of).sum()
    };
    let held = guard.map_or(0, |guard| guard.held_ns(duration));
    let waited = sum(|site| site.waited);
    let what = match (kind, guard.map(|guard| guard.kind)) {
        (Kind::Critical | Kind::Lock, Some(GuardKind::Critical | GuardKind::Lock)) => {
            evidence.extend([("held_ns", held), ("waited", waited)]);
            let held = crate::analysis::Share::of(held, duration);
            // Several locks that are set at the same places can be held at the same time.
            let (it, in_all) = match held.percent > 100.0 {
                true => ("they were", " in all"),
                false => ("it was", ""),
            };
            let timed = timed_of(facts, regions);
            let by_sample = timed < times && waited <= timed;
            let entries = match by_sample {
                true => format!("the {timed} timed entries ({times} in all)"),
                false => format!("{times} entries"),
            };
            // Only the time of a sampled entry shows a wait for a lock that was free.
            let passing = mean(facts, regions, PASSING);
            let is_fetched =
                (waited as f64) < SELDOM_WAITED_SHARE * timed as f64 && passing >= FETCHED_NS;
            let (only, number) = match waited {
                0 => ("", "none".to_owned()),
                waited => ("only ", waited.to_string()),
            };
            let passing_it = match kind {
                Kind::Lock => "setting and unsetting it took",
                _ => "entering and leaving it took",
            };
            let waits = match is_fetched {
                // Its thread reads the clock, so an entry that is timed comes late and seldom waits.
                true if (MOSTLY_HELD..=100.0).contains(&held.percent) => format!(
                    ", and {passing_it} {} each time, mostly waiting",
                    time(passing as u64)
                ),
                true => format!(
                    "; {only}{number} of {entries} found it taken, but {passing_it} {} each time, mostly \
                     to fetch a cache line",
                    time(passing as u64)
                ),
                false => {
                    let holder = guard.map_or_else(String::new, |guard| holder(facts, guard));
                    format!(", and {number} of {entries} had to wait{holder}")
                }
            };
            format!(
                "{it} held for {} of the run{in_all}{waits}",
                percent(held.percent)
            )
        }
        (Kind::Atomic, _) => {
            let each = column_sum(facts, regions, Quantity::ExecTime) / times.max(1);
            evidence.push(("each_ns", each));
            let variable = facts.profile.regions[region].variable.as_ref();
            let variable = variable.filter(|_| regions.len() == 1);
            let of = variable.map_or_else(String::new, |variable| format!(" of {variable}"));
            format!("{}{of} took {} each", count(times, "update"), time(each))
        }
        (Kind::Ordered, _) => {
            let held = column_sum(facts, regions, Quantity::BodyTime);
            evidence.push(("held_ns", held));
            format!("threads waited for their turn, {}", count(times, "time"))
        }
        _ => format!("threads queued, {}", count(times, "time")),
    };
    (what, evidence)
}

/// Names the thread or the place that held the resource while others waited, if it was mostly
/// one of several.
fn holder(facts: &Facts<'_, '_>, guard: &Contention) -> String {
    let holders = || guard.sites.iter().flat_map(|site| &site.holders);
    let all: u64 = holders().map(|holder| holder.waited).sum();
    let mut words = String::new();
    let mut say = |waited: u64, what: String| {
        if waited as f64 >= NAMED_HOLDER_SHARE * all as f64 && all > 0 {
            let share = percent(100.0 * waited as f64 / all as f64);
            words += &format!("; in {share} of those waits, {what}");
        }
    };
    // With two threads, the holder is always the other one.
    if facts.overheads.threads > 2 {
        let threads = most(holders().filter_map(|holder| Some((holder.thread?, holder.waited))));
        if let Some((thread, waited)) = threads {
            say(waited, format!("thread {} held it", facts.threads[thread]));
        }
    }
    if guard.sites.len() > 1 {
        let regions = most(holders().map(|holder| (holder.region, holder.waited)));
        if let Some((region, waited)) = regions {
            say(waited, format!("it was held at {}", facts.the(region)));
        }
    }
    words
}

/// The number with the largest sum, and that sum. Of equal sums, the first number wins.
fn most(counts: impl Iterator<Item = (usize, u64)>) -> Option<(usize, u64)> {
    let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
    for (number, count) in counts {
        *sums.entry(number).or_default() += count;
    }
    let sums = sums.into_iter();
    sums.max_by_key(|&(number, sum)| (sum, std::cmp::Reverse(number)))
}

/// Of what is held for this percentage of the run, entries wait.
const MOSTLY_HELD: f64 = 50.0;

/// Whether the turns of an ordered region already follow each other one iteration at a time.
fn turns_come_soon(facts: &Facts<'_, '_>, region: usize) -> bool {
    let of_loop_around = facts
        .construct_around(region)
        .and_then(|around| facts.profile.regions[around].schedule.as_deref());
    of_loop_around.is_some_and(|schedule| {
        let schedule = Schedule::of(schedule);
        match schedule.chunk {
            Some(chunk) => chunk == "1",
            None => schedule.is("dynamic"),
        }
    })
}

fn remedy(facts: &Facts<'_, '_>, kind: Kind, region: usize) -> String {
    let turns_come_soon = || turns_come_soon(facts, region);
    let region = &facts.profile.regions[region];
    let doacross = || mentions(region, "depend") || mentions(region, "doacross");
    match kind {
        Kind::Ordered if doacross() => "Iterations wait for the iterations that they depend on: do more work \
                                        in each iteration, or start earlier those that others wait for."
            .to_owned(),
        Kind::Ordered if turns_come_soon() => ORDERED_ONLY.to_owned(),
        Kind::Atomic if mentions(region, "capture") => CAPTURED.to_owned(),
        _ => advice(region.kind, Category::Synch, LoopFacts::default())
            .unwrap_or_default()
            .to_owned(),
    }
}
