//! The region profiles of the text report: flat, and per call path.

use std::io::{self, Write};

use super::call_graph::Shown;
use super::layout::{COLUMN_WIDTH, Format, Line, banner, decimals_beside, more, thread_width};
use super::place;
use super::shown_parts::{ShownParts, outliers};
use crate::analysis::{CallGraph, Report, Table};
use crate::columns::Column;
use crate::printable::printable;
use crate::report::sink::TextSink;

/// For call paths longer than twice this number, only this many regions at both ends are shown.
const LONGEST_END: usize = 16;
pub(super) fn flat(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    banner("Romp Flat Region Profile (inclusive data)", out)?;
    let layout = Layout::new(report, shown_parts);
    let (tables, hidden) = shown_parts.of(&report.flat, |table| Some(table.region));
    for (index, profile) in tables.into_iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        layout.region(profile.region, "", out)?;
        layout.table(profile, out)?;
    }
    more(hidden, "more region", out)
}

pub(super) fn on_call_paths(
    report: &Report<'_>,
    shown: &Shown,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    // The profiles of call paths repeat the numbers above, path by path.
    if !shown_parts.is_whole() && (shown_parts.leaves_out() || shown.leaves_out()) {
        return Ok(());
    }
    banner("Romp Callgraph Region Profiles (incl./excl. data)", out)?;
    let layout = Layout::new(report, shown_parts);
    for index in shown.paths() {
        if index > 0 {
            writeln!(out)?;
        }
        writeln!(out, "[*00] {}", printable(&report.profile.run.application))?;
        let path = callers(&report.call_graph, index);
        for (level, step) in path.iter().rev().enumerate() {
            let level = level + 1;
            if level > LONGEST_END && level + LONGEST_END <= path.len() {
                if level == LONGEST_END + 1 {
                    writeln!(out, "      ... {} more", path.len() - 2 * LONGEST_END)?;
                }
                continue;
            }
            let mark = if report.call_graph.paths[*step].is_leaf {
                '='
            } else {
                '+'
            };
            let region = report.call_graph.paths[*step].region;
            layout.region(region, &format!("[{mark}{level:02}] "), out)?;
        }
        layout.table(&report.on_call_paths.table(index), out)?;
    }
    Ok(())
}

/// A call path and its callers, innermost first.
fn callers(graph: &CallGraph, path: usize) -> Vec<usize> {
    std::iter::successors(Some(path), |&path| graph.paths[path].caller).collect()
}

/// The settings that all tables of a report share.
struct Layout<'a> {
    report: &'a Report<'a>,
    shown_parts: &'a ShownParts,
    /// Names of threads, right-aligned for their column.
    threads: Vec<String>,
    thread_width: usize,
}

impl<'a> Layout<'a> {
    fn new(report: &'a Report<'a>, shown_parts: &'a ShownParts) -> Self {
        let thread_width = thread_width(report);
        let threads = report
            .threads
            .iter()
            .map(|name| format!("{name:>thread_width$}"))
            .collect();
        Self {
            report,
            shown_parts,
            threads,
            thread_width,
        }
    }

    fn region(&self, region: usize, mark: &str, out: &mut TextSink<'_>) -> io::Result<()> {
        let label = &self.report.labels[region];
        let kind = label.kind.row().full_name;
        write!(out, "{mark}{} {} {kind}", label.id, place(label))?;
        match self.report.not_measured(region) {
            Some(what) => writeln!(out, "  ({what})"),
            None => writeln!(out),
        }
    }

    fn table(&self, table: &Table, out: &mut TextSink<'_>) -> io::Result<()> {
        let spread = table.spread();
        let [_, _, (_, largest)] = &spread;
        let formats = formats(table, largest);
        let mut line = Line::default();
        line.right("TID", self.thread_width);
        for (column, format) in table.columns.iter().zip(&formats) {
            line.right(column.name, format.width);
        }
        line.end(out)?;
        let is_short = self.shown_parts.shows_threads(table);
        for (thread, cells) in table.rows().filter(|_| is_short) {
            line.text(&self.threads[thread]);
            numbers(&mut line, table, cells, &formats).end(out)?;
        }
        for (name, cells) in spread.iter().filter(|_| !is_short) {
            line.right(name, self.thread_width);
            numbers(&mut line, table, cells, &formats).end(out)?;
        }
        line.right("SUM", self.thread_width);
        numbers(&mut line, table, &table.sum, &formats);
        if is_short {
            return line.end(out);
        }
        line.text(&format!("  of {} threads, see CSV", table.threads.len()));
        line.end(out)?;
        let outliers = outliers(table);
        if !outliers.is_empty() {
            writeln!(out, "Unlike the others:")?;
        }
        for (thread, cells) in outliers {
            line.text(&self.threads[thread]);
            numbers(&mut line, table, cells, &formats).end(out)?;
        }
        Ok(())
    }
}

fn numbers<'l>(
    line: &'l mut Line,
    table: &Table,
    cells: &[u64],
    formats: &[Format],
) -> &'l mut Line {
    for ((&cell, &format), column) in cells.iter().zip(formats).zip(&table.columns) {
        match table.is_known(column) {
            true => line.number(cell, format),
            false => line.right("-", format.width),
        };
    }
    line
}

fn formats(table: &Table, largest: &[u64]) -> Vec<Format> {
    let is_time = |column: &Column| !column.quantity.is_count();
    let columns = || table.columns.iter().zip(largest);
    let times = columns()
        .filter(|(column, _)| is_time(column))
        .map(|(_, &cell)| cell);
    let largest_time = times.max().unwrap_or(0);
    columns()
        .zip(&table.sum)
        .map(|((column, &cell), &sum)| {
            let decimals = is_time(column).then(|| decimals_beside(cell, largest_time));
            Format::fitting(column.name, decimals, sum, COLUMN_WIDTH)
        })
        .collect()
}
