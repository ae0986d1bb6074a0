//! Turns the runtime's callbacks into events. The runtime reports the end of a worksharing
//! construct before the barrier at that end. So the end is put off until the thread's next event,
//! which shows whether there is a barrier (`tell`).

use std::cell::Cell;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering};

use profile::region_kind::{PseudoRegion, RegionKind};

use super::super::boundary::{event_of, thread_event};
use super::super::pomp::on_event;
use super::abi::{self, BEGIN, Data, END, event, mutex, sync, work};
use super::chunks;
use super::outlived::{critical_ends, end_is_reported, entries_report_ends, ordered_ends};
use super::places::{region, region_or_unknown};
use super::stated;
use super::tasks;
use super::tell::{
    Address, MEMBER, PUT_OFF, PutOff, Wait, catch_up, may_pass_over, open, tell, tell_at, tell_open,
};
use crate::measure::clock::now;
use crate::measure::handed_out;
use crate::measure::passed_members;
use crate::measure::passed_teams;
use crate::measure::records::Region;
use crate::measure::records::frame::Role;
use crate::measure::records::team::TeamHandle;
use crate::measure::thread::Thread;
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

/// What is asked for only if there is a trace: the runtime makes a list for each task.
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
        return tell_at(RegionKind::Teams, address, &[Event::TeamsEnter]);
    }
    let region = region((RegionKind::Parallel, 0), address.addr());
    // Chunks are recorded at the frames of members, which have to exist.
    let may_pass = !handed_out::is_on();
    let at_once = match may_pass && may_pass_over() {
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
        return tell_open(RegionKind::Teams, &[Event::TeamsExit]);
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
    PUT_OFF.set(None);
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
        PUT_OFF.set(None);
        return;
    }
    event_of(
        |thread| open(thread, |role, _| matches!(role, Role::Member | Role::Fork)),
        |thread, region| {
            let waited = wait_before_end();
            catch_up(thread);
            thread.end_member(region, now().saturating_sub(waited));
        },
    );
}

/// How long the thread has waited in the runtime since its latest work, in ticks. A construct whose
/// end was put off ends before that wait.
fn wait_before_end() -> u64 {
    match PUT_OFF.get() {
        Some(put_off) if let Wait::IsOver(since) = put_off.wait => {
            PUT_OFF.set(Some(PutOff {
                at: since,
                wait: Wait::None,
                ..put_off
            }));
            put_off.at.saturating_sub(since)
        }
        _ => 0,
    }
}

