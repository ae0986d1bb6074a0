//! The states of the collector interface, and the ids of waits and regions, as
//! the calling thread's frames say them.
//!
//! All of this may be asked for in a signal handler. It only reads words that events store one by
//! one, in an order in which they make sense at every moment.
//!
//! A reduction lies between the last statement of a construct that a source-level
//! instrumenter can see and its barrier: its state is given where the compiler asks the
//! runtime for it.

use profile::region_kind::{PseudoRegion, Whose};

use super::events::Activity;
use crate::measure::collector_counts::Kind;
use crate::measure::records::Frame;
use crate::measure::records::frame::Role;
use crate::measure::thread::Thread;

/// A state, with its number in the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    Overhead = 1,
    Work = 2,
    ImplicitBarrier = 3,
    Barrier = 4,
    Idle = 5,
    Serial = 6,
    Reduction = 7,
    LockWait = 8,
    CriticalWait = 9,
    OrderedWait = 10,
    AtomicWait = 11,
}

/// A thread's state; of a wait also its id: how many waits of its kind the thread has
/// had, this one included.
pub(super) fn state(thread: Option<&'static Thread>) -> (State, Option<u64>) {
    let Some(thread) = thread else {
        return (State::Serial, None);
    };
    if thread.waits.is_waking() {
        return (State::Idle, None);
    }
    if thread.awaited_lock().is_some() {
        return (State::LockWait, Some(thread.waits.id(Kind::Lock)));
    }
    let Some(top) = thread.top() else {
        return (State::Serial, None);
    };
    if top.is_stale() && thread.is_worker() {
        return (State::Idle, None);
    }
    let waits = waits(thread, top);
    match team_of(top) {
        _ if waits.is_some() => waits.unwrap_or((State::Work, None)),
        Some(_) if thread.waits.is_reducing(top) => (State::Reduction, None),
        Some(_) => (in_team(top), None),
        None if thread.is_worker() => (State::Idle, None),
        None => (State::Serial, None),
    }
}

/// The state of a frame that waits.
fn waits(thread: &Thread, top: &'static Frame) -> Option<(State, Option<u64>)> {
    let activity = Activity::of(top.region()?.kind, top.phase())?;
    let kind = Kind::of(activity).filter(|_| !thread.waits.is_passing(top))?;
    let state = match kind {
        Kind::ImplicitBarrier => State::ImplicitBarrier,
        Kind::Barrier => State::Barrier,
        Kind::Lock => State::LockWait,
        Kind::Critical => State::CriticalWait,
        Kind::Ordered => State::OrderedWait,
        Kind::Atomic => State::AtomicWait,
    };
    Some((state, Some(thread.waits.id(kind))))
}

/// The state of a thread that is in a parallel region and does not wait: the program's own work, or
/// the overhead of having it done.
fn in_team(top: &Frame) -> State {
    use PseudoRegion::{Enter, Exit, Ibarr, Main};
    if top.role() == Role::Fork {
        return State::Overhead;
    }
    let is_overhead = top
        .region()
        .is_some_and(|region| region.kind.main() == Whose::Runtime || region.is_combined());
    match top.phase() {
        Enter | Exit | Ibarr => State::Overhead,
        Main if is_overhead => State::Overhead,
        _ => State::Work,
    }
}

/// The innermost frame that stands for a team: of a member, or of the thread that
/// has forked it and is in it no longer, or not yet.
fn team_of(top: &'static Frame) -> Option<&'static Frame> {
    let mut frame = top;
    while frame.role().is_construct() {
        frame = frame.below()?;
    }
    let is_team = frame.role() == Role::Fork || frame.role().is_member();
    (is_team && !frame.is_stale()).then_some(frame)
}

/// The id of the instance of a parallel region that a thread is in; 0 if it is in
/// none.
pub(super) fn current_region(thread: Option<&'static Thread>) -> u64 {
    let team = thread.and_then(Thread::top).and_then(team_of);
    team.map_or(0, Frame::instance)
}

/// The id of the instance of the parallel region around the one that a thread is in:
/// 0 if that is the outermost, none if the thread is in no parallel region.
pub(super) fn parent_region(thread: Option<&'static Thread>) -> Option<u64> {
    let team = thread.and_then(Thread::top).and_then(team_of)?;
    let fork = match team.role() {
        Role::Fork => team,
        _ => team.fork()?,
    };
    Some(fork.below().and_then(team_of).map_or(0, Frame::instance))
}
