//! ompP's report as text: its sections in its order, with a summary in words
//! on top.

mod counters;
mod efficiency;
mod layout;
mod overheads;
mod profiles;
mod properties;
mod ranks;
pub(super) mod waits;

use std::io::{self, Write};

use super::general_facts;
use crate::analysis::{CallPath, Execution, Label, Report, Times};
use layout::{COLUMN_WIDTH, Format, Line, PERCENT_WIDTH, banner, prose};

/// Call paths deeper than this are not indented further.
const DEEPEST_INDENT: usize = 24;
/// Width of the column of short names of kinds.
const KIND_WIDTH: usize = 8;

/// Writes the report.
///
/// # Errors
/// If `out` refuses.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    summary(report, out)?;
    general(report, out)?;
    ranks::write(report, out)?;
    overview(report, out)?;
    call_graph(report, out)?;
    profiles::flat(report, out)?;
    profiles::on_call_paths(report, out)?;
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
        prose(&format!("Note: {note}"), 6, out)?;
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

fn call_graph(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    banner("Romp Callgraph", out)?;
    let graph = &report.call_graph;
    let every = || {
        graph
            .paths
            .iter()
            .map(|path| path.times)
            .chain([graph.program])
    };
    let inclusive = every().map(|times| times.inclusive.ns).max().unwrap_or(0);
    let exclusive = every().map(|times| times.exclusive.ns).max().unwrap_or(0);
    let formats = [inclusive, exclusive].map(|ns| Format::time(ns, COLUMN_WIDTH));
    let mut line = Line::default();
    for (title, format) in ["Inclusive", "Exclusive"].into_iter().zip(formats) {
        line.right(title, format.width + 2)
            .right("(%)", PERCENT_WIDTH);
    }
    line.end(out)?;
    times(&mut line, graph.program, formats);
    line.spaces(KIND_WIDTH + 4)
        .text(&program_name(report))
        .end(out)?;
    let mut rails = Vec::new();
    for path in &graph.paths {
        let label = &report.labels[path.region];
        times(&mut line, path.times, formats);
        line.spaces(2)
            .left(label.kind.row().short_name, KIND_WIDTH)
            .spaces(2);
        branch(&mut line, path, &mut rails);
        line.text(&label.id)
            .text(" ")
            .text(&place(label))
            .text(&label.in_function())
            .end(out)?;
    }
    Ok(())
}

/// `[application: n threads]`, ompP's name of the tree's root.
fn program_name(report: &Report<'_>) -> String {
    let run = &report.profile.run;
    let noun = if run.max_threads == 1 {
        "thread"
    } else {
        "threads"
    };
    let ranks = match report.ranks.len() {
        0 => String::new(),
        ranks => format!(" of {ranks} ranks"),
    };
    format!("[{}: {} {noun}{ranks}]", run.application, run.max_threads)
}

fn times(line: &mut Line, times: Times, formats: [Format; 2]) {
    line.number(times.inclusive.ns, formats[0])
        .text(" s")
        .percent(times.inclusive.percent);
    line.number(times.exclusive.ns, formats[1])
        .text(" s")
        .percent(times.exclusive.percent);
}

/// Draws the branch that leads to a call path. `rails` says for each level
/// whether its line goes on.
fn branch(line: &mut Line, path: &CallPath, rails: &mut Vec<bool>) {
    rails.truncate(path.level - 1);
    for goes_on in rails.iter().take(DEEPEST_INDENT) {
        line.text(if *goes_on { "|  " } else { "   " });
    }
    rails.push(!path.is_last);
    if path.level > DEEPEST_INDENT {
        line.text(&format!("[level {}] ", path.level));
    }
    line.text(if path.is_last { "+-" } else { "|-" });
}
