//! POMPROF's views as XML: a summary with the highest value of each metric for each place, and
//! a detail view with every thread at each place. Times are in nanoseconds. Imbalance is in
//! percent of the least work of a thread. An attribute is omitted if its value is not known.

use std::io::{self, Write};

use super::escape::escaped;
use super::general_facts;
use crate::analysis::{Barrier, Decomposition, Parts, Report};

/// A metric of a thread at a place: its name, and the function that gives its value.
type Metric = (&'static str, fn(&Parts) -> u64);

const METRICS: &[Metric] = &[
    ("count", |parts| parts.count),
    ("time", |parts| parts.time_ns),
];

/// Metrics that are only known if the barrier is separated from the work.
const SPLIT_METRICS: &[Metric] = &[
    ("work", |parts| parts.work_ns),
    ("waits", |parts| parts.waits_ns),
    ("barrier", |parts| parts.barrier_ns),
    ("before", |parts| parts.before_ns),
    ("after", |parts| parts.after_ns),
    ("runtime", Parts::runtime_ns),
];

/// Writes the report.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<pomprof version="1">"#)?;
    run(report, out)?;
    regions(report, out)?;
    writeln!(out, "  <summary>")?;
    for row in report.decomposition() {
        place(report, &row, out)?;
        for (name, metric) in metrics(&row) {
            highest(report, &row, name, metric, out)?;
        }
        imbalance(report, &row, out)?;
        writeln!(out, "    </place>")?;
    }
    writeln!(out, "  </summary>\n  <detail>")?;
    for row in report.decomposition() {
        place(report, &row, out)?;
        for parts in &row.threads {
            thread(report, &row, parts, out)?;
        }
        writeln!(out, "    </place>")?;
    }
    writeln!(out, "  </detail>\n</pomprof>")
}

fn metrics(row: &Decomposition) -> impl Iterator<Item = &'static Metric> {
    let split = (row.barrier != Barrier::Hidden).then_some(SPLIT_METRICS);
    METRICS.iter().chain(split.into_iter().flatten())
}

fn run(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  <run>")?;
    for (name, value) in general_facts(&report.profile.run, |ns| ns.to_string()) {
        writeln!(
            out,
            r#"    <fact name="{}" value="{}"/>"#,
            escaped(name),
            escaped(&value)
        )?;
    }
    let overheads = &report.overheads;
    writeln!(
        out,
        r#"    <sequential time="{}" percent="{}" idle="{}" small-teams="{}" untold="{}"/>"#,
        overheads.serial.ns,
        overheads.serial.percent,
        overheads.idle.ns,
        overheads.small_teams.ns,
        overheads.untold.ns
    )?;
    writeln!(out, "  </run>")
}

fn regions(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  <regions>")?;
    for (label, region) in report.labels.iter().zip(&report.profile.regions) {
        write!(
            out,
            r#"    <region id="{}" type="{}" file="{}" first="{}" last="{}""#,
            label.id,
            label.kind.row().full_name,
            escaped(&label.file),
            label.first,
            label.last
        )?;
        for (name, value) in [("name", &label.name), ("function", &region.function)] {
            if let Some(value) = value {
                write!(out, r#" {name}="{}""#, escaped(value))?;
            }
        }
        writeln!(out, "/>")?;
    }
    writeln!(out, "  </regions>")
}

fn place(report: &Report<'_>, row: &Decomposition, out: &mut dyn Write) -> io::Result<()> {
    let id = &report.labels[row.region].id;
    let barrier = row.barrier.name();
    writeln!(out, r#"    <place region="{id}" barrier-is="{barrier}">"#)
}

fn highest(
    report: &Report<'_>,
    row: &Decomposition,
    name: &str,
    metric: &fn(&Parts) -> u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(parts) = row.threads.iter().max_by_key(|parts| metric(parts)) else {
        return Ok(());
    };
    let thread = escaped(&report.threads[parts.thread]);
    writeln!(
        out,
        r#"      <highest metric="{name}" value="{}" thread="{thread}"/>"#,
        metric(parts)
    )
}

fn imbalance(report: &Report<'_>, row: &Decomposition, out: &mut dyn Write) -> io::Result<()> {
    let known = row
        .threads
        .iter()
        .filter_map(|parts| Some((parts.imbalance?, parts.thread)));
    let Some((percent, thread)) = known.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Ok(());
    };
    let thread = escaped(&report.threads[thread]);
    writeln!(
        out,
        r#"      <highest metric="imbalance" value="{percent}" thread="{thread}"/>"#
    )
}

fn thread(
    report: &Report<'_>,
    row: &Decomposition,
    parts: &Parts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = escaped(&report.threads[parts.thread]);
    write!(out, r#"      <thread path="{path}""#)?;
    for (name, metric) in metrics(row) {
        write!(out, r#" {name}="{}""#, metric(parts))?;
    }
    if let Some(percent) = parts.imbalance {
        write!(out, r#" imbalance="{percent}""#)?;
    }
    writeln!(out, "/>")
}
