//! The page's data about a run besides the cells: names, places and results of the analyses, as
//! JSON. Regions, threads and call paths are stored as columns, since there may be many of
//! them.

use serde_json::{Value, json};

use super::cells::MOST_COUNTER_COLUMNS;
use crate::analysis::{Contended, Lateness, PARTS, Report, Spread};
use crate::order;
use crate::printable::printable;
use crate::region_kind::REGION_KINDS;

/// The most instances, latecomers and similar items that are listed for one region.
const MOST_LISTED: usize = 64;

/// The model of one run. `folded` is the number of call paths that do not tell threads apart.
pub(super) fn model(report: &Report<'_>, folded: usize) -> Value {
    let run = &report.profile.run;
    let overheads = &report.overheads;
    json!({
        "version": 1,
        "application": printable(&run.application),
        "host": printable(&run.host),
        "start": printable(&run.start),
        "duration_ns": overheads.duration_ns,
        "threads_at_once": overheads.threads,
        "thread_time_ns": overheads.thread_time_ns,
        "processes": overheads.processes,
        "folded": folded,
        "metrics": metrics(report),
        "regions": regions(report),
        "threads": {
            "name": report.threads,
            "rank": list(&report.profile.threads, |thread| json!(thread.rank)),
        },
        "paths": {
            "region": list(&report.call_graph.paths, |path| path.region.into()),
            "caller": list(&report.call_graph.paths, |path| json!(path.caller)),
        },
        "properties": list(&report.properties, |property| json!({
            "name": property.row.name,
            "region": property.region,
            "ns": property.severity.ns,
            "percent": property.severity.percent,
            "sentence": property.sentence(),
        })),
        "efficiency": list(&report.efficiency.regions, |(region, of)| json!({
            "region": region,
            "total": (!of.is_untold()).then_some(of.total),
            "balance": (!of.is_untold()).then_some(of.load_balance),
            "useful_ns": of.useful_ns,
            "time_ns": of.time_ns,
        })),
        "instances": list(&report.spreads, spread),
        "arrivals": list(&report.lateness, lateness),
        "contention": list(&report.contention, contended),
    })
}

/// A run that this one is compared with.
pub(super) fn side(other: &Report<'_>) -> Value {
    let run = &other.profile.run;
    json!({
        "application": printable(&run.application),
        "start": printable(&run.start),
        "duration_ns": other.overheads.duration_ns,
        "threads_at_once": other.overheads.threads,
    })
}

fn list<T>(items: &[T], value: impl Fn(&T) -> Value) -> Value {
    items.iter().map(value).collect()
}

/// Name, group and unit of each column of the cells.
fn metrics(report: &Report<'_>) -> Value {
    let parts = PARTS.iter().map(|row| {
        let [group, name] = row.names;
        json!({ "id": row.id, "group": group, "name": name, "help": row.help, "unit": "ns" })
    });
    let counted = |id: &str, name: &str, help: &str| json!({ "id": id, "group": name, "name": name, "help": help, "unit": "" });
    let executions = counted(
        "executions",
        "Executions",
        "How often threads executed the construct.",
    );
    let counters = report
        .profile
        .run
        .counters
        .iter()
        .take(MOST_COUNTER_COLUMNS);
    let counters = counters.map(|name| {
        let name = printable(name);
        counted(
            &format!("counter-{name}"),
            &name,
            "Counted in the construct, without the regions inside.",
        )
    });
    parts.chain([executions]).chain(counters).collect()
}

fn regions(report: &Report<'_>) -> Value {
    let mut files: Vec<(&str, &str)> = Vec::new();
    for label in &report.labels {
        files.push((&label.file, &label.short_file));
    }
    order::sort_by_key(&mut files, |file| *file);
    files.dedup();
    let file = |name: &str| files.partition_point(|(file, _)| *file < name);
    let text = |text: Option<&String>| json!(text.map(|text| printable(text)));
    let labels = &report.labels;
    let regions = &report.profile.regions;
    json!({
        "files": list(&files, |(name, short)| json!([name, short])),
        "kinds": REGION_KINDS.iter().map(|row| row.full_name).collect::<Value>(),
        "kind": list(labels, |label| (label.kind as usize).into()),
        "file": list(labels, |label| file(&label.file).into()),
        "first": list(labels, |label| label.first.into()),
        "last": list(labels, |label| label.last.into()),
        "name": list(labels, |label| json!(label.name)),
        "function": list(labels, |label| json!(label.function)),
        "directive": list(regions, |region| text(region.directive.as_ref())),
        "schedule": list(regions, |region| text(region.schedule.as_ref())),
        "limits": (0..labels.len()).map(|region| json!(report.not_measured(region))).collect::<Value>(),
    })
}

fn spread(spread: &Spread) -> Value {
    json!({
        "region": spread.region,
        "part": spread.part,
        "count": spread.count,
        "min_ns": spread.min_ns,
        "mean_ns": spread.mean_ns,
        "max_ns": spread.max_ns,
        "histogram": list(&spread.histogram, |bucket| json!([
            bucket.from_ns, bucket.below_ns, bucket.count
        ])),
    })
}

fn lateness(lateness: &Lateness) -> Value {
    let most = lateness.threads.len().min(MOST_LISTED);
    json!({
        "region": lateness.region,
        "instances": lateness.instances,
        "pattern": lateness.pattern.in_words(),
        "others": lateness.threads.len() - most,
        "threads": list(&lateness.threads[..most], |thread| json!([
            thread.thread, thread.last, thread.late_ns, thread.after_first_ns
        ])),
    })
}

fn contended(of: &Contended) -> Value {
    json!({
        "kind": of.guard.kind,
        "name": of.guard.name,
        "members": of.guard.members,
        "acquisitions": of.acquisitions,
        "timed": of.timed,
        "waited": of.waited,
        "wait_ns": of.wait.ns,
        "hold_ns": of.hold.ns,
        "sites": list(&of.guard.sites, |site| json!({
            "region": site.region,
            "acquisitions": site.acquisitions,
            "waited": site.waited,
            "wait_ns": site.wait_ns,
            "max_wait_ns": site.max_wait_ns,
            "hold_ns": site.hold_ns,
            "holders": site.holders.iter().take(MOST_LISTED).map(|holder| json!([
                holder.region, holder.thread, holder.waited, holder.wait_ns
            ])).collect::<Value>(),
        })),
    })
}
