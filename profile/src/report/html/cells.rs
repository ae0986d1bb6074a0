//! The cells of the three trees: the time of each thread on each call path, by metric, as
//! columns of numbers. The program stands in front of the call paths. In this order:
//!
//! ```text
//! for each path: number of entries
//! for each entry: threads passed over since the one before, in its path; thread 0
//!                 stands for threads that are not told apart, the others follow
//! for each entry: bits of the metrics that are not 0
//! for each metric: its values, entry by entry
//! ```
//!
//! The metrics are the parts of thread time, the number of executions, and the run's counters.
//! The size of a page is limited. So call paths with little time only have the sum over all
//! threads. All sums stay the same.

use std::collections::HashMap;

use super::sections::{Columns, width};
use crate::analysis::{PARTS, Report, Severities, Severity};
use crate::identity::pairs;

/// The largest size of the cells in bytes, before compression.
const BUDGET: usize = 2_300_000;

/// The most counters that a page shows. A browser's numbers have exact bits for this many
/// counters, besides the other metrics.
pub(super) const MOST_COUNTER_COLUMNS: usize = 28;

/// The values of one thread on one call path, by metric.
struct Entry {
    /// 0, or the index of the thread plus one.
    thread: u64,
    values: Vec<u64>,
}

impl Entry {
    fn of(severity: Severity) -> Self {
        let values = severity.parts.into_iter().chain([severity.count]);
        Self {
            thread: severity.thread.map_or(0, |thread| thread as u64 + 1),
            values: values
                .chain(severity.counters.into_iter().take(MOST_COUNTER_COLUMNS))
                .collect(),
        }
    }

    fn is_zero(&self) -> bool {
        self.values.iter().all(|value| *value == 0)
    }

    /// A bit mask of the metrics that are not 0.
    fn mask(&self, metrics: usize) -> u64 {
        let bits = self.values.iter().take(metrics).enumerate();
        bits.filter(|(_, value)| **value > 0)
            .fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    fn width(&self) -> usize {
        let values = self.values.iter().filter(|value| **value > 0);
        1 + width(self.mask(self.values.len())) + values.map(|value| width(*value)).sum::<usize>()
    }

    fn add(&mut self, other: &Self) {
        let missing = other.values.len().saturating_sub(self.values.len());
        self.values.resize(self.values.len() + missing, 0);
        for (sum, value) in self.values.iter_mut().zip(&other.values) {
            *sum = sum.saturating_add(*value);
        }
    }
}

/// The cells as columns, and the number of call paths that do not tell threads apart. If a page
/// has several runs, each run gets an equal part of the space.
pub(super) fn cells(report: &Report<'_>, runs: usize) -> (Columns, usize) {
    let severities = report.severities();
    let paths = report.call_graph.paths.len();
    let of = |path: usize| one_per_thread(entries(&severities, path));
    write(report, paths + 1, of, BUDGET / runs.max(1))
}

/// The cells of another run, on the call paths and threads of this run. The last path collects
/// everything that is on none of them.
pub(super) fn cells_of_other(
    other: &Report<'_>,
    report: &Report<'_>,
    runs: usize,
) -> (Columns, usize) {
    let severities = other.severities();
    let gone = report.call_graph.paths.len() + 1;
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); gone + 1];
    from[0].push(0);
    for (path, there) in paths_in(other, report).into_iter().enumerate() {
        from[there.map_or(gone, |path| path + 1)].push(path + 1);
    }
    let threads: HashMap<&str, u64> = report
        .threads
        .iter()
        .zip(1..)
        .map(|(name, number)| (name.as_str(), number))
        .collect();
    let here = |thread: u64| {
        let index = usize::try_from(thread).unwrap_or(0).checked_sub(1)?;
        threads.get(other.threads[index].as_str()).copied()
    };
    let of = |path: usize| {
        let all = from[path].iter();
        let mut all: Vec<Entry> = all.flat_map(|path| entries(&severities, *path)).collect();
        for entry in &mut all {
            entry.thread = here(entry.thread).unwrap_or(0);
        }
        one_per_thread(all)
    };
    write(report, gone + 1, of, BUDGET / runs.max(1))
}

/// The call paths of this run that correspond to those of another run: below the same
/// constructs.
fn paths_in(other: &Report<'_>, report: &Report<'_>) -> Vec<Option<usize>> {
    let mut same: Vec<Option<usize>> = vec![None; other.labels.len()];
    for pair in pairs(&other.profile.regions, &report.profile.regions) {
        if let (Some(before), Some(after)) = (pair.before, pair.after) {
            same[before] = Some(after);
        }
    }
    let paths = report.call_graph.paths.iter().enumerate();
    let known: HashMap<(Option<usize>, usize), usize> = paths
        .rev()
        .map(|(index, path)| ((path.caller, path.region), index))
        .collect();
    let mut there: Vec<Option<usize>> = Vec::with_capacity(other.call_graph.paths.len());
    for path in &other.call_graph.paths {
        let caller = match path.caller {
            None => Some(None),
            Some(caller) => there[caller].map(Some),
        };
        let found = caller.zip(same[path.region]);
        there.push(found.and_then(|place| known.get(&place).copied()));
    }
    there
}

fn entries(severities: &Severities<'_, '_>, path: usize) -> Vec<Entry> {
    let entries: Vec<Severity> = match path.checked_sub(1) {
        None => severities.of_program(),
        Some(path) => severities.of_path(path).collect(),
    };
    let entries = entries.into_iter().map(Entry::of);
    entries.filter(|entry| !entry.is_zero()).collect()
}

/// One entry per thread, in order.
fn one_per_thread(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(|entry| entry.thread);
    entries.dedup_by(|next, entry| {
        let is_same = next.thread == entry.thread;
        if is_same {
            entry.add(next);
        }
        is_same
    });
    entries
}

/// Writes the entries of the given number of paths within a budget.
fn write(
    report: &Report<'_>,
    paths: usize,
    of: impl Fn(usize) -> Vec<Entry>,
    budget: usize,
) -> (Columns, usize) {
    let told = worth_telling((0..paths).map(|path| weight(&of(path))).collect(), budget);
    let counters = report.profile.run.counters.len().min(MOST_COUNTER_COLUMNS);
    let mut table = Table::new(PARTS.len() + 1 + counters);
    for (path, is_told) in told.iter().enumerate() {
        let entries = of(path);
        match *is_told || entries.is_empty() {
            true => table.add(&entries),
            false => table.add(&[sum(&entries)]),
        }
    }
    let folded = told.iter().filter(|is_told| !**is_told).count();
    (table.columns(), folded)
}

/// The time of a call path, and its size in bytes.
fn weight(entries: &[Entry]) -> (u64, usize) {
    let times = entries
        .iter()
        .flat_map(|entry| &entry.values[..PARTS.len()]);
    let time = times.fold(0, |sum: u64, ns| sum.saturating_add(*ns));
    (time, entries.iter().map(Entry::width).sum())
}

/// Which call paths tell threads apart: those with the most time, as long as there is space.
fn worth_telling(weights: Vec<(u64, usize)>, budget: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|path| std::cmp::Reverse(weights[*path].0));
    let mut told = vec![false; weights.len()];
    let mut room = budget;
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

/// Columns under construction.
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
            self.masks.push(entry.mask(self.values.len()));
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
        let told = worth_telling(vec![(5, 50), (9, 50), (1, 10), (0, 0)], 100);
        assert_eq!(told, [true, true, false, true]);
        assert_eq!(worth_telling(vec![(5, 100), (9, 1)], 100), [false, true]);
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
