//! Entries that make a team. The runtime gets a function of ours for the team's members, and as
//! their data a record on the stack of the thread that forks. The record connects the members with
//! the fork.

use std::cell::Cell;
use std::ffi::c_void;

use super::super::boundary::{Action, event_of};
use super::super::own_code;
use super::chunks::{self, CallWords, StackWords};
use super::runtime::Runtime;
use super::site::{self, Call};
use super::table::{Entry, row::Row};
use super::unmarked::{leave, leave_passed_over};
use crate::measure::clock::now;
use crate::measure::records::Region;
use crate::measure::records::team::TeamHandle;
use crate::measure::shared_loop::Shared;
use crate::measure::thread;
use crate::measure::{passed_members, passed_teams};

type Body = unsafe extern "C-unwind" fn(*mut c_void);
type Eight =
    unsafe extern "C-unwind" fn(usize, usize, usize, usize, usize, usize, usize, usize) -> usize;

/// The data that the members of a team get: one line of the processor's caches, which each member
/// fetches once.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Launch {
    /// Where the runtime looks for the reductions of the tasks of the region.
    first_word: usize,
    body: usize,
    data: usize,
    /// A [`TeamHandle`].
    team: *const c_void,
    region: &'static Region,
    runtime: &'static Runtime,
    work: &'static Work,
    /// The loop that the region is, if its chunks are to be seen; null otherwise.
    shared: *const Shared,
}

const _: () = assert!(size_of::<Launch>() == 64);

/// The events that a member reports of the work of a combined region.
#[derive(Debug)]
struct Work {
    begins: Action,
    ends: Action,
}

/// The call of an entry, the runtime's function for it, and the loop that the region is, if its chunks
/// are to be seen.
///
/// # Safety
/// The arguments are those of the call: those in registers, and the first one on the stack.
#[inline(always)]
unsafe fn entered<E: Entry>(
    registers: [usize; 6],
    on_stack: usize,
) -> (Call, Eight, Option<Shared>) {
    let call = site::of::<E>(registers[0], registers[3]);
    // SAFETY: the runtime's function of this name takes these arguments.
    let function: Eight = unsafe { std::mem::transmute(call.function) };
    let passed = || CallWords {
        registers,
        stack: Some(StackWords::beginning_with(on_stack)),
    };
    // SAFETY: as the caller promises.
    let shared = unsafe { chunks::begun_loop::<E>(call, passed) };
    (call, function, shared)
}

/// Entries that return when the team is gone.
///
/// # Safety
/// Only for the stubs: the arguments are those of the call.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn parallel<E: Entry>(
    body: usize,
    data: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    _caller: usize,
    g: usize,
    h: usize,
) -> usize {
    // SAFETY: the arguments are those of the call.
    let (call, function, shared) = unsafe { entered::<E>([body, data, c, d, e, f], g) };
    let Some(mut launch) = fork::<E>(call, body, data, shared.is_none()) else {
        // SAFETY: as above.
        return unsafe { function(body, data, c, d, e, f, g, h) };
    };
    launch.shared = shared.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let with = (&raw const launch).expose_provenance();
    // SAFETY: as above; the team is gone before the record is.
    let result = unsafe { function(member as *const () as usize, with, c, d, e, f, g, h) };
    join(launch.region);
    result
}

/// Forks, if that is to be measured. `may_pass`: the members may be passed over.
#[inline(always)]
fn fork<E: Row>(call: Call, body: usize, data: usize, may_pass: bool) -> Option<Launch> {
    let runtime = call.runtime?;
    let region = call.region?;
    let at_once = match may_pass {
        true => passed_teams::fork(Some(region)),
        false => None,
    };
    let team = at_once.map(Some).or_else(|| {
        event_of(
            |_| Some(region),
            |thread, region| thread.fork_for_handle(region, may_pass, now),
        )
    })?;
    let reduces = E::NUMBER == <super::entries::GOMP_parallel_reductions as Row>::NUMBER;
    let first_word = match reduces {
        // SAFETY: the data of this entry begins with the address of its reductions.
        true => unsafe { *std::ptr::with_exposed_provenance::<usize>(data) },
        false => 0,
    };
    Some(Launch {
        first_word,
        body,
        data,
        team: team.map_or(std::ptr::null(), |team| team.into_pointer().cast_const()),
        region,
        runtime,
        work: &const {
            Work {
                begins: E::before,
                ends: E::after,
            }
        },
        shared: std::ptr::null(),
    })
}

