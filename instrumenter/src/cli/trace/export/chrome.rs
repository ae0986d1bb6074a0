//! The JSON of chrome://tracing, which the Perfetto viewer reads: a lane for each
//! stream, regions as nested slices, their phases as slices in them, chunks as
//! slices in the body, teams as flows from the fork to its members.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use trace::layout::label_parts;
use trace::read::Trace;
use trace::replay::{Event, Listener, Open, Role, path, replay_closed};

use super::super::dump::depends;
use super::{Failure, create, failure, phase, region, written};

pub(super) fn write(trace: &Trace, output: &Path) -> Result<(), Failure> {
    let mut chrome = Chrome {
        trace,
        out: create(output)?,
        stream: 0,
        failed: Ok(()),
        is_first: true,
        last: 0,
        regions: HashMap::new(),
    };
    chrome.text("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for stream in trace.streams() {
        replay_closed(trace, stream, &mut chrome).map_err(failure)?;
    }
    chrome.text("]}\n");
    let flushed = chrome.out.flush();
    written(output, chrome.failed.and(flushed))
}

struct Chrome<'a> {
    trace: &'a Trace,
    out: io::BufWriter<std::fs::File>,
    stream: u64,
    failed: io::Result<()>,
    is_first: bool,
    /// The path that the lane is named after.
    last: u64,
    /// Names of regions, and on what their tasks depend.
    regions: HashMap<u32, (String, Option<Value>)>,
}

impl Chrome<'_> {
    fn text(&mut self, text: &str) {
        if self.failed.is_ok() {
            self.failed = self.out.write_all(text.as_bytes());
        }
    }

    fn object(&mut self, object: &Value) {
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.text(separator);
        let text = object.to_string();
        self.text(&text);
    }

    /// Microseconds with all digits of a nanosecond.
    fn time(&self, ticks: u64) -> Value {
        let ns = self.trace.ns(ticks);
        let text = format!("{}.{:03}", ns / 1000, ns % 1000);
        text.parse()
            .map_or(Value::Null, |number: f64| json!(number))
    }

    fn slice(&mut self, kind: &str, at: u64, named: Option<(&str, Value)>) {
        let mut object = json!({
            "ph": kind, "ts": self.time(at),
            "pid": self.trace.header.pid, "tid": self.stream,
        });
        if let Some((name, facts)) = named {
            object["name"] = json!(name);
            object["cat"] = json!("openmp");
            object["args"] = facts;
        }
        self.object(&object);
    }

    /// An end of an arrow: from a fork to the members, or from the creation of a
    /// task to its execution.
    fn flow(&mut self, kind: &str, at: u64, (name, label): (&str, u64)) {
        let (stream, number) = label_parts(label);
        let mut object = json!({
            "ph": kind, "ts": self.time(at), "name": name, "cat": name,
            "pid": self.trace.header.pid, "tid": self.stream,
            "id": format!("{stream}:{number}"),
        });
        if kind == "f" {
            object["bp"] = json!("e");
        }
        self.object(&object);
    }

    fn begin_phase(&mut self, open: &Open, at: u64) {
        if let Some(name) = phase(open) {
            self.slice("B", at, Some((name, json!({}))));
        }
    }

    fn end_phase(&mut self, open: &Open, at: u64) {
        if phase(open).is_some() {
            self.slice("E", at, None);
        }
    }

    fn begin(&mut self, time: u64, open: &[Open], top: &Open) {
        let trace = self.trace;
        let mut facts = json!({ "thread": trace.thread(path(open)) });
        let known = self.regions.entry(top.region);
        let (name, depends) = known
            .or_insert_with(|| (region(trace, top.region), depends(trace, top.region)))
            .clone();
        if let Some(depends) = depends {
            facts["depend"] = depends;
        }
        self.slice("B", time, Some((&name, facts)));
        match top.role {
            Role::Fork => self.flow("s", time, ("team", top.label)),
            Role::Member => self.flow("f", time, ("team", top.label)),
            _ => {}
        }
        self.begin_phase(top, time);
    }
}

impl Listener for Chrome<'_> {
    fn stream(&mut self, stream: u64) {
        if self.is_first || stream + 1 != self.last {
            self.stream = stream;
            self.last = stream + 1;
            let name = json!({ "name": format!("stream {stream}") });
            let object = json!({
                "ph": "M", "name": "thread_name", "pid": self.trace.header.pid,
                "tid": stream, "args": name,
            });
            self.object(&object);
        }
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        let Some(top) = open.last().copied() else {
            return;
        };
        match event {
            Event::Begin { .. } | Event::Known => self.begin(time, open, &top),
            Event::Turn(to) => {
                self.end_phase(&top, time);
                self.begin_phase(&Open { phase: *to, ..top }, time);
            }
            Event::End { .. } => {
                self.end_phase(&top, time);
                self.slice("E", time, None);
            }
            Event::Create(task) => self.flow("s", time, ("task", *task)),
            Event::Executes(task) if *task != 0 => self.flow("f", time, ("task", *task)),
            Event::Chunk(chunk) => {
                let last = (chunk.first + chunk.length).saturating_sub(1);
                let facts = json!({ "first": chunk.first, "iterations": chunk.length });
                let name = format!("iterations {} to {last}", chunk.first);
                let ns = self.trace.ns(chunk.end) - self.trace.ns(chunk.start);
                let object = json!({
                    "ph": "X", "ts": self.time(chunk.start), "dur": ns as f64 / 1000.0,
                    "pid": self.trace.header.pid, "tid": self.stream,
                    "name": name, "cat": "chunk", "args": facts,
                });
                self.object(&object);
            }
            _ => {}
        }
    }
}
