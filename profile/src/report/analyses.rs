//! The results of the analyses as JSON, for other programs: the same as in the text report,
//! with numbers that are not rounded. Times are integer nanoseconds, shares are percent, and
//! efficiencies are from 0 to 1. Indices refer to the list of regions or of threads.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::analysis::{
    Barrier, Cause, Contended, Decomposition, Derived, Efficiency, Lateness, LossPlace,
    OverheadRow, PARTS, Parts, Property, Report, Share, Spread,
};
use crate::overheads::Category;
use crate::printable::write_pretty_json;

/// Value of `schema` in the output.
pub const SCHEMA: &str = "romp-analysis";
/// Value of `version`; raised when readers must change.
pub const VERSION: u32 = 1;

/// Writes the analyses.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let overheads = &report.overheads;
    let whole = json!({
        "schema": SCHEMA,
        "version": VERSION,
        "run": report.profile.run,
        "headline": report.summary.headline,
        "summary": report.summary.lines,
        "causes": list(&report.causes.list, cause),
        "notes": report.causes.notes,
        "doubtful": report.causes.doubtful.as_ref().map(cause),
        "regions": regions(report),
        "threads": report.threads,
        "coverage": share(overheads.coverage),
        "serial": share(overheads.serial),
        "idle": share(overheads.idle),
        "small_teams": share(overheads.small_teams),
        "untold": share(overheads.untold),
        "untold_places": list(&overheads.untold_places, |place| {
            let is = match place.is_outside {
                true => "measured as a whole",
                false => "work or waiting",
            };
            with_region(json!({ "is": is, "time": share(place.time) }), place.region)
        }),
        "parts": parts_of_thread_time(report),
        "threads_at_once": overheads.threads,
        "threads_at_once_are_least": overheads.threads_are_least,
        "places": list(&overheads.places, place),
        "thread_time_ns": overheads.thread_time_ns,
        "overheads": list(&overheads.of_whole, overhead),
        "overheads_sum": overhead(&overheads.whole_sum),
        "properties": list(&report.properties, property),
        "efficiency": json!({
            "program": report.efficiency.program.as_ref().map(efficiency),
            "levels": list(&report.efficiency.levels, efficiency),
            "regions": list(&report.efficiency.regions, |(region, of)| {
                with_region(efficiency(of), *region)
            }),
        }),
        "decomposition": report.decomposition().map(|row| decomposition(&row)).collect::<Value>(),
        "dilation": dilation(report),
        "derived": derived(report),
        "instance_times": list(&report.spreads, spread),
        "last_arrivals": list(&report.lateness, lateness),
        "contention": list(&report.contention, contended),
    });
    write_pretty_json(&mut *out, &whole)?;
    writeln!(out)
}

