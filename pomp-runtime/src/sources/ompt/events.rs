//! Turns the runtime's callbacks into events.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering};

use profile::region_kind::RegionKind;

use super::super::boundary::{event_of, thread_event};
use super::abi::{self, BEGIN, Data, END, event, mutex, sync, work};
use super::chunks;
use super::outlived::{critical_ends, end_is_reported, entries_report_ends, ordered_ends};
use super::places::{region, region_or_unknown};
use super::put_off::{
    self, catch_up, end_of_workshare, is_last, may_pass_over, own_barrier, wait_before_end,
};
use super::report::{
    Address, MEMBER, open, report_events, report_events_at, report_events_of_open,
};
use super::stated;
use super::tasks;
use crate::measure::clock::now;
use crate::measure::handed_out;
use crate::measure::passed_members;
use crate::measure::passed_teams;
use crate::measure::records::frame::Role;
use crate::measure::records::team::TeamHandle;
use crate::measure::thread_word::thread_word;
use profile::event::Event;

/// A callback, as an address that fits every type of callback.
#[derive(Clone, Copy)]
pub(super) struct Function(*const ());

// SAFETY: it is the address of a function.
unsafe impl Sync for Function {}

impl std::ops::Deref for Function {
    type Target = *const ();

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The callbacks, by event.
pub(super) static CALLBACKS: &[(c_int, Function)] = &[
    (event::PARALLEL_BEGIN, Function(parallel_begin as *const ())),
    (event::PARALLEL_END, Function(parallel_end as *const ())),
    (event::IMPLICIT_TASK, Function(implicit_task as *const ())),
    (event::SYNC_REGION, Function(sync_region as *const ())),
    (
        event::SYNC_REGION_WAIT,
        Function(sync_region_wait as *const ()),
    ),
    (event::WORK, Function(work_shared as *const ())),
    (event::MASKED, Function(masked as *const ())),
    (event::MUTEX_ACQUIRE, Function(mutex_acquire as *const ())),
    (event::MUTEX_ACQUIRED, Function(mutex_acquired as *const ())),
    (event::MUTEX_RELEASED, Function(mutex_released as *const ())),
    (
        event::TASK_CREATE,
        Function(tasks::task_create as *const ()),
    ),
    (
        event::TASK_SCHEDULE,
        Function(tasks::task_schedule as *const ()),
    ),
    (event::FLUSH, Function(flush as *const ())),
    (event::CANCEL, Function(cancel as *const ())),
];

/// Callbacks that are only registered if a trace is written, because with them the runtime makes a
/// list for each task.
pub(super) static OF_TRACES: &[(c_int, Function)] = &[(
    event::DEPENDENCES,
    Function(tasks::dependences as *const ()),
)];

static WIDEST: AtomicU32 = AtomicU32::new(1);

/// Members of the largest team so far.
pub(super) fn widest() -> u32 {
    WIDEST.load(Ordering::Relaxed)
}

unsafe extern "C" fn parallel_begin(
    _task: Data,
    _frame: Address,
    parallel: Data,
    _requested: c_uint,
    flags: c_int,
    address: Address,
) {
    // SAFETY: the runtime gives a place for what we keep.
    unsafe { *parallel = 0 };
    if flags & abi::LEAGUE != 0 {
        return report_events_at(RegionKind::Teams, address, &[Event::TeamsEnter]);
    }
    let region = region((RegionKind::Parallel, 0), address.addr());
    // Chunks are recorded at the frames of members, which have to exist.
    let may_pass = !handed_out::is_on();
    let at_once = match may_pass_over() && may_pass {
        true => passed_teams::fork(region),
        false => None,
    };
    let team = at_once.map(Some).or_else(|| {
        event_of(
            |_| region,
            |thread, region| {
                catch_up(thread);
                thread.fork_for_handle(region, may_pass, now)
            },
        )
    });
    if let Some(team) = team.flatten() {
        // SAFETY: as above.
        unsafe { *parallel = team.into_pointer().expose_provenance() as u64 };
    }
}

/// The handle of a team that `parallel_begin` has kept.
///
/// # Safety
/// The runtime gives the place.
unsafe fn team_of(parallel: Data) -> Option<TeamHandle> {
    // SAFETY: as the caller promises; the place has the handle, or 0.
    unsafe { TeamHandle::of_pointer(std::ptr::with_exposed_provenance(*parallel as usize)) }
}

unsafe extern "C" fn parallel_end(parallel: Data, _task: Data, flags: c_int, _address: Address) {
    if flags & abi::LEAGUE != 0 {
        return report_events_of_open(RegionKind::Teams, &[Event::TeamsExit]);
    }
    // SAFETY: the runtime gives the place that we filled.
    let Some(team) = (unsafe { team_of(parallel) }) else {
        return;
    };
    if let TeamHandle::PassedOver(fork) = team
        && may_pass_over()
        && passed_teams::join(fork.region())
    {
        return;
    }
    event_of(
        |thread| {
            let is_ours = |role, _| role == Role::Fork;
            open(thread, is_ours)
        },
        |thread, region| {
            catch_up(thread);
            thread.join(region, now());
        },
    );
}

unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: Data,
    task: Data,
    size: c_uint,
    index: c_uint,
    flags: c_int,
) {
    if flags & abi::INITIAL_TASK != 0 {
        return;
    }
    if endpoint == END {
        // SAFETY: the runtime gives the place that we filled.
        if unsafe { std::mem::take(&mut *task) } != 0 {
            end_member();
        }
        return;
    }
    // SAFETY: the runtime gives the places, of which we filled the first with the team or 0.
    let team = unsafe {
        *task = 0;
        team_of(parallel)
    };
    let Some(team) = team else {
        return;
    };
    // SAFETY: as above.
    unsafe { *task = MEMBER };
    put_off::forget();
    if size > WIDEST.load(Ordering::Relaxed) {
        WIDEST.fetch_max(size, Ordering::Relaxed);
    }
    if !passed_members::begins(team, || index, || size) {
        thread_event(|thread| {
            thread.begin_in(team, index, || size, now);
        });
    }
}

