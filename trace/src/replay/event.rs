//! The events that a reader gets, and the regions that are open around them.

use profile::region_kind::PseudoRegion;

use crate::depend::Kind;
use crate::record::Op;
use crate::schedule::How;

/// The role of an open region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// No region: the thread itself, outside of all teams.
    Base = 0,
    /// A construct.
    Construct = 1,
    /// A parallel region as the thread that forked sees it.
    Fork = 2,
    /// A parallel region as a member of its team sees it.
    Member = 3,
}

impl Role {
    pub(super) fn of(number: u64) -> Self {
        match number {
            1 => Self::Construct,
            2 => Self::Fork,
            3 => Self::Member,
            _ => Self::Base,
        }
    }
}

/// A region that is open on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its role.
    pub role: Role,
    /// Its number, or [`NO_REGION`](crate::record::NO_REGION).
    pub region: u32,
    /// When it began, in ticks.
    pub start: u64,
    /// Its phase, and when that began. `Main` if only the region itself runs.
    pub phase: PseudoRegion,
    /// Ticks.
    pub phase_start: u64,
    /// Of a team or a task: its label; else 0.
    pub label: u64,
    /// Of a base or a member: the number of the thread's path.
    pub path: Option<u32>,
    /// The path of the thread on which it is open: its own, or that of the region around it.
    pub thread: Option<u32>,
    /// Of a loop whose iterations are traced: its current chunk.
    pub chunk: Option<OpenChunk>,
}

impl Open {
    /// Whether it is the execution of a task: no other construct has a label.
    #[must_use]
    pub fn is_task(&self) -> bool {
        self.role == Role::Construct && self.label != 0
    }
}

/// A chunk that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenChunk {
    /// The loop's instance.
    pub instance: Instance,
    /// Number of the first iteration; none before the first chunk.
    pub first: Option<u64>,
    /// When it began, in ticks.
    pub start: u64,
    /// When its iterations ended, in ticks: known before its end is recorded if the thread came to the barrier
    /// of the loop first.
    pub end: Option<u64>,
}

/// A chunk that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The loop's instance.
    pub instance: Instance,
    /// Number of its first iteration, counted from 0.
    pub first: u64,
    /// How many iterations it had.
    pub length: u64,
    /// When it began and ended, in ticks.
    pub start: u64,
    /// Ticks.
    pub end: u64,
}

impl Chunk {
    /// Number of its last iteration.
    #[must_use]
    pub fn last(&self) -> u64 {
        let more = self.length.saturating_sub(1);
        self.first.saturating_add(more)
    }
}

/// An event on a thread. It is about the innermost open region. A region is already open when its
/// begin is reported, and still open when its end is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A region opens. Of a member: when its team was forked.
    Begin {
        /// Time of the fork, in ticks.
        fork: Option<u64>,
    },
    /// A region turns out to be open after events that are missing.
    Known,
    /// Its phase ends, and this one starts.
    SwitchPhase(PseudoRegion),
    /// It closes. Of a fork: how many threads its team had, 0 if unknown.
    End {
        /// Whether it was not left by its own exit.
        is_cut: bool,
        /// Whether the profile counts its time for one around it.
        is_again: bool,
        /// Size of the team.
        size: u64,
    },
    /// It creates a task with this label.
    Create(u64),
    /// A task that it creates depends on something.
    Depend(Depend),
    /// It executes the task that was created with this label; 0 if unknown.
    Executes(u64),
    /// The iterations of a loop begin.
    Loop(LoopInstance),
    /// A chunk ends.
    Chunk(Chunk),
    /// A lock was set, refused or otherwise called for.
    Lock(LockEvent),
    /// How far a counter of the thread has counted at the begin or the end that follows.
    Counter {
        /// Its number among those of the trace.
        counter: u32,
        /// Its value.
        value: u64,
    },
    /// Events are missing here, this many.
    Missing(u64),
}

/// An item of a `depend` clause, as the program gives it to its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depend {
    /// The label of the task that is created.
    pub task: u64,
    /// The type of the dependence.
    pub kind: Kind,
    /// The address of the item; 0 for all memory.
    pub address: u64,
}

/// The outcome of a call of a lock routine. Its region is not on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockEvent {
    /// The outcome.
    pub op: Op,
    /// The region of the call that set the lock, or of the call that the event is about.
    pub region: u32,
    /// When that call began, in ticks; 0 of an unset.
    pub start: u64,
    /// Address of the lock, 0 if it does not matter.
    pub address: u64,
    /// Whether it was still held when measurement ended.
    pub is_cut: bool,
}

/// One execution of a loop by a team: the team's label, and the number of the loop
/// among those that the team has met. Outside of teams a label of its own.
pub type Instance = (u64, u64);

/// More loops than these are not collapsed by the instrumenter.
pub const MOST_LEVELS: usize = 4;

/// A loop of those that are collapsed, or the only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// First value of the loop variable.
    pub lower: i64,
    /// The bound as it was written: the last value, or the first beyond.
    pub upper: i64,
    /// By how much the loop variable changes.
    pub step: i64,
    /// How many iterations it has.
    pub count: u64,
}

impl Level {
    /// The loop variable's value in an iteration, counted from 0.
    #[must_use]
    pub fn value(&self, iteration: u64) -> Option<i64> {
        let ahead = self.step.checked_mul(i64::try_from(iteration).ok()?)?;
        self.lower.checked_add(ahead)
    }
}

/// A loop as one thread meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopInstance {
    /// The instance, which the whole team shares.
    pub instance: Instance,
    /// The loop, or the outermost of those that are collapsed.
    pub outermost: Level,
    /// The others, from the outside in, as far as they are known.
    pub inner: [Option<Level>; MOST_LEVELS - 1],
    /// The schedule and the team.
    pub how: How,
    /// Iterations in a chunk if the schedule fixes that; else 0.
    pub chunk: u64,
    /// How many iterations there are, of all loops that are collapsed.
    pub count: u64,
}

/// The fault of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It names another region than the innermost one.
    WrongRegion {
        /// The region that is open.
        open: u32,
        /// The region that it names.
        named: u32,
    },
    /// It ends a region, and none is open.
    NothingOpen,
    /// It lies before the begin of the region or phase that it ends.
    BeforeBegin,
    /// The page says that other regions are open than were.
    OtherContext,
    /// More regions are open than any program has, which is damage.
    TooDeep,
    /// So many words of a page are no records.
    NoRecord(u64),
}
