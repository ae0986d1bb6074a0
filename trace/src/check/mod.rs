//! Checks that hold for every trace.
//!
//! The regions of a thread nest and do not overlap. Times do not run backwards. Every region is
//! closed. Each label is given once. If a whole team traced the chunks of a loop, every
//! iteration of the loop is in exactly one chunk (`loops`).

mod loops;

use std::collections::BTreeMap;

use crate::layout::label_parts;
use crate::read::{ReadError, Trace};
use crate::replay::{Event, Fault, Listener, Open, Role, replay};

/// Faults that are described one by one; of more only the number is kept.
const DESCRIBED: usize = 20;

/// The number of things that were checked, and the faults.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Findings {
    /// Events that were read.
    pub events: u64,
    /// How many faults there are.
    pub faults: u64,
    /// The first faults, one sentence each.
    pub described: Vec<String>,
    /// Loop instances whose chunks were compared with the iterations.
    pub loops: u64,
    /// Of these, the instances for whose chunks the specification has rules, and whose chunks
    /// follow them.
    pub predicted: u64,
}

impl Findings {
    fn fault(&mut self, sentence: impl FnOnce() -> String) {
        self.faults = self.faults.saturating_add(1);
        if self.described.len() < DESCRIBED {
            self.described.push(sentence());
        }
    }
}

/// Checks one stream after the other.
struct Checker<'a> {
    trace: &'a Trace,
    findings: Findings,
    stream: u64,
    time: u64,
    /// The last label that the stream gave, by kind of label.
    labels: [u64; 3],
    /// By stream: the last task that it created, and the last of its tasks that was executed.
    tasks: BTreeMap<u64, (u64, u64)>,
    has_loops: bool,
    is_whole: bool,
}

/// Checks a trace. If it is not complete (see [`Trace::state`]), only the events that are there
/// are checked.
///
/// # Errors
/// If it cannot be read.
pub fn check(trace: &Trace) -> Result<Findings, ReadError> {
    let mut checker = Checker {
        trace,
        findings: Findings::default(),
        stream: 0,
        time: 0,
        labels: [0; 3],
        tasks: BTreeMap::new(),
        has_loops: false,
        is_whole: is_whole(trace),
    };
    for stream in trace.streams() {
        checker.stream = stream;
        checker.time = 0;
        checker.labels = [0; 3];
        let (rest, end) = replay(trace, stream, &mut checker)?;
        let open = rest.open().iter().filter(|open| open.role != Role::Base);
        let open = open.count();
        if is_whole(trace) && open > 0 {
            let place = checker.place(end);
            checker
                .findings
                .fault(|| format!("{place}: {open} regions are never closed"));
        }
    }
    checker.check_tasks();
    if checker.is_whole && checker.has_loops {
        loops::check(trace, &mut checker.findings)?;
    }
    Ok(checker.findings)
}

/// Whether all events of the run are there. If not, a missing event is no fault.
fn is_whole(trace: &Trace) -> bool {
    trace.is_complete() && trace.header.dropped == 0 && trace.header.replaced == 0
}

impl Listener for Checker<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        self.findings.events += 1;
        if time < self.time && *event != Event::Known {
            let place = self.place(time);
            let by = self.time - time;
            self.findings
                .fault(|| format!("{place}: {by} ticks earlier than the previous event"));
        }
        self.time = self.time.max(time);
        match event {
            Event::Begin { .. } => {
                if let Some(top) = open.last().filter(|top| top.role == Role::Fork) {
                    self.label(0, top.label, time);
                }
            }
            Event::Create(label) => {
                self.label(1, *label, time);
                let (stream, number) = label_parts(*label);
                self.tasks.entry(stream).or_default().0 = number;
            }
            Event::Executes(label) if *label != 0 => {
                let (stream, number) = label_parts(*label);
                let executed = &mut self.tasks.entry(stream).or_default().1;
                *executed = number.max(*executed);
            }
            Event::Loop(_) => self.has_loops = true,
            Event::Missing(_) => self.is_whole = false,
            _ => {}
        }
    }

    fn fault(&mut self, time: u64, fault: Fault) {
        let place = self.place(time);
        let name = |region: u32| {
            let region = self.trace.region(region);
            region.map_or_else(|| "an unknown region".to_owned(), crate::stats::name)
        };
        let what = match fault {
            Fault::WrongRegion { open, named } => {
                format!("{} is left while {} is open", name(named), name(open))
            }
            Fault::NothingOpen => "a region ends while no region is open".to_owned(),
            Fault::BeforeBegin => "a region ends before it begins".to_owned(),
            Fault::OtherContext => "a page begins with other regions open".to_owned(),
            Fault::TooDeep => "more regions are open than a program can have".to_owned(),
            Fault::NoRecord(words) => format!("{words} words are not records"),
        };
        self.findings.fault(|| format!("{place}: {what}"));
    }
}

impl Checker<'_> {
    fn place(&self, time: u64) -> String {
        format!("stream {} at {} ns", self.stream, self.trace.ns(time))
    }

    /// A label must be of this stream, and larger than the one before.
    fn label(&mut self, kind: usize, label: u64, time: u64) {
        let (stream, number) = label_parts(label);
        let place = self.place(time);
        let last = std::mem::replace(&mut self.labels[kind], number);
        if stream != self.stream || number <= last {
            self.findings
                .fault(|| format!("{place}: the label {stream}:{number} is not unique"));
        }
    }

    /// A task that is executed must have been created.
    fn check_tasks(&mut self) {
        if !self.is_whole {
            return;
        }
        for (stream, (created, executed)) in std::mem::take(&mut self.tasks) {
            if executed > created {
                self.findings
                    .fault(|| format!("the task {stream}:{executed} was never created"));
            }
        }
    }
}
