//! Paraver: `.prv` with a state for each phase and an event for each region, in
//! the order of time; `.pcf` names them, `.row` the threads. One task, a thread
//! for each stream.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};

use profile::region_kind::PseudoRegion;

use super::{ExportError, lanes, place, region};
use crate::read::{ReadError, Trace};
use crate::replay::{Event, Listener, Open, Role, Steps};

/// The type of the events that say which region is open; its value is the
/// region's number plus one, 0 for none.
const REGION: u32 = 60_000_001;
/// The type of the events at the ends of chunks; its value is the number of the chunk's first
/// iteration plus one.
const CHUNK: u32 = 60_000_002;
/// The type of the events of the first counter; its value is how much the counter has counted
/// since the previous event of this type.
const COUNTER: u32 = 60_000_100;

/// States: Paraver's own numbers, with the colour of each.
const STATES: &[(u32, &str, &str)] = &[
    (0, "Idle", "{117,195,255}"),
    (1, "Running", "{0,0,255}"),
    (5, "Synchronization", "{255,0,0}"),
    (7, "Scheduling and Fork/Join", "{255,255,0}"),
];

/// Writes the records of all threads (`.prv`) in the order of their begins, as Paraver wants them.
/// The record of a state is complete only when the state ends. So each thread is read ahead as far
/// as necessary.
///
/// # Errors
/// If the trace cannot be read, or the export not written.
pub fn paraver(trace: &Trace, out: &mut dyn Write) -> Result<(), ExportError> {
    let streams: Vec<u64> = trace.streams().collect();
    let end = trace.ns(trace.header.end.ticks);
    let threads = streams.len();
    writeln!(
        out,
        "#Paraver (01/01/2000 at 00:00):{end}_ns:1({threads}):1:1({threads}:1)"
    )?;
    let lanes = streams.iter().map(|stream| Lane::new(trace, *stream));
    let mut lanes: Vec<(Lane<'_>, Steps<'_>)> = lanes.collect();
    let mut next = BinaryHeap::new();
    for (index, (lane, steps)) in lanes.iter_mut().enumerate() {
        next.extend(lane.read_ahead(steps)?.map(|at| Reverse((at, index))));
    }
    while let Some(Reverse((_, index))) = next.pop() {
        let (lane, steps) = &mut lanes[index];
        if let Some(line) = lane.ready.pop_front() {
            line.write(index + 1, out)?;
        }
        next.extend(lane.read_ahead(steps)?.map(|at| Reverse((at, index))));
    }
    Ok(())
}

/// A record of a thread.
#[derive(Clone, Copy, Debug)]
struct Line {
    at: u64,
    what: LineKind,
}

#[derive(Clone, Copy, Debug)]
enum LineKind {
    State { until: u64, state: u32 },
    Event { kind: u32, value: u64 },
}

impl Line {
    fn write(&self, thread: usize, out: &mut dyn Write) -> io::Result<()> {
        let at = self.at;
        match self.what {
            LineKind::State { until, state } => {
                writeln!(out, "1:{thread}:1:1:{thread}:{at}:{until}:{state}")
            }
            LineKind::Event { kind, value } => {
                writeln!(out, "2:{thread}:1:1:{thread}:{at}:{kind}:{value}")
            }
        }
    }
}

/// A thread: its complete records, and its current state.
struct Lane<'a> {
    trace: &'a Trace,
    ready: VecDeque<Line>,
    since: u64,
    state: u32,
    is_done: bool,
    /// How far each counter had counted.
    counted: Vec<u64>,
}

impl<'a> Lane<'a> {
    fn new(trace: &'a Trace, stream: u64) -> (Self, Steps<'a>) {
        let lane = Self {
            trace,
            ready: VecDeque::new(),
            since: 0,
            state: 0,
            is_done: false,
            counted: vec![0; trace.counters().count()],
        };
        (lane, Steps::new(trace, stream))
    }

