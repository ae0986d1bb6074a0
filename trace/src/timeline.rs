//! The timeline of a trace: what each thread did at which time, ready to be drawn. It has as
//! many bins as a screen can show, however large the trace is, and every slice of a small
//! trace. Memory is bounded: the bins, and a fixed number of slices.
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

mod costs;

use std::collections::HashMap;

use profile::analysis::{PARTS, Part, losses_of};
use profile::model::Profile;
use profile::region_kind::{PseudoRegion, RegionKind};
use profile::report::html::Columns;
use serde_json::json;

use crate::analysis::kinds;
use crate::analysis::waits::{Handover, Name, handovers};
use crate::export::depends_on;
use crate::read::{ReadError, Trace};
use crate::record::Op;
use crate::replay::{
    Chunk, Event, Listener, LockEvent, Open, Role, is_region, path, replay_closed,
};

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
/// Bins of a lane, and of all lanes together.
const MOST_BINS: usize = 4096;
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
    /// What iterations cost as JSON, see `costs`; none if no chunks of loops are in the
    /// trace.
    pub iterations: Option<Vec<u8>>,
}

/// Prepares a trace for the page of its profile.
///
/// # Errors
/// If the trace cannot be read.
pub fn timeline(trace: &Trace, profile: &Profile) -> Result<Timeline, ReadError> {
    let duration = trace.ns(trace.header.end.ticks).max(1);
    let lanes = trace.threads().max(1);
    let bins = (ALL_BINS / lanes).clamp(64, MOST_BINS);
    let mut drawing = Drawing {
        trace,
        kinds: kinds(trace),
        bin_ns: duration.div_ceil(bins as u64).max(1),
        bins,
        lanes: HashMap::new(),
        last: 0,
        state: State::OUTSIDE,
        slices: 0,
        chunks: 0,
        created: HashMap::new(),
        arrows: Vec::new(),
        is_cut: false,
    };
    for stream in trace.streams() {
        replay_closed(trace, stream, &mut drawing)?;
    }
    // Hand-overs follow from the events of all threads in the order of time. That takes a
    // second pass, which is spared where not all slices are shown.
    let handovers = match drawing.slices <= MOST_SLICES {
        true => handovers(trace, MOST_ARROWS)?,
        false => None,
    };
    let iterations = match drawing.chunks {
        0 => None,
        _ => Some(costs::iteration_costs(trace, profile)?),
    };
    let lanes = drawing.columns(profile, duration, handovers);
    Ok(Timeline { lanes, iterations })
}

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

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    ns: [u64; CLASSES],
    /// The region with the most time, as far as is known, and how far it is ahead of the others.
    region: u64,
    lead: u64,
}

#[derive(Clone, Debug, Default)]
struct Lane {
    bins: Vec<Bin>,
    slices: Vec<(u64, u64, u64)>,
    chunks: Vec<(u64, u64, u64, u64)>,
}

struct Drawing<'a> {
    trace: &'a Trace,
    /// The kind of each region.
    kinds: Vec<Option<RegionKind>>,
    bin_ns: u64,
    bins: usize,
    lanes: HashMap<Option<u32>, Lane>,
    /// When the state began, in ns.
    last: u64,
    state: State,
    slices: usize,
    chunks: usize,
    /// By label of a task that was not executed yet: where and when it was created.
    created: HashMap<u64, (Option<u32>, u64)>,
    /// From lane and time, to lane and time.
    arrows: Vec<[(Option<u32>, u64); 2]>,
    /// Whether there were more arrows than can be held.
    is_cut: bool,
}

impl Listener for Drawing<'_> {
    fn stream(&mut self, _stream: u64) {
        self.last = 0;
        self.state = State::OUTSIDE;
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let now = self.trace.ns(time);
        let lane = path(open);
        match event {
            Event::Chunk(chunk) => self.chunk(lane, chunk),
            Event::Create(label) if self.created.len() < MOST_ARROWS => {
                self.created.insert(*label, (lane, now));
            }
            Event::Create(_) => self.is_cut = true,
            Event::Lock(lock) => self.lock(lane, lock, now),
            Event::Executes(label) => {
                if let Some(from) = self.created.remove(label) {
                    self.arrow(from, (lane, now));
                }
            }
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
            self.add(forked, self.trace.ns(*fork), now);
        }
    }
}

