//! Replays the records of a thread as regions that open and close.
//!
//! A reader gets each event together with the regions that are open around it. If events are
//! missing, the page after the gap says which regions are open. A region that was left within
//! the gap ends at the beginning of the gap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use profile::region_kind::PseudoRegion;

use crate::depend::Kind;
use crate::read::{ReadError, Stream, StreamElement, Trace};
use crate::record::{NO_REGION, Op, RECURSIVE, Record, TRUNCATED, far_chunk, pseudo_region};
use crate::schedule::How;

mod constructs;
mod event;

use constructs::{Becomes, Constructs};
pub use event::{
    Chunk, Depend, Event, Fault, Instance, Level, LockEvent, LoopInstance, MOST_LEVELS, Open,
    OpenChunk, Role,
};

/// Receives the events of a thread.
pub trait Listener {
    /// Something happens at this time, with these regions open, outermost first.
    fn event(&mut self, time: u64, open: &[Open], event: &Event);

    /// A record is wrong.
    fn fault(&mut self, _time: u64, _fault: Fault) {}

    /// The events that follow are of this stream.
    fn stream(&mut self, _stream: u64) {}
}

/// The largest number of regions that are open on a thread. Code that looks at all of them must
/// come to an end.
const MOST_OPEN: usize = 1 << 14;

/// The open regions of a thread.
#[derive(Debug, Default)]
pub struct Replay {
    open: Vec<Open>,
    /// The number of open regions beyond this limit, which are not reported.
    beyond: u64,
    /// The open regions that a page states, while these records are read.
    context: Vec<Open>,
    /// Whether a page has been read.
    has_begun: bool,
    /// Set from the begin of a page to the first record that does not state an open region.
    in_context: bool,
    /// Events that are missing before this page.
    missing: u64,
    time: u64,
    /// Inner loops of the loop that comes next.
    levels: Vec<Level>,
    constructs: Constructs,
}

/// Replays a stream to its end. Regions that are open then stay open. Returns them with the last
/// time of the stream.
///
/// # Errors
/// If the file cannot be read.
pub fn replay(
    trace: &Trace,
    stream: u64,
    listener: &mut dyn Listener,
) -> Result<(Replay, u64), ReadError> {
    listener.stream(stream);
    let mut steps = Steps::new(trace, stream);
    while steps.step(listener)? {}
    let time = steps.replay.time;
    Ok((steps.replay, time))
}

/// A stream that is replayed step by step, for readers of several streams side by side.
#[derive(Debug)]
pub struct Steps<'a> {
    elements: Stream<'a>,
    replay: Replay,
}

impl<'a> Steps<'a> {
    /// Starts in front of the first record.
    #[must_use]
    pub fn new(trace: &'a Trace, stream: u64) -> Self {
        Self {
            elements: trace.stream(stream),
            replay: Replay::of(trace),
        }
    }

    /// Takes the next record; false if there is none left.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn step(&mut self, listener: &mut dyn Listener) -> Result<bool, ReadError> {
        let element = self.elements.next_element()?;
        match element {
            Some(element) => self.replay.feed(element, listener),
            None => self.replay.settle(listener),
        }
        Ok(element.is_some())
    }
}

/// Replays a stream, and closes the regions that are open at its end, as when the program was
/// killed. They end with the measurement, or at the last time of the stream if that is later.
///
/// # Errors
/// If the file cannot be read.
pub fn replay_closed(
    trace: &Trace,
    stream: u64,
    listener: &mut dyn Listener,
) -> Result<(), ReadError> {
    let (mut rest, last) = replay(trace, stream, listener)?;
    let end = trace.header.end.ticks.max(last);
    while let Some(top) = rest.open.last() {
        let end = end.max(top.start).max(top.phase_start);
        rest.close(end, (true, false), 0, listener);
    }
    Ok(())
}

