//! POMP: one C function per event, `POMP_<Construct>_<event>(descriptor)`, and
//! the registration of the descriptors' tables.
//!
//! `pomp_lib.h` is the reference of the interface. The functions that take a team are Romp's own.
//! OPARI 1's functions know only the descriptor; there, a member finds its team by the position of
//! the thread that forked it.

use std::ffi::{c_char, c_int, c_uint, c_void};

use profile::for_events;
use profile::region_kind::RegionKind;

use super::boundary::{caught, event, event_of, is_switched_off};
use super::descriptor::OmpRegDescr;
use super::regions::region_of;
use super::tables::{RompRegion, register_table};
use crate::measure::clock::{now, now_in_order};
use crate::measure::coarse_times;
use crate::measure::passed::{
    is_end_passed_over, is_passed_over, is_passed_over_at_once, may_be_passed_over,
};
use crate::measure::records::Region;
use crate::measure::records::TeamPath;
use crate::measure::records::team::TeamHandle;
use crate::measure::thread::Thread;
use crate::measure::{omp, passed_members, passed_teams, pausing, state, thread};
use crate::run::life_cycle;
use profile::event::Event;

/// Defines the functions that report one event of the descriptor's region.
macro_rules! probes {
    ($($function:ident, $fortran:literal => $event:ident: $action:expr
        $(, behind the barrier of $kind:ident)?;)+) => {$(
        /// Reports the event that it is named after.
        ///
        /// # Safety
        /// `descriptor` is null or points to a descriptor.
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C-unwind" fn $function(descriptor: *const OmpRegDescr) {
            const EVENT: Event = Event::$event;
            /// A function of its own, so that the probe itself saves few registers.
            #[inline(never)]
            unsafe extern "C-unwind" fn slow_path(descriptor: *const OmpRegDescr) {
                // SAFETY: as the caller promises.
                unsafe {
                    if !is_passed_over(EVENT, || descriptor.as_ref()?.known_region()) {
                        event(descriptor, |thread, region| on_event(EVENT, thread, region));
                    }
                }
            }
            // SAFETY: as the caller promises.
            unsafe {
                if const { coarse_times::may_be_coarse(EVENT) }
                    && coarse_times::is_recorded(EVENT, || match EVENT {
                        Event::TaskEnd => known_execution(descriptor),
                        _ => descriptor.as_ref()?.known_region(),
                    })
                    || const { passed_members::is_of_work(EVENT) }
                        && passed_members::is_work_passed_over(EVENT, || {
                            descriptor.as_ref()?.known_region()
                        })
                {
                } else if !const { may_be_passed_over(EVENT) } {
                    event(descriptor, |thread, region| on_event(EVENT, thread, region));
                } else if !is_passed_over_at_once(EVENT, || descriptor.as_ref()?.known_region())
                    && !state::is_off()
                    && !is_switched_off(descriptor.as_ref().and_then(OmpRegDescr::known_region))
                {
                    slow_path(descriptor);
                }
            }
        }
    )+};
}

/// The region of a task's executions, by the descriptor of the construct that creates it.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(always)]
unsafe fn known_execution(descriptor: *const OmpRegDescr) -> Option<&'static Region> {
    // SAFETY: as the caller promises.
    unsafe { descriptor.as_ref()?.known_region()?.known_execution() }
}

