//! The cells of the three trees: what each thread's time was on each call path, as
//! columns of numbers. The program stands in front of the call paths.
//!
//! ```text
//! for each path: number of entries
//! for each entry: threads passed over since the one before, in its path; thread 0
//!                 stands for threads that are not told apart, the others follow
//! for each entry: bits of the metrics that are not 0
//! for each metric: its values, entry by entry
//! ```
//!
//! Metrics are the parts of thread time, executions, and the run's counters. What a
//! page may hold is bounded: of call paths that are not worth their bytes there is
//! the sum over the threads alone, so that all sums stay what they are.

use super::sections::{Columns, width};
use crate::analysis::{PARTS, Report, Severity};

/// Bytes of cells before they are deflated.
const BUDGET: usize = 2_300_000;

/// How many of a run's counters a page shows: bits of a number that a browser knows
/// exactly are left for them.
pub(super) const MOST_COUNTERS: usize = 28;

/// What one thread did on one call path, metric by metric.
struct Entry {
    /// 0, or the index of the thread and one.
    thread: u64,
    values: Vec<u64>,
}

impl Entry {
    fn of(severity: Severity) -> Self {
        let values = severity.parts.into_iter().chain([severity.count]);
        Self {
            thread: severity.thread.map_or(0, |thread| thread as u64 + 1),
            values: values
                .chain(severity.counters.into_iter().take(MOST_COUNTERS))
                .collect(),
        }
    }

    fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0)
    }

    fn mask(&self) -> u64 {
        let bits = self.values.iter().enumerate();
        bits.filter(|(_, value)| **value > 0)
            .fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    fn width(&self) -> usize {
        let values = self.values.iter().filter(|value| **value > 0);
        1 + width(self.mask()) + values.map(|value| width(*value)).sum::<usize>()
    }

    fn add(&mut self, other: &Self) {
        let missing = other.values.len().saturating_sub(self.values.len());
        self.values.resize(self.values.len() + missing, 0);
        for (sum, value) in self.values.iter_mut().zip(&other.values) {
            *sum = sum.saturating_add(*value);
        }
    }
}

/// The cells as columns, and how many call paths do not tell threads apart.
pub(super) fn cells(report: &Report<'_>) -> (Columns, usize) {
    let severities = report.severities();
    let paths = report.call_graph.paths.len();
    let of = |path: usize| -> Vec<Entry> {
        let entries = match path.checked_sub(1) {
            None => severities.of_program(),
            Some(path) => severities.of_path(path).collect(),
        };
        let entries = entries.into_iter().map(Entry::of);
        let mut entries: Vec<Entry> = entries.filter(|entry| !entry.is_zero()).collect();
        entries.sort_by_key(|entry| entry.thread);
        entries.dedup_by(|next, entry| {
            let is_same = next.thread == entry.thread;
            if is_same {
                entry.add(next);
            }
            is_same
        });
        entries
    };
    let told = worth_telling((0..=paths).map(|path| weight(&of(path))).collect());
    let counters = report.profile.run.counters.len().min(MOST_COUNTERS);
    let mut table = Table::new(PARTS.len() + 1 + counters);
    for (path, is_told) in told.iter().enumerate() {
        let entries = of(path);
        match is_told {
            true => table.add(&entries),
            false => table.add(&[sum(&entries)]),
        }
    }
    let folded = told.iter().filter(|is_told| !**is_told).count();
    (table.columns(), folded)
}

/// The time of a call path, and its bytes.
fn weight(entries: &[Entry]) -> (u64, usize) {
    let times = entries
        .iter()
        .flat_map(|entry| &entry.values[..PARTS.len()]);
    let time = times.fold(0, |sum: u64, ns| sum.saturating_add(*ns));
    (time, entries.iter().map(Entry::width).sum())
}

/// Which call paths tell threads apart: those with most time, as long as there is
/// room.
fn worth_telling(weights: Vec<(u64, usize)>) -> Vec<bool> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|path| std::cmp::Reverse(weights[*path].0));
    let mut told = vec![false; weights.len()];
    let mut room = BUDGET;
    for path in order {
        let bytes = weights[path].1;
        told[path] = bytes <= room;
        room = room.saturating_sub(bytes);
    }
    told
}

fn sum(entries: &[Entry]) -> Entry {
    let mut sum = Entry {
        thread: 0,
        values: Vec::new(),
    };
    entries.iter().for_each(|entry| sum.add(entry));
    sum
}

/// Columns in the making.
struct Table {
    numbers: Columns,
    threads: Columns,
    masks: Columns,
    values: Vec<Columns>,
}

impl Table {
    fn new(metrics: usize) -> Self {
        Self {
            numbers: Columns::default(),
            threads: Columns::default(),
            masks: Columns::default(),
            values: (0..metrics).map(|_| Columns::default()).collect(),
        }
    }

    fn add(&mut self, entries: &[Entry]) {
        self.numbers.push(entries.len() as u64);
        let mut next = 0;
        for entry in entries {
            self.threads.push(entry.thread - next);
            next = entry.thread + 1;
            self.masks.push(entry.mask());
            for (value, column) in entry.values.iter().zip(&mut self.values) {
                if *value > 0 {
                    column.push(*value);
                }
            }
        }
    }

    fn columns(self) -> Columns {
        let mut columns = self.numbers;
        columns.append(self.threads);
        columns.append(self.masks);
        for values in self.values {
            columns.append(values);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_what_takes_most_time() {
        let told = worth_telling(vec![(5, BUDGET / 2), (9, BUDGET / 2), (1, 10), (0, 0)]);
        assert_eq!(told, [true, true, false, true]);
        assert_eq!(worth_telling(vec![(5, BUDGET), (9, 1)]), [false, true]);
    }

    #[test]
    fn a_sum_holds_what_all_entries_hold() {
        let entry = |thread, values: &[u64]| Entry {
            thread,
            values: values.to_vec(),
        };
        let sum = sum(&[entry(1, &[1, 2]), entry(2, &[10, 20, 30])]);
        assert_eq!((sum.thread, sum.values), (0, vec![11, 22, 30]));
    }
}