/// The parts of the thread time, which add up to it.
fn parts_of_thread_time(report: &Report<'_>) -> Value {
    let sum = report.severities().sum();
    let parts = PARTS.iter().zip(sum);
    parts
        .map(|(row, ns)| {
            let part = share(Share::of(ns, report.overheads.thread_time_ns));
            (row.id.to_owned(), part)
        })
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The values of formulas over counters, by region: for all threads, and for each thread.
fn derived(report: &Report<'_>) -> Value {
    let names: Vec<&str> = report.formulas.names().collect();
    let values = |values: &Derived| -> Value {
        let values = names.iter().zip(values);
        values
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let tables = report.flat.iter().filter(|_| !names.is_empty());
    tables
        .map(|table| {
            let of = |cells: &[u64]| values(&report.formulas.values(table, cells));
            let threads = table.rows().map(|(thread, cells)| {
                let mut row = of(cells);
                row["thread"] = thread.into();
                row
            });
            json!({
                "region": table.region,
                "sum": of(&table.sum),
                "threads": threads.collect::<Vec<_>>(),
            })
        })
        .collect()
}

fn list<T>(values: &[T], value: impl Fn(&T) -> Value) -> Value {
    values.iter().map(value).collect()
}

fn with_region(mut value: Value, region: usize) -> Value {
    value["region"] = region.into();
    value
}

fn share(share: Share) -> Value {
    json!({ "ns": share.ns, "percent": share.percent })
}

fn regions(report: &Report<'_>) -> Value {
    let all = report.labels.iter().zip(&report.profile.regions);
    all.map(|(label, region)| {
        json!({
            "id": label.id,
            "type": label.kind.row().full_name,
            "file": label.file,
            "first": label.first,
            "last": label.last,
            "name": label.name,
            "function": region.function,
        })
    })
    .collect()
}

fn overhead(row: &OverheadRow) -> Value {
    let known = |part: Share| match row.is_outside {
        true => Value::Null,
        false => share(part),
    };
    let mut value = json!({
        "region": row.region,
        "total": share(row.total),
        "overhead": known(row.overhead),
        "untold": share(row.untold),
    });
    for (category, part) in Category::ALL.into_iter().zip(row.by_category) {
        value[category.name()] = known(part);
    }
    value
}

fn place(place: &LossPlace) -> Value {
    json!({
        "region": place.region,
        "where": place.cost.place,
        "category": place.category.name(),
        "lost": share(place.lost),
        "estimated": place.is_estimated,
    })
}

/// A cause. Elapsed times are in nanoseconds, and in percent of the run's duration.
fn cause(cause: &Cause) -> Value {
    let evidence = cause.evidence.iter();
    let evidence = evidence.map(|(name, value)| ((*name).to_owned(), json!(value)));
    json!({
        "kind": cause.kind.row().name,
        "title": cause.kind.row().title,
        "where": cause.place.words,
        "regions": cause.place.regions,
        "category": cause.category.map(Category::name),
        "lost": share(cause.lost),
        "win": json!({ "likely": share(cause.likely), "upper": share(cause.upper) }),
        "evidence": evidence.collect::<serde_json::Map<_, _>>(),
        "estimated": cause.is_estimated,
        "what": cause.what,
        "remedy": cause.remedy,
    })
}

fn property(property: &Property) -> Value {
    json!({
        "name": property.row.name,
        "region": property.region,
        "severity": share(property.severity),
        "sentence": property.sentence(),
    })
}

fn efficiency(of: &Efficiency) -> Value {
    let known = |factor: f64| (!of.is_untold()).then_some(factor);
    json!({
        "efficiency": known(of.total),
        "balance": known(of.load_balance),
        "rest": known(of.rest),
        "useful_ns": of.useful_ns,
        "untold_ns": of.untold_ns,
        "time_ns": of.time_ns,
    })
}

fn decomposition(row: &Decomposition) -> Value {
    json!({
        "region": row.region,
        "barrier_is": row.barrier.name(),
        "threads": list(&row.threads, |of| parts(of, row.barrier)),
    })
}

fn parts(parts: &Parts, barrier: Barrier) -> Value {
    let known = |ns: u64| (barrier != Barrier::Hidden).then_some(ns);
    json!({
        "thread": parts.thread,
        "count": parts.count,
        "time_ns": parts.time_ns,
        "before_ns": known(parts.before_ns),
        "work_ns": known(parts.work_ns),
        "waits_ns": known(parts.waits_ns),
        "barrier_ns": known(parts.barrier_ns),
        "after_ns": known(parts.after_ns),
        "imbalance_percent": parts.imbalance,
    })
}

fn dilation(report: &Report<'_>) -> Value {
    let Some(dilation) = &report.dilation else {
        return Value::Null;
    };
    json!({
        "pair_cost_ps": dilation.pair_cost_ps,
        "pairs": dilation.pairs,
        "passed_pair_cost_ps": dilation.passed_pair_cost_ps,
        "passed_pairs": dilation.passed_pairs,
        "waited_ns": dilation.waited_ns,
        "cost": share(dilation.cost),
        "regions": list(&dilation.regions, |row| json!({
            "region": row.region,
            "pairs": row.pairs,
            "passed_pairs": row.passed_pairs,
            "cost": share(row.cost),
        })),
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
        "histogram": spread.histogram,
    })
}

fn lateness(lateness: &Lateness) -> Value {
    json!({
        "region": lateness.region,
        "part": lateness.part,
        "instances": lateness.instances,
        "pattern": lateness.pattern.name(),
        "threads": list(&lateness.threads, |thread| json!({
            "thread": thread.thread,
            "last": thread.last,
            "percent": thread.percent,
            "late_ns": thread.late_ns,
            "after_first_ns": thread.after_first_ns,
        })),
    })
}

fn contended(of: &Contended) -> Value {
    json!({
        "guard": of.guard,
        "acquisitions": of.acquisitions,
        "timed": of.timed,
        "waited": of.waited,
        "wait": share(of.wait),
        "hold": share(of.hold),
    })
}
