//! Which task had to end before which other one began, and when both did. Tasks are ordered among
//! those that the same task creates, by the addresses of their `depend` clauses
//! ([`crate::depend::Order`]).

use std::collections::HashMap;

use crate::depend::{Kind, Order};
use crate::read::{ReadError, Trace};
use crate::record::NO_REGION;
use crate::replay::{Event, Listener, Open, Role, path, replay_merged};

/// A thread's path, a time in ticks, and the stream of that event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The thread's path, if it is known.
    pub thread: Option<u32>,
    /// When, in ticks.
    pub ticks: u64,
    /// The stream that recorded it.
    pub stream: u64,
}

/// A task that had to wait for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// The labels of the creations of both: of the task that had to end, and of the one that waited
    /// for that.
    pub tasks: [u64; 2],
    /// The constructs of both.
    pub regions: [u32; 2],
    /// When the first one ended.
    pub from: Moment,
    /// When the other one began.
    pub to: Moment,
}

/// All dependences of tasks that were executed; none if there are more than `most`, or more tasks
/// with dependences than that.
///
/// # Errors
/// If the trace cannot be read.
pub fn dependences(trace: &Trace, most: usize) -> Result<Option<Vec<Dependence>>, ReadError> {
    let mut finder = Finder {
        most,
        ..Finder::default()
    };
    replay_merged(trace, &mut finder)?;
    finder.flush_all();
    Ok(finder.found())
}

/// The task around a creation: an explicit task by the label of its execution, or a member of a
/// team, or the initial task of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Creator {
    Task(u64),
    Member(u64, Option<u32>),
    Initial(u64),
}

/// A task with dependences.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    region: u32,
    began: Option<Moment>,
    ended: Option<Moment>,
}

/// The tasks of one creator, and the one whose dependences are being read.
#[derive(Debug, Default)]
struct Creations {
    order: Order,
    task: u64,
    depends: Vec<(u64, Kind)>,
}

#[derive(Debug, Default)]
struct Finder {
    most: usize,
    stream: u64,
    is_cut: bool,
    creators: HashMap<Creator, Creations>,
    /// By stream: the task that was created last, by which task, and at which construct.
    created: HashMap<u64, (u64, Creator, u32)>,
    /// By the label of the creation.
    tasks: HashMap<u64, Task>,
    /// By the label of the execution: the label of the creation.
    running: HashMap<u64, u64>,
    /// Pairs of tasks: the one that has to end, and the one that waits for that.
    pairs: Vec<[u64; 2]>,
}

impl Finder {
    fn creates(&mut self, open: &[Open], task: u64) {
        let region = open.last().map_or(NO_REGION, |top| top.region);
        let creator = creator(open, self.stream);
        self.created.insert(self.stream, (task, creator, region));
    }

    fn depends(&mut self, task: u64, on: (u64, Kind)) {
        let created = self.created.get(&self.stream);
        let Some((_, creator, region)) = created.filter(|(created, ..)| *created == task) else {
            return;
        };
        let (region, creations) = (*region, self.creators.entry(*creator).or_default());
        if creations.task != task {
            self.pairs.extend(creations.flush());
            creations.task = task;
        }
        creations.depends.push(on);
        let begun = Task {
            region,
            ..Task::default()
        };
        self.tasks.entry(task).or_insert(begun);
        self.is_cut |= self.tasks.len() > self.most || self.pairs.len() > self.most;
    }

    fn ends(&mut self, open: &[Open], now: Moment) {
        let Some(top) = open.last() else { return };
        let creator = match top.role {
            Role::Member => Creator::Member(top.label, path(open)),
            _ if top.is_task() => Creator::Task(top.label),
            _ => return,
        };
        if let Some(mut creations) = self.creators.remove(&creator) {
            self.pairs.extend(creations.flush());
        }
        if let Some(task) = self.running.remove(&top.label)
            && let Some(task) = self.tasks.get_mut(&task)
        {
            task.ended = Some(now);
        }
    }

    fn flush_all(&mut self) {
        for creations in self.creators.values_mut() {
            self.pairs.extend(creations.flush());
        }
        self.is_cut |= self.pairs.len() > self.most;
    }

    fn found(self) -> Option<Vec<Dependence>> {
        if self.is_cut {
            return None;
        }
        let known = self.pairs.iter().filter_map(|tasks| {
            let [before, after] = tasks.map(|task| self.tasks.get(&task));
            let (before, after) = (before?, after?);
            Some(Dependence {
                tasks: *tasks,
                regions: [before.region, after.region],
                from: before.ended?,
                to: after.began?,
            })
        });
        let mut known: Vec<Dependence> = known.collect();
        known.sort_unstable();
        Some(known)
    }
}

impl Creations {
    /// The dependences of the last task are all read.
    fn flush(&mut self) -> Vec<[u64; 2]> {
        let (task, depends) = (self.task, std::mem::take(&mut self.depends));
        if depends.is_empty() {
            return Vec::new();
        }
        let before = self.order.next(task, &depends);
        before.into_iter().map(|before| [before, task]).collect()
    }
}

/// The innermost task around the creation that is on top.
fn creator(open: &[Open], stream: u64) -> Creator {
    let around = open.split_last().map_or(open, |(_, around)| around);
    let task = around
        .iter()
        .rposition(|open| open.is_task() || open.role == Role::Member);
    match task.map(|at| (at, &around[at])) {
        Some((at, member)) if member.role == Role::Member => {
            Creator::Member(member.label, path(&around[..=at]))
        }
        Some((_, task)) => Creator::Task(task.label),
        None => Creator::Initial(stream),
    }
}

impl Listener for Finder {
    fn stream(&mut self, stream: u64) {
        self.stream = stream;
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        if self.is_cut {
            return;
        }
        let now = Moment {
            thread: path(open),
            ticks: time,
            stream: self.stream,
        };
        match event {
            Event::Create(task) => self.creates(open, *task),
            Event::Depend(on) => self.depends(on.task, (on.address, on.kind)),
            Event::Executes(task) => {
                if let (Some(known), Some(top)) = (self.tasks.get_mut(task), open.last()) {
                    known.began = Some(now);
                    self.running.insert(top.label, *task);
                }
            }
            Event::End { .. } => self.ends(open, now),
            _ => {}
        }
    }
}
