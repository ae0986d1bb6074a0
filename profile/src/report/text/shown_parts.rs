//! Chooses the parts of a large run that the text report shows: the regions with the most to
//! win, and the threads that differ from the others.

use std::cmp::Reverse;

use crate::analysis::{Report, Table};
use crate::columns::{Column, Quantity};
use crate::report::sink::TextSink;

/// If there are more regions than this, only this many are shown.
pub(super) const MOST_REGIONS: usize = 20;
/// If there are more threads than this, only the least, mean and largest value are shown.
const MOST_THREADS: usize = 16;
/// The same limit if everything is shown: nobody would read further rows, and the file would
/// have many megabytes.
const MOST_ROWS: usize = 64;
/// The most unusual threads that are named.
const MOST_OUTLIERS: usize = 4;
/// A time is unusual if its distance from the median is more than this many times the usual
/// one.
const UNUSUAL: f64 = 6.0;
/// The distance must also be at least this percentage of the region's mean time per thread.
const LEAST_OFF: f64 = 5.0;

/// Which regions are shown.
#[derive(Debug)]
pub(super) struct ShownParts {
    is_shown: Vec<bool>,
    is_whole: bool,
    /// Whether regions that ran are left out.
    leaves_out: bool,
}

impl ShownParts {
    /// Shows everything if the user asked for it, or chose what is shown.
    pub(super) fn new(report: &Report<'_>, sink: &TextSink<'_>) -> Self {
        let number = report.labels.len();
        let is_whole = sink.is_whole() || report.shown.is_some();
        let mut shown_parts = Self {
            is_shown: vec![true; number],
            is_whole,
            leaves_out: !is_whole && report.flat.len() > MOST_REGIONS,
        };
        // A large program has many constructs that a run does not reach.
        if !is_whole && number > MOST_REGIONS {
            shown_parts.is_shown = vec![false; number];
            for region in most(report) {
                shown_parts.is_shown[region] = true;
            }
        }
        shown_parts
    }

    pub(super) fn shows(&self, region: usize) -> bool {
        self.is_shown.get(region).copied().unwrap_or(true)
    }

    /// Whether everything was asked for.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether regions that ran are left out.
    pub(super) fn leaves_out(&self) -> bool {
        self.leaves_out
    }

    /// Whether regions that did not run are left out.
    pub(super) fn leaves_out_unreached(&self) -> bool {
        !self.leaves_out && self.is_shown.contains(&false)
    }

    /// The rows of the shown regions, and the number of omitted rows.
    pub(super) fn of<'r, R>(
        &self,
        rows: &'r [R],
        region: impl Fn(&R) -> Option<usize>,
    ) -> (Vec<&'r R>, usize) {
        let is_shown = |row: &&R| region(row).is_none_or(|region| self.shows(region));
        let shown: Vec<&R> = rows.iter().filter(is_shown).collect();
        let hidden = rows.len() - shown.len();
        (shown, hidden)
    }

    /// Whether the threads of a table are shown one by one.
    pub(super) fn shows_threads(&self, table: &Table) -> bool {
        let most = if self.is_whole {
            MOST_ROWS
        } else {
            MOST_THREADS
        };
        table.threads.len() <= most
    }
}

/// The regions with the most to win, then those that lost most, then those that took the most
/// time.
fn most(report: &Report<'_>) -> Vec<usize> {
    let number = report.labels.len();
    let (mut win, mut lost) = (vec![0_u64; number], vec![0_u64; number]);
    for cause in &report.causes.list {
        for region in &cause.place.regions {
            win[*region] = win[*region].saturating_add(cause.likely.ns);
        }
    }
    for place in &report.overheads.places {
        lost[place.region] = lost[place.region].saturating_add(place.lost.ns);
    }
    // In the order of their thread time, which decides between equal ones.
    let mut regions: Vec<usize> = report.flat.iter().map(|table| table.region).collect();
    regions.sort_by_key(|region| Reverse((win[*region], lost[*region])));
    regions.truncate(MOST_REGIONS);
    regions
}

/// The rows of unusual threads, the most unusual first. A thread is unusual if, in some column
/// of times that matters, its distance from the median is much larger than the median distance.
pub(super) fn outliers(table: &Table) -> Vec<(usize, &[u64])> {
    let exec = table.columns.iter().zip(&table.sum);
    let largest = exec.filter(|(column, _)| column.quantity == Quantity::ExecTime);
    let whole = largest.map(|(_, sum)| *sum).max().unwrap_or(0) as f64;
    let least = LEAST_OFF / 100.0 * whole / table.threads.len().max(1) as f64;
    let mut off = vec![0.0_f64; table.threads.len()];
    let is_time = |column: &Column| !column.quantity.is_count();
    for (index, _) in table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| is_time(column))
    {
        let times: Vec<f64> = table.rows().map(|(_, cells)| cells[index] as f64).collect();
        let middle = median(&times);
        let distances: Vec<f64> = times.iter().map(|time| (time - middle).abs()).collect();
        let usual = median(&distances).max(1.0);
        for (off, distance) in off.iter_mut().zip(&distances) {
            if *distance > least && *distance > UNUSUAL * usual {
                *off = off.max(*distance);
            }
        }
    }
    let rows = table.rows().zip(off);
    let mut unlike: Vec<_> = rows.filter(|(_, off)| *off > 0.0).collect();
    unlike.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    unlike.truncate(MOST_OUTLIERS);
    unlike.into_iter().map(|(row, _)| row).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}
