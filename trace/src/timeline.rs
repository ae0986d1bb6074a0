//! The timeline of a trace: what each thread did at which time, ready to be drawn. It has a
//! bounded number of bins, however large the trace is, and every slice of a small
//! trace. Memory is bounded: the bins, and a fixed number of slices.
//!
//! A job has a trace for each rank. They share one axis of time, which begins with the first
//! process. Each process has its own regions and threads.
//!
//! ```text
//! length of the facts, the facts as JSON
//! for each lane, for each bin: time by class, in ns (outside is what is left);
//!                              the region with most of it, and one, where there is any
//! for each lane: number of slices; for each: time since the one before, its length,
//!                classes * (region + 1) + class
//! for each lane: number of chunks; for each: time since the begin of the one before,
//!                its length, its first iteration, how many it has
//! ```

mod between;
mod costs;
mod lane;

use std::collections::HashMap;

use profile::analysis::{PARTS, Part, losses_of};
use profile::model::Profile;
use profile::region_kind::{PseudoRegion, RegionKind};
use profile::report::html::Columns;
use serde_json::json;

use crate::analysis::kinds;
use crate::depend::detaches;
use crate::export::depends_on;
use crate::layout::PAYLOAD_WORDS;
use crate::read::{ReadError, Trace};
use crate::record::Op;
use crate::replay::{
    Chunk, Event, Listener, LockEvent, Open, Role, is_region, path, replay_closed,
};
use between::{Arrows, depended, handed_over, written};
use lane::{Bin, Lane};

/// The activities of a thread that a picture distinguishes; the number is that of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// In no construct: serial, or without a team.
    Outside = 0,
    Work = 1,
    Wait = 2,
    Manage = 3,
    Task = 4,
}

const CLASSES: usize = 5;
/// Bins of a lane: as many as a screen shows, and as many as there are if slices are left out.
const SCREEN_BINS: usize = 4096;
const MOST_BINS: usize = 1 << 16;
/// Bins of all lanes together.
const ALL_BINS: usize = 400_000;
/// Slices, chunks and arrows: beyond them there are none, since a part would mislead.
const MOST_SLICES: usize = 600_000;
const MOST_CHUNKS: usize = 200_000;
const MOST_ARROWS: usize = 50_000;

/// A trace as the page of its profile has it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Timeline {
    /// The lanes, see this module.
    pub lanes: Vec<u8>,
    /// The costs of iterations as JSON, see `costs`; none if no chunks of loops are in the
    /// trace.
    pub iterations: Option<Vec<u8>>,
}

/// One process of the job, and the place of its threads and regions among those of all.
struct Process<'a> {
    trace: &'a Trace,
    /// The prefix of its threads' names: `r3:` for rank 3 of a merged profile.
    prefix: String,
    /// The kind of each region.
    kinds: Vec<Option<RegionKind>>,
    /// When it began, in ns after the first one.
    begin: u64,
    /// The number of regions of the processes before it.
    regions: u64,
}

impl Process<'_> {
    /// A time in ns.
    fn ns(&self, ticks: u64) -> u64 {
        self.begin.saturating_add(self.trace.ns(ticks))
    }

    fn end(&self) -> u64 {
        self.ns(self.trace.header.end.ticks)
    }

    /// The number of a region in the columns of a lane: 0 for none.
    fn region(&self, region: u32) -> u64 {
        match is_region(region) {
            true => self.regions + u64::from(region) + 1,
            false => 0,
        }
    }
}

/// The processes of these traces, in the order of their ranks. If the profile is of one process,
/// its threads have no ranks.
fn processes<'a>(traces: &'a [Trace], profile: &Profile) -> Vec<Process<'a>> {
    let is_job = !profile.ranks.is_empty();
    let mut traces: Vec<&Trace> = traces.iter().collect();
    traces.sort_by_key(|trace| trace.rank());
    let began = |trace: &&Trace| trace.header.start_unix_ns;
    let first = traces.iter().map(began).min().unwrap_or(0);
    let mut regions = 0;
    let processes = traces.into_iter().map(|trace| {
        let process = Process {
            trace,
            prefix: match trace.rank().filter(|_| is_job) {
                Some(rank) => format!("r{rank}:"),
                None => String::new(),
            },
            kinds: kinds(trace),
            begin: began(&trace) - first,
            regions,
        };
        regions += process.kinds.len() as u64;
        process
    });
    processes.collect()
}

