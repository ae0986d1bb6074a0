//! ompP's report as text: its sections in its order, with a summary in words
//! on top.

mod call_graph;
mod counters;
mod efficiency;
pub(crate) mod layout;
mod overheads;
mod profiles;
mod properties;
mod ranks;
pub(super) mod waits;

use std::io::{self, Write};

use super::general_facts;
use crate::analysis::{Execution, Label, Report};
use crate::printable::printable;
use layout::{Line, banner, prose};

/// Writes the report.
///
/// # Errors
/// If `out` refuses.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    summary(report, out)?;
    general(report, out)?;
    ranks::write(report, out)?;
    overview(report, out)?;
    let shown = call_graph::Shown::new(&report.call_graph);
    call_graph::write(report, &shown, out)?;
    profiles::flat(report, out)?;
    profiles::on_call_paths(report, &shown, out)?;
    counters::write(report, out)?;
    overheads::write(report, out)?;
    properties::write(report, out)?;
    efficiency::write(report, out)?;
    waits::write(report, out)
}

fn summary(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for line in &report.summary.lines {
        prose(line, 2, out)?;
    }
    match &report.shown {
        Some(shown) => prose(&format!("Shown below: {shown}."), 2, out),
        None => Ok(()),
    }
}

fn general(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
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
    for note in &run.notes {
        prose(&format!("Note: {}", printable(note)), 6, out)?;
    }
    Ok(())
}

fn overview(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    banner("Romp Region Overview", out)?;
    for group in &report.overview {
        let number = group.regions.len();
        let noun = if number == 1 { "region" } else { "regions" };
        writeln!(out, "{}: {number} {noun}:", group.kind.full_name)?;
        for &(region, execution) in &group.regions {
            let label = &report.labels[region];
            let mut line = Line::default();
            line.text(" * ")
                .text(&label.id)
                .text(" ")
                .text(&place(label))
                .text(&label.in_function());
            match execution {
                Execution::Measured => {}
                Execution::CountsWithSet => drop(line.text("  counts with what set the lock")),
                Execution::Never => drop(line.text("  did not run")),
            }
            line.end(out)?;
        }
        writeln!(out)?;
    }
    files(report, out)
}

/// Where the files are whose names are shortened elsewhere.
fn files(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut files: Vec<(&str, &str)> = report
        .labels
        .iter()
        .map(|label| (label.short_file.as_str(), label.file.as_str()))
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