/// The runtime has a member wait for its own purposes.
fn own_barrier(begins: bool) {
    let put_off = PUT_OFF.get();
    if begins {
        let nothing = PutOff {
            construct: None,
            at: 0,
            is_noted: false,
            wait: Wait::None,
        };
        let put_off = put_off.unwrap_or(nothing);
        let since = match put_off.wait {
            Wait::None | Wait::IsReported => now(),
            Wait::Lasts(since) | Wait::IsOver(since) => since,
        };
        let wait = Wait::Lasts(since);
        return PUT_OFF.set(Some(PutOff { wait, ..put_off }));
    }
    if let Some(put_off) = put_off
        && let Wait::Lasts(since) = put_off.wait
    {
        let (at, wait) = (now(), Wait::IsOver(since));
        return PUT_OFF.set(Some(PutOff {
            at,
            wait,
            ..put_off
        }));
    }
    // A task was executed, so the construct is in its barrier already.
    event_of(
        |thread| thread.top()?.region().filter(|_| is_in_barrier(thread)),
        |_, region| {
            let exit = Event::behind_barrier(region.kind);
            PUT_OFF.set(exit.map(|exit| PutOff {
                construct: Some((region, exit)),
                at: now(),
                is_noted: false,
                wait: Wait::IsReported,
            }));
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
        true => tell_at(kind, address, &[enter]),
        false => tell_open(kind, &[exit]),
    };
    match kind {
        sync::BARRIER | sync::BARRIER_EXPLICIT => {
            wait(RegionKind::Barrier, Event::BarrierEnter, Event::BarrierExit);
        }
        sync::BARRIER_IMPLEMENTATION => own_barrier(begins),
        sync::IMPLICIT_WORKSHARE => end_of_workshare(begins),
        sync::IMPLICIT_PARALLEL => end_of_parallel(begins, task),
        // Runtimes that do not tell them apart: the last has no place in the program.
        sync::BARRIER_IMPLICIT if is_last(begins, parallel) => end_of_parallel(begins, task),
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

/// Whether an implicit barrier is the one after the parts of all members. The compiler calls the
/// barrier at the end of a construct, and such a call is noted where the construct's own was.
fn is_last(begins: bool, parallel: Data) -> bool {
    let is_called = || stated::noted().reports(RegionKind::Barrier);
    match PUT_OFF.get().filter(|it| it.construct.is_some()) {
        None if begins => !is_called() || left_by_cancel().is_none(),
        None => parallel.is_null(),
        Some(PutOff { is_noted, .. }) => begins && is_noted && !is_called(),
    }
}

/// The worksharing construct on top of the stack. The runtime does not report its end if the thread
/// leaves it by `cancel`.
fn left_by_cancel() -> Option<&'static Region> {
    thread_event(|thread| {
        let top = thread.top().filter(|top| top.role().is_construct())?;
        let region = top.region()?;
        Event::behind_barrier(region.kind).map(|_| region)
    })
    .flatten()
}

/// The barrier after the parts of all members.
fn end_of_parallel(begins: bool, task: Data) {
    // SAFETY: the runtime gives the place that we filled, or none.
    let is_member = unsafe { task.as_mut() }.is_some_and(|task| std::mem::take(task) == MEMBER);
    if begins && is_member {
        end_member();
    }
}

/// The barrier at the end of the construct whose end was put off. Tasks may be executed during the
/// barrier. So when the barrier ends, only the stack tells to which construct it belongs.
fn end_of_workshare(begins: bool) {
    if begins {
        let put_off = PUT_OFF.take();
        let since = match put_off.map_or(Wait::None, |it| it.wait) {
            Wait::None => None,
            Wait::Lasts(since) | Wait::IsOver(since) => Some(since),
            Wait::IsReported => return,
        };
        let construct = put_off.and_then(|it| it.construct);
        let region = construct.map(|(region, _)| region);
        if let Some(region) = region.or_else(left_by_cancel) {
            event_of(
                |_| Some(region),
                |thread, region| {
                    let at = || since.unwrap_or_else(now);
                    thread.on_event(Event::ImplicitBarrierEnter, region, at);
                },
            );
        }
        return;
    }
    event_of(
        |thread| thread.top()?.region().filter(|_| is_in_barrier(thread)),
        |thread, region| {
            on_event(Event::ImplicitBarrierExit, thread, region);
            if let Some(exit) = Event::behind_barrier(region.kind) {
                on_event(exit, thread, region);
            }
        },
    );
}

fn is_in_barrier(thread: &'static Thread) -> bool {
    thread
        .top()
        .is_some_and(|top| top.role().is_construct() && top.phase() == PseudoRegion::Ibarr)
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
        work::LOOP | work::FIRST_SCHEDULE..=work::LAST_SCHEDULE => share(
            begins,
            address,
            RegionKind::Loop,
            &[Event::LoopEnter],
            Event::LoopExit,
        ),
        work::SECTIONS => share(
            begins,
            address,
            RegionKind::Sections,
            &[Event::SectionsEnter],
            Event::SectionsExit,
        ),
        work::SINGLE_EXECUTOR => {
            if !begins {
                tell_open(RegionKind::Single, &[Event::SingleEnd]);
            }
            share(
                begins,
                address,
                RegionKind::Single,
                &[Event::SingleEnter, Event::SingleBegin],
                Event::SingleExit,
            );
        }
        work::SINGLE_OTHER => share(
            begins,
            address,
            RegionKind::Single,
            &[Event::SingleEnter],
            Event::SingleExit,
        ),
        work::WORKSHARE => share(
            begins,
            address,
            RegionKind::Workshare,
            &[Event::WorkshareEnter],
            Event::WorkshareExit,
        ),
        work::SCOPE => share(
            begins,
            address,
            RegionKind::Scope,
            &[Event::ScopeEnter],
            Event::ScopeExit,
        ),
        work::DISTRIBUTE if begins => {
            tell_at(RegionKind::Distribute, address, &[Event::DistributeEnter])
        }
        work::DISTRIBUTE => tell_open(RegionKind::Distribute, &[Event::DistributeExit]),
        work::TASKLOOP if begins => tell_at(RegionKind::Taskloop, address, &[Event::TaskloopEnter]),
        work::TASKLOOP => tell_open(RegionKind::Taskloop, &[Event::TaskloopExit]),
        _ => {}
    }
}

thread_local! {
    /// Whether the call that began this thread's latest worksharing construct was noted.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
}

/// A worksharing construct begins, or its end is put off.
fn share(begins: bool, address: Address, kind: RegionKind, events: &[Event], exit: Event) {
    if begins {
        IS_NOTED.set(stated::noted().reports(kind));
        let region = region_or_unknown((kind, 0), address.addr());
        let is_loop = kind == RegionKind::Loop;
        if is_loop && may_pass_over() && passed_members::passes_over_loop(|| region) {
            return;
        }
        tell(region, events);
        if handed_out::is_on() {
            chunks::begun(region.filter(|_| is_loop));
        }
        return;
    }
    if kind == RegionKind::Loop
        && may_pass_over()
        && let Some(region) = passed_members::counted_loop()
    {
        return put_off(region, exit, now());
    }
    event_of(
        |thread| open(thread, |role, of| role.is_construct() && of == kind),
        |thread, region| {
            catch_up(thread);
            let at = now();
            if handed_out::is_on() && kind == RegionKind::Loop {
                thread.end_chunks(at);
            }
            put_off(region, exit, at);
        },
    );
}

/// Puts off the end of a worksharing construct, which is reached now.
fn put_off(region: &'static Region, exit: Event, at: u64) {
    PUT_OFF.set(Some(PutOff {
        construct: Some((region, exit)),
        at,
        is_noted: IS_NOTED.get(),
        wait: Wait::None,
    }));
}

unsafe extern "C" fn masked(endpoint: c_int, _parallel: Data, _task: Data, address: Address) {
    match endpoint {
        BEGIN => tell_at(RegionKind::Master, address, &[Event::MasterBegin]),
        _ => tell_open(RegionKind::Master, &[Event::MasterEnd]),
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
        mutex::CRITICAL if end_is_reported(RegionKind::Critical) => tell(
            region((RegionKind::Critical, wait_id), address.addr()),
            &[Event::CriticalEnter],
        ),
        mutex::ORDERED if end_is_reported(RegionKind::Ordered) => {
            tell_at(RegionKind::Ordered, address, &[Event::OrderedEnter]);
        }
        mutex::ATOMIC if end_is_reported(RegionKind::Atomic) => {
            tell_at(RegionKind::Atomic, address, &[Event::AtomicEnter]);
        }
        // Calls of lock routines are seen under the routines' own names.
        _ => {}
    }
}

unsafe extern "C" fn mutex_acquired(kind: c_int, _wait_id: u64, _address: Address) {
    match kind {
        mutex::CRITICAL => tell_open(RegionKind::Critical, &[Event::CriticalBegin]),
        mutex::ORDERED => tell_open(RegionKind::Ordered, &[Event::OrderedBegin]),
        _ => {}
    }
}

unsafe extern "C" fn mutex_released(kind: c_int, _wait_id: u64, _address: Address) {
    match kind {
        // They have been reported already.
        mutex::CRITICAL | mutex::ORDERED if entries_report_ends() => {}
        mutex::CRITICAL => critical_ends(),
        mutex::ORDERED => ordered_ends(),
        mutex::ATOMIC => tell_open(RegionKind::Atomic, &[Event::AtomicExit]),
        _ => {}
    }
}

unsafe extern "C" fn flush(_thread: Data, address: Address) {
    tell_at(
        RegionKind::Flush,
        address,
        &[Event::FlushEnter, Event::FlushExit],
    );
}

unsafe extern "C" fn cancel(_task: Data, flags: c_int, address: Address) {
    if flags & abi::ACTIVATED != 0 {
        tell_at(
            RegionKind::Cancel,
            address,
            &[Event::ConstructEnter, Event::ConstructExit],
        );
    }
}
