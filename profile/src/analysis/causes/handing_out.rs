//! Loops whose chunks have few iterations. The runtime hands out the chunks inside the
//! construct. The time for that is estimated from the requests that were timed. If none was
//! timed, it cannot be told from work.

use super::ledger::Ledger;
use super::{Cause, Facts, Kind, explains};
use crate::analysis::words::{count, percent, time};
use crate::model::{Region, Row, Span};
use crate::region_kind::RegionKind;
use crate::schedule::Schedule;

/// A loop is only examined if all its threads together made at least this many requests for
/// chunks.
const MANY: u64 = 1000;

/// The requests are a cause if they take at least this part of the loop's time.
const PART: f64 = 0.1;

/// Such a construct is only named in a note if it lasts for at least this percentage of the
/// run.
const MUCH: f64 = 25.0;

/// A cause for each loop whose threads spend much of their time getting the next chunk.
pub(super) fn chunks(facts: &Facts<'_, '_>, _: &mut Ledger) -> Vec<Cause> {
    let elapsed = facts.elapsed_by_region();
    let cause = |(region, requests)| cause(facts, region, requests, elapsed[region]);
    let requests = facts.sums(Row::chunk_requests).into_iter().enumerate();
    requests.filter_map(cause).collect()
}

/// The cause for a loop with this elapsed time, if requests took much of its time.
fn cause(facts: &Facts<'_, '_>, region: usize, requests: Span, elapsed: f64) -> Option<Cause> {
    if requests.count < MANY {
        return None;
    }
    let (part, amount) = facts.part_of_region(region, requests.ns, elapsed)?;
    if part < PART {
        return None;
    }
    let each_ns = requests.ns / requests.count;
    let what = format!(
        "threads asked {} for the next chunk; that took an estimated {} of the loop's time, {} \
         at a time",
        count(requests.count, "time"),
        percent(100.0 * part),
        time(each_ns),
    );
    let mut cause = facts.cause_of(Kind::SmallChunks, facts.at("in", region), amount);
    cause.is_estimated = true;
    let evidence = [("requests", requests.count), ("request_each_ns", each_ns)];
    let schedule = facts.profile.regions[region].schedule.as_deref();
    let remedy = match Schedule::of(schedule.unwrap_or_default()).is("runtime") {
        true => {
            "OMP_SCHEDULE chooses how its iterations are handed out: hand out more at once, as with \
             OMP_SCHEDULE=dynamic,1000, or use OMP_SCHEDULE=static where all take the same time."
        }
        false => {
            "Hand out more iterations at once, as with schedule(dynamic,1000), or use \
             schedule(static) where all take the same time."
        }
    };
    Some(cause.showing(&evidence).saying(what, remedy))
}

/// One sentence for each such construct that lasted for much of the run and is not the place of
/// any cause.
pub(super) fn notes(facts: &Facts<'_, '_>, causes: &[Cause]) -> Vec<String> {
    let elapsed = facts.elapsed_by_region();
    let much = (0..elapsed.len())
        .filter(|&region| facts.share(elapsed[region]) >= MUCH && !explains(causes, region));
    let note = |region: usize| {
        let (does, more) = what(&facts.profile.regions[region])?;
        Some(format!(
            "The {} {does}. The time for that cannot be told from its work. If an iteration \
             takes less than a few microseconds, {more}.",
            facts.labels[region].in_words()
        ))
    };
    much.filter_map(note).collect()
}

/// What the construct does, and what to do instead.
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
