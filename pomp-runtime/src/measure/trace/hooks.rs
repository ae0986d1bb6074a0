//! The records that are written to the trace at each event. A record is written when its time is
//! known and before the frames change, so that a new page begins with the frames as they were.

use profile::counters::MOST_COUNTERS;
use profile::region_kind::PseudoRegion;
#[cfg(not(test))]
use profile::region_kind::RegionKind;
#[cfg(not(test))]
use trace::depend::Kind;
use trace::record::{NO_REGION, Op, RECURSIVE, TRUNCATED, head, near_chunk};
use trace::schedule::How;

use super::paths;
use crate::measure::counters;
use crate::measure::records::Frame;
use crate::measure::records::Node;
use crate::measure::records::Region;
use crate::measure::records::frame::Role;
use crate::measure::records::node::Origin;
use crate::measure::thread::Thread;

/// A call of a lock routine, or the lock that it got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockRecord {
    pub(crate) op: Op,
    pub(crate) node: &'static Node,
    /// Begin of the call; not used for an unset.
    pub(crate) start: u64,
    pub(crate) address: usize,
    pub(crate) is_cut: bool,
}

/// A new chunk, as a call of the program reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Iterations of the chunk before.
    pub(crate) length: u64,
    /// How far the new one is from the end of the one before.
    pub(crate) gap: i64,
    /// The first iteration of the new one.
    pub(crate) first: u64,
}

/// A loop as a thread meets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopRecord {
    /// The team's label, and the loop's number in it.
    pub(crate) label: u64,
    pub(crate) number: u64,
    pub(crate) lower: i64,
    pub(crate) upper: i64,
    pub(crate) step: i64,
    pub(crate) how: How,
    pub(crate) chunk: u64,
    pub(crate) count: u64,
}

impl Thread {
    /// The iterations of a loop begin.
    pub(crate) fn trace_loop(&'static self, region: &'static Region, record: LoopRecord, at: u64) {
        let operands = [
            record.label,
            record.number,
            record.lower.cast_unsigned(),
            record.upper.cast_unsigned(),
            record.step.cast_unsigned(),
            record.how.to_word(),
            record.chunk,
            record.count,
        ];
        self.write_record(head(Op::Loop, 0, region.number), at, operands);
    }

    /// An inner loop of the loop that is recorded next: first value, bound, step and number of
    /// iterations.
    pub(crate) fn trace_level(&'static self, level: [i64; 4], at: u64) {
        let operands = level.map(i64::cast_unsigned);
        self.write_record(head(Op::Level, 0, NO_REGION), at, operands);
    }

    /// A chunk begins, the one before ends.
    #[inline(always)]
    pub(crate) fn trace_chunk(&'static self, chunk: Chunk, at: u64) {
        match near_chunk(chunk.length, chunk.gap) {
            Some(near) => self.write_record(head(Op::NearChunk, 0, near), at, []),
            None => {
                let head = head(Op::Chunk, 0, NO_REGION);
                self.write_record(head, at, [chunk.length, chunk.first]);
            }
        }
    }

    /// The last chunk of this thread ends.
    pub(crate) fn trace_last_chunk(&'static self, length: u64, at: u64) {
        self.write_record(head(Op::LastChunk, 0, NO_REGION), at, [length]);
    }

    /// The values of this thread's counters at the event that is recorded next.
    #[cold]
    #[inline(never)]
    pub(crate) fn trace_counters(&'static self, values: [u64; MOST_COUNTERS], at: u64) {
        if self.trace.is_on() {
            for (counter, value) in (0..).zip(values).take(counters::number()) {
                self.write_record(head(Op::Counter, 0, counter), at, [value]);
            }
        }
    }

