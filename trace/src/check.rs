//! What must be true of every trace.
//!
//! On one thread regions nest, so that no two overlap; times do not run
//! backwards; every region is closed; labels are given once. Of each loop whose
//! chunks were traced by a whole team, every iteration is in one chunk.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::label_parts;
use crate::read::{ReadError, Trace};
use crate::replay::{
    Chunk, Event, Fault, Instance, Listener, LoopInstance, Open, Role, path, replay,
};
use crate::schedule::{Kind, static_chunks, static_member};

/// Faults that are described one by one; of more only the number is kept.
const DESCRIBED: usize = 20;

/// What was looked at, and what is wrong.
#[derive(Debug, Default)]
pub struct Findings {
    /// Events that were read.
    pub events: u64,
    /// How many faults there are.
    pub faults: u64,
    /// The first faults, one sentence each.
    pub described: Vec<String>,
    /// Loop instances whose chunks were compared with the iterations.
    pub loops: u64,
    /// Of these, those of whose chunks the specification says something, and they
    /// were as it says.
    pub predicted: u64,
}

impl Findings {
    fn fault(&mut self, sentence: impl FnOnce() -> String) {
        self.faults += 1;
        if self.described.len() < DESCRIBED {
            self.described.push(sentence());
        }
    }
}

/// What is known of a loop instance that is under way.
#[derive(Debug, Default)]
struct Covered {
    instance: Option<LoopInstance>,
    chunks: Vec<SharedOut>,
}

/// First iteration and length of a chunk, and the member that had it.
type SharedOut = (u64, u64, Option<u32>);

/// Checks one stream after the other.
struct Checker<'a> {
    trace: &'a Trace,
    findings: Findings,
    stream: u64,
    time: u64,
    /// The last label that the stream gave, by kind of label.
    labels: [u64; 3],
    /// By stream: the last task that it created, and the last of these that was
    /// executed.
    tasks: BTreeMap<u64, (u64, u64)>,
    loops: BTreeMap<Instance, Covered>,
    is_whole: bool,
}

/// Checks a trace.
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
        loops: BTreeMap::new(),
        is_whole: trace.header.is_complete,
    };
    for stream in trace.streams() {
        checker.stream = stream;
        checker.time = 0;
        checker.labels = [0; 3];
        let (rest, end) = replay(trace, stream, &mut checker)?;
        let open = rest.open().iter().filter(|open| open.role != Role::Base);
        let open = open.count();
        if trace.header.is_complete && trace.header.dropped == 0 && open > 0 {
            let place = checker.place(end);
            checker
                .findings
                .fault(|| format!("{place}: {open} regions are never closed"));
        }
    }
    checker.check_tasks();
    checker.check_loops();
    Ok(checker.findings)
}

impl Listener for Checker<'_> {
    fn event(&mut self, time: u64, open: &[Open], event: &Event) {
        self.findings.events += 1;
        if time < self.time && *event != Event::Known {
            let place = self.place(time);
            let by = self.time - time;
            self.findings
                .fault(|| format!("{place}: {by} ticks before the event before"));
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
            Event::Loop(instance) => self.begin_loop(*instance),
            Event::Chunk(chunk) => self.chunk(*chunk, path(open)),
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
            Fault::NothingOpen => "something ends that is not open".to_owned(),
            Fault::BeforeBegin => "something ends before it begins".to_owned(),
            Fault::OtherContext => "a page begins with other regions open".to_owned(),
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

    fn begin_loop(&mut self, instance: LoopInstance) {
        let known = self.loops.entry(instance.instance).or_default();
        let before = *known.instance.get_or_insert(instance);
        if before != instance {
            let name = name(instance.instance);
            self.findings
                .fault(|| format!("the loop {name} has other bounds on another thread"));
        }
    }

    fn chunk(&mut self, chunk: Chunk, path: Option<u32>) {
        let path = path.and_then(|path| self.trace.paths.get(path as usize));
        let member = path.and_then(|path| path.last()).copied();
        let known = self.loops.entry(chunk.instance).or_default();
        known.chunks.push((chunk.first, chunk.length, member));
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

    /// Every iteration of a loop must be in one chunk, and where the
    /// specification fixes the chunks they must be those.
    fn check_loops(&mut self) {
        if !self.is_whole {
            return;
        }
        for (instance, mut covered) in std::mem::take(&mut self.loops) {
            let Some(known) = covered.instance else {
                continue;
            };
            self.findings.loops += 1;
            covered.chunks.sort_unstable();
            let mut next = 0;
            let mut is_covered = true;
            for (first, length, _) in &covered.chunks {
                is_covered &= *first == next;
                next = first + length;
            }
            if !is_covered || next != known.count {
                let name = name(instance);
                self.findings
                    .fault(|| format!("the chunks of the loop {name} are not its iterations"));
            } else {
                self.check_schedule(&known, &covered.chunks);
            }
        }
    }

    /// Holds the chunks against what the specification says of the schedule.
    fn check_schedule(&mut self, known: &LoopInstance, chunks: &[SharedOut]) {
        let agrees = match (known.how.kind, known.chunk) {
            (Kind::Static, 0) => one_for_each(chunks),
            (Kind::Static, _) => are_static(known, chunks),
            (Kind::Dynamic, size) => {
                let full = &chunks[..chunks.len().saturating_sub(1)];
                full.iter().all(|(_, length, _)| *length == size.max(1))
            }
            _ => return,
        };
        if agrees {
            self.findings.predicted += 1;
        } else {
            let name = name(known.instance);
            self.findings
                .fault(|| format!("the chunks of the loop {name} are not those of its schedule"));
        }
    }
}

/// Whether these are the chunks that `static` with a chunk size makes.
fn are_static(known: &LoopInstance, chunks: &[SharedOut]) -> bool {
    let predicted = static_chunks(known.count, known.chunk);
    predicted.zip(chunks).all(|((first, length), chunk)| {
        let member = static_member(first, known.chunk, known.how.team);
        (first, length) == (chunk.0, chunk.1) && chunk.2.is_none_or(|had| u64::from(had) == member)
    })
}

/// Whether no member has two chunks, as `static` without a chunk size says.
fn one_for_each(chunks: &[SharedOut]) -> bool {
    let members = chunks.iter().filter_map(|(_, _, member)| *member);
    let mut seen = BTreeSet::new();
    members.into_iter().all(|member| seen.insert(member))
}

/// The instance of a loop as it is written.
fn name((label, number): Instance) -> String {
    let (stream, team) = label_parts(label);
    format!("{stream}:{team}.{number}")
}