impl Drawing<'_> {
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
        let kind = self.kinds.get(top.region as usize).copied().flatten();
        State {
            lane: path(open),
            class: class(top.role, kind, phase, open.iter().any(Open::is_task)),
            region: region_number(top.region),
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
        self.slice(self.trace.ns(lock.start).min(now));
        let waiting = State {
            lane,
            class: Class::Wait,
            region: region_number(lock.region),
        };
        self.add(waiting, self.last, now);
        self.last = self.last.max(now);
    }

    fn add(&mut self, state: State, from: u64, now: u64) {
        if now <= from || state == State::OUTSIDE {
            return;
        }
        let (bin_ns, bins) = (self.bin_ns, self.bins);
        let lane = self.lanes.entry(state.lane).or_default();
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
            let from = self.trace.ns(chunk.start);
            let length = self.trace.ns(chunk.end).saturating_sub(from);
            let lane = self.lanes.entry(lane).or_default();
            let entry = (from, length, chunk.first, chunk.length);
            lane.chunks.push(entry);
        }
    }

    fn arrow(&mut self, from: (Option<u32>, u64), to: (Option<u32>, u64)) {
        match self.arrows.len() < MOST_ARROWS {
            true => self.arrows.push([from, to]),
            false => self.is_cut = true,
        }
    }

    fn columns(
        mut self,
        profile: &Profile,
        duration: u64,
        handovers: Option<Vec<Handover>>,
    ) -> Vec<u8> {
        let mut order: Vec<Option<u32>> = self.lanes.keys().copied().collect();
        order.sort_by_key(|lane| (lane.and_then(|lane| self.trace.thread_path(lane)), *lane));
        let has_slices = self.slices <= MOST_SLICES;
        let has_chunks = self.chunks <= MOST_CHUNKS;
        let place = |lane: Option<u32>| order.iter().position(|one| *one == lane);
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
        let handovers: Vec<serde_json::Value> = handovers
            .unwrap_or_default()
            .iter()
            .filter_map(|one| {
                let (from, to) = (place(one.from.0)?, place(one.to.0)?);
                let ns = |ticks| self.trace.ns(ticks);
                let times = (ns(one.from.1), ns(one.to.1), ns(one.asked));
                Some(json!([
                    from,
                    times.0,
                    to,
                    times.1,
                    times.2,
                    in_words(&one.name)
                ]))
            })
            .collect();
        let facts = json!({
            "duration_ns": duration,
            "bins": self.bins,
            "bin_ns": self.bin_ns,
            "lanes": order.iter().map(|lane| self.trace.thread(*lane)).collect::<Vec<_>>(),
            "regions": regions(self.trace, profile),
            "slices": self.slices,
            "has_slices": has_slices,
            "has_chunks": has_chunks,
            "arrows": arrows,
            "arrows_left_out": self.is_cut,
            "handovers": handovers,
            "has_handovers": has_handovers,
        });
        let facts = facts.to_string();
        let mut columns = Columns::default();
        columns.push(facts.len() as u64);
        let mut bytes = columns.bytes().to_vec();
        bytes.extend_from_slice(facts.as_bytes());
        let mut columns = Columns::default();
        let mut lanes: Vec<Lane> = Vec::new();
        for lane in &order {
            lanes.extend(self.lanes.remove(lane));
        }
        for lane in &mut lanes {
            lane.bins.resize(self.bins, Bin::default());
            lane.bins.iter().for_each(|bin| bin.write(&mut columns));
        }
        for lane in &mut lanes {
            write_slices(&mut lane.slices, has_slices, &mut columns);
        }
        for lane in &mut lanes {
            write_chunks(&mut lane.chunks, has_chunks, &mut columns);
        }
        bytes.extend_from_slice(columns.bytes());
        bytes
    }
}

