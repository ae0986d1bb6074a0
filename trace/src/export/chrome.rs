//! The JSON of chrome://tracing, which the Perfetto viewer reads: a lane for each
//! stream, regions as nested slices, their phases as slices in them, chunks as
//! slices in the body, teams as flows from the fork to its members, dependences as flows from the
//! end of a task to the begin of the next.

use std::collections::HashMap;
use std::fmt::{self, Arguments};
use std::io::{self, Write};

use serde_json::json;

use super::{ExportError, Lane, depends_on, phase, place, region};
use crate::analysis::dependences::dependences;
use crate::layout::label_parts;
use crate::read::{ReadError, Trace};
use crate::replay::{Event, Listener, Open, Role, path, replay_closed};

/// With more dependences than this, none are written: they take memory, unlike everything else.
const MOST_DEPENDENCES: usize = 1_000_000;

/// Writes a trace for the Perfetto viewer.
///
/// # Errors
/// If it cannot be read, or the export not written.
pub fn chrome(trace: &Trace, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut chrome = Chrome {
        trace,
        out,
        stream: 0,
        failed: Ok(()),
        is_first: true,
        regions: HashMap::new(),
        threads: HashMap::new(),
        lane: Lane::default(),
        has_dependences: false,
    };
    chrome.text(format_args!(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
    ));
    let at = place(trace);
    let process = format!("{} on {}, {}", at.process, at.node, at.machine);
    chrome.name("process_name", &process);
    for stream in trace.streams() {
        replay_closed(trace, stream, &mut chrome)?;
        let lane = std::mem::take(&mut chrome.lane).name(trace, stream);
        chrome.name("thread_name", &lane);
    }
    chrome.dependences()?;
    chrome.text(format_args!("]}}\n"));
    Ok(chrome.failed?)
}

/// There may be a thousand million events. So objects are written piece by piece, and the text for
/// a region or a thread is made only once.
struct Chrome<'a> {
    trace: &'a Trace,
    out: &'a mut dyn Write,
    stream: u64,
    failed: io::Result<()>,
    is_first: bool,
    /// By region: its name and the dependences of its tasks, as members of objects.
    regions: HashMap<u32, Members>,
    /// By number of a path: the thread's name as text in JSON.
    threads: HashMap<Option<u32>, String>,
    /// The threads that the stream serves.
    lane: Lane,
    /// Whether a task has dependences.
    has_dependences: bool,
}

#[derive(Clone)]
struct Members {
    name: String,
    depends: String,
}