/// The part of a member ends. If the runtime had it wait before, that wait belongs to the barrier
/// behind all parts.
fn end_member() {
    if passed_members::ends_this() {
        put_off::forget();
        return;
    }
    put_off::end_passed_over();
    event_of(
        |thread| open(thread, |role, _| matches!(role, Role::Member | Role::Fork)),
        |thread, region| {
            let waited = wait_before_end();
            catch_up(thread);
            thread.end_member(region, now().saturating_sub(waited));
        },
    );
}

unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    parallel: Data,
    task: Data,
    address: Address,
) {
    let begins = endpoint == BEGIN;
    // Other calls may have been made in the meantime, by tasks: the region is known, its place no
    // more.
    let wait = |kind, enter: Event, exit: Event| match begins {
        true => report_events_at(kind, address, &[enter]),
        false => report_events_of_open(kind, &[exit]),
    };
    match kind {
        sync::BARRIER | sync::BARRIER_EXPLICIT => {
            wait(RegionKind::Barrier, Event::BarrierEnter, Event::BarrierExit);
        }
        sync::BARRIER_IMPLEMENTATION => own_barrier(begins),
        sync::IMPLICIT_WORKSHARE => end_of_workshare(begins),
        sync::IMPLICIT_PARALLEL => end_of_parallel(begins, task),
        // Runtimes that do not distinguish the two: the last one has no place in the program.
        sync::BARRIER_IMPLICIT if is_last(begins, parallel.is_null(), is_barrier_noted) => {
            end_of_parallel(begins, task)
        }
        sync::BARRIER_IMPLICIT => end_of_workshare(begins),
        sync::TASKWAIT => {
            wait(
                RegionKind::Taskwait,
                Event::TaskwaitEnter,
                Event::TaskwaitExit,
            );
        }
        sync::TASKGROUP if begins => tasks::begin_group(address),
        sync::TASKGROUP => tasks::end_group(&[Event::TaskgroupExit]),
        _ => {}
    }
}

fn is_barrier_noted() -> bool {
    stated::noted_call().reports(RegionKind::Barrier)
}

/// The barrier after the parts of all members.
fn end_of_parallel(begins: bool, task: Data) {
    // SAFETY: the runtime gives the place that we filled, or none.
    let is_member = unsafe { task.as_mut() }.is_some_and(|task| std::mem::take(task) == MEMBER);
    if begins && is_member {
        end_member();
    }
}

unsafe extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _parallel: Data,
    _task: Data,
    _address: Address,
) {
    if kind == sync::TASKGROUP && endpoint == BEGIN {
        tasks::end_group(&[Event::TaskgroupEnd]);
    }
}