    /// A construct is entered, or a task starts to be executed.
    #[inline(always)]
    pub(crate) fn trace_enter(
        &'static self,
        frame: &Frame,
        node: &'static Node,
        phase: PseudoRegion,
        at: u64,
    ) {
        if !self.trace.is_on() {
            return;
        }
        self.trace_counters_at_begin(frame, at);
        let is_task = |region: &Region| region.kind.is_task_execution();
        if node.region().is_some_and(is_task) {
            let label = self.trace.label();
            let created = match frame.label.get() {
                0 => self.trace.take_executed(),
                created => created,
            };
            frame.label.set(label);
            self.write_record(head(Op::Task, 0, region(node)), at, [label, created]);
        } else {
            frame.label.set(0);
            self.write_record(head(Op::Enter, phase as u8, region(node)), at, []);
        }
    }

    /// A region goes on to another phase.
    #[inline(always)]
    pub(crate) fn trace_phase_switch(
        &'static self,
        node: &'static Node,
        phase: PseudoRegion,
        at: u64,
    ) {
        if self.trace.is_on() {
            self.write_record(head(Op::SwitchPhase, phase as u8, region(node)), at, []);
        }
    }

    /// A construct is left.
    #[inline(always)]
    pub(crate) fn trace_exit(&'static self, frame: &Frame, node: &'static Node, at: u64) {
        if self.trace.is_on() {
            self.write_record(head(Op::Exit, recursive(frame), region(node)), at, []);
        }
    }

    /// A team is about to be made. Gives its label.
    #[inline(always)]
    pub(crate) fn trace_fork(&'static self, frame: &Frame, node: &'static Node, at: u64) -> u64 {
        if !self.trace.is_on() {
            return 0;
        }
        let label = self.trace.label();
        frame.label.set(label);
        let head = head(Op::Fork, PseudoRegion::Seq as u8, region(node));
        self.write_record(head, at, [label]);
        label
    }

    /// A team is gone.
    #[inline(always)]
    pub(crate) fn trace_join(&'static self, node: &'static Node, size: u32, at: u64) {
        if self.trace.is_on() {
            let head = head(Op::Join, 0, region(node));
            self.write_record(head, at, [u64::from(size)]);
        }
    }

    /// This thread starts in a team, which was forked at this time.
    #[inline(always)]
    pub(crate) fn trace_begin(
        &'static self,
        frame: &Frame,
        root: &'static Node,
        label: u64,
        fork: u64,
        at: u64,
    ) {
        if !self.trace.is_on() {
            return;
        }
        self.trace_counters_at_begin(frame, at);
        frame.label.set(label);
        let phase = match root.region().is_some_and(Region::is_combined) {
            true => PseudoRegion::Enter,
            false => PseudoRegion::Body,
        };
        let head = head(Op::Begin, phase as u8, region(root));
        let path = paths::path_number(root).wrapping_sub(1);
        self.write_record(head, at, [label, path, fork]);
    }

    /// This thread leaves its team.
    #[inline(always)]
    pub(crate) fn trace_end(&'static self, root: &'static Node, at: u64) {
        if self.trace.is_on() {
            self.write_record(head(Op::End, 0, region(root)), at, []);
        }
    }

    /// The construct just entered creates a task. Gives the task's label, or 0.
    #[inline(always)]
    pub(crate) fn trace_create(&'static self) -> u64 {
        if !self.trace.is_on() || self.paused().is_some() {
            return 0;
        }
        let label = self.trace.label();
        // The time is that of the construct's begin.
        let at = self.trace.last.get();
        self.write_record(head(Op::Create, 0, NO_REGION), at, [label]);
        self.trace.created.set(label);
        self.trace
            .created_at
            .set(self.top().map_or(0, Frame::start));
        label
    }

    /// The label of the task that the innermost construct creates. If its events did not ask for
    /// one, it gets one now. None if that construct creates no task, or is not traced.
    #[cfg(not(test))]
    pub(crate) fn trace_creation(&'static self) -> Option<u64> {
        let top = self
            .top()
            .filter(|top| self.trace.is_on() && top.is_timed_construct())?;
        let kind = top.region()?.kind;
        if !matches!(kind, RegionKind::Task | RegionKind::UntiedTask) {
            return None;
        }
        let label = match self.trace.created_at.get() == top.start() {
            true => self.trace.created.get(),
            false => self.trace_create(),
        };
        (label != 0).then_some(label)
    }

