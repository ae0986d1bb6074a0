//! Loops whose chunks have few iterations. The runtime hands out the chunks inside the
//! construct. The time for that is estimated from the requests that were timed. If none was
//! timed, it cannot be separated from work.

use super::ledger::Ledger;
use super::{Cause, Facts, Kind, explains};
use crate::analysis::words::{count, percent, time};
use crate::model::{Region, Row, Span};
use crate::region_kind::RegionKind;
use crate::schedule::Schedule;

/// A loop is only examined if all its threads together made at least this many requests for
/// chunks.
const EXAMINED_FROM_REQUESTS: u64 = 1000;

/// The requests are a cause if they take at least this part of the loop's time.
const REQUESTS_SHARE: f64 = 0.1;

/// Requests take little of a loop's time if they take at most this part of it.
const LITTLE_REQUEST_SHARE: f64 = 0.01;

/// The largest chunk that is advised.
const MOST_ADVISED: u64 = 1_000_000;

/// Chunks even out the work if there are at least this many for each thread.
const SEVERAL: u64 = 10;

/// Such a construct is only named in a note if it lasts for at least this percentage of the
/// run.
const REQUEST_NOTE_PERCENT: f64 = 25.0;

/// A cause for each loop whose threads spend much of their time getting the next chunk.
pub(super) fn chunks(facts: &Facts<'_, '_>, _: &mut Ledger) -> Vec<Cause> {
    let elapsed = facts.elapsed_by_region();
    let cause = |(region, requests)| cause(facts, region, requests, elapsed[region]);
    let requests = facts.sums(Row::chunk_requests).into_iter().enumerate();
    requests.filter_map(cause).collect()
}

/// The cause for a loop with this elapsed time, if requests took much of its time.
fn cause(facts: &Facts<'_, '_>, region: usize, requests: Span, elapsed: f64) -> Option<Cause> {
    if requests.count < EXAMINED_FROM_REQUESTS {
        return None;
    }
    let (part, amount) = facts.part_of_region(region, requests.ns, elapsed)?;
    if part < REQUESTS_SHARE {
        return None;
    }
    let each_ns = requests.ns / requests.count;
    let what = format!(
        "threads asked {} for the next chunk; that took an estimated {} of the loop's time, {} each time",
        count(requests.count, "time"),
        percent(100.0 * part),
        time(each_ns),
    );
    let mut cause = facts.cause_of(Kind::SmallChunks, facts.at("in", region), amount);
    cause.is_estimated = true;
    let evidence = [("requests", requests.count), ("request_each_ns", each_ns)];
    let remedy = remedy(facts, region, requests, part);
    Some(cause.showing(&evidence).saying(what, remedy))
}

/// Advice for a loop whose requests take this part of its time.
fn remedy(facts: &Facts<'_, '_>, region: usize, requests: Span, part: f64) -> String {
    let clause = facts.profile.regions[region].schedule.as_deref();
    let clause = Schedule::of(clause.unwrap_or_default());
    let variable = facts.profile.run.settings.get("OMP_SCHEDULE");
    let (chosen, in_force) = match clause.is("runtime") {
        true => (
            "OMP_SCHEDULE, or a call of omp_set_schedule, chooses how its iterations are handed out. ",
            Schedule::of(variable.map_or("", String::as_str)),
        ),
        false => ("", clause),
    };
    let named = |schedule: &str| match clause.is("runtime") {
        true => format!("OMP_SCHEDULE={schedule}"),
        false => format!("schedule({schedule})"),
    };
    let fixed = named("static");
    let larger = match larger_chunk(facts, region, in_force, requests, part) {
        Chunk::Of(iterations) => {
            let larger = named(&format!("{},{iterations}", in_force.kind));
            format!(", as with {larger}")
        }
        Chunk::Larger => String::new(),
        Chunk::None => {
            return format!(
                "{chosen}Larger chunks would be too few: use {fixed}, or share out an outer loop instead."
            );
        }
    };
    format!(
        "{chosen}Hand out more iterations at once{larger}, or use {fixed} if all iterations take the same time."
    )
}

/// How many iterations to hand out at once.
enum Chunk {
    Of(u64),
    /// More than now. The present number is not known.
    Larger,
    /// No number is large enough to make requests few, and small enough to even out the work.
    None,
}

/// The chunks with which requests take little of the loop's time, while there are still several for
/// each thread.
fn larger_chunk(
    facts: &Facts<'_, '_>,
    region: usize,
    schedule: Schedule<'_>,
    requests: Span,
    part: f64,
) -> Chunk {
    let now = schedule.iterations_at_once();
    let (Some(now), Some(executions)) = (now, facts.most_executions(region)) else {
        return Chunk::Larger;
    };
    let wanted =
        now as f64 * (part / (1.0 - part).max(LITTLE_REQUEST_SHARE)) / LITTLE_REQUEST_SHARE;
    let wanted = (wanted as u64).clamp(1, MOST_ADVISED).next_multiple_of(10);
    // The library has no logarithm of numbers with a fraction: a program need not be linked with the
    // library of mathematics.
    let wanted = 10_u64.pow((wanted - 1).ilog10() + 1);
    let iterations = (requests.count / executions.max(1)).saturating_mul(now);
    let most = iterations / (SEVERAL * facts.overheads.threads.max(1));
    match wanted.min(most) {
        chunk if chunk >= 2 * now => Chunk::Of(first_digit(chunk)),
        _ => Chunk::None,
    }
}

/// The number with all digits but the first one set to 0: 200 of 278.
fn first_digit(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10());
    number / unit * unit
}

/// One sentence for each such construct that lasted for much of the run and is not the place of
/// any cause.
pub(super) fn notes(facts: &Facts<'_, '_>, causes: &[Cause]) -> Vec<String> {
    let elapsed = facts.elapsed_by_region();
    let requests = facts.sums(Row::chunk_requests);
    let is_known = |region: usize| requests[region].count > 0 || explains(causes, region);
    let much = (0..elapsed.len()).filter(|&region| {
        facts.share(elapsed[region]) >= REQUEST_NOTE_PERCENT && !is_known(region)
    });
    let note = |region: usize| {
        let (does, more) = what(&facts.profile.regions[region])?;
        Some(format!(
            "The {} {does}. The time for that cannot be separated from its work. If an iteration takes less \
             than a few microseconds, {more}.",
            facts.labels[region].in_words()
        ))
    };
    much.filter_map(note).collect()
}

/// A description of how the construct hands out iterations, and advice.
fn what(region: &Region) -> Option<(&'static str, &'static str)> {
    match region.kind {
        RegionKind::Loop | RegionKind::ParallelLoop => {
            let schedule = Schedule::of(region.schedule.as_deref()?);
            schedule.hands_out_one().then_some((
                "hands out one iteration at a time",
                "hand out more at once, as with schedule(dynamic,100)",
            ))
        }
        _ => None,
    }
}
