//! The results of `romp diff` for other runs and this one, as JSON for the page. This module
//! only formats: the comparison has already decided which changes are noise.

use serde_json::{Value, json};

use crate::diff::{CauseChange, Change, ComparedRegion, Diff, Side, Status, Subject};
use crate::printable::printable;
use crate::runs::Sample;

/// The most changes of regions that a page lists. The largest stand first.
const MOST_CHANGES: usize = 600;

/// The comparison.
pub(super) fn comparison(diff: &Diff) -> Value {
    let listed = diff.regions.len().min(MOST_CHANGES);
    json!({
        "verdict": diff.verdict,
        "notes": diff.notes,
        "before": side(&diff.before),
        "after": side(&diff.after),
        "program": diff.program.iter().map(change).collect::<Value>(),
        "causes": diff.causes.iter().map(cause).collect::<Value>(),
        "regions": diff.regions[..listed].iter().map(change).collect::<Value>(),
        "left_out": diff.regions.len() - listed,
    })
}

fn side(side: &Side) -> Value {
    json!({ "application": side.application, "start": side.start, "runs": side.runs })
}

/// In nanoseconds: the median, and the interval.
fn sample(sample: Sample) -> Value {
    json!([sample.median, sample.low, sample.high])
}

fn change(change: &Change) -> Value {
    json!({
        "subject": change.subject.name(),
        "what": in_words(change.subject),
        "region": change.region.as_ref().map(region),
        "before": sample(change.before),
        "after": sample(change.after),
        "change_ns": change.change_ns as f64,
        "ratio": change.ratio,
        "noise": change.noise,
    })
}

fn cause(cause: &CauseChange) -> Value {
    json!({
        "what": format!("{} {}", cause.title, cause.place),
        "region": cause.region.as_ref().map(region),
        "status": status(cause.status),
        "before": sample(cause.before),
        "after": sample(cause.after),
        "change_ns": cause.change_ns as f64,
        "noise": cause.noise,
    })
}

fn in_words(subject: Subject) -> &'static str {
    match subject {
        Subject::WallTime => "elapsed time",
        Subject::ExecTime => "thread time, with what is called",
        Subject::Lost(category) => category.in_words(),
    }
}

/// The region's index in this run, or else its name.
fn region(region: &ComparedRegion) -> Value {
    let name = region.name.as_deref().map(printable);
    json!({
        "index": region.index,
        "words": format!(
            "{}{} {}:{}",
            region.kind.row().full_name,
            name.map_or_else(String::new, |name| format!(" \"{name}\"")),
            printable(&region.short_file),
            region.line
        ),
        "status": status(region.status),
    })
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Both => "both",
        Status::New => "new",
        Status::Vanished => "vanished",
    }
}
