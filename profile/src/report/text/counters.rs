//! The values of formulas over counters. The counters themselves are columns of the region
//! profiles.

use std::io::{self, Write};

use super::layout::{COLUMN_WIDTH, Line, banner, more, prose, thread_width};
use super::place;
use super::shown_parts::ShownParts;
use crate::analysis::{Derived, Report};
use crate::report::sink::TextSink;

pub(super) fn write(
    report: &Report<'_>,
    shown_parts: &ShownParts,
    out: &mut TextSink<'_>,
) -> io::Result<()> {
    let formulas = &report.formulas;
    if formulas.is_empty() && formulas.problems.is_empty() {
        return Ok(());
    }
    banner("Romp Derived Counters", out)?;
    for problem in &formulas.problems {
        prose(&format!("Note: {problem}"), 6, out)?;
    }
    let names: Vec<&str> = formulas.names().collect();
    let width = |name: &str| (name.chars().count() + 1).max(COLUMN_WIDTH);
    let tid = thread_width(report);
    let (tables, hidden) = shown_parts.of(&report.flat, |table| Some(table.region));
    for table in tables.into_iter().filter(|_| !names.is_empty()) {
        let label = &report.labels[table.region];
        let kind = label.kind.row().full_name;
        writeln!(out, "{} {} {kind}", label.id, place(label))?;
        let mut line = Line::default();
        line.right("TID", tid);
        for name in &names {
            line.right(name, width(name));
        }
        line.end(out)?;
        let mut row = |title: &str, values: &Derived| {
            line.right(title, tid);
            for (name, value) in names.iter().zip(values) {
                line.right(&shown(*value), width(name));
            }
            line.end(out)
        };
        for (thread, cells) in table.rows().filter(|_| shown_parts.shows_threads(table)) {
            row(&report.threads[thread], &formulas.values(table, cells))?;
        }
        row("SUM", &formulas.values(table, &table.sum))?;
        writeln!(out)?;
    }
    more(hidden, "more region", out)
}

/// The value with four significant digits; a dash if there is no value.
fn shown(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) if value.abs() >= 1e6 || value.abs() < 1e-3 => format!("{value:.3e}"),
        Some(value) => {
            // No logarithm is used: a measured program may not be linked with the mathematics
            // library.
            let mut decimals = 3;
            let mut rest = value.abs();
            while rest >= 10.0 && decimals > 0 {
                rest /= 10.0;
                decimals -= 1;
            }
            while rest < 1.0 {
                rest *= 10.0;
                decimals += 1;
            }
            format!("{value:.decimals$}")
        }
    }
}