/// Replays all streams at once, in the order of time. Takes memory for a page of
/// each.
///
/// # Errors
/// If the file cannot be read.
pub fn replay_merged(trace: &Trace, listener: &mut dyn Listener) -> Result<(), ReadError> {
    let mut streams: Vec<(u64, Stream<'_>, Replay)> = trace
        .streams()
        .map(|stream| (stream, trace.stream(stream), Replay::of(trace)))
        .collect();
    let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut elements = Vec::new();
    for (index, (_, stream, _)) in streams.iter_mut().enumerate() {
        elements.push(stream.next_element()?);
        if let Some(element) = &elements[index] {
            next.push(Reverse((element.time(), index)));
        }
    }
    while let Some(Reverse((_, index))) = next.pop() {
        let (number, stream, replay) = &mut streams[index];
        listener.stream(*number);
        if let Some(element) = elements[index].take() {
            replay.feed(element, listener);
        }
        elements[index] = stream.next_element()?;
        match &elements[index] {
            Some(element) => next.push(Reverse((element.time(), index))),
            None => replay.settle(listener),
        }
    }
    Ok(())
}

impl Replay {
    /// In front of a stream of a trace.
    fn of(trace: &Trace) -> Self {
        Self {
            constructs: Constructs::of(trace),
            ..Self::default()
        }
    }

    /// The open regions, outermost first.
    #[must_use]
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// Takes the next element.
    pub fn feed(&mut self, element: StreamElement, listener: &mut dyn Listener) {
        match element {
            StreamElement::Page { missing, time } => {
                self.settle(listener);
                self.context.clear();
                self.constructs.begin_page();
                self.in_context = true;
                self.missing = missing;
                if self.open.is_empty() {
                    self.time = time;
                }
            }
            StreamElement::Record { time, record } => {
                if self.in_context && record.op == Op::Open && self.context.len() < MOST_OPEN {
                    let mut open = opened(&record);
                    // There is nothing below a base: another base is an event.
                    if open.role != Role::Base || self.context.is_empty() {
                        if self.constructs.state(&mut open, &mut self.context) {
                            self.context.push(within(&self.context, open));
                        }
                        return;
                    }
                }
                self.settle(listener);
                self.record(time, &record, listener);
                self.time = time;
            }
            StreamElement::Damaged { time, words } => {
                self.settle(listener);
                listener.fault(time, Fault::NoRecord(words));
            }
        }
    }

    /// All open regions of the page are read. They replace what is not known.
    fn settle(&mut self, listener: &mut dyn Listener) {
        if !std::mem::take(&mut self.in_context) {
            return;
        }
        let context = std::mem::take(&mut self.context);
        let missing = std::mem::take(&mut self.missing);
        if !std::mem::replace(&mut self.has_begun, true) && missing == 0 {
            self.open = context;
            return self.constructs.replace();
        }
        if missing == 0 {
            // A page leaves out the open regions if they would take too much room.
            if !context.is_empty() && !same(&self.open, &context) {
                listener.fault(self.time, Fault::OtherContext);
            }
            return;
        }
        self.beyond = 0;
        self.constructs.replace();
        listener.event(self.time, &self.open, &Event::Missing(missing));
        let kept = self.open.iter().zip(&context);
        let kept = kept.take_while(|(open, now)| is_same(open, now)).count();
        while self.open.len() > kept {
            self.close(self.time, (true, false), 0, listener);
        }
        for open in &context[kept..] {
            self.open.push(within(&self.open, *open));
            if open.role != Role::Base {
                listener.event(open.start, &self.open, &Event::Known);
            }
        }
        for (open, now) in self.open.iter_mut().zip(&context) {
            (open.phase, open.phase_start) = (now.phase, now.phase_start);
        }
    }

    fn record(&mut self, time: u64, record: &Record, listener: &mut dyn Listener) {
        if self.beyond > 0 {
            return self.count_beyond(record.op);
        }
        let other;
        let record = match self.constructs.change(record, &self.open) {
            Becomes::Itself => record,
            Becomes::Nothing => return,
            Becomes::Other(record) => {
                other = record;
                &other
            }
        };
        let [first, second, ..] = record.operands;
        match record.op {
            Op::Enter => self.begin(time, Role::Construct, record, 0, listener),
            Op::Task => {
                self.begin(time, Role::Construct, record, first, listener);
                if self.beyond == 0 {
                    listener.event(time, &self.open, &Event::Executes(second));
                }
            }
            Op::Fork => self.begin(time, Role::Fork, record, first, listener),
            Op::Begin => self.begin(time, Role::Member, record, first, listener),
            Op::SwitchPhase => self.switch_phase(time, record, listener),
            Op::Exit | Op::End => self.end(time, record, 0, listener),
            Op::Join => self.end(time, record, first, listener),
            Op::Open => self.set_base(time, record, listener),
            Op::Create => listener.event(time, &self.open, &Event::Create(first)),
            Op::Depend => {
                let depend = Depend {
                    task: first,
                    kind: Kind::of(record.phase),
                    address: second,
                };
                listener.event(time, &self.open, &Event::Depend(depend));
            }
            Op::LockSet
            | Op::LockRefused
            | Op::LockCalled
            | Op::LockNested
            | Op::LockUnset
            | Op::LockFree => self.lock(time, record, listener),
            Op::Loop => self.iterations(time, record, listener),
            // A loop cannot have more levels. Further ones belong to no loop.
            Op::Level if self.levels.len() < MOST_LEVELS => self.levels.push(level(record)),
            Op::Level => {}
            Op::Chunk => self.chunk(time, first, Some(second), listener),
            Op::NearChunk => self.near_chunk(time, record, listener),
            Op::LastChunk => self.chunk(time, first, None, listener),
            Op::Counter => {
                let (counter, value) = (record.region, first);
                listener.event(time, &self.open, &Event::Counter { counter, value });
            }
            Op::Time => {}
        }
    }

    /// Of regions that are open beyond the limit only the number is known.
    fn count_beyond(&mut self, op: Op) {
        match op {
            Op::Enter | Op::Task | Op::Fork | Op::Begin => self.beyond += 1,
            Op::Exit | Op::End | Op::Join => self.beyond -= 1,
            _ => {}
        }
    }

    fn begin(
        &mut self,
        time: u64,
        role: Role,
        record: &Record,
        label: u64,
        listener: &mut dyn Listener,
    ) {
        if self.open.len() >= MOST_OPEN {
            self.beyond = 1;
            return listener.fault(time, Fault::TooDeep);
        }
        let phase = record.pseudo_region();
        let fork = (role == Role::Member).then_some(record.operands[2]);
        let waits_since_fork = phase == PseudoRegion::Enter;
        let open = Open {
            role,
            region: record.region,
            start: time,
            phase,
            phase_start: fork.filter(|_| waits_since_fork).unwrap_or(time),
            label,
            path: fork.map(|_| record.operands[1] as u32),
            thread: None,
            chunk: None,
        };
        self.open.push(within(&self.open, open));
        listener.event(time, &self.open, &Event::Begin { fork });
    }

    fn switch_phase(&mut self, time: u64, record: &Record, listener: &mut dyn Listener) {
        if !self.is_innermost(time, record, listener) {
            return;
        }
        let phase = record.pseudo_region();
        listener.event(time, &self.open, &Event::SwitchPhase(phase));
        if let Some(top) = self.open.last_mut() {
            (top.phase, top.phase_start) = (phase, time);
            // No iteration runs in the barrier of a construct that could not be split.
            if let Some(chunk) = top.chunk.as_mut().filter(|_| phase == PseudoRegion::Ibarr) {
                chunk.end.get_or_insert(time);
            }
        }
    }

    fn end(&mut self, time: u64, record: &Record, size: u64, listener: &mut dyn Listener) {
        if self.is_innermost(time, record, listener) {
            let flags = (record.phase & TRUNCATED != 0, record.phase & RECURSIVE != 0);
            self.close(time, flags, size, listener);
        }
    }

    fn close(
        &mut self,
        time: u64,
        (is_cut, is_again): (bool, bool),
        size: u64,
        listener: &mut dyn Listener,
    ) {
        if self.open.last().is_some_and(|top| top.role != Role::Base) {
            listener.event(
                time,
                &self.open,
                &Event::End {
                    is_cut,
                    is_again,
                    size,
                },
            );
        }
        self.open.pop();
    }

    /// Whether the record is about the innermost region.
    fn is_innermost(&self, time: u64, record: &Record, listener: &mut dyn Listener) -> bool {
        let Some(top) = self.open.last().filter(|top| top.role != Role::Base) else {
            listener.fault(time, Fault::NothingOpen);
            return false;
        };
        if top.region != record.region {
            let (open, named) = (top.region, record.region);
            listener.fault(time, Fault::WrongRegion { open, named });
        }
        if time < top.start || time < top.phase_start {
            listener.fault(time, Fault::BeforeBegin);
        }
        true
    }

    /// The first event of an initial thread: its base is below all regions.
    fn set_base(&mut self, time: u64, record: &Record, listener: &mut dyn Listener) {
        let base = opened(record);
        if base.role != Role::Base {
            return listener.fault(time, Fault::OtherContext);
        }
        match self.open.first_mut() {
            Some(first) if first.role == Role::Base => *first = base,
            _ => self.open.insert(0, base),
        }
        let on_it = |(place, open): &(usize, &mut Open)| *place == 0 || open.path.is_none();
        for (_, open) in self.open.iter_mut().enumerate().take_while(on_it) {
            open.thread = base.path;
        }
    }

    fn lock(&mut self, time: u64, record: &Record, listener: &mut dyn Listener) {
        let [first, second, ..] = record.operands;
        let (start, address) = match record.op {
            Op::LockUnset | Op::LockFree => (0, first),
            _ => (first, second),
        };
        let event = LockEvent {
            op: record.op,
            region: record.region,
            start,
            address,
            is_cut: record.phase & TRUNCATED != 0,
        };
        listener.event(time, &self.open, &Event::Lock(event));
    }

    fn iterations(&mut self, time: u64, record: &Record, listener: &mut dyn Listener) {
        let [label, number, lower, upper, step, how, chunk, count] = record.operands;
        let how = How::from_word(how);
        let mut inner = [None; MOST_LEVELS - 1];
        // Some levels may be missing, since they are events of their own.
        let levels = std::mem::take(&mut self.levels);
        if levels.len() + 1 == usize::from(how.levels) {
            for (known, level) in inner.iter_mut().zip(levels) {
                *known = Some(level);
            }
        }
        let inner_count = inner.iter().flatten().map(|level| level.count);
        let inner_count = inner_count.fold(1u64, u64::saturating_mul);
        let instance = LoopInstance {
            instance: (label, number),
            outermost: Level {
                lower: lower.cast_signed(),
                upper: upper.cast_signed(),
                step: step.cast_signed(),
                count: count / inner_count.max(1),
            },
            inner,
            how,
            chunk,
            count,
        };
        listener.event(time, &self.open, &Event::Loop(instance));
        if let Some(top) = self.open.last_mut() {
            top.chunk = Some(OpenChunk {
                instance: (label, number),
                first: None,
                start: time,
                end: None,
            });
        }
    }

    fn near_chunk(&mut self, time: u64, record: &Record, listener: &mut dyn Listener) {
        let (length, gap) = far_chunk(record.region);
        let before = self.open.last().and_then(|top| top.chunk);
        let first = before.and_then(|chunk| chunk.first).unwrap_or(0);
        let start = first.wrapping_add(length).wrapping_add_signed(gap);
        self.chunk(time, length, Some(start), listener);
    }

    /// The chunk before ends, with this many iterations, and perhaps one starts.
    fn chunk(&mut self, time: u64, length: u64, first: Option<u64>, listener: &mut dyn Listener) {
        let Some(open) = self.open.last().and_then(|top| top.chunk) else {
            // The begin of the loop is missing.
            return;
        };
        if let Some(first) = open.first {
            let chunk = Chunk {
                instance: open.instance,
                first,
                length,
                start: open.start,
                end: open.end.unwrap_or(time),
            };
            listener.event(time, &self.open, &Event::Chunk(chunk));
        }
        if let Some(top) = self.open.last_mut() {
            top.chunk = first.map(|first| OpenChunk {
                first: Some(first),
                start: time,
                end: None,
                ..open
            });
        }
    }
}

fn level(record: &Record) -> Level {
    let [lower, upper, step, count, ..] = record.operands;
    Level {
        lower: lower.cast_signed(),
        upper: upper.cast_signed(),
        step: step.cast_signed(),
        count,
    }
}

/// The contents of an `Open` record.
fn opened(record: &Record) -> Open {
    let [role, start, phase_start, label, path, ..] = record.operands;
    Open {
        role: Role::of(role),
        region: record.region,
        start,
        phase: pseudo_region(record.phase),
        phase_start,
        label,
        path: path
            .checked_sub(1)
            .and_then(|path| u32::try_from(path).ok()),
        thread: None,
        chunk: None,
    }
}

/// Whether these are the same regions in the same phases. A base without a path
/// says nothing.
fn same(open: &[Open], context: &[Open]) -> bool {
    let phases = |open: &Open, now: &Open| {
        open.phase == now.phase
            && (open.phase == PseudoRegion::Main || open.phase_start == now.phase_start)
    };
    open.len() == context.len()
        && open
            .iter()
            .zip(context)
            .all(|(open, now)| is_same(open, now) && phases(open, now))
}

fn is_same(open: &Open, now: &Open) -> bool {
    // The next thread that uses the stream has another base.
    let is_base = open.role == Role::Base && now.role == Role::Base;
    is_base
        || open.role == now.role
            && open.region == now.region
            && open.start == now.start
            && open.label == now.label
            && open.path == now.path
}

/// Opens a region inside others: its thread is theirs if it has none of its own.
fn within(around: &[Open], open: Open) -> Open {
    Open {
        thread: open.path.or_else(|| path(around)),
        ..open
    }
}

/// The path of the thread at an event.
#[must_use]
pub fn path(open: &[Open]) -> Option<u32> {
    open.last()?.thread
}

/// Whether a region number names one.
#[must_use]
pub fn is_region(region: u32) -> bool {
    region != NO_REGION
}