unsafe extern "C" fn work_shared(
    kind: c_int,
    endpoint: c_int,
    _parallel: Data,
    _task: Data,
    _count: u64,
    address: Address,
) {
    let begins = endpoint == BEGIN;
    match kind {
        work::LOOP | work::FIRST_SCHEDULE..=work::LAST_SCHEDULE => {
            share(begins, address, RegionKind::Loop, &[Event::LoopEnter])
        }
        work::SECTIONS => share(
            begins,
            address,
            RegionKind::Sections,
            &[Event::SectionsEnter],
        ),
        work::SINGLE_EXECUTOR => {
            if !begins {
                report_events_of_open(RegionKind::Single, &[Event::SingleEnd]);
            }
            share(
                begins,
                address,
                RegionKind::Single,
                &[Event::SingleEnter, Event::SingleBegin],
            );
        }
        work::SINGLE_OTHER => share(begins, address, RegionKind::Single, &[Event::SingleEnter]),
        work::WORKSHARE => share(
            begins,
            address,
            RegionKind::Workshare,
            &[Event::WorkshareEnter],
        ),
        work::SCOPE => share(begins, address, RegionKind::Scope, &[Event::ScopeEnter]),
        work::DISTRIBUTE if begins => {
            report_events_at(RegionKind::Distribute, address, &[Event::DistributeEnter])
        }
        work::DISTRIBUTE => report_events_of_open(RegionKind::Distribute, &[Event::DistributeExit]),
        work::TASKLOOP if begins => {
            report_events_at(RegionKind::Taskloop, address, &[Event::TaskloopEnter])
        }
        work::TASKLOOP => report_events_of_open(RegionKind::Taskloop, &[Event::TaskloopExit]),
        _ => {}
    }
}

thread_word! {
    /// Whether the call that began this thread's latest worksharing construct was noted.
    fn is_noted() -> bool = "romp_is_noted";
}

/// A worksharing construct begins, or its end is put off.
fn share(begins: bool, address: Address, kind: RegionKind, events: &[Event]) {
    if begins {
        is_noted().set(stated::noted_call().reports(kind));
        let region = region_or_unknown((kind, 0), address.addr());
        let is_loop = kind == RegionKind::Loop;
        if is_loop && may_pass_over() && passed_members::passes_over_begin_of_loop(|| region) {
            return;
        }
        report_events(region, events);
        if handed_out::is_on() {
            chunks::begin_construct(region.filter(|_| is_loop));
        }
        return;
    }
    let is_noted = is_noted().get();
    if may_pass_over() {
        if put_off::put_passed_off(kind, is_noted) {
            return;
        }
        if kind == RegionKind::Loop
            && let Some(region) = passed_members::loop_passed_over()
        {
            return put_off::put_off(region, now(), is_noted);
        }
    }
    event_of(
        |thread| open(thread, |role, of| role.is_construct() && of == kind),
        |thread, region| {
            catch_up(thread);
            let at = now();
            if handed_out::is_on() && kind == RegionKind::Loop {
                thread.end_chunks(at);
            }
            put_off::put_off(region, at, is_noted);
        },
    );
}

unsafe extern "C" fn masked(endpoint: c_int, _parallel: Data, _task: Data, address: Address) {
    match endpoint {
        BEGIN => report_events_at(RegionKind::Master, address, &[Event::MasterBegin]),
        _ => report_events_of_open(RegionKind::Master, &[Event::MasterEnd]),
    }
}

unsafe extern "C" fn mutex_acquire(
    kind: c_int,
    _hint: c_uint,
    _implementation: c_uint,
    wait_id: u64,
    address: Address,
) {
    match kind {
        mutex::CRITICAL if end_is_reported(RegionKind::Critical) => report_events(
            region((RegionKind::Critical, wait_id), address.addr()),
            &[Event::CriticalEnter],
        ),
        mutex::ORDERED if end_is_reported(RegionKind::Ordered) => {
            report_events_at(RegionKind::Ordered, address, &[Event::OrderedEnter]);
        }
        mutex::ATOMIC if end_is_reported(RegionKind::Atomic) => {
            report_events_at(RegionKind::Atomic, address, &[Event::AtomicEnter]);
        }
        // Calls of lock routines are seen under the routines' own names.
        _ => {}
    }
}

unsafe extern "C" fn mutex_acquired(kind: c_int, _wait_id: u64, _address: Address) {
    match kind {
        mutex::CRITICAL => report_events_of_open(RegionKind::Critical, &[Event::CriticalBegin]),
        mutex::ORDERED => report_events_of_open(RegionKind::Ordered, &[Event::OrderedBegin]),
        _ => {}
    }
}

unsafe extern "C" fn mutex_released(kind: c_int, _wait_id: u64, _address: Address) {
    match kind {
        // They have been reported already.
        mutex::CRITICAL | mutex::ORDERED if entries_report_ends() => {}
        mutex::CRITICAL => critical_ends(),
        mutex::ORDERED => ordered_ends(),
        mutex::ATOMIC => report_events_of_open(RegionKind::Atomic, &[Event::AtomicExit]),
        _ => {}
    }
}

unsafe extern "C" fn flush(_thread: Data, address: Address) {
    report_events_at(
        RegionKind::Flush,
        address,
        &[Event::FlushEnter, Event::FlushExit],
    );
}

unsafe extern "C" fn cancel(_task: Data, flags: c_int, address: Address) {
    if flags & abi::ACTIVATED != 0 {
        report_events_at(
            RegionKind::Cancel,
            address,
            &[Event::ConstructEnter, Event::ConstructExit],
        );
    }
}
