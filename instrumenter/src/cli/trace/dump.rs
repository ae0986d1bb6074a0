//! `romp trace dump TRACE`

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use trace::export::depends_on;
use trace::layout::label_parts;
use trace::read::{ReadError, Trace};
use trace::record::Op;
use trace::replay::{Event, Instance, Listener, LoopInstance, Open, Role, path, replay_merged};

use super::{Failure, failure, print};

/// The largest depth that is indented.
const DEEPEST_INDENT: usize = 40;

/// Arguments of `romp trace dump TRACE`.
#[derive(Debug, Args)]
#[command(
    after_help = "A line has nanoseconds since the start, the thread, and what happens where."
)]
pub(super) struct Arguments {
    /// How to write it
    #[arg(short, long, default_value = "text")]
    format: Format,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A line for each, as words and numbers
    Text,
    /// The same, each line an object of JSON
    Json,
}

pub(super) fn run(trace: &Trace, arguments: &Arguments) -> Result<(), Failure> {
    let mut result: Result<(), ReadError> = Ok(());
    print(|out| {
        let mut dump = Dump {
            trace,
            out,
            format: arguments.format,
            stream: 0,
            failed: None,
        };
        result = replay_merged(trace, &mut dump);
        dump.failed.map_or(Ok(()), Err)
    })?;
    result.map_err(failure)
}

struct Dump<'a> {
    trace: &'a Trace,
    out: &'a mut dyn Write,
    format: Format,
    stream: u64,
    failed: Option<io::Error>,
}

impl Listener for Dump<'_> {
    fn stream(&mut self, stream: u64) {
        self.stream = stream;
    }

    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        if self.failed.is_some() {
            return;
        }
        let name = name(open, event);
        let facts = facts(self.trace, open, event);
        let thread = self.trace.thread(path(open));
        let region = region(open, event).map(|region| {
            let known = self.trace.region(region);
            known.map_or_else(|| "?".to_owned(), trace::stats::name)
        });
        let ns = self.trace.ns(time);
        let written = match self.format {
            Format::Text => {
                let depth = open.iter().filter(|open| open.role != Role::Base).count();
                let depth = depth.min(DEEPEST_INDENT);
                let region = region.unwrap_or_default();
                let facts: Vec<String> = facts
                    .iter()
                    .map(|(name, value)| match value {
                        Value::String(text) => format!(" {name}={text}"),
                        value => format!(" {name}={value}"),
                    })
                    .collect();
                writeln!(
                    self.out,
                    "{ns:>12} {thread:<8} {:indent$}{name} {region}{}",
                    "",
                    facts.concat(),
                    indent = 2 * depth
                )
            }
            Format::Json => {
                let mut line = Map::new();
                line.insert("ns".to_owned(), json!(ns));
                line.insert("stream".to_owned(), json!(self.stream));
                line.insert("thread".to_owned(), json!(thread));
                line.insert("event".to_owned(), json!(name));
                line.insert("region".to_owned(), json!(region));
                line.extend(facts);
                writeln!(self.out, "{}", Value::Object(line))
            }
        };
        self.failed = written.err();
    }
}

/// The data of an event besides its name and region.
type Facts = Map<String, Value>;

/// The name of an event.
fn name(open: &[Open], event: &Event) -> &'static str {
    let role = open.last().map(|top| top.role);
    match event {
        Event::Begin { .. } => match role {
            Some(Role::Fork) => "fork",
            Some(Role::Member) => "begin",
            _ => "enter",
        },
        Event::Known => "open",
        Event::SwitchPhase(_) => "turn",
        Event::End { .. } => match role {
            Some(Role::Fork) => "join",
            Some(Role::Member) => "end",
            _ => "exit",
        },
        Event::Create(_) => "create",
        Event::Depend(_) => "depend",
        Event::Executes(_) => "executes",
        Event::Loop(_) => "loop",
        Event::Chunk(_) => "chunk",
        Event::Counter { .. } => "counter",
        Event::Missing(_) => "missing",
        Event::Lock(lock) => lock_name(lock.op),
    }
}

/// The number of an event's region.
fn region(open: &[Open], event: &Event) -> Option<u32> {
    if let Event::Lock(lock) = event {
        return Some(lock.region);
    }
    let top = open.last().filter(|top| top.role != Role::Base);
    top.map(|top| top.region)
}

