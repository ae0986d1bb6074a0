//! The serial part: one thread works outside of all teams.

use super::ledger::{Amount, Ledger};
use super::{Cause, Facts, Kind, Place, settings};
use crate::analysis::NEGLIGIBLE;
use crate::analysis::words::{count, percent, time};
use crate::model::Serial;
use crate::region_kind::RegionKind;

/// A function is named as the serial part if it has at least this part of the serial time.
const NAMED_FROM_SHARE: f64 = 0.5;

/// A stretch between two regions whose average is shorter than this, in nanoseconds, cannot be
/// made parallel: the loop around the regions and the measurement itself take as long.
const SHORT_STRETCH_NS: u64 = 1000;

/// The serial part, in which the other threads could have worked.
pub(super) fn serial_part(facts: &Facts<'_, '_>, _: &mut Ledger) -> Vec<Cause> {
    let overheads = facts.overheads;
    let serial = overheads.serial.ns as f64;
    if overheads.idle.ns == 0 {
        return Vec::new();
    }
    // In several processes, each process has its own threads. More threads than processors do not
    // shorten it any further.
    let at_once = facts.profile.run.at_once(overheads.threads) as f64;
    let of_each = (at_once / overheads.processes.max(1) as f64).max(1.0);
    let slept = slept(facts);
    let unmeasured = unmeasured_ns(facts);
    let others = unmeasured as f64 / (of_each - 1.0).max(1.0);
    let worth = (serial - short_stretches(facts) - slept as f64 - others).max(0.0);
    let amount = Amount {
        lost: overheads.idle.ns,
        likely: worth * (1.0 - 1.0 / of_each),
        upper: worth,
    };
    let (place, who) = place(facts);
    let one = match overheads.processes {
        1 => "one".to_owned(),
        processes => processes.to_string(),
    };
    let sleep = match slept {
        0 => String::new(),
        slept => format!(", and for {} of that none", time(slept)),
    };
    let measured = match unmeasured {
        0 => "",
        _ => " that is measured",
    };
    let what = format!(
        "for {} of {} only {one} of {} had work{measured}{who}{sleep}",
        time(overheads.serial.ns),
        time(overheads.duration_ns),
        count(overheads.threads, "thread"),
    );
    let cause = facts.cause_of(Kind::SerialPart, place, amount);
    let cause = Cause {
        begins_behind: longest(facts).and_then(|(longest, _)| longest.after),
        ..cause
    };
    let mut evidence = vec![
        ("serial_ns", overheads.serial.ns),
        ("threads", overheads.threads),
    ];
    evidence.extend((slept > 0).then_some(("slept_ns", slept)));
    let cause = cause.showing(&evidence);
    vec![cause.saying(
        what,
        "Parallelise what takes most of it, or let it overlap with parallel work.",
    )]
}

/// For how long the initial thread slept outside of teams, in nanoseconds; 0 if that is little. It waited
/// for input, output, time, or another process, and no other thread could have helped it.
pub(super) fn slept(facts: &Facts<'_, '_>) -> u64 {
    /// Sleep of less than 1/`PARTS_OF_SERIAL_TIME` of the serial time is little.
    const PARTS_OF_SERIAL_TIME: u64 = 20;
    let serial = facts.overheads.serial.ns;
    let first = facts.first_thread;
    let slept = first.map_or(0, |first| first.slept.min(serial));
    if slept > serial / PARTS_OF_SERIAL_TIME {
        slept
    } else {
        0
    }
}

/// For how long threads of a team stay awake at most when they wait for the next team, in nanoseconds: with GCC's
/// runtime.
const AWAKE_GNU_NS: u64 = 15_000_000;
/// The same with LLVM's runtime (`KMP_BLOCKTIME`).
const AWAKE_LLVM_NS: u64 = 210_000_000;

/// The time in which other threads of the program ran outside of all teams, in nanoseconds: in code that is not
/// measured. 0 if that is little, or if they may have waited for the next team.
fn unmeasured_ns(facts: &Facts<'_, '_>) -> u64 {
    /// The least part of the serial time that is mentioned.
    const LEAST_SHARE: f64 = 0.2;
    /// The least percentage of the run that the serial part must have. Of a shorter one, the processor time of
    /// other threads is not known well enough.
    const LEAST_PERCENT: f64 = 5.0;
    let (run, overheads) = (&facts.profile.run, facts.overheads);
    let Some(first) = facts.first_thread else {
        return 0;
    };
    let is_little = facts.elapsed(overheads.serial.ns as f64).percent < LEAST_PERCENT;
    if is_little || overheads.idle.ns == 0 || !settings::has_usual_waits(facts) {
        return 0;
    }
    let awake_ns = match run.calls_gnu_runtime() {
        true => AWAKE_GNU_NS,
        false => AWAKE_LLVM_NS,
    };
    // Before the first team there is no thread that waits.
    let waits = facts.profile.serial.iter().filter(|of| of.after.is_some());
    let waited: u64 = waits
        .map(|of| of.ns.min(awake_ns.saturating_mul(of.count)))
        .sum();
    let members = overheads.threads.saturating_sub(1);
    // While a smaller team works, such as that of a region whose if clause is false, the others wait, too.
    let all = overheads.coverage.ns.saturating_mul(overheads.threads);
    let left_out = all.saturating_sub(overheads.whole_sum.total.ns);
    let unmeasured = first
        .others_beside
        .saturating_sub(waited.saturating_mul(members))
        .saturating_sub(left_out);
    match unmeasured as f64 >= LEAST_SHARE * overheads.serial.ns as f64 {
        true => unmeasured,
        false => 0,
    }
}

