//! ompP's report as text: its sections in its order, after a summary in words.
//!
//! For a large run, only the important parts are shown (see `shown_parts`), and omitted parts are
//! counted. Everything is shown on request.

mod call_graph;
mod counters;
mod efficiency;
pub(crate) mod layout;
mod overheads;
mod profiles;
mod properties;
mod ranks;
mod shown_parts;
mod waits;

use std::io::{self, Write};

use super::general_facts;
use super::sink::{Style, TextSink};
use crate::analysis::{Execution, Label, Report};
use crate::printable::printable;
use layout::{Line, banner, prose};
use shown_parts::{MOST_REGIONS, ShownParts};

/// Writes the report in the form for a file. For a large run, only the important parts.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_styled(report, Style::default(), out)
}

/// Writes the report in the given style.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_styled(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut sink = TextSink::new(out, style);
    let out = &mut sink;
    let shown_parts = ShownParts::new(report, out);
    summary(report, &shown_parts, out)?;
    general(report, out)?;
    ranks::write(report, out)?;
    overview(report, &shown_parts, out)?;
    let shown = call_graph::Shown::new(&report.call_graph, &shown_parts);
    call_graph::write(report, &shown, out)?;
    profiles::flat(report, &shown_parts, out)?;
    profiles::on_call_paths(report, &shown, &shown_parts, out)?;
    counters::write(report, &shown_parts, out)?;
    overheads::write(report, &shown_parts, out)?;
    properties::write(report, &shown_parts, out)?;
    efficiency::write(report, &shown_parts, out)?;
    waits::write(report, &shown_parts, out)?;
    out.flush()
}

fn summary(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    let mut lines = report.summary.lines.iter();
    if let Some(first) = lines.next() {
        out.strong(|out| prose(first, 2, out))?;
    }
    for line in lines {
        prose(line, 2, out)?;
    }
    if shown_parts.leaves_out() {
        let shown = format!(
            "Shown below: the {MOST_REGIONS} regions with most to win of {}; romp report --all \
             shows all.",
            report.flat.len()
        );
        prose(&shown, 2, out)?;
    } else if shown_parts.leaves_out_unreached() {
        let shown = "Shown below: the regions that ran; romp report --all also lists the others.";
        prose(shown, 2, out)?;
    }
    match &report.shown {
        Some(shown) => prose(&format!("Shown below: {shown}."), 2, out),
        None => Ok(()),
    }
}

fn general(report: &Report<'_>, out: &mut TextSink<'_>) -> io::Result<()> {
    banner("Romp General Information", out)?;
    let run = &report.profile.run;
    let seconds = |ns: u64| {
        let decimals = layout::decimals(ns) as usize;
        format!("{:.decimals$} s", ns as f64 / 1e9)
    };
    let facts = general_facts(run, seconds);
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(out, "{name:<16}: {value}")?;
    }
    if run.processors > 0 {
        writeln!(out, "{:<16}: {}", "Processors", run.processors)?;
    }
    for note in &report.profile.remarks() {
        prose(&format!("Note: {}", printable(note)), 6, out)?;
    }
    Ok(())
}

fn overview(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    banner("Romp Region Overview", out)?;
    for group in &report.overview {
        let number = group.regions.len();
        let noun = if number == 1 { "region" } else { "regions" };
        writeln!(out, "{}: {number} {noun}:", group.kind.full_name)?;
        let (regions, hidden) = shown_parts.of(&group.regions, |(region, _)| Some(*region));
        for &(region, execution) in regions {
            let label = &report.labels[region];
            let mut line = Line::default();
            line.text(" * ")
                .text(&label.id)
                .text(" ")
                .text(&place(label))
                .text(&label.in_function());
            match execution {
                Execution::Measured => {}
                Execution::CountsWithSet => {
                    line.text("  counts with the call that set the lock");
                }
                Execution::Never => {
                    line.text("  did not run");
                }
            }
            line.end(out)?;
        }
        let is_unreached = |(region, execution): &&(usize, Execution)| {
            matches!(execution, Execution::Never) && !shown_parts.shows(*region)
        };
        let unreached = group.regions.iter().filter(is_unreached).count();
        if hidden > unreached {
            writeln!(out, " * and {} more", hidden - unreached)?;
        }
        if unreached > 0 {
            let and = if unreached < number { "and " } else { "" };
            writeln!(out, " * {and}{unreached} that did not run")?;
        }
        writeln!(out)?;
    }
    files(report, shown_parts, out)
}

/// The paths of the files whose names are shortened elsewhere.
fn files(report: &Report<'_>, shown_parts: &ShownParts, out: &mut TextSink<'_>) -> io::Result<()> {
    let mut files: Vec<(&str, &str)> = report
        .labels
        .iter()
        .enumerate()
        .filter(|(region, _)| shown_parts.shows(*region))
        .map(|(_, label)| (label.short_file.as_str(), label.file.as_str()))
        .filter(|(short, whole)| short != whole)
        .collect();
    files.sort_unstable();
    files.dedup();
    if files.is_empty() {
        return Ok(());
    }
    writeln!(out, "Files:")?;
    let width = files
        .iter()
        .map(|(short, _)| short.chars().count())
        .max()
        .unwrap_or(0);
    for (short, whole) in files {
        writeln!(out, " * {short:<width$}  {whole}")?;
    }
    Ok(())
}

/// `file (first-last) "name"`.
fn place(label: &Label) -> String {
    match label.shown_name() {
        Some(name) => format!("{} {name}", label.location()),
        None => label.location(),
    }
}
