//! Paraver: `.prv` with a state for each phase and an event for each region, in
//! the order of time; `.pcf` names them, `.row` the threads. One task, a thread
//! for each stream.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use profile::region_kind::PseudoRegion;
use trace::read::Trace;
use trace::replay::{Event, Listener, Open, Role, replay_merged};

use super::{Failure, create, failure, region, written};

/// The type of the events that say which region is open; its value is the
/// region's number plus one, 0 for none.
const REGION: u32 = 60_000_001;
/// The same for chunks: the value is the number of the first iteration plus one.
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
    let mut paraver = Paraver {
        trace,
        out: create(&prv)?,
        threads: streams.iter().copied().zip(1..).collect(),
        thread: 1,
        since: vec![(0, 0); streams.len() + 1],
        failed: Ok(()),
    };
    paraver.header(streams.len());
    replay_merged(trace, &mut paraver).map_err(failure)?;
    let end = trace.ns(trace.header.end.ticks);
    for thread in 1..=streams.len() {
        paraver.thread = thread;
        paraver.state(end, 0);
    }
    let flushed = paraver.out.flush();
    written(&prv, paraver.failed.and(flushed))?;
    let pcf = output.with_extension("pcf");
    let mut out = create(&pcf)?;
    written(&pcf, names(trace, &mut out).and_then(|()| out.flush()))?;
    let row = output.with_extension("row");
    let mut out = create(&row)?;
    written(&row, rows(&streams, &mut out).and_then(|()| out.flush()))
}

struct Paraver<'a> {
    trace: &'a Trace,
    out: io::BufWriter<std::fs::File>,
    threads: BTreeMap<u64, usize>,
    thread: usize,
    /// Per thread: since when it is in which state.
    since: Vec<(u64, u32)>,
    failed: io::Result<()>,
}

impl Paraver<'_> {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        if self.failed.is_ok() {
            self.failed = writeln!(self.out, "{line}");
        }
    }

    fn header(&mut self, threads: usize) {
        let end = self.trace.ns(self.trace.header.end.ticks);
        self.line(format_args!(
            "#Paraver (01/01/2000 at 00:00):{end}_ns:1({threads}):1:1({threads}:1)"
        ));
    }

    /// The thread goes on to this state: what it was in is written.
    fn state(&mut self, at: u64, state: u32) {
        let thread = self.thread;
        let (since, was) = std::mem::replace(&mut self.since[thread], (at, state));
        if at > since {
            self.line(format_args!("1:{thread}:1:1:{thread}:{since}:{at}:{was}"));
        }
    }

    fn event_line(&mut self, at: u64, kind: u32, value: u64) {
        let thread = self.thread;
        self.line(format_args!("2:{thread}:1:1:{thread}:{at}:{kind}:{value}"));
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

impl Listener for Paraver<'_> {
    fn stream(&mut self, stream: u64) {
        self.thread = self.threads.get(&stream).copied().unwrap_or(1);
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let at = self.trace.ns(time);
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
            Event::Chunk(_) => self.event_line(at, CHUNK, 0),
            _ => {}
        }
        self.state(at, state(&now));
        if matches!(event, Event::Begin { .. } | Event::End { .. }) {
            let region = now.iter().rev().find(|open| open.role != Role::Base);
            let value = region.map_or(0, |open| u64::from(open.region) + 1);
            self.event_line(at, REGION, value);
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
    for (number, known) in (0u32..).zip(&trace.regions) {
        if known.is_some() {
            writeln!(out, "{}      {}", number + 1, region(trace, number))?;
        }
    }
    writeln!(out, "\nEVENT_TYPE\n0    {CHUNK}    End of a chunk")
}

fn rows(streams: &[u64], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "LEVEL THREAD SIZE {}", streams.len())?;
    streams
        .iter()
        .try_for_each(|stream| writeln!(out, "stream {stream}"))
}
