//! Arrows between threads that need the events of all of them in the order of time: hand-overs of
//! locks, and dependences of tasks.

use serde_json::{Value, json};

use super::{End, MOST_ARROWS, Process, Thread};
use crate::analysis::dependences::dependences;
use crate::analysis::waits::{Name, handovers};
use crate::read::ReadError;

/// Two ends, and whatever else is told.
type Arrow = ([End; 2], Vec<Value>);

/// The arrows of one kind in all processes; none if there are too many.
pub(super) type Arrows = Option<Vec<Arrow>>;

/// The hand-overs: each with when it was asked for, and its name.
pub(super) fn handed_over(processes: &[Process<'_>]) -> Result<Arrows, ReadError> {
    let mut all = Vec::new();
    for (number, process) in processes.iter().enumerate() {
        let Some(here) = handovers(process.trace, MOST_ARROWS - all.len())? else {
            return Ok(None);
        };
        all.extend(here.iter().map(|one| {
            let end = |(thread, ticks)| ((number, thread), process.ns(ticks));
            let more = vec![json!(process.ns(one.asked)), json!(in_words(&one.name))];
            ([end(one.from), end(one.to)], more)
        }));
    }
    Ok(Some(all))
}

/// The dependences: each from the end of the task that came first to the begin of the one that
/// waited for it, with the regions of both.
pub(super) fn depended(processes: &[Process<'_>]) -> Result<Arrows, ReadError> {
    let mut all = Vec::new();
    for (number, process) in processes.iter().enumerate() {
        let Some(here) = dependences(process.trace, MOST_ARROWS - all.len())? else {
            return Ok(None);
        };
        all.extend(here.iter().map(|one| {
            let ends = [one.from, one.to].map(|end| ((number, end.thread), process.ns(end.ticks)));
            let regions = one.regions.map(|region| match process.region(region) {
                0 => Value::Null,
                region => json!(region - 1),
            });
            (ends, regions.to_vec())
        }));
    }
    Ok(Some(all))
}

/// As the page has them: the lanes and times of both ends, and the rest.
pub(super) fn written(arrows: Arrows, lane: impl Fn(Thread) -> Option<usize>) -> Vec<Value> {
    let arrows = arrows.unwrap_or_default().into_iter();
    let arrows = arrows.filter_map(|([from, to], more)| {
        let (start, end) = (lane(from.0)?, lane(to.0)?);
        let mut told = vec![json!(start), json!(from.1), json!(end), json!(to.1)];
        told.extend(more);
        Some(Value::Array(told))
    });
    arrows.collect()
}

fn in_words(name: &Name) -> String {
    match name {
        Name::Critical(name) if name.is_empty() => "critical without a name".to_owned(),
        Name::Critical(name) => format!("critical {name}"),
        Name::Lock(address) => format!("lock at {address:#x}"),
    }
}