// A debug build does not inline it into each event's function: that took five sixths of the time to
// compile this crate, and debug builds are not measured.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn on_event(event: Event, thread: &'static Thread, region: &'static Region) {
    // OPARI 1 has one pair of events for all barriers: the barrier at the end of a construct comes
    // with the construct's region.
    let event = match event {
        Event::BarrierEnter if region.kind != RegionKind::Barrier => Event::ImplicitBarrierEnter,
        Event::BarrierExit if region.kind != RegionKind::Barrier => Event::ImplicitBarrierExit,
        event => event,
    };
    let region = match event {
        Event::SectionBegin | Event::SectionEnd => region.section(),
        Event::TaskEnd => region.execution(),
        _ => Some(region),
    };
    let Some(region) = region else { return };
    if matches!(event, Event::AtomicEnter | Event::CriticalEnter) {
        thread.end_work_between(region, now_in_order);
    }
    match event {
        // Before an update, or before a critical section is entered or left, there may be a calculation that
        // the processor has not ended when it could read its clock. It is no part of the time behind the event.
        Event::AtomicEnter
        | Event::AtomicExit
        | Event::CriticalEnter
        | Event::CriticalBegin
        | Event::CriticalEnd
        | Event::CriticalExit => thread.on_event(event, region, now_in_order),
        _ => thread.on_event(event, region, now),
    }
    if matches!(event, Event::AtomicExit | Event::CriticalExit) {
        thread.begin_work_between(now_in_order);
    }
}

/// As `on_event`, for interfaces of other tools: one function serves all their events,
/// since every program carries the library whether it uses them or not.
#[inline(never)]
pub(super) fn on_any_event(event: Event, thread: &'static Thread, region: &'static Region) {
    on_event(event, thread, region);
}

for_events!(probes);

/// A task starts to be executed.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Task_begin(descriptor: *const OmpRegDescr) {
    // SAFETY: as the caller promises.
    unsafe { begin_task_of(descriptor, 0) };
}

/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(always)]
unsafe fn begin_task_of(descriptor: *const OmpRegDescr, created: u64) {
    // SAFETY: as the caller promises.
    let known = move || unsafe { descriptor.as_ref()?.known_region() };
    // SAFETY: as the caller promises.
    let find = move |_| region_of(unsafe { descriptor.as_ref() }?);
    begin_execution(known, find, created);
}

/// A task starts to be executed. `known` gives the region of the construct that creates it if
/// that is known already, and `find` looks for it.
#[inline(always)]
pub(super) fn begin_execution(
    known: impl FnOnce() -> Option<&'static Region> + Copy,
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
    created: u64,
) {
    if is_switched_off(known()) {
        return;
    }
    let stack = stack_here();
    if !coarse_times::opens_execution(|| known()?.known_execution(), stack) {
        event_of(find, |thread, region| {
            begin_task_at(thread, region, created, stack)
        });
    }
}

/// A task is created. Gives its label in the trace, or 0.
#[inline(always)]
pub(super) fn create(
    known: impl FnOnce() -> Option<&'static Region> + Copy,
    find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy,
) -> u64 {
    match is_switched_off(known()) || coarse_times::is_recorded(Event::TaskCreateEnter, known) {
        true => 0,
        false => event_of(find, create_task).unwrap_or(0),
    }
}

/// A task is created. Gives its label in the trace.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Task_create(descriptor: *const OmpRegDescr) -> *mut c_void {
    // SAFETY: as the caller promises.
    let known = move || unsafe { descriptor.as_ref()?.known_region() };
    // SAFETY: as the caller promises.
    let find = move |_| region_of(unsafe { descriptor.as_ref() }?);
    let label = create(known, find);
    std::ptr::without_provenance_mut(label as usize)
}

/// A task starts to be executed; `task` is the label that its creation gave.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Task_execute(descriptor: *const OmpRegDescr, task: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { begin_task_of(descriptor, task.addr() as u64) };
}

#[inline(always)]
pub(super) fn begin_task(thread: &'static Thread, task: &'static Region) {
    begin_task_at(thread, task, 0, stack_here());
}

/// A task is created. Gives its label in the trace, or 0.
#[inline(always)]
fn create_task(thread: &'static Thread, region: &'static Region) -> u64 {
    on_event(Event::TaskCreateEnter, thread, region);
    thread.trace_create()
}

/// An address on the machine's stack, in the caller's frame.
#[inline(always)]
pub(super) fn stack_here() -> u64 {
    let here = 0_u8;
    std::hint::black_box(&raw const here).addr() as u64
}

/// A task starts to be executed, at this address on the machine's stack.
#[inline(always)]
pub(super) fn begin_task_at(
    thread: &'static Thread,
    task: &'static Region,
    created: u64,
    stack: u64,
) {
    if let Some(execution) = task.execution() {
        thread.begin_task(execution, stack, created, now);
    }
}