/// Microseconds with all digits of a nanosecond.
struct Micros(u64);

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl Chrome<'_> {
    fn text(&mut self, text: Arguments<'_>) {
        if self.failed.is_ok() {
            self.failed = self.out.write_fmt(text);
        }
    }

    /// An event of a kind, with further members of its object, each behind a comma.
    fn object(&mut self, kind: &str, at: u64, members: Arguments<'_>) {
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        let (time, stream) = (Micros(self.trace.ns(at)), self.stream);
        let pid = self.trace.header.pid;
        self.text(format_args!(
            "{separator}{{\"ph\":\"{kind}\",\"ts\":{time},\"pid\":{pid},\"tid\":{stream}{members}}}"
        ));
    }

    /// Names the process, or the lane.
    fn name(&mut self, what: &str, name: &str) {
        let (at, name) = (self.trace.header.start.ticks, json!(name));
        let members = format_args!(",\"name\":\"{what}\",\"args\":{{\"name\":{name}}}");
        self.object("M", at, members);
    }

    /// An end of an arrow: from a fork to the members, or from the creation of a
    /// task to its execution.
    fn flow(&mut self, kind: &str, at: u64, (name, label): (&str, u64)) {
        let (stream, number) = label_parts(label);
        let binding = if kind == "f" { ",\"bp\":\"e\"" } else { "" };
        self.object(
            kind,
            at,
            format_args!(
                ",\"name\":\"{name}\",\"cat\":\"{name}\",\"id\":\"{stream}:{number}\"{binding}"
            ),
        );
    }

    /// Arrows from the end of a task to the begin of each that waited for it.
    fn dependences(&mut self) -> Result<(), ReadError> {
        if !self.has_dependences {
            return Ok(());
        }
        let found = dependences(self.trace, MOST_DEPENDENCES)?;
        for (number, one) in found.unwrap_or_default().iter().enumerate() {
            for (kind, end) in [("s", one.from), ("f", one.to)] {
                self.stream = end.stream;
                self.flow(kind, end.ticks, ("depend", number as u64));
            }
        }
        Ok(())
    }

    fn begin_phase(&mut self, open: &Open, at: u64) {
        if let Some(name) = phase(open) {
            self.object(
                "B",
                at,
                format_args!(",\"name\":\"{name}\",\"cat\":\"openmp\""),
            );
        }
    }

    fn end_phase(&mut self, open: &Open, at: u64) {
        if phase(open).is_some() {
            self.object("E", at, format_args!(""));
        }
    }

    fn begin(&mut self, time: u64, open: &[Open], top: &Open) {
        let trace = self.trace;
        let members = self.regions.entry(top.region);
        let Members { name, depends } = members
            .or_insert_with(|| Members::of(trace, top.region))
            .clone();
        let path = path(open);
        let thread = self.threads.entry(path);
        let thread = thread
            .or_insert_with(|| json!(trace.thread(path)).to_string())
            .clone();
        self.object(
            "B",
            time,
            format_args!(
                ",\"name\":{name},\"cat\":\"openmp\",\"args\":{{\"thread\":{thread}{depends}}}"
            ),
        );
        match top.role {
            Role::Fork => self.flow("s", time, ("team", top.label)),
            Role::Member => self.flow("f", time, ("team", top.label)),
            _ => {}
        }
        self.begin_phase(top, time);
    }
}

impl Members {
    fn of(trace: &Trace, number: u32) -> Self {
        let depends = depends_on(trace, number);
        Self {
            name: json!(region(trace, number)).to_string(),
            depends: match depends.is_empty() {
                true => String::new(),
                false => format!(",\"depend\":{}", json!(depends)),
            },
        }
    }
}

impl Listener for Chrome<'_> {
    fn stream(&mut self, stream: u64) {
        self.stream = stream;
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last().copied() else {
            return;
        };
        match event {
            Event::Begin { .. } | Event::Known => {
                self.lane.serves(open);
                self.begin(time, open, &top);
            }
            Event::SwitchPhase(to) => {
                self.end_phase(&top, time);
                self.begin_phase(&Open { phase: *to, ..top }, time);
            }
            Event::End { .. } => {
                self.end_phase(&top, time);
                self.object("E", time, format_args!(""));
            }
            Event::Create(task) => self.flow("s", time, ("task", *task)),
            Event::Depend(_) => self.has_dependences = true,
            Event::Executes(task) if *task != 0 => self.flow("f", time, ("task", *task)),
            Event::Counter { counter, value } => {
                let name = self.trace.counters().nth(*counter as usize);
                let (name, stream) = (json!(name.unwrap_or("?")), self.stream);
                self.object(
                    "C",
                    time,
                    format_args!(",\"name\":{name},\"id\":{stream},\"args\":{{\"value\":{value}}}"),
                );
            }
            Event::Chunk(chunk) => {
                let last = chunk.last();
                let (first, length) = (chunk.first, chunk.length);
                let (start, end) = (self.trace.ns(chunk.start), self.trace.ns(chunk.end));
                let lasts = Micros(end.saturating_sub(start));
                let members = format_args!(
                    ",\"dur\":{lasts},\"name\":\"iterations {first} to {last}\",\"cat\":\"chunk\",\
                     \"args\":{{\"first\":{first},\"iterations\":{length}}}"
                );
                self.object("X", chunk.start, members);
            }
            _ => {}
        }
    }
}