/// Prepares the traces of a run for the page of its profile: one trace for each process.
///
/// # Errors
/// If a trace cannot be read.
pub fn timeline(traces: &[Trace], profile: &Profile) -> Result<Timeline, ReadError> {
    let processes = processes(traces, profile);
    let duration = processes.iter().map(Process::end).max().unwrap_or(0).max(1);
    let bins = bins(traces);
    let mut drawing = Drawing {
        processes: &processes,
        process: 0,
        bin_ns: duration.div_ceil(bins as u64).max(1),
        bins,
        lanes: HashMap::new(),
        last: 0,
        state: State::OUTSIDE,
        slices: 0,
        chunks: 0,
        tasks: HashMap::new(),
        arrows: Vec::new(),
        is_cut: false,
        has_dependences: false,
    };
    for (number, process) in processes.iter().enumerate() {
        drawing.process = number;
        // A label is unique in one file.
        drawing.tasks.clear();
        for stream in process.trace.streams() {
            replay_closed(process.trace, stream, &mut drawing)?;
        }
    }
    // Hand-overs and dependences follow from the events of all threads in the order of time. That
    // takes another pass for each, which is spared where not all slices are shown.
    let has_slices = drawing.slices <= MOST_SLICES;
    let handovers = match has_slices {
        true => handed_over(&processes)?,
        false => None,
    };
    let dependences = match drawing.has_dependences {
        true if has_slices => depended(&processes)?,
        true => None,
        false => Some(Vec::new()),
    };
    let iterations = match drawing.chunks {
        0 => None,
        _ => Some(costs::iteration_costs(&processes, profile)?),
    };
    let lanes = drawing.columns(profile, duration, [handovers, dependences]);
    Ok(Timeline { lanes, iterations })
}

/// The number of bins of each lane. If all slices may be shown, bins are only for pictures
/// in which a bin is smaller than a pixel. Else nothing finer than a bin can be seen.
fn bins(traces: &[Trace]) -> usize {
    let lanes: usize = traces.iter().map(Trace::threads).sum();
    let pages: u64 = traces.iter().map(Trace::pages).sum();
    let has_slices = pages * PAYLOAD_WORDS as u64 <= MOST_SLICES as u64;
    let most = if has_slices { SCREEN_BINS } else { MOST_BINS };
    (ALL_BINS / lanes.max(1)).clamp(64, most)
}

/// A thread: the number of its process, and of its path.
type Thread = (usize, Option<u32>);
/// An end of an arrow: a lane, and a time in ns.
type End = (Thread, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    lane: Option<u32>,
    class: Class,
    /// 0, or the number of the region and one.
    region: u64,
}

impl State {
    const OUTSIDE: Self = Self {
        lane: None,
        class: Class::Outside,
        region: 0,
    };

    /// Whether a thread forks the team of which it is a member next.
    fn is_start_of(self, next: Self) -> bool {
        self.class == Class::Manage && self.region == next.region && self.lane != next.lane
    }
}

/// The ends of a task's arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskEnd {
    Creation,
    Execution,
}

struct Drawing<'a> {
    processes: &'a [Process<'a>],
    /// The number of the process whose events are read.
    process: usize,
    bin_ns: u64,
    bins: usize,
    lanes: HashMap<Thread, Lane>,
    /// When the state began, in ns.
    last: u64,
    state: State,
    slices: usize,
    chunks: usize,
    /// By label: the end of a task's arrow of which the other end was not read yet. Streams are
    /// read one after the other, so the execution may be read before the creation.
    tasks: HashMap<u64, (TaskEnd, End)>,
    /// From where, and to where.
    arrows: Vec<[End; 2]>,
    /// Whether there were more arrows than can be held.
    is_cut: bool,
    /// Whether a task has dependences.
    has_dependences: bool,
}

impl Listener for Drawing<'_> {
    fn stream(&mut self, _stream: u64) {
        self.last = 0;
        self.state = State::OUTSIDE;
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let now = self.here().ns(time);
        let lane = path(open);
        match event {
            Event::Chunk(chunk) => self.chunk(lane, chunk),
            Event::Create(label) => self.task(*label, TaskEnd::Creation, lane, now),
            Event::Executes(label) => self.task(*label, TaskEnd::Execution, lane, now),
            Event::Lock(lock) => self.lock(lane, lock, now),
            Event::Depend(_) => self.has_dependences = true,
            _ => {}
        }
        let next = self.state_after(open, event);
        if next != self.state {
            match event {
                // The start of the thread that forked is drawn in its lane of the team, as for the
                // other members.
                Event::Begin { fork: Some(_) } if self.state.is_start_of(next) => {
                    self.last = self.last.max(now);
                }
                _ => self.slice(now),
            }
            self.state = next;
        }
        if let Event::Begin { fork: Some(fork) } = event {
            let forked = State {
                class: Class::Manage,
                ..next
            };
            self.add(forked, self.here().ns(*fork), now);
        }
    }
}

