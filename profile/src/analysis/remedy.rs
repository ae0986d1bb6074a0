//! Explanations of a wait that come before the advice of the table: there were no more tasks,
//! or the work was too short to be the reason for the wait.

use super::tables::Table;
use crate::advice::LoopFacts;
use crate::columns::Quantity;
use crate::model::Region;
use crate::overheads::Category;

/// A reason explains a wait if it accounts for at least this part of it.
pub(super) const EXPLAINED_WAIT_SHARE: f64 = 0.5;

/// Work explains a wait from this part of it on: a thread that has all of the work may also be
/// a little late.
const EXPLAINING_WORK_SHARE: f64 = 0.9;

/// A thread that does no more than this in an execution of a loop, in nanoseconds, hardly has an iteration.
const NEXT_TO_NOTHING_NS: u64 = 2_000;

/// The quantities for waits in which tasks can be executed.
const WAITS: [Quantity; 2] = [Quantity::BarrierTime, Quantity::WaitTime];
/// The quantities for work in front of a barrier.
const WORK: [Quantity; 3] = [
    Quantity::WorkTime,
    Quantity::BodyTime,
    Quantity::SectionTime,
];

/// The column with the work in front of the barrier.
pub(super) fn work_column(table: &Table) -> Option<usize> {
    WORK.into_iter().find_map(|quantity| table.column(quantity))
}

/// The facts on which the advice for a loop depends.
pub(super) fn loop_facts<'r>(region: &'r Region, table: Option<&Table>) -> LoopFacts<'r> {
    // The work of each thread, and how often it executed the loop.
    let rows: Vec<(u64, u64)> = table.map_or_else(Vec::new, |table| {
        let columns = (work_column(table), table.column(Quantity::ExecCount));
        let (Some(work), Some(times)) = columns else {
            return Vec::new();
        };
        let rows = table.rows();
        rows.map(|(_, cells)| (cells[work], cells[times])).collect()
    });
    let others = rows.get(1..).unwrap_or_default();
    let most = rows.iter().map(|(work, _)| *work).max().unwrap_or(0);
    let is_idle = |(work, times): &(u64, u64)| {
        *work <= NEXT_TO_NOTHING_NS.saturating_mul(*times) && *work <= most / 100
    };
    LoopFacts {
        schedule: region.schedule.as_deref(),
        first_has_most: !rows.is_empty() && others.iter().all(|other| other.0 < rows[0].0),
        has_idle_thread: rows.iter().any(is_idle) && most > 0,
    }
}

/// How long threads executed tasks during this kind of wait; none if they executed no task.
pub(super) fn tasks_while_waiting(table: &Table, lost: Quantity) -> Option<u64> {
    if !WAITS.contains(&lost) {
        return None;
    }
    let tasks = table.sum[table.column(Quantity::TaskTime)?];
    (tasks > 0).then_some(tasks)
}

/// The work of all threads, if it is too little to explain the wait. In one execution, no
/// thread waits for longer than the longest work takes. So all threads but one wait at most for
/// the sum of all work. Any longer wait was for threads that came late: their team had only
/// started, or they had no processor.
pub(super) fn too_little_work(table: &Table, category: Category, lost: Quantity) -> Option<u64> {
    if category != Category::Imbal || lost != Quantity::BarrierTime {
        return None;
    }
    let sum = |column: usize| table.sum[column];
    let waited = table.column(Quantity::BarrierTime).map(sum)?;
    let work = work_column(table).map(sum)? + table.column(Quantity::TaskTime).map_or(0, sum);
    let others = (table.threads.len() as u64).saturating_sub(1);
    let explained = work.saturating_mul(others) as f64;
    (explained < EXPLAINING_WORK_SHARE * waited as f64).then_some(work)
}
