//! How the work of a construct is spread over its threads.

use std::collections::BTreeMap;

use crate::analysis::remedy::{EXPLAINED_WAIT_SHARE, work_column};
use crate::analysis::tables::Table;
use crate::columns::Quantity;
use crate::model::Thread;

/// One thread stands out if it has more work than the next one by more than this part of the
/// next one's work.
const STANDS_OUT: f64 = 0.5;

/// Threads with equal work may differ by this part of the largest work, for reasons outside the
/// program (a copy of arrays on two processors: up to 0.1).
const SLIGHT: f64 = 0.12;

/// A thread counts as always late if it waits for less than this part of the mean wait.
const LATE_WAIT_SHARE: f64 = 0.2;

/// How the work is distributed over the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Each thread has more work than the one before.
    Rising,
    /// Each thread has less work than the one before.
    Falling,
    /// One thread has much more than all others, which have about the same.
    One,
    /// None of these.
    Uneven,
    /// The work is even: one thread came late.
    Late,
    /// The work is even in sum: threads took turns in being late.
    Turns,
}

/// The threads with the most and the least work, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) shape: Shape,
    pub(super) most: (usize, u64),
    pub(super) least: (usize, u64),
    /// The thread that waited least: it came last most often.
    pub(super) last: usize,
}

impl Spread {
    /// The most and the least work, as numbers of a cause's evidence.
    pub(super) fn evidence(&self) -> [(&'static str, u64); 2] {
        [("most_ns", self.most.1), ("least_ns", self.least.1)]
    }

    /// Whether the difference is so small that the work may be equal: processors may have
    /// different distances to memory, or other programs may use them.
    pub(super) fn is_slight(&self) -> bool {
        ((self.most.1 - self.least.1) as f64) < SLIGHT * self.most.1 as f64
    }
}

/// Work and wait of each thread of a construct.
pub(super) fn work_and_wait(table: &Table) -> Option<Vec<(usize, u64, u64)>> {
    let work = work_column(table)?;
    let wait = table.column(Quantity::BarrierTime)?;
    let tasks = table.column(Quantity::TaskTime)?;
    let rows = table.rows();
    Some(
        rows.map(|(thread, cells)| (thread, cells[work] + cells[tasks], cells[wait]))
            .collect(),
    )
}

/// The time for which all threads would wait for the one with the most work.
pub(super) fn uneven(rows: &[(usize, u64, u64)]) -> u64 {
    let most = rows.iter().map(|row| row.1).max().unwrap_or(0);
    rows.iter().map(|row| most - row.1).sum()
}

/// Each thread's work and wait, and the part of the waits that no uneven work explains.
pub(super) fn unexplained(table: &Table) -> (Vec<(usize, u64, u64)>, f64) {
    let rows = work_and_wait(table).unwrap_or_default();
    let waited: u64 = rows.iter().map(|row| row.2).sum();
    let part = waited.saturating_sub(uneven(&rows)) as f64 / waited.max(1) as f64;
    (rows, part)
}

/// Leaves out threads that were alone in their teams, if other teams had several threads. An inner team has one
/// thread where regions do not nest. That thread waits for no other one.
fn leave_out_alone(rows: &mut Vec<(usize, u64, u64)>, threads: &[Thread]) {
    let team = |thread: usize| {
        let Thread { rank, path } = &threads[thread];
        (*rank, path.split_last().map(|(_, forker)| forker))
    };
    let mut members: BTreeMap<_, usize> = BTreeMap::new();
    for row in &*rows {
        *members.entry(team(row.0)).or_default() += 1;
    }
    // Mostly all threads are in one team, or each has its own.
    if members.len() > 1 && members.values().any(|number| *number > 1) {
        rows.retain(|row| members[&team(row.0)] > 1);
    }
}

/// Returns none if there is nothing to compare.
pub(super) fn spread_of(table: &Table, threads: &[Thread]) -> Option<Spread> {
    let mut rows = work_and_wait(table)?;
    leave_out_alone(&mut rows, threads);
    let work = |(thread, work, _): &(usize, u64, u64)| (*thread, *work);
    let most = rows.iter().map(work).max_by_key(|it| it.1)?;
    let least = rows.iter().map(work).min_by_key(|it| it.1)?;
    let works: Vec<u64> = rows.iter().map(|(_, work, _)| *work).collect();
    let waited: u64 = rows.iter().map(|(_, _, wait)| *wait).sum();
    let &(last, _, least_wait) = rows.iter().min_by_key(|(_, _, wait)| *wait)?;
    let mean_wait = waited as f64 / rows.len() as f64;
    let shape = match (uneven(&rows) as f64) < EXPLAINED_WAIT_SHARE * waited as f64 {
        true if (least_wait as f64) < LATE_WAIT_SHARE * mean_wait => Shape::Late,
        true => Shape::Turns,
        false => shape(&works, most.1),
    };
    Some(Spread {
        shape,
        most,
        least,
        last,
    })
}

fn shape(works: &[u64], most: u64) -> Shape {
    if works.len() < 3 {
        return Shape::Uneven;
    }
    let mut others = works.to_vec();
    others.sort_unstable();
    let highest = others[others.len() - 2];
    let lowest = others[0];
    let above = (most - highest) as f64;
    if above > 2.0 * (highest - lowest) as f64 && above > STANDS_OUT * highest as f64 {
        return Shape::One;
    }
    match (works.is_sorted(), works.iter().rev().is_sorted()) {
        (true, false) => Shape::Rising,
        (false, true) => Shape::Falling,
        _ => Shape::Uneven,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_alone_in_their_teams_are_left_out() {
        let left = |paths: &[&[u32]]| {
            let thread = |path: &&[u32]| Thread {
                path: path.to_vec(),
                ..Thread::default()
            };
            let threads: Vec<Thread> = paths.iter().map(thread).collect();
            let mut rows = (0..threads.len()).map(|it| (it, 1, 1)).collect();
            leave_out_alone(&mut rows, &threads);
            rows.into_iter().map(|row| row.0).collect::<Vec<_>>()
        };
        // A region that is executed by a team, and within teams by each member alone.
        assert_eq!(left(&[&[0, 0], &[0, 1], &[0, 0, 0], &[0, 1, 0]]), [0, 1]);
        assert_eq!(left(&[&[0, 0, 0], &[0, 1, 0]]), [0, 1]);
        let inner: [&[u32]; 4] = [&[0, 0, 0], &[0, 0, 1], &[0, 1, 0], &[0, 1, 1]];
        assert_eq!(left(&inner), [0, 1, 2, 3]);
    }

    #[test]
    fn shapes_are_told_apart() {
        let of = |works: &[u64]| shape(works, works.iter().copied().max().unwrap_or(0));
        assert_eq!(of(&[10, 20, 30, 40]), Shape::Rising);
        assert_eq!(of(&[58, 42, 26, 10]), Shape::Falling);
        assert_eq!(of(&[10, 11, 60, 10]), Shape::One);
        assert_eq!(of(&[60, 10, 10, 10]), Shape::One);
        assert_eq!(of(&[10, 40, 15, 35]), Shape::Uneven);
        assert_eq!(of(&[10, 40]), Shape::Uneven);
    }
}
