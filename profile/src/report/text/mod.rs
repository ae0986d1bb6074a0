//! ompP's report as text: its sections in its order, after a summary in words.
//!
//! For a large run, only the important parts are shown (see `worth`), and omitted parts are
//! counted. Everything is shown on request.

mod call_graph;
mod counters;
mod efficiency;
pub(crate) mod layout;
mod overheads;
mod profiles;
mod properties;
mod ranks;
mod waits;
mod worth;

use std::io::{self, Write};

use super::general_facts;
use super::page::{Page, Style};
use crate::analysis::{Execution, Label, Report};
use crate::printable::printable;
use layout::{Line, banner, prose};
use worth::{MOST_REGIONS, Worth};

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
    let mut page = Page::new(out, style);
    let out = &mut page;
    let worth = Worth::new(report, out);
    summary(report, &worth, out)?;
    general(report, out)?;
    ranks::write(report, out)?;
    overview(report, &worth, out)?;
    let shown = call_graph::Shown::new(&report.call_graph, &worth);
    call_graph::write(report, &shown, out)?;
    profiles::flat(report, &worth, out)?;
    profiles::on_call_paths(report, &shown, &worth, out)?;
    counters::write(report, &worth, out)?;
    overheads::write(report, &worth, out)?;
    properties::write(report, &worth, out)?;
    efficiency::write(report, &worth, out)?;
    waits::write(report, &worth, out)?;
    out.flush()
}

fn summary(report: &Report<'_>, worth: &Worth, out: &mut Page<'_>) -> io::Result<()> {
    let mut lines = report.summary.lines.iter();
    if let Some(first) = lines.next() {
        out.strong(|out| prose(first, 2, out))?;
    }
    for line in lines {
        prose(line, 2, out)?;
    }
    if worth.leaves_out() {
        let shown = format!(
            "Shown below: the {MOST_REGIONS} regions with most to win of {}; romp report --all \
             shows all.",
            report.flat.len()
        );
        prose(&shown, 2, out)?;
    } else if worth.leaves_out_unreached() {
        let shown = "Shown below: the regions that ran; romp report --all also lists the others.";
        prose(shown, 2, out)?;
    }
    match &report.shown {
        Some(shown) => prose(&format!("Shown below: {shown}."), 2, out),
        None => Ok(()),
    }
}

fn general(report: &Report<'_>, out: &mut Page<'_>) -> io::Result<()> {
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
    for note in &run.remarks() {
        prose(&format!("Note: {}", printable(note)), 6, out)?;
    }
    Ok(())
}

fn overview(report: &Report<'_>, worth: &Worth, out: &mut Page<'_>) -> io::Result<()> {
    banner("Romp Region Overview", out)?;
    for group in &report.overview {
        let number = group.regions.len();
        let noun = if number == 1 { "region" } else { "regions" };
        writeln!(out, "{}: {number} {noun}:", group.kind.full_name)?;
        let (regions, hidden) = worth.of(&group.regions, |(region, _)| Some(*region));
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
                Execution::CountsWithSet => drop(line.text("  counts with what set the lock")),
                Execution::Never => drop(line.text("  did not run")),
            }
            line.end(out)?;
        }
        let is_unreached = |(region, execution): &&(usize, Execution)| {
            matches!(execution, Execution::Never) && !worth.shows(*region)
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
    files(report, worth, out)
}

/// The paths of the files whose names are shortened elsewhere.
fn files(report: &Report<'_>, worth: &Worth, out: &mut Page<'_>) -> io::Result<()> {
    let mut files: Vec<(&str, &str)> = report
        .labels
        .iter()
        .enumerate()
        .filter(|(region, _)| worth.shows(*region))
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