#[inline(always)]
fn join(region: &'static Region) {
    if !passed_teams::join(Some(region)) {
        event_of(
            |_| Some(region),
            |thread, region| thread.join(region, now()),
        );
    }
}

/// The function that a member runs.
unsafe extern "C-unwind" fn member(launch: *mut c_void) {
    // SAFETY: the thread that forks passes such a record, which exists until the team is gone.
    let launch = unsafe { *launch.cast::<Launch>() };
    begin(launch);
    let around = own_code::enter(launch.body);
    // SAFETY: the program passed the body with this data.
    unsafe {
        let body: Body = std::mem::transmute(launch.body);
        body(std::ptr::with_exposed_provenance_mut(launch.data));
    }
    own_code::leave(around);
    end(launch);
}

#[inline(always)]
fn begin(launch: Launch) {
    // SAFETY: `fork` has set it.
    let Some(team) = (unsafe { TeamHandle::of_pointer(launch.team) }) else {
        return;
    };
    let runtime = launch.runtime;
    let (number, size) = (|| runtime.thread_num(), || runtime.num_threads());
    if let Some(thread) = thread::current() {
        thread.begins_in_a_team();
    }
    if passed_members::begins(team, number, size) {
        return;
    }
    event_of(
        |_| Some(launch.region),
        |thread, region| {
            if !thread.begin_in(team, number(), size, now) {
                return;
            }
            (launch.work.begins)(thread, region);
            // SAFETY: the thread that forked keeps it until the team is gone.
            if let Some(shared) = unsafe { launch.shared.as_ref() } {
                chunks::begin(thread, region, runtime, shared, now());
            }
        },
    );
}

#[inline(always)]
fn end(launch: Launch) {
    if passed_members::ends(|| Some(launch.region)) {
        return;
    }
    leave_passed_over();
    event_of(
        |_| Some(launch.region),
        |thread, region| {
            leave(thread);
            (launch.work.ends)(thread, region);
            thread.end_member(region, now());
        },
    );
}

/// A record that outlives the call that made it.
struct Started {
    /// None if the team is not measured.
    launch: Option<Launch>,
    shared: Option<Shared>,
    below: *mut Started,
}

thread_local! {
    /// The teams that this thread has started, the innermost first.
    static STARTED: Cell<*mut Started> = const { Cell::new(std::ptr::null_mut()) };
}

/// Entries of old programs, which return when the team has started: the caller runs its
/// part itself.
///
/// # Safety
/// As for [`parallel`].
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn parallel_start<E: Entry>(
    body: usize,
    data: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    _padding: usize,
    _caller: usize,
    g: usize,
    h: usize,
) -> usize {
    // SAFETY: the arguments are those of the call.
    let (call, function, shared) = unsafe { entered::<E>([body, data, c, d, e, f], g) };
    let launch = fork::<E>(call, body, data, false);
    let below = STARTED.get();
    let mut started = Box::new(Started {
        launch,
        shared,
        below,
    });
    if let (Some(launch), Some(shared)) = (&mut started.launch, &started.shared) {
        launch.shared = std::ptr::from_ref(shared);
    }
    let started = Box::into_raw(started);
    STARTED.set(started);
    // SAFETY: the record stays until the team is gone.
    let Some(launch) = (unsafe { &(*started).launch }) else {
        // SAFETY: as above.
        return unsafe { function(body, data, c, d, e, f, g, h) };
    };
    let with = std::ptr::from_ref(launch).expose_provenance();
    // SAFETY: as above.
    let result = unsafe { function(member as *const () as usize, with, c, d, e, f, g, h) };
    begin(*launch);
    result
}

/// Ends a team that `parallel_start` began.
///
/// # Safety
/// As for [`parallel`].
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn parallel_end<E: Entry>(
    _a: usize,
    _b: usize,
    _c: usize,
    _d: usize,
    _e: usize,
    _f: usize,
    _padding: usize,
    caller: usize,
) -> usize {
    let call = site::of::<E>(caller, 0);
    // SAFETY: the runtime's function of this name takes nothing.
    let function: unsafe extern "C-unwind" fn() -> usize =
        unsafe { std::mem::transmute(call.function) };
    let started = STARTED.get();
    if started.is_null() {
        // SAFETY: as above.
        return unsafe { function() };
    }
    // SAFETY: this thread made it, and nobody else removes it.
    let Started { launch, below, .. } = *unsafe { Box::from_raw(started) };
    STARTED.set(below);
    if let Some(launch) = launch {
        end(launch);
    }
    // SAFETY: as above.
    let result = unsafe { function() };
    if let Some(launch) = launch {
        join(launch.region);
    }
    result
}