    /// A task that was created depends on what lies at an address.
    #[cfg(not(test))]
    pub(crate) fn trace_depend(&'static self, task: u64, kind: Kind, address: u64) {
        if self.trace.is_on() {
            let head = head(Op::Depend, kind as u8, NO_REGION);
            self.write_record(head, self.trace.last.get(), [task, address]);
        }
    }

    /// An initial thread has its first event.
    pub(crate) fn trace_base(&'static self, base: &'static Frame, at: u64) {
        if self.trace.is_on() {
            let (operands, region, phase) = context(base);
            self.write_record(head(Op::Open, phase, region), at, operands);
        }
    }

    /// A lock routine was called, or is about to be.
    #[inline(always)]
    pub(crate) fn trace_lock(&'static self, at: u64, lock: LockRecord) {
        if !self.trace.is_on() {
            return;
        }
        let cut = if lock.is_cut { TRUNCATED } else { 0 };
        let head = head(lock.op, cut, region(lock.node));
        let address = lock.address as u64;
        match lock.op {
            Op::LockSet => self.write_record(head, at, [lock.start, address]),
            Op::LockUnset | Op::LockFree => self.write_record(head, at, [address]),
            _ => self.write_record(head, at, [lock.start]),
        }
    }

    /// A frame is closed by the end of measurement.
    pub(super) fn trace_cut(&'static self, frame: &'static Frame, at: u64) {
        let Some(node) = frame.node() else { return };
        match frame.role() {
            Role::Construct | Role::Recursive => {
                let flags = TRUNCATED | recursive(frame);
                self.write_record(head(Op::Exit, flags, region(node)), at, []);
            }
            Role::Member => self.write_record(head(Op::End, TRUNCATED, region(node)), at, []),
            Role::Fork => {
                let size = u64::from(frame.team_size());
                self.write_record(head(Op::Join, TRUNCATED, region(node)), at, [size]);
            }
            Role::Ended if frame.waits() => {
                let (at, flag) = match frame.released() {
                    Some(released) => (released, 0),
                    None => (at, TRUNCATED),
                };
                self.write_record(head(Op::End, flag, region(node)), at, []);
            }
            _ => {}
        }
    }

    /// The frames of which the trace knows, outermost first.
    pub(super) fn frames(&'static self) -> impl Iterator<Item = &'static Frame> {
        let top = self.top();
        let mut is_done = false;
        let frames = std::iter::successors(self.base(), |frame| frame.above());
        let frames = frames.take_while(move |frame| {
            let goes_on = !is_done;
            is_done |= top.is_some_and(|top| std::ptr::eq(top, *frame));
            goes_on
        });
        frames.filter(|frame| frame.role() != Role::Untimed)
    }
}

/// The operands of an `Open` record, with region and phase.
pub(super) fn context(frame: &'static Frame) -> ([u64; 5], u32, u8) {
    let role = frame.role();
    let node = frame.node();
    let (phase, phase_start) = match role {
        Role::Base => (PseudoRegion::Main, 0),
        _ => frame.running_phase().unwrap_or((PseudoRegion::Main, 0)),
    };
    let path = match node {
        Some(node) if !matches!(node.place(), Origin::Within(_)) => paths::path_number(node),
        _ => 0,
    };
    let is_base = role == Role::Base;
    let start = if is_base { 0 } else { frame.start() };
    let label = if is_base { 0 } else { frame.label.get() };
    let region = node.filter(|_| !is_base).map_or(NO_REGION, region);
    (
        [number_of(role), start, phase_start, label, path],
        region,
        phase as u8,
    )
}

/// The flag of an exit deep in a recursion.
#[inline(always)]
fn recursive(frame: &Frame) -> u8 {
    match frame.role() {
        Role::Recursive => RECURSIVE,
        _ => 0,
    }
}

/// The number of a role in a trace, which knows nothing of recursion.
fn number_of(role: Role) -> u64 {
    match role {
        Role::Recursive => Role::Construct as u64,
        Role::Ended => Role::Member as u64,
        role => role as u64,
    }
}

#[inline(always)]
fn region(node: &'static Node) -> u32 {
    node.region().map_or(NO_REGION, |region| region.number)
}
