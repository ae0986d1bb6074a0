//! The results of `romp diff` for other runs and this one, as JSON for the page. This module
//! only formats: the comparison has already decided which changes are noise.

use serde_json::{Value, json};

use crate::diff::{CauseChange, Change, ComparedRegion, Diff, Side, Status, Subject};
use crate::printable::printable;
use crate::runs::Sample;

/// The most changes of regions that a page lists, and the most regions that are only in one of
/// the programs. The largest stand first.
const MOST_LISTED: usize = 600;

/// The comparison. A region that is only in one of the programs did not change: it stands in a
/// list of its own.
pub(super) fn comparison(diff: &Diff) -> Value {
    let regions: Vec<&Change> = diff.changes().collect();
    let listed = regions.len().min(MOST_LISTED);
    json!({
        "verdict": diff.verdict,
        "notes": diff.notes,
        "before": side(&diff.before),
        "after": side(&diff.after),
        "program": diff.program.iter().map(change).collect::<Value>(),
        "causes": diff.causes.iter().map(cause).collect::<Value>(),
        "regions": regions[..listed].iter().map(|one| change(one)).collect::<Value>(),
        "left_out": regions.len() - listed,
        "one_sided": one_sided(diff),
        "added": diff.one_sided.iter().filter_map(|region| region.index).collect::<Value>(),
        "is_unrelated": diff.has_nothing_in_common(),
    })
}

/// The regions that are only in one of the programs, with their thread times there.
fn one_sided(diff: &Diff) -> Value {
    let listed = diff.one_sided_times().into_iter().take(MOST_LISTED);
    let time = |change: Option<&Change>| {
        change.map_or_else(|| json!([0, 0, 0]), |change| sample(change.one_sided()))
    };
    listed
        .map(|(one, change)| json!({ "region": region(one), "time": time(change) }))
        .collect()
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
        "what": cause.in_words(),
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
        Subject::ExecTime => "thread time, with regions inside",
        Subject::Lost(category) => category.in_words(),
    }
}

/// The region's index in this run, or else its name.
fn region(region: &ComparedRegion) -> Value {
    let name = region.name.as_deref().map(printable);
    json!({
        "index": region.index,
        "words": format!(
            "{}{} {}",
            region.kind.row().full_name,
            name.map_or_else(String::new, |name| format!(" \"{name}\"")),
            printable(&region.location())
        ),
        "status": status(region.status),
        "edit": edit(region),
    })
}

/// The change in the source of a region that is in both programs.
fn edit(region: &ComparedRegion) -> Value {
    match (&region.directive_before, &region.directive) {
        (Some(before), Some(now)) => json!(format!("'{before}' became '{now}'")),
        _ => Value::Null,
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Both => "both",
        Status::New => "new",
        Status::Vanished => "vanished",
    }
}
