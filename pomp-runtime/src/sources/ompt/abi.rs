//! The parts of OpenMP's interface for tools that are used here (version 5.2, chapter 19).

use std::ffi::{c_char, c_int, c_uint, c_void};

/// The tool's data for a parallel region, task or thread.
pub(super) type Data = *mut u64;

/// Looks up a function of the runtime.
pub(super) type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// Has the runtime call a function for an event.
pub(super) type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;

pub(super) const BEGIN: c_int = 1;
pub(super) const END: c_int = 2;

/// Events, by their numbers.
pub(super) mod event {
    use super::c_int;

    pub(in crate::sources::ompt) const PARALLEL_BEGIN: c_int = 3;
    pub(in crate::sources::ompt) const PARALLEL_END: c_int = 4;
    pub(in crate::sources::ompt) const TASK_CREATE: c_int = 5;
    pub(in crate::sources::ompt) const TASK_SCHEDULE: c_int = 6;
    pub(in crate::sources::ompt) const IMPLICIT_TASK: c_int = 7;
    pub(in crate::sources::ompt) const SYNC_REGION_WAIT: c_int = 16;
    pub(in crate::sources::ompt) const MUTEX_RELEASED: c_int = 17;
    pub(in crate::sources::ompt) const DEPENDENCES: c_int = 18;
    pub(in crate::sources::ompt) const WORK: c_int = 20;
    pub(in crate::sources::ompt) const MASKED: c_int = 21;
    pub(in crate::sources::ompt) const SYNC_REGION: c_int = 23;
    pub(in crate::sources::ompt) const MUTEX_ACQUIRE: c_int = 26;
    pub(in crate::sources::ompt) const MUTEX_ACQUIRED: c_int = 27;
    pub(in crate::sources::ompt) const FLUSH: c_int = 29;
    pub(in crate::sources::ompt) const CANCEL: c_int = 30;
}

/// An item of a `depend` clause: an address, and its type.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Dependence {
    pub(super) address: u64,
    pub(super) kind: c_int,
}

/// Types of dependences.
pub(super) mod depend {
    use super::c_int;

    pub(in crate::sources::ompt) const IN: c_int = 1;
    pub(in crate::sources::ompt) const OUT: c_int = 2;
    pub(in crate::sources::ompt) const MUTEXINOUTSET: c_int = 4;
    pub(in crate::sources::ompt) const SOURCE: c_int = 5;
    pub(in crate::sources::ompt) const SINK: c_int = 6;
    pub(in crate::sources::ompt) const INOUTSET: c_int = 7;
    pub(in crate::sources::ompt) const OUT_ALL_MEMORY: c_int = 34;
    pub(in crate::sources::ompt) const INOUT_ALL_MEMORY: c_int = 35;
}

/// Kinds of waiting.
pub(super) mod sync {
    use super::c_int;

    pub(in crate::sources::ompt) const BARRIER: c_int = 1;
    pub(in crate::sources::ompt) const BARRIER_IMPLICIT: c_int = 2;
    pub(in crate::sources::ompt) const BARRIER_EXPLICIT: c_int = 3;
    pub(in crate::sources::ompt) const BARRIER_IMPLEMENTATION: c_int = 4;
    pub(in crate::sources::ompt) const TASKWAIT: c_int = 5;
    pub(in crate::sources::ompt) const TASKGROUP: c_int = 6;
    pub(in crate::sources::ompt) const IMPLICIT_WORKSHARE: c_int = 8;
    pub(in crate::sources::ompt) const IMPLICIT_PARALLEL: c_int = 9;
}

/// Kinds of mutual exclusion.
pub(super) mod mutex {
    use super::c_int;

    pub(in crate::sources::ompt) const CRITICAL: c_int = 5;
    pub(in crate::sources::ompt) const ATOMIC: c_int = 6;
    pub(in crate::sources::ompt) const ORDERED: c_int = 7;
}

/// Kinds of worksharing.
pub(super) mod work {
    use super::c_int;

    pub(in crate::sources::ompt) const LOOP: c_int = 1;
    pub(in crate::sources::ompt) const SECTIONS: c_int = 2;
    pub(in crate::sources::ompt) const SINGLE_EXECUTOR: c_int = 3;
    pub(in crate::sources::ompt) const SINGLE_OTHER: c_int = 4;
    pub(in crate::sources::ompt) const WORKSHARE: c_int = 5;
    pub(in crate::sources::ompt) const DISTRIBUTE: c_int = 6;
    pub(in crate::sources::ompt) const TASKLOOP: c_int = 7;
    pub(in crate::sources::ompt) const SCOPE: c_int = 8;
    /// Loops, one number for each schedule.
    pub(in crate::sources::ompt) const FIRST_SCHEDULE: c_int = 10;
    pub(in crate::sources::ompt) const LAST_SCHEDULE: c_int = 13;
}

/// Flags of a task: it is the initial one, an explicit one, or untied.
pub(super) const INITIAL_TASK: c_int = 1;
pub(super) const EXPLICIT_TASK: c_int = 4;
pub(super) const UNTIED_TASK: c_int = 0x1000_0000;

/// Flag of a parallel region: its threads are the initial threads of teams.
pub(super) const LEAGUE: c_int = 0x4000_0000;

/// Status of a task when another takes its place: it is complete, was cancelled, or has executed its block, but is
/// not complete before its event is fulfilled.
pub(super) const COMPLETE: c_int = 1;
pub(super) const CANCELLED: c_int = 3;
pub(super) const DETACHED: c_int = 4;

/// Status of a task whose event is fulfilled, by any thread: before or after it has executed its block.
pub(super) const FULFILLED_EARLY: c_int = 5;
pub(super) const FULFILLED_LATE: c_int = 6;

/// Flag of `cancel`: this thread asked for the cancellation.
pub(super) const ACTIVATED: c_int = 0x10;

/// The record that a tool gives to the runtime.
#[derive(Debug)]
#[repr(C)]
pub struct StartResult {
    pub(super) initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    pub(super) finalize: unsafe extern "C" fn(Data),
    pub(super) tool_data: u64,
}

/// A function by which runtimes ask for a tool.
pub(super) type Start = unsafe extern "C" fn(c_uint, *const c_char) -> *const StartResult;