    /// Reads until a record is complete; returns its time, if there is one.
    fn read_ahead(&mut self, steps: &mut Steps<'a>) -> Result<Option<u64>, ReadError> {
        while self.ready.is_empty() && !self.is_done {
            if !steps.step(self)? {
                self.is_done = true;
                self.switch_state(self.trace.ns(self.trace.header.end.ticks), 0);
            }
        }
        Ok(self.ready.front().map(|line| line.at))
    }

    /// The thread goes on to this state, which completes the record of the state before.
    fn switch_state(&mut self, at: u64, state: u32) {
        if at > self.since {
            let (until, state) = (at, self.state);
            self.ready.push_back(Line {
                at: self.since,
                what: LineKind::State { until, state },
            });
            self.since = at;
        }
        self.state = state;
    }

    fn event_line(&mut self, kind: u32, value: u64) {
        self.ready.push_back(Line {
            at: self.since,
            what: LineKind::Event { kind, value },
        });
    }
}

/// The state of a thread in its innermost region.
fn state(innermost: Option<Open>) -> u32 {
    let Some(top) = innermost else { return 0 };
    let waits = matches!(
        top.phase,
        PseudoRegion::Ibarr | PseudoRegion::Enter | PseudoRegion::Exit
    );
    match top.role {
        Role::Base => 1,
        Role::Fork => 7,
        _ if waits => 5,
        _ => 1,
    }
}

impl Listener for Lane<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        // A region that began before missing events is known only from the end of the gap.
        let at = self.trace.ns(time).max(self.since);
        let now = match (event, open.split_last()) {
            (Event::End { .. }, Some((_, around))) => around,
            _ => open,
        };
        let top = now.last().copied().map(|top| match event {
            Event::SwitchPhase(phase) => Open {
                phase: *phase,
                ..top
            },
            _ => top,
        });
        self.switch_state(at, state(top));
        match event {
            Event::Begin { .. } | Event::End { .. } => {
                let region = now.iter().rev().find(|open| open.role != Role::Base);
                self.event_line(REGION, region.map_or(0, |open| u64::from(open.region) + 1));
            }
            Event::Chunk(chunk) => self.event_line(CHUNK, chunk.first.saturating_add(1)),
            Event::Counter { counter, value } => {
                if let Some(before) = self.counted.get_mut(*counter as usize) {
                    let more = value.saturating_sub(std::mem::replace(before, *value));
                    self.event_line(COUNTER + counter, more);
                }
            }
            _ => {}
        }
    }
}

/// Writes the names of states and events (`.pcf`).
///
/// # Errors
/// If it cannot be written.
pub fn paraver_names(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
    )?;
    writeln!(out, "STATES")?;
    for (number, name, _) in STATES {
        writeln!(out, "{number}    {name}")?;
    }
    writeln!(out, "\nSTATES_COLOR")?;
    for (number, _, colour) in STATES {
        writeln!(out, "{number}    {colour}")?;
    }
    writeln!(
        out,
        "\nEVENT_TYPE\n0    {REGION}    OpenMP region\nVALUES\n0      none"
    )?;
    for (number, known) in (0u32..).zip(trace.regions()) {
        if known.is_some() {
            writeln!(out, "{}      {}", number + 1, region(trace, number))?;
        }
    }
    writeln!(
        out,
        "\nEVENT_TYPE\n0    {CHUNK}    End of a chunk (its first iteration, plus one)"
    )?;
    for (number, name) in (COUNTER..).zip(trace.counters()) {
        writeln!(out, "\nEVENT_TYPE\n7    {number}    {name}")?;
    }
    Ok(())
}

/// Writes the names of the machine, the process and the threads (`.row`).
///
/// # Errors
/// If the trace cannot be read, or the file not written.
pub fn paraver_threads(trace: &Trace, out: &mut dyn Write) -> Result<(), ExportError> {
    let (place, names) = (place(trace), lanes(trace)?);
    writeln!(out, "LEVEL NODE SIZE 1\n{}\n", place.node)?;
    writeln!(out, "LEVEL TASK SIZE 1\n{}\n", place.process)?;
    writeln!(out, "LEVEL THREAD SIZE {}", names.len())?;
    for name in names.values() {
        writeln!(out, "{name}")?;
    }
    Ok(())
}
