//! Tables in the form of TAU's `pprof`: the timers of each thread, then their sums, means and
//! standard deviations over all threads. The tables of the kinds of constructs follow.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::timers::{APPLICATION, By, Thread, Timer, Timers};
use crate::analysis::Report;

/// A row of a table: times in nanoseconds, and counts that may be means.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    exclusive: f64,
    inclusive: f64,
    calls: f64,
    below: f64,
}

impl From<Timer> for Row {
    #[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
    fn from(timer: Timer) -> Self {
        Self {
            exclusive: timer.exclusive as f64,
            inclusive: timer.inclusive as f64,
            calls: timer.calls as f64,
            below: timer.below as f64,
        }
    }
}

impl Row {
    fn map(self, other: Self, with: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            exclusive: with(self.exclusive, other.exclusive),
            inclusive: with(self.inclusive, other.inclusive),
            calls: with(self.calls, other.calls),
            below: with(self.below, other.below),
        }
    }
}

/// The rows of a thread, by timer name.
type Rows<'t> = BTreeMap<&'t str, Row>;

/// Writes the tables.
///
/// # Errors
/// If writing to `out` fails.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for by in [By::Region, By::Construct] {
        let timers = Timers::new(report, by);
        let rows = rows(&timers);
        for (thread, rows) in timers.threads.iter().zip(&rows) {
            if by == By::Region {
                let (node, number) = (thread.rank, thread.number);
                table(
                    &format!("NODE {node};CONTEXT 0;THREAD {number}:"),
                    rows,
                    out,
                )?;
            }
        }
        let of = if by == By::Region {
            "FUNCTION"
        } else {
            "CONSTRUCT"
        };
        let count = rows.len() as f64;
        let sum = total(&rows, |row| row);
        table(&format!("{of} SUMMARY (total):"), &sum, out)?;
        let mean = sum
            .iter()
            .map(|(name, row)| (*name, row.map(*row, |sum, _| sum / count)));
        let mean: Rows<'_> = mean.collect();
        table(&format!("{of} SUMMARY (mean):"), &mean, out)?;
        // A thread without a timer counts as zero.
        let square = total(&rows, |row| row.map(row, |a, b| a * b));
        let deviation = |square: f64, mean: f64| (square / count - mean * mean).max(0.0).sqrt();
        let deviations = mean.iter().map(|(name, mean)| {
            let square = square.get(name).copied().unwrap_or_default();
            (*name, square.map(*mean, deviation))
        });
        table(
            &format!("{of} SUMMARY (std. dev.):"),
            &deviations.collect(),
            out,
        )?;
    }
    Ok(())
}

fn rows(timers: &Timers) -> Vec<Rows<'_>> {
    let of_thread = |thread: &Thread| {
        let mut rows = Rows::from([(APPLICATION, thread.application.into())]);
        for (name, timer) in timers.flat(thread) {
            rows.insert(&timers.names[name], timer.into());
        }
        rows
    };
    timers.threads.iter().map(of_thread).collect()
}

fn total<'t>(threads: &[Rows<'t>], of: impl Fn(Row) -> Row) -> Rows<'t> {
    let mut total = Rows::new();
    for (name, row) in threads.iter().flatten() {
        let sum: &mut Row = total.entry(name).or_default();
        *sum = sum.map(of(*row), |sum, more| sum + more);
    }
    total
}

/// A table, the largest times first.
fn table(title: &str, rows: &Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let rule = "-".repeat(99);
    writeln!(out, "{title}\n{rule}")?;
    writeln!(
        out,
        "%Time    Exclusive    Inclusive       #Call      #Subrs    Inclusive  Name\n\
         {:>18}{:>13}{:>37}\n{rule}",
        "msec", "total msec", "usec/call"
    )?;
    let whole = rows.get(APPLICATION).map_or(0.0, |row| row.inclusive);
    let mut sorted: Vec<(&&str, &Row)> = rows.iter().collect();
    sorted.sort_by(|a, b| b.1.inclusive.total_cmp(&a.1.inclusive));
    for (name, row) in sorted {
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        writeln!(
            out,
            "{:>5.1} {:>12.3} {:>12.3} {:>11} {:>11} {:>12.3}  {name}",
            100.0 * ratio(row.inclusive, whole),
            row.exclusive / 1e6,
            row.inclusive / 1e6,
            number(row.calls),
            number(row.below),
            ratio(row.inclusive, row.calls) / 1e3,
        )?;
    }
    writeln!(out)
}

/// A count, or a mean of counts.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