/// A region that the user marked ends, also while measurement is off.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_End(descriptor: *const OmpRegDescr) {
    event_of(
        // SAFETY: as the caller promises.
        move |_| region_of(unsafe { descriptor.as_ref() }?),
        |thread, region| on_event(Event::UserEnd, thread, region),
    );
}

/// Defines the functions by which the program steers its measurement.
macro_rules! controls {
    ($($(#[$about:meta])* $function:ident => $action:expr,)+) => {$(
        $(#[$about])*
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $function() {
            caught(|| {
                $action();
                Some(())
            });
        }
    )+};
}

controls! {
    /// Measurement starts now, if it has not.
    POMP_Init => life_cycle::ensure_started,
    /// Measurement ends, and the profile is written.
    POMP_Finalize => life_cycle::finish_now,
    /// Measurement goes on.
    POMP_On => switch_on,
    /// Measurement stops for a time.
    POMP_Off => switch_off,
}

pub(super) fn switch_on() {
    life_cycle::ensure_started();
    pausing::switch_on();
}

pub(super) fn switch_off() {
    life_cycle::ensure_started();
    pausing::switch_off();
}

/// Whether a measurement library has a function. This one has all; see `pomp_rest.c` for others.
#[unsafe(no_mangle)]
extern "C-unwind" fn POMP_Has_routine(_name: *const c_char) -> c_int {
    1
}

/// Registers the table of a translation unit.
///
/// # Safety
/// If version and entry size are those of the library, `table` is null or
/// points to that many entries.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Register_table(
    version: c_uint,
    entry_size: c_uint,
    table: *const RompRegion,
    entries: c_uint,
) {
    caught(|| {
        // SAFETY: as the caller promises.
        unsafe { register_table(version, entry_size, table, entries) };
        Some(())
    });
}

/// A team is about to be made; gives the handle for its members.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Parallel_fork_team(descriptor: *const OmpRegDescr) -> *mut c_void {
    // SAFETY: as the caller promises.
    let known = unsafe { descriptor.as_ref() }.and_then(OmpRegDescr::known_region);
    let team = passed_teams::fork(known).or_else(|| {
        // SAFETY: as the caller promises.
        let team = unsafe {
            event(descriptor, |thread, region| {
                thread.fork_for_handle(region, true, now)
            })
        };
        team.flatten()
    });
    team.map_or(std::ptr::null_mut(), TeamHandle::into_pointer)
}

/// A member of a team starts. Without a handle it is in no team of ours.
///
/// # Safety
/// `descriptor` is null or points to a descriptor; `team` is null or comes from
/// `POMP_Parallel_fork_team`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Parallel_begin_team(
    descriptor: *const OmpRegDescr,
    team: *const c_void,
) {
    if let Some(thread) = thread::current() {
        thread.begins_in_a_team();
    }
    // SAFETY: as the caller promises.
    unsafe {
        let team = TeamHandle::of_pointer(team);
        if !team.is_some_and(|team| passed_members::begins(team, number, size)) {
            event(descriptor, |thread, _| begin_in(thread, team));
        }
    }
}

/// OPARI 1's fork.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Parallel_fork(descriptor: *const OmpRegDescr) {
    // SAFETY: as the caller promises.
    unsafe { event(descriptor, fork_announced) };
}

#[inline(always)]
pub(super) fn fork_announced(thread: &'static Thread, region: &'static Region) {
    thread.fork_announced(region, place(omp::omp_get_level()), false, now);
}

/// A fork whose members may be passed over. They report their begin by [`begin_or_pass`], and
/// their end by [`passed_members::ends`].
#[inline(always)]
pub(super) fn fork_that_may_pass(thread: &'static Thread, region: &'static Region) {
    thread.fork_announced(region, place(omp::omp_get_level()), true, now);
}

/// OPARI 1's begin.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Parallel_begin(descriptor: *const OmpRegDescr) {
    // SAFETY: as the caller promises.
    unsafe { event(descriptor, begin_announced) };
}

