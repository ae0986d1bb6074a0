//! The periods of iteration sets and tasks: the times in which they really ran.
//!
//! A set is the iterations of a chunk. It begins when the thread gets the chunk, and ends when
//! the thread gets the next one, or with the loop. An inner loop, or a task that the thread
//! executes meanwhile, interrupts the set until it ends. So a set of a flat loop has one
//! period, and a set of an outer loop has one in front of, between and behind the inner loops.
//! The periods of tasks are defined in the same way.

use crate::read::{ReadError, Trace};
use crate::replay::{Event, Instance, Listener, Open, path, replay_closed};

/// The work that is executed in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executed {
    /// An iteration set.
    Set {
        /// The loop's instance.
        instance: Instance,
        /// Number of the first iteration, counted from 0.
        first: u64,
        /// How many iterations it had; known in its last period.
        length: Option<u64>,
    },
    /// A task.
    Task {
        /// The label of its execution.
        label: u64,
        /// The label of its creation, 0 if unknown.
        created: u64,
    },
}

/// A time without interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The work that is executed.
    pub executed: Executed,
    /// Its number among those of the set or task, counted from 0.
    pub number: u64,
    /// Whether the set or task ends with it.
    pub is_last: bool,
    /// The region: the loop, or the task's execution.
    pub region: u32,
    /// The number of the thread's path.
    pub thread: Option<u32>,
    /// Ticks.
    pub start: u64,
    /// Ticks.
    pub end: u64,
}

/// Gives the periods of a trace, thread by thread, in the order in which they end.
///
/// # Errors
/// If it cannot be read.
pub fn periods(trace: &Trace, take: &mut dyn FnMut(&Period)) -> Result<(), ReadError> {
    for stream in trace.streams() {
        let mut watcher = Watcher {
            active: Vec::new(),
            take,
        };
        replay_closed(trace, stream, &mut watcher)?;
    }
    Ok(())
}

/// A loop or task that is open on a thread.
#[derive(Clone, Copy, Debug)]
struct Active {
    /// How many regions are open, with this one.
    depth: usize,
    /// Of a task: its label, and that of its creation.
    task: Option<(u64, u64)>,
    /// Periods of its set, or of the task, so far.
    number: u64,
    /// The time since which it is not interrupted.
    since: u64,
}

struct Watcher<'a> {
    /// The open loops and tasks, outermost first; all but the last are interrupted.
    active: Vec<Active>,
    take: &'a mut dyn FnMut(&Period),
}

impl Watcher<'_> {
    /// A loop or a task begins, and interrupts the one around it.
    fn begin(&mut self, time: u64, open: &[Open], task: Option<(u64, u64)>) {
        self.interrupt(time, open);
        self.active.push(Active {
            depth: open.len(),
            task,
            number: 0,
            since: time,
        });
    }

    fn interrupt(&mut self, time: u64, open: &[Open]) {
        let Some(active) = self.active.last().copied() else {
            return;
        };
        let Some(top) = open.get(active.depth - 1) else {
            return;
        };
        let (executed, start) = match (active.task, top.chunk) {
            (Some((label, created)), _) => (Executed::Task { label, created }, 0),
            (None, Some(chunk)) => match chunk.first {
                Some(first) => (
                    Executed::Set {
                        instance: chunk.instance,
                        first,
                        length: None,
                    },
                    chunk.start,
                ),
                None => return,
            },
            (None, None) => return,
        };
        let start = start.max(active.since);
        self.period(executed, (start, time), false, open, active.depth);
        if let Some(active) = self.active.last_mut() {
            active.number += 1;
        }
    }

    /// Passes on a period of the innermost loop or task.
    fn period(
        &mut self,
        executed: Executed,
        (start, end): (u64, u64),
        is_last: bool,
        open: &[Open],
        depth: usize,
    ) {
        let open = &open[..depth];
        let (Some(active), Some(top)) = (self.active.last(), open.last()) else {
            return;
        };
        (self.take)(&Period {
            executed,
            number: active.number,
            is_last,
            region: top.region,
            thread: path(open),
            start,
            end,
        });
    }

    /// The innermost region ends: the one around it goes on.
    fn end(&mut self, time: u64, open: &[Open]) {
        let is_inner = |active: &Active| active.depth == open.len();
        let Some(active) = self.active.last().copied().filter(is_inner) else {
            return;
        };
        if let Some((label, created)) = active.task {
            let executed = Executed::Task { label, created };
            self.period(executed, (active.since, time), true, open, active.depth);
        }
        self.active.pop();
        if let Some(around) = self.active.last_mut() {
            around.since = time;
        }
    }
}

