//! Parallel efficiency and POMPROF's summary in the text report.

use std::io::{self, Write};

use super::layout::{Format, Line, banner, more, prose, region_line, room, shortened};
use super::shown_parts::ShownParts;
use crate::analysis::{Barrier, Decomposition, Efficiency, Parts, Report};
use crate::report::sink::TextSink;

/// Width of a column of times.
const TIME_WIDTH: usize = 10;
/// Width of a column of factors and percentages.
const FACTOR_WIDTH: usize = 11;

pub(super) fn write(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    let Some(program) = report.efficiency.program else {
        return Ok(());
    };
    banner("Romp Parallel Efficiency Report", out)?;
    let mut rows = vec![("whole program".to_owned(), program)];
    let levels = &report.efficiency.levels;
    for (level, efficiency) in levels.iter().enumerate().filter(|_| levels.len() > 1) {
        rows.push((format!("teams at level {}", level + 1), *efficiency));
    }
    let (regions, hidden) = shown_parts.of(&report.efficiency.regions, |(region, _)| Some(*region));
    for (region, efficiency) in regions {
        rows.push((region_line(report, *region), *efficiency));
    }
    efficiencies(&rows, out)?;
    more(hidden, "more region", out)?;
    writeln!(out)?;
    for text in EXPLANATIONS {
        prose(text, 10, out)?;
    }
    summary_view(report, shown_parts, out)
}

const EXPLANATIONS: &[&str] = &[
    "Useful  = thread time that was no overhead; Effic. = Useful / Total, or - if 2 % of the time or more may \
     be work or overhead",
    "Balance = mean useful time of a thread / largest: what an even spread of work would win",
    "Rest    = Effic. / Balance: lost to waiting in turns, contention, management, serial parts",
];

fn widest<'n>(names: impl Iterator<Item = &'n String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}

fn efficiencies(rows: &[(String, Efficiency)], out: &mut TextSink<'_>) -> io::Result<()> {
    let width = widest(rows.iter().map(|(name, _)| name));
    let largest = rows.iter().map(|(_, row)| row.time_ns).max().unwrap_or(0);
    let format = Format::time(largest, TIME_WIDTH);
    let width = room(width, 2 * format.width + 3 * FACTOR_WIDTH, out);
    let mut line = Line::default();
    line.spaces(width)
        .right("Total", format.width)
        .right("Useful", format.width);
    for (title, sign) in [("Effic.", "  "), ("Balance", " ="), ("Rest", " x")] {
        line.text(sign).right(title, FACTOR_WIDTH - 2);
    }
    line.end(out)?;
    for (name, row) in rows {
        line.left(&shortened(name, width), width)
            .number(row.time_ns, format)
            .number(row.useful_ns, format);
        for factor in [row.total, row.load_balance, row.rest] {
            match row.is_untold() {
                true => line.right("-", FACTOR_WIDTH),
                false => line.right(&format!("{factor:.3}"), FACTOR_WIDTH),
            };
        }
        line.end(out)?;
    }
    Ok(())
}

/// POMPROF's summary view: the highest value of each metric over all threads.
fn summary_view(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    let rows: Vec<Highest> = report.decomposition().map(Highest::of).collect();
    let (regions, hidden) = shown_parts.of(&rows, |row| Some(row.region));
    if regions.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nImbalance, waits, barrier and runtime, highest of any thread:"
    )?;
    let names: Vec<String> = regions
        .iter()
        .map(|row| region_line(report, row.region))
        .collect();
    let width = widest(names.iter());
    let largest = regions.iter().map(|row| row.time_ns).max().unwrap_or(0);
    let format = Format::time(largest, TIME_WIDTH);
    let width = room(width, 5 * format.width + FACTOR_WIDTH, out);
    let mut line = Line::default();
    line.spaces(width);
    for title in ["Time", "Work"] {
        line.right(title, format.width);
    }
    line.right("Imbal %", FACTOR_WIDTH);
    for title in ["Waits", "Barrier", "Runtime"] {
        line.right(title, format.width);
    }
    line.end(out)?;
    for (row, name) in regions.iter().zip(&names) {
        line.left(&shortened(name, width), width);
        row.write_cells(&mut line, format);
        line.end(out)?;
    }
    more(hidden, "more region", out)?;
    writeln!(out)?;
    for text in SUMMARY_EXPLANATIONS {
        prose(text, 10, out)?;
    }
    Ok(())
}

const SUMMARY_EXPLANATIONS: &[&str] = &[
    "Work    = useful time; Imbal % = how much more work a thread had than the thread with the least",
    "Waits   = lost at constructs inside; Barrier: waiting at the end; Runtime: getting in and out",
    "The sum is the time of a thread, without the time for which it had forked a nested team.",
];

/// The highest value of any thread, in nanoseconds and percent.
struct Highest {
    region: usize,
    barrier: Barrier,
    time_ns: u64,
    work_ns: u64,
    imbalance: Option<f64>,
    waits_ns: u64,
    barrier_ns: u64,
    runtime_ns: u64,
}

impl Highest {
    fn of(row: Decomposition) -> Self {
        Self {
            region: row.region,
            barrier: row.barrier,
            time_ns: row.highest(|parts| parts.time_ns),
            work_ns: row.highest(|parts| parts.work_ns),
            imbalance: row.highest_imbalance(),
            waits_ns: row.highest(|parts| parts.waits_ns),
            barrier_ns: row.highest(|parts| parts.barrier_ns),
            runtime_ns: row.highest(Parts::runtime_ns),
        }
    }

    fn write_cells(&self, line: &mut Line, format: Format) {
        line.number(self.time_ns, format);
        if self.barrier == Barrier::Hidden {
            line.right("-", format.width)
                .right("-", FACTOR_WIDTH)
                .right("-", format.width)
                .right("-", format.width)
                .right("-", format.width)
                .text("  (the barrier is not separated from the work)");
            return;
        }
        let imbalance = self.imbalance;
        let imbalance = imbalance.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1}"));
        line.number(self.work_ns, format)
            .right(&imbalance, FACTOR_WIDTH)
            .number(self.waits_ns, format)
            .number(self.barrier_ns, format)
            .number(self.runtime_ns, format);
        if self.barrier == Barrier::Estimated {
            line.text("  (barrier estimated)");
        }
    }
}