impl<'a> Drawing<'a> {
    fn here(&self) -> &'a Process<'a> {
        &self.processes[self.process]
    }

    fn state_after(&self, open: &[Open], event: &Event) -> State {
        let (open, phase) = match (event, open.split_last()) {
            (Event::End { .. }, Some((_, below))) => (below, None),
            (Event::SwitchPhase(phase), _) => (open, Some(*phase)),
            _ => (open, None),
        };
        let Some(top) = open.last() else {
            return State::OUTSIDE;
        };
        let phase = phase.unwrap_or(top.phase);
        let here = self.here();
        let kind = here.kinds.get(top.region as usize).copied().flatten();
        State {
            lane: path(open),
            class: class(top.role, kind, phase, open.iter().any(Open::is_task)),
            region: here.region(top.region),
        }
    }

    /// Adds the state until now.
    fn slice(&mut self, now: u64) {
        let (from, state) = (self.last, self.state);
        self.last = self.last.max(now);
        self.add(state, from, now);
    }

    /// A thread that sets a lock waits for it from the call on. The call is not among the open
    /// regions.
    fn lock(&mut self, lane: Option<u32>, lock: &LockEvent, now: u64) {
        if lock.op != Op::LockSet {
            return;
        }
        let here = self.here();
        self.slice(here.ns(lock.start).min(now));
        let waiting = State {
            lane,
            class: Class::Wait,
            region: here.region(lock.region),
        };
        self.add(waiting, self.last, now);
        self.last = self.last.max(now);
    }

    fn add(&mut self, state: State, from: u64, now: u64) {
        if now <= from || state == State::OUTSIDE {
            return;
        }
        let (bin_ns, bins) = (self.bin_ns, self.bins);
        let lane = self.lanes.entry((self.process, state.lane)).or_default();
        lane.bins.resize(bins, Bin::default());
        let mut at = from;
        while at < now {
            let bin = (at / bin_ns).min(bins as u64 - 1);
            let end = match bin + 1 == bins as u64 {
                true => now,
                false => now.min((bin + 1) * bin_ns),
            };
            lane.bins[bin as usize].add(state, end - at);
            at = end;
        }
        self.slices += 1;
        if self.slices <= MOST_SLICES {
            let what = state.region * CLASSES as u64 + state.class as u64;
            lane.slices.push((from, now - from, what));
        }
    }

    fn chunk(&mut self, lane: Option<u32>, chunk: &Chunk) {
        self.chunks += 1;
        if self.chunks <= MOST_CHUNKS {
            let from = self.here().ns(chunk.start);
            let length = self.here().ns(chunk.end).saturating_sub(from);
            let lane = self.lanes.entry((self.process, lane)).or_default();
            let entry = (from, length, chunk.first, chunk.length);
            lane.chunks.push(entry);
        }
    }

    /// A task was created or starts to be executed. The label 0 stands for no known creation.
    fn task(&mut self, label: u64, what: TaskEnd, lane: Option<u32>, now: u64) {
        let here = ((self.process, lane), now);
        match self.tasks.get(&label).copied() {
            _ if label == 0 => {}
            Some((other, _)) if other == what => {}
            Some((_, there)) => {
                self.tasks.remove(&label);
                self.arrow(match what {
                    TaskEnd::Creation => [here, there],
                    TaskEnd::Execution => [there, here],
                });
            }
            None if self.tasks.len() < MOST_ARROWS => drop(self.tasks.insert(label, (what, here))),
            None => self.is_cut = true,
        }
    }

    fn arrow(&mut self, arrow: [End; 2]) {
        match self.arrows.len() < MOST_ARROWS {
            true => self.arrows.push(arrow),
            false => self.is_cut = true,
        }
    }