/// A note on threads that ran outside of all that is measured.
pub(super) fn note(facts: &Facts<'_, '_>) -> Option<String> {
    let unmeasured = unmeasured_ns(facts);
    let is_much = unmeasured > 0 && facts.elapsed(unmeasured as f64).percent >= NEGLIGIBLE;
    let who = match facts.profile.run.runtimes.is_empty() {
        true => {
            "OpenMP code that was not built with rompcc, or threads that are not OpenMP threads. `romp run` \
             measures such OpenMP code, too, if the whole program was built without rompcc"
        }
        false => "threads that are not OpenMP threads",
    };
    is_much.then(|| {
        format!(
            "In the serial part, other threads of the program ran for {}, in code that is not measured: {who}.",
            time(unmeasured)
        )
    })
}

/// The time of stretches between regions that are too short to be parallel, in nanoseconds.
fn short_stretches(facts: &Facts<'_, '_>) -> f64 {
    let all = facts.profile.serial.iter();
    let between = all.filter(|of| of.after.is_some() && of.before.is_some());
    let short = between.filter(|of| of.ns < SHORT_STRETCH_NS.saturating_mul(of.count));
    short.map(|of| of.ns as f64).sum()
}

/// Where most of the serial time went. Functions, user regions or the surrounding regions show
/// this, where known.
fn place(facts: &Facts<'_, '_>) -> (Place, String) {
    let mut place = Place {
        regions: Vec::new(),
        words: "in the serial part".to_owned(),
    };
    let mut who = String::new();
    if let Some((region, share)) = function(facts) {
        place.regions.push(region);
        who = format!(", {} of that in {}", percent(share), facts.the(region));
    }
    let mut named = Vec::new();
    for (stretch, share) in stretches(facts) {
        place
            .regions
            .extend([stretch.after, stretch.before].into_iter().flatten());
        let most = match (share >= WHOLE_FROM_PERCENT, named.is_empty()) {
            (true, _) => String::new(),
            (false, true) => format!("{} of it ", percent(share)),
            (false, false) => format!("{} ", percent(share)),
        };
        named.push(format!("{most}{}", between(facts, stretch)));
    }
    if !named.is_empty() {
        place.words = format!("in the serial part, {}", named.join(" and "));
    }
    (place, who)
}

/// From this percentage on, a part is described as the whole.
const WHOLE_FROM_PERCENT: f64 = 95.0;

/// The function or user region with most of the serial time, and its percentage.
fn function(facts: &Facts<'_, '_>) -> Option<(usize, f64)> {
    let mut own = vec![0.0; facts.profile.regions.len()];
    let serial = facts.tree.nodes.iter().zip(&facts.walls.nodes);
    for (node, wall) in serial.filter(|(node, _)| node.scope.is_none()) {
        if matches!(node.kind, RegionKind::Function | RegionKind::User) {
            own[node.region] += wall.exclusive;
        }
    }
    let most = (0..own.len()).max_by(|a, b| own[*a].total_cmp(&own[*b]))?;
    let serial = facts.overheads.serial.ns as f64;
    let is_most = serial > 0.0 && own[most] >= NAMED_FROM_SHARE * serial;
    is_most.then(|| (most, (100.0 * own[most] / serial).min(100.0)))
}

/// The longest stretch between regions, if it has most of the serial time, and its percentage.
fn longest<'p>(facts: &Facts<'_, 'p>) -> Option<(&'p Serial, f64)> {
    let longest = by_share(facts).next()?;
    (longest.1 >= 100.0 * NAMED_FROM_SHARE).then_some(longest)
}

/// The longest stretch if it has most of the serial time. If not, the two longest, if they have.
fn stretches<'p>(facts: &Facts<'_, 'p>) -> Vec<(&'p Serial, f64)> {
    let two: Vec<_> = by_share(facts).take(2).collect();
    let both: f64 = two.iter().map(|(_, share)| share).sum();
    match longest(facts) {
        Some(longest) => vec![longest],
        None if both >= 100.0 * NAMED_FROM_SHARE => two,
        None => Vec::new(),
    }
}

/// The stretches between regions that are known, longest first, each with its percentage of the serial time.
fn by_share<'p>(facts: &Facts<'_, 'p>) -> impl Iterator<Item = (&'p Serial, f64)> {
    let regions = facts.labels.len();
    let known = move |region: Option<usize>| region.is_none_or(|region| region < regions);
    let all = facts.profile.serial.iter();
    let serial = all.clone().map(|of| of.ns as f64).sum::<f64>().max(1.0);
    all.filter(move |of| known(of.after) && known(of.before))
        .map(move |of| (of, 100.0 * of.ns as f64 / serial))
}

/// `between the PARALLEL at a.c:3 and the LOOP at a.c:9`.
fn between(facts: &Facts<'_, '_>, of: &Serial) -> String {
    let times = match of.count {
        0 | 1 => String::new(),
        many => format!(", {}", count(many, "time")),
    };
    match (of.after, of.before) {
        (None, None) => "all of the run".to_owned(),
        (None, Some(before)) => format!("before {}{times}", facts.the(before)),
        (Some(after), None) => format!("after {}{times}", facts.the(after)),
        (Some(after), Some(before)) if after == before => {
            format!("between executions of {}{times}", facts.the(after))
        }
        (Some(after), Some(before)) => {
            let (after, before) = (facts.the(after), facts.the(before));
            format!("between {after} and {before}{times}")
        }
    }
}
