//! What must be true of every trace.
//!
//! On one thread regions nest, so that no two overlap; times do not run
//! backwards; every region is closed; labels are given once. Of each loop whose
//! chunks were traced by a whole team, every iteration is in one chunk.

use std::collections::BTreeMap;

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
    /// Of these, those whose distribution the specification fixes, and was as
    /// it says.
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
    /// First iteration and length of each chunk, and the member that had it.
    chunks: Vec<(u64, u64, Option<u32>)>,
}

/// Checks one stream after the other.
struct Checker<'a> {
    trace: &'a Trace,
    findings: Findings,
    stream: u64,
    time: u64,
    /// The last label that the stream gave, by kind of label.
    labels: [u64; 3],
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
            Event::Create(label) => self.label(1, *label, time),
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
            } else if known.how.kind == Kind::Static && known.chunk > 0 {
                self.check_static(&known, &covered.chunks);
            }
        }
    }

    /// Holds the chunks against those that `static` with a chunk size makes.
    fn check_static(&mut self, known: &LoopInstance, chunks: &[(u64, u64, Option<u32>)]) {
        let predicted = static_chunks(known.count, known.chunk);
        let is_predicted = predicted.zip(chunks).all(|((first, length), chunk)| {
            let member = static_member(first, known.chunk, known.how.team);
            (first, length) == (chunk.0, chunk.1)
                && chunk.2.is_none_or(|had| u64::from(had) == member)
        });
        if is_predicted {
            self.findings.predicted += 1;
        } else {
            let name = name(known.instance);
            self.findings
                .fault(|| format!("the chunks of the loop {name} are not those of its schedule"));
        }
    }
}

/// The instance of a loop as it is written.
fn name((label, number): Instance) -> String {
    let (stream, team) = label_parts(label);
    format!("{stream}:{team}.{number}")
}