    fn columns(
        mut self,
        profile: &Profile,
        duration: u64,
        [handovers, dependences]: [Arrows; 2],
    ) -> Vec<u8> {
        let mut order: Vec<Thread> = self.lanes.keys().copied().collect();
        order.sort_by_key(|(process, lane)| {
            let trace = self.processes[*process].trace;
            (
                *process,
                lane.and_then(|lane| trace.thread_path(lane)),
                *lane,
            )
        });
        let has_slices = self.slices <= MOST_SLICES;
        let has_chunks = self.chunks <= MOST_CHUNKS;
        let places: HashMap<Thread, usize> = order.iter().copied().zip(0..).collect();
        let place = |thread: Thread| places.get(&thread).copied();
        let arrows: Vec<[u64; 4]> = self
            .arrows
            .iter()
            .filter(|_| !self.is_cut)
            .filter_map(|[from, to]| {
                let (start, end) = (place(from.0)?, place(to.0)?);
                Some([start as u64, from.1, end as u64, to.1])
            })
            .collect();
        let has_handovers = handovers.is_some();
        let has_dependences = dependences.is_some();
        let handovers = written(handovers, place);
        let dependences = written(dependences, place);
        let name = |(process, lane): &Thread| {
            let Process { trace, prefix, .. } = &self.processes[*process];
            format!("{prefix}{}", trace.thread(*lane))
        };
        let mut all_regions = Vec::new();
        for process in self.processes {
            all_regions.extend(regions(process.trace, profile));
        }
        let facts = json!({
            "duration_ns": duration,
            "bins": self.bins,
            "bin_ns": self.bin_ns,
            "lanes": order.iter().map(name).collect::<Vec<_>>(),
            "regions": all_regions,
            "slices": self.slices,
            "has_slices": has_slices,
            "has_chunks": has_chunks,
            "arrows": arrows,
            "arrows_left_out": self.is_cut,
            "handovers": handovers,
            "has_handovers": has_handovers,
            "dependences": dependences,
            "has_dependences": has_dependences,
        });
        let facts = facts.to_string();
        let mut columns = Columns::default();
        columns.push(facts.len() as u64);
        let mut bytes = columns.bytes().to_vec();
        bytes.extend_from_slice(facts.as_bytes());
        let mut lanes: Vec<Lane> = Vec::new();
        for lane in &order {
            lanes.extend(self.lanes.remove(lane));
        }
        let columns = lane::write(lanes, self.bins, has_slices, has_chunks);
        bytes.extend_from_slice(columns.bytes());
        bytes
    }
}

/// The regions: the name of each, its index in the profile, the parts of thread time to which
/// waiting and managing in it belong, the dependences of its tasks, and whether they are detached.
fn regions(trace: &Trace, profile: &Profile) -> Vec<serde_json::Value> {
    let kinds = kinds(trace);
    let regions = profile.regions.iter().enumerate();
    let known: HashMap<String, usize> = regions
        .map(|(index, region)| (crate::stats::name(&region.into()), index))
        .collect();
    let number = u32::try_from(trace.regions().count()).unwrap_or(u32::MAX);
    let regions = (0..number).map(|number| {
        let region = trace.region(number);
        let region = region.and_then(|region| known.get(&crate::stats::name(region)));
        let kind = kinds.get(number as usize).copied().flatten();
        let [waiting, managing] = kind.map_or([Part::Other; 2], losses_of);
        let directive = trace
            .region(number)
            .and_then(|region| region.directive.as_deref());
        let is_detached = directive.is_some_and(detaches);
        json!([
            crate::export::region(trace, number),
            region,
            PARTS[waiting as usize].id,
            PARTS[managing as usize].id,
            depends_on(trace, number),
            is_detached
        ])
    });
    regions.collect()
}

fn class(role: Role, kind: Option<RegionKind>, phase: PseudoRegion, in_task: bool) -> Class {
    use RegionKind::{
        Atomic, Barrier, Critical, Flush, Lock, Ordered, Task, Taskwait, Taskyield, UntiedTask,
    };
    let waits_to_enter = matches!(kind, Some(Critical | Lock | Ordered));
    match (role, phase) {
        (Role::Base, _) => Class::Outside,
        (Role::Fork, _) => Class::Manage,
        (_, PseudoRegion::Ibarr) => Class::Wait,
        (_, PseudoRegion::Enter) if waits_to_enter => Class::Wait,
        (_, PseudoRegion::Enter | PseudoRegion::Exit) => Class::Manage,
        _ => match kind {
            Some(Atomic | Barrier | Flush | Taskwait | Taskyield) => Class::Wait,
            Some(Task | UntiedTask) => Class::Manage,
            _ if in_task => Class::Task,
            _ => Class::Work,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_told_from_work() {
        use PseudoRegion::{Body, Enter, Ibarr, Main};
        let of = |kind, phase| class(Role::Construct, Some(kind), phase, false);
        assert_eq!(of(RegionKind::Critical, Enter), Class::Wait);
        assert_eq!(of(RegionKind::Critical, Body), Class::Work);
        assert_eq!(of(RegionKind::Loop, Ibarr), Class::Wait);
        assert_eq!(of(RegionKind::Barrier, Main), Class::Wait);
        assert_eq!(class(Role::Member, None, Enter, false), Class::Manage);
        assert_eq!(class(Role::Base, None, Main, false), Class::Outside);
    }
}
