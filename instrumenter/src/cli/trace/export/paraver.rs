//! Paraver: `.prv` with a state for each phase and an event for each region, in
//! the order of time; `.pcf` names them, `.row` the threads. One task, a thread
//! for each stream.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};
use std::path::Path;

use profile::region_kind::PseudoRegion;
use trace::read::{ReadError, Trace};
use trace::replay::{Event, Listener, Open, Role, Steps};

use super::{Failure, create, failure, region, written};

/// The type of the events that say which region is open; its value is the
/// region's number plus one, 0 for none.
const REGION: u32 = 60_000_001;
/// Of the events at the ends of chunks: the value is the number of the chunk's first
/// iteration plus one.
const CHUNK: u32 = 60_000_002;

/// States: Paraver's own numbers, with the colour of each.
const STATES: &[(u32, &str, &str)] = &[
    (0, "Idle", "{117,195,255}"),
    (1, "Running", "{0,0,255}"),
    (5, "Synchronization", "{255,0,0}"),
    (7, "Scheduling and Fork/Join", "{255,255,0}"),
];

pub(super) fn write(trace: &Trace, output: &Path) -> Result<(), Failure> {
    let streams: Vec<u64> = trace.streams().collect();
    let prv = output.with_extension("prv");
    let mut out = create(&prv)?;
    let lines = lines(trace, &streams, &mut out).map_err(failure)?;
    written(&prv, lines.and_then(|()| out.flush()))?;
    let pcf = output.with_extension("pcf");
    let mut out = create(&pcf)?;
    written(&pcf, names(trace, &mut out).and_then(|()| out.flush()))?;
    let row = output.with_extension("row");
    let mut out = create(&row)?;
    written(&row, rows(&streams, &mut out).and_then(|()| out.flush()))
}

/// Writes the records of all threads in the order of their begins, as Paraver wants
/// them. When a state ends is known at its end: each thread is read as far ahead as it
/// takes.
fn lines(trace: &Trace, streams: &[u64], out: &mut dyn Write) -> Result<io::Result<()>, ReadError> {
    let end = trace.ns(trace.header.end.ticks);
    let threads = streams.len();
    let header = writeln!(
        out,
        "#Paraver (01/01/2000 at 00:00):{end}_ns:1({threads}):1:1({threads}:1)"
    );
    if let Err(error) = header {
        return Ok(Err(error));
    }
    let lanes = streams.iter().map(|stream| Lane::new(trace, *stream));
    let mut lanes: Vec<(Lane<'_>, Steps<'_>)> = lanes.collect();
    let mut next = BinaryHeap::new();
    for (index, (lane, steps)) in lanes.iter_mut().enumerate() {
        next.extend(lane.read_ahead(steps)?.map(|at| Reverse((at, index))));
    }
    while let Some(Reverse((_, index))) = next.pop() {
        let (lane, steps) = &mut lanes[index];
        if let Some(line) = lane.ready.pop_front()
            && let Err(error) = line.write(index + 1, out)
        {
            return Ok(Err(error));
        }
        next.extend(lane.read_ahead(steps)?.map(|at| Reverse((at, index))));
    }
    Ok(Ok(()))
}

/// A record of a thread.
#[derive(Clone, Copy, Debug)]
struct Line {
    at: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    State { until: u64, state: u32 },
    Event { kind: u32, value: u64 },
}

impl Line {
    fn write(&self, thread: usize, out: &mut dyn Write) -> io::Result<()> {
        let at = self.at;
        match self.what {
            What::State { until, state } => {
                writeln!(out, "1:{thread}:1:1:{thread}:{at}:{until}:{state}")
            }
            What::Event { kind, value } => {
                writeln!(out, "2:{thread}:1:1:{thread}:{at}:{kind}:{value}")
            }
        }
    }
}

/// A thread: its records that are known whole, and the state that it is in.
struct Lane<'a> {
    trace: &'a Trace,
    ready: VecDeque<Line>,
    since: u64,
    state: u32,
    is_done: bool,
}

impl<'a> Lane<'a> {
    fn new(trace: &'a Trace, stream: u64) -> (Self, Steps<'a>) {
        let lane = Self {
            trace,
            ready: VecDeque::new(),
            since: 0,
            state: 0,
            is_done: false,
        };
        (lane, Steps::new(trace, stream))
    }

    /// Reads until a record is known whole; gives its time, if there is one.
    fn read_ahead(&mut self, steps: &mut Steps<'a>) -> Result<Option<u64>, ReadError> {
        while self.ready.is_empty() && !self.is_done {
            if !steps.step(self)? {
                self.is_done = true;
                self.turn(self.trace.ns(self.trace.header.end.ticks), 0);
            }
        }
        Ok(self.ready.front().map(|line| line.at))
    }

    /// The thread goes on to this state: what it was in is known.
    fn turn(&mut self, at: u64, state: u32) {
        if at > self.since {
            let (until, state) = (at, self.state);
            self.ready.push_back(Line {
                at: self.since,
                what: What::State { until, state },
            });
            self.since = at;
        }
        self.state = state;
    }

    fn event_line(&mut self, kind: u32, value: u64) {
        self.ready.push_back(Line {
            at: self.since,
            what: What::Event { kind, value },
        });
    }
}

/// The state of a thread in its innermost region.
fn state(open: &[Open]) -> u32 {
    let Some(top) = open.last() else { return 0 };
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
        // What began before events that are missing is known from then on.
        let at = self.trace.ns(time).max(self.since);
        let mut now = open.to_vec();
        match event {
            Event::End { .. } => {
                now.pop();
            }
            Event::Turn(phase) => {
                if let Some(top) = now.last_mut() {
                    top.phase = *phase;
                }
            }
            _ => {}
        }
        self.turn(at, state(&now));
        match event {
            Event::Begin { .. } | Event::End { .. } => {
                let region = now.iter().rev().find(|open| open.role != Role::Base);
                self.event_line(REGION, region.map_or(0, |open| u64::from(open.region) + 1));
            }
            Event::Chunk(chunk) => self.event_line(CHUNK, chunk.first.saturating_add(1)),
            _ => {}
        }
    }
}

fn names(trace: &Trace, out: &mut dyn Write) -> io::Result<()> {
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
    )
}

fn rows(streams: &[u64], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "LEVEL THREAD SIZE {}", streams.len())?;
    streams
        .iter()
        .try_for_each(|stream| writeln!(out, "stream {stream}"))
}