#[inline(always)]
pub(super) fn begin_announced(thread: &'static Thread, region: &'static Region) {
    let number = omp::omp_get_thread_num();
    let forked = || place(omp::omp_get_level() - 1);
    begin_in(thread, thread.announced(region, number == 0, forked));
}

/// A member of a team begins. Returns whether it is passed over, so that nothing else is to be
/// done.
#[inline(always)]
pub(super) fn begin_or_pass(find: impl FnOnce() -> Option<&'static Region> + Copy) -> bool {
    let Some(thread) = thread::current() else {
        return false;
    };
    thread.begins_in_a_team();
    let forked = || place(omp::omp_get_level() - 1);
    let fork = find().and_then(|region| region.passed_at(forked));
    fork.is_some_and(|fork| passed_members::begins(TeamHandle::PassedOver(fork), number, size))
}

/// The position of a thread: the member numbers on the way there through the innermost `levels`
/// teams.
#[inline(always)]
fn place(levels: c_int) -> TeamPath {
    TeamPath::of((1..=levels).map(|level| unsigned(omp::omp_get_ancestor_thread_num(level))))
}

#[inline(always)]
fn begin_in(thread: &'static Thread, team: Option<TeamHandle>) {
    match team {
        Some(team) => {
            thread.begin_in(team, number(), size, now);
        }
        None => thread.unmatched.add(1),
    }
}

fn number() -> u32 {
    unsigned(omp::omp_get_thread_num())
}

fn size() -> u32 {
    unsigned(omp::omp_get_num_threads())
}

fn unsigned(number: c_int) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

/// A member of a team is done.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Parallel_end(descriptor: *const OmpRegDescr) {
    // SAFETY: as the caller promises.
    unsafe {
        if !passed_members::ends(|| descriptor.as_ref()?.known_region()) {
            event(descriptor, |thread, region| {
                thread.end_member_now(region, now)
            });
        }
    };
}

/// The implicit barrier of a construct is over, and with it the construct, or the
/// member of the team.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Implicit_barrier_leave(descriptor: *const OmpRegDescr) {
    // SAFETY: as the caller promises.
    unsafe {
        if !is_end_passed_over(|| descriptor.as_ref()?.known_region()) {
            event(descriptor, leave);
        }
    }
}

/// Both ends get the same time, so that the clock is read once.
#[inline(always)]
pub(super) fn leave(thread: &'static Thread, region: &'static Region) {
    let at = now();
    thread.on_event(Event::ImplicitBarrierExit, region, || at);
    match region.kind {
        kind if kind.is_parallel() => thread.end_member(region, at),
        // The most frequent ones, as constants.
        RegionKind::Loop => thread.on_event(Event::LoopExit, region, || at),
        RegionKind::Single => thread.on_event(Event::SingleExit, region, || at),
        kind => leave_another(kind, thread, region, at),
    }
}

/// Rare kinds share one function, since all programs carry this code.
#[inline(never)]
fn leave_another(kind: RegionKind, thread: &'static Thread, region: &'static Region, at: u64) {
    match Event::behind_barrier(kind) {
        Some(event) => thread.on_event(event, region, || at),
        None => thread.unmatched.add(1),
    }
}

/// The team is gone.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP_Parallel_join(descriptor: *const OmpRegDescr) {
    // SAFETY: as the caller promises.
    unsafe {
        if !passed_teams::join(descriptor.as_ref().and_then(OmpRegDescr::known_region)) {
            event(descriptor, |thread, region| thread.join(region, now()));
        }
    }
}

/// Has the parts linked that a program refers to weakly, or not by name.
#[cfg(not(test))]
#[used]
static LINKED: (
    [extern "C-unwind" fn(); 3],
    extern "C-unwind" fn(c_int) -> !,
    unsafe extern "C-unwind" fn(*mut c_void) -> c_int,
) = (
    super::control::STEERING,
    super::ends::romp_end_process,
    super::collector::__omp_collector_api,
);
