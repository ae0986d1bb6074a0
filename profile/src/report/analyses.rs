//! What the analyses found, as JSON for other programs: what the text report
//! says, with every number as it is. Times are integer nanoseconds, shares are
//! percent, efficiencies are from 0 to 1. Regions and threads are named by
//! their place in the lists of the same name.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::analysis::{
    Contended, Decomposition, Derived, Efficiency, Lateness, OverheadRow, Parts, Property, Report,
    Share, Spread,
};
use crate::overheads::Category;

/// Value of `schema` in what is written.
pub const SCHEMA: &str = "romp-analysis";
/// Value of `version`; raised when a reader must change.
pub const VERSION: u32 = 1;

/// Writes the analyses.
///
/// # Errors
/// If `out` refuses.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let overheads = &report.overheads;
    let whole = json!({
        "schema": SCHEMA,
        "version": VERSION,
        "run": report.profile.run,
        "summary": report.summary.lines,
        "regions": regions(report),
        "threads": report.threads,
        "coverage": share(overheads.coverage),
        "serial": share(overheads.serial),
        "idle": share(overheads.idle),
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
    serde_json::to_writer_pretty(&mut *out, &whole)?;
    writeln!(out)
}

/// What formulas make of counters, by region: of all threads, and of each.
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
    let mut value = json!({
        "region": row.region,
        "total": share(row.total),
        "overhead": share(row.overhead),
    });
    for (category, part) in Category::ALL.into_iter().zip(row.by_category) {
        value[category.name()] = share(part);
    }
    value
}

fn property(property: &Property) -> Value {
    json!({
        "name": property.row.name,
        "region": property.region,
        "severity": share(property.severity),
        "sentence": property.sentence,
    })
}

fn efficiency(of: &Efficiency) -> Value {
    json!({
        "efficiency": of.total,
        "balance": of.load_balance,
        "rest": of.rest,
        "useful_ns": of.useful_ns,
        "time_ns": of.time_ns,
    })
}

fn decomposition(row: &Decomposition) -> Value {
    json!({
        "region": row.region,
        "barrier_is": row.barrier.name(),
        "threads": list(&row.threads, parts),
    })
}

fn parts(parts: &Parts) -> Value {
    json!({
        "thread": parts.thread,
        "count": parts.count,
        "time_ns": parts.time_ns,
        "before_ns": parts.before_ns,
        "work_ns": parts.work_ns,
        "barrier_ns": parts.barrier_ns,
        "after_ns": parts.after_ns,
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
        "cost": share(dilation.cost),
        "regions": list(&dilation.regions, |row| json!({
            "region": row.region,
            "pairs": row.pairs,
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
        "waited": of.waited,
        "wait": share(of.wait),
        "hold": share(of.hold),
    })
}