impl Bin {
    fn add(&mut self, state: State, ns: u64) {
        let sum = &mut self.ns[state.class as usize];
        *sum = sum.saturating_add(ns);
        // A region with more time than all others together stays.
        if self.region == state.region {
            self.lead = self.lead.saturating_add(ns);
        } else if self.lead >= ns {
            self.lead -= ns;
        } else {
            self.region = state.region;
            self.lead = ns - self.lead;
        }
    }

    fn write(&self, columns: &mut Columns) {
        for ns in &self.ns[1..] {
            columns.push(*ns);
        }
        if self.ns[1..].iter().any(|ns| *ns > 0) {
            columns.push(self.region);
        }
    }
}

fn write_slices(slices: &mut [(u64, u64, u64)], has: bool, columns: &mut Columns) {
    slices.sort_unstable();
    let slices = if has { &*slices } else { &[] };
    columns.push(slices.len() as u64);
    let mut last = 0;
    for (from, length, what) in slices {
        columns.push(from.saturating_sub(last));
        columns.push(*length);
        columns.push(*what);
        last = (from + length).max(last);
    }
}

fn write_chunks(chunks: &mut [(u64, u64, u64, u64)], has: bool, columns: &mut Columns) {
    chunks.sort_unstable();
    let chunks = if has { &*chunks } else { &[] };
    columns.push(chunks.len() as u64);
    let mut last = 0;
    for (from, length, first, number) in chunks {
        for value in [from - last, *length, *first, *number] {
            columns.push(value);
        }
        last = *from;
    }
}

/// The regions: the name of each, its index in the profile, the parts of thread time to which
/// waiting and managing in it belong, and the dependences of its tasks.
fn regions(trace: &Trace, profile: &Profile) -> Vec<serde_json::Value> {
    let kinds = kinds(trace);
    let regions = profile.regions.iter().enumerate();
    let known: HashMap<_, usize> = regions
        .map(|(index, region)| {
            let place = (region.region_type.as_str(), region.file.as_str());
            ((place, region.begin[0], region.column), index)
        })
        .collect();
    let number = u32::try_from(trace.regions().count()).unwrap_or(u32::MAX);
    let regions = (0..number).map(|number| {
        let region = trace.region(number).and_then(|region| {
            let place = (region.region_type.as_str(), region.begin.file.as_str());
            known.get(&(place, region.begin.first, region.column))
        });
        let kind = kinds.get(number as usize).copied().flatten();
        let [waiting, managing] = kind.map_or([Part::Other; 2], losses_of);
        json!([
            crate::export::region(trace, number),
            region,
            PARTS[waiting as usize].id,
            PARTS[managing as usize].id,
            depends_on(trace, number)
        ])
    });
    regions.collect()
}

/// The number of a region in the columns of a lane: 0 for none.
fn region_number(region: u32) -> u64 {
    match is_region(region) {
        true => u64::from(region) + 1,
        false => 0,
    }
}

fn in_words(name: &Name) -> String {
    match name {
        Name::Critical(name) if name.is_empty() => "critical without a name".to_owned(),
        Name::Critical(name) => format!("critical {name}"),
        Name::Lock(address) => format!("lock at {address:#x}"),
    }
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
    fn a_bin_names_the_region_that_has_most_of_it() {
        let state = |region| State {
            lane: None,
            class: Class::Work,
            region,
        };
        let mut bin = Bin::default();
        for (region, ns) in [(1, 30), (2, 50), (1, 40), (3, 5)] {
            bin.add(state(region), ns);
        }
        assert_eq!((bin.region, bin.ns[1]), (1, 125));
    }

    #[test]
    fn times_of_slices_are_told_by_what_is_between() {
        let numbers = |slices: &mut [(u64, u64, u64)], has| {
            let mut columns = Columns::default();
            write_slices(slices, has, &mut columns);
            columns.bytes().to_vec()
        };
        let mut slices = [(30, 5, 7), (10, 4, 6)];
        assert_eq!(numbers(&mut slices, true), [2, 10, 4, 6, 16, 5, 7]);
        assert_eq!(numbers(&mut slices, false), [0]);
    }

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