fn facts(trace: &Trace, open: &[Open], event: &Event) -> Facts {
    let top = open.last();
    let mut facts = Facts::new();
    let mut fact = |name: &str, value: Value| {
        facts.insert(name.to_owned(), value);
    };
    let part = |part| json!(format!("{part:?}").to_lowercase());
    match event {
        Event::Begin { .. } => {
            if let Some(top) = top {
                fact("part", part(top.phase));
                if top.label != 0 {
                    fact("label", label(top.label));
                }
            }
        }
        Event::Known => {}
        Event::SwitchPhase(phase) => fact("part", part(*phase)),
        Event::End { is_cut, size, .. } => {
            if *is_cut {
                fact("cut", json!(true));
            }
            if top.is_some_and(Open::is_task)
                && let Some(around) = task_around(open)
            {
                fact("resumes", label(around));
            }
            if top.is_some_and(|top| top.role == Role::Fork) {
                fact("size", json!(size));
            }
        }
        Event::Create(task) => {
            fact("task", label(*task));
            let depends = top.map(|top| depends_on(trace, top.region));
            if let Some(depends) = depends.filter(|depends| !depends.is_empty()) {
                fact("depend", json!(depends));
            }
        }
        Event::Depend(on) => {
            fact("task", label(on.task));
            fact("type", json!(on.kind.name()));
            fact("address", json!(format!("{:#x}", on.address)));
        }
        Event::Executes(task) => {
            fact("task", label(*task));
            if let Some(around) = task_around(open) {
                fact("suspends", label(around));
            }
        }
        Event::Loop(instance) => return loop_facts(instance),
        Event::Chunk(chunk) => {
            fact("instance", loop_instance(chunk.instance));
            fact("first", json!(chunk.first));
            fact("iterations", json!(chunk.length));
            fact("from", json!(trace.ns(chunk.start)));
            fact("until", json!(trace.ns(chunk.end)));
        }
        Event::Counter { counter, value } => {
            let name = trace.counters().nth(*counter as usize);
            fact(name.unwrap_or("?"), json!(value));
        }
        Event::Missing(events) => fact("events", json!(events)),
        Event::Lock(lock) => {
            if lock.start != 0 {
                fact("from", json!(trace.ns(lock.start)));
            }
            if lock.address != 0 {
                fact("address", json!(format!("{:#x}", lock.address)));
            }
        }
    }
    facts
}

fn loop_facts(instance: &LoopInstance) -> Facts {
    let mut facts = Facts::new();
    let mut fact = |name: &str, value: Value| {
        facts.insert(name.to_owned(), value);
    };
    fact("instance", loop_instance(instance.instance));
    fact("schedule", json!(instance.how.kind.name()));
    fact("team", json!(instance.how.team));
    fact("lower", json!(instance.outermost.lower));
    fact("upper", json!(instance.outermost.upper));
    fact("step", json!(instance.outermost.step));
    let inner = instance.inner.iter().flatten();
    let inner: Vec<Value> = inner
        .map(|inner| json!([inner.lower, inner.upper, inner.step]))
        .collect();
    if !inner.is_empty() {
        fact("inner", Value::Array(inner));
    }
    fact("iterations", json!(instance.count));
    fact("chunk", json!(instance.chunk));
    facts
}

/// The label of the execution of the task around the innermost region.
fn task_around(open: &[Open]) -> Option<u64> {
    let (_, around) = open.split_last()?;
    let task = around.iter().rev().find(|open| open.is_task())?;
    Some(task.label)
}

fn lock_name(op: Op) -> &'static str {
    match op {
        Op::LockSet => "set",
        Op::LockRefused => "refused",
        Op::LockNested => "set-again",
        Op::LockUnset => "unset",
        Op::LockFree => "free",
        _ => "called",
    }
}

/// An instance of a loop: the label of the team, and a number.
pub(super) fn loop_instance((team, number): Instance) -> Value {
    let (stream, team) = label_parts(team);
    json!(format!("{stream}:{team}.{number}"))
}

/// A label in written form: stream and number.
pub(super) fn label(label: u64) -> Value {
    let (stream, number) = label_parts(label);
    json!(format!("{stream}:{number}"))
}