impl Listener for Watcher<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last() else { return };
        match event {
            Event::Loop(_) => self.begin(time, open, None),
            Event::Executes(created) => self.begin(time, open, Some((top.label, *created))),
            Event::Known if top.is_task() => {
                self.begin(time, open, Some((top.label, 0)));
            }
            Event::Chunk(chunk) => {
                let is_inner = |active: &&mut Active| active.depth == open.len();
                let Some(active) = self.active.last_mut().filter(is_inner) else {
                    return;
                };
                let start = active.since.max(chunk.start);
                let executed = Executed::Set {
                    instance: chunk.instance,
                    first: chunk.first,
                    length: Some(chunk.length),
                };
                let end = chunk.end.max(start);
                self.period(executed, (start, end), true, open, open.len());
                if let Some(active) = self.active.last_mut() {
                    (active.number, active.since) = (0, time);
                }
            }
            Event::End { .. } => self.end(time, open),
            // The regions that are open after the gap are reported again.
            Event::Missing(_) => self.active.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use profile::region_kind::PseudoRegion;

    use super::*;
    use crate::read::StreamElement;
    use crate::record::{Op, Record};
    use crate::replay::Replay;
    use crate::schedule::{How, Kind};

    /// Records of one thread: time, operation, region, operands.
    fn replayed(records: &[(u64, Op, u32, &[u64])]) -> Vec<(String, u64, u64)> {
        let mut found = Vec::new();
        let mut take = |period: &Period| {
            let what = match period.executed {
                Executed::Set {
                    first,
                    length: None,
                    ..
                } => format!("{first}... of {}", period.region),
                Executed::Set {
                    first,
                    length: Some(length),
                    ..
                } => format!("{first}+{length} of {}", period.region),
                Executed::Task { label, .. } => format!("task {label}"),
            };
            let last = if period.is_last { "" } else { " interrupted" };
            found.push((
                format!("{what} #{}{last}", period.number),
                period.start,
                period.end,
            ));
        };
        let mut watcher = Watcher {
            active: Vec::new(),
            take: &mut take,
        };
        let mut replay = Replay::default();
        replay.feed(
            StreamElement::Page {
                missing: 0,
                time: 0,
            },
            &mut watcher,
        );
        for (time, op, region, given) in records {
            let mut operands = [0; crate::record::MOST_OPERANDS];
            operands[..given.len()].copy_from_slice(given);
            let phase = match op {
                Op::SwitchPhase => PseudoRegion::Ibarr as u8,
                _ => 0,
            };
            let record = Record {
                op: *op,
                phase,
                region: *region,
                ticks: 0,
                operands,
            };
            replay.feed(
                StreamElement::Record {
                    time: *time,
                    record,
                },
                &mut watcher,
            );
        }
        found
    }

    fn begun(number: u64) -> [u64; 8] {
        let how = How {
            kind: Kind::Dynamic,
            team: 1,
            levels: 1,
            ..How::default()
        };
        [1, number, 0, 4, 1, how.to_word(), 1, 4]
    }

    #[test]
    fn a_loop_in_a_loop_splits_the_sets_around_it() {
        let (outer, inner) = (begun(1), begun(2));
        let found = replayed(&[
            (10, Op::Enter, 1, &[]),
            (11, Op::Loop, 1, &outer),
            (12, Op::Chunk, 0, &[0, 0]),
            (20, Op::Enter, 2, &[]),
            (21, Op::Loop, 2, &inner),
            (22, Op::Chunk, 0, &[0, 3]),
            (30, Op::LastChunk, 0, &[1]),
            (31, Op::Exit, 2, &[]),
            (40, Op::Chunk, 0, &[2, 2]),
            (50, Op::LastChunk, 0, &[2]),
            (60, Op::Exit, 1, &[]),
        ]);
        let expected = [
            ("0... of 1 #0 interrupted", 12, 21),
            ("3+1 of 2 #0", 22, 30),
            ("0+2 of 1 #1", 31, 40),
            ("2+2 of 1 #0", 40, 50),
        ];
        assert_eq!(
            found,
            expected.map(|(what, from, to)| (what.to_owned(), from, to))
        );
    }

    #[test]
    fn a_chunk_ends_where_its_thread_comes_to_the_barrier() {
        let found = replayed(&[
            (10, Op::Enter, 1, &[]),
            (11, Op::Loop, 1, &begun(1)),
            (12, Op::Chunk, 0, &[0, 0]),
            (20, Op::SwitchPhase, 1, &[]),
            (30, Op::LastChunk, 0, &[5]),
            (31, Op::Exit, 1, &[]),
        ]);
        assert_eq!(found, [("0+5 of 1 #0".to_owned(), 12, 20)]);
    }

    #[test]
    fn a_task_is_interrupted_by_one_that_its_thread_executes_meanwhile() {
        let found = replayed(&[
            (10, Op::Task, 1, &[7, 0]),
            (20, Op::Enter, 2, &[]),
            (25, Op::Task, 1, &[8, 0]),
            (30, Op::Exit, 1, &[]),
            (35, Op::Exit, 2, &[]),
            (40, Op::Exit, 1, &[]),
        ]);
        let expected = [
            ("task 7 #0 interrupted", 10, 25),
            ("task 8 #0", 25, 30),
            ("task 7 #1", 30, 40),
        ];
        assert_eq!(
            found,
            expected.map(|(what, from, to)| (what.to_owned(), from, to))
        );
    }
}
