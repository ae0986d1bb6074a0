//! Tasks, their groups, and loops that make tasks.
//!
//! LLVM's runtime makes the tasks of a `taskloop` itself, and gives its own code as the place of
//! the loop and its tasks. The place of the loop in the program comes with the group that the
//! runtime opens around both.

use std::cell::Cell;
use std::ffi::c_int;

use profile::region_kind::RegionKind;

use super::super::boundary::{event_of, thread_event};
use super::super::pomp::{begin_task_at, on_event, stack_here};
use super::abi::{self, Data, Dependence, depend};
use super::links::{self, BEGUN};
use super::places::{self, PlaceKind};
use super::put_off::{catch_up, may_pass_over};
use super::report::{Address, not_done_at_once, report_events, report_events_at};
use crate::measure::coarse_times;
use crate::measure::records::Region;
use crate::measure::thread::Thread;
use profile::event::Event;
use trace::depend::{ALL_MEMORY, Kind};

const TASKLOOP: PlaceKind = (RegionKind::Taskloop, 0);
const TASKGROUP: PlaceKind = (RegionKind::Taskgroup, 0);
const TASK: PlaceKind = (RegionKind::Task, 0);

/// A group begins: the user's, that of a loop which makes tasks, or one that the runtime opens for
/// reductions and that is not in the program.
pub(super) fn begin_group(address: Address) {
    if !places::is_inside(TASKGROUP, address.addr()) {
        report_events_at(
            TASKGROUP.0,
            address,
            &[Event::TaskgroupEnter, Event::TaskgroupBegin],
        );
    }
}

/// The wait of a group, or the group, ends.
pub(super) fn end_group(events: &[Event]) {
    event_of(
        |thread| open(thread, RegionKind::Taskgroup),
        |thread, region| {
            catch_up(thread);
            for event in events {
                on_event(*event, thread, region);
            }
        },
    );
}

/// The innermost region of a kind that this thread is in, in the same task.
fn open(thread: &'static Thread, kind: RegionKind) -> Option<&'static Region> {
    let mut frame = thread.top().filter(|open| open.role().is_construct());
    while let Some(open) = frame {
        let region = open.region()?;
        if region.kind == kind {
            return Some(region);
        }
        if region.kind.is_task_execution() {
            return None;
        }
        frame = open.below().filter(|below| below.role().is_construct());
    }
    None
}

/// The state of the call by which this thread creates a task.
#[derive(Clone, Copy, Debug)]
enum Creation {
    /// There is no such call, so the end of a creation is not known.
    None,
    /// The runtime was called, and has not reported yet which task it creates.
    Called,
    /// The call creates a task of this construct until it returns.
    Begun(&'static Region),
}

/// The state of a call around another one: the runtime executes tasks in the call that creates a task.
#[derive(Debug)]
pub struct OuterCreation(Creation);

thread_local! {
    static CREATION: Cell<Creation> = const { Cell::new(Creation::None) };
}

/// This thread calls the runtime to create a task. Returns the state of the call around this one.
pub(super) fn begin_call_of_creation() -> OuterCreation {
    OuterCreation(CREATION.replace(Creation::Called))
}

/// The call has returned, and the state of the call around it holds again.
pub(super) fn end_call_of_creation(outer: OuterCreation) {
    if let Creation::Begun(region) = CREATION.replace(outer.0) {
        report_events(Some(region), &[Event::TaskCreateExit]);
    }
}

/// The runtime reports a task of a construct. Returns whether its creation ends when a call returns.
fn begin_creation(region: Option<&'static Region>) -> bool {
    let (Creation::Called, Some(region)) = (CREATION.get(), region) else {
        return false;
    };
    CREATION.set(Creation::Begun(region));
    true
}

pub(super) unsafe extern "C" fn task_create(
    parent: Data,
    _frame: Address,
    task: Data,
    flags: c_int,
    _has_dependences: c_int,
    address: Address,
) {
    // SAFETY: the runtime gives a place for what we keep.
    let Some(kept) = (unsafe { task.as_mut() }) else {
        return;
    };
    *kept = 0;
    if flags & abi::EXPLICIT_TASK == 0 {
        return;
    }
    let of_loop = match places::is_inside(TASKLOOP, address.addr()) {
        // SAFETY: the runtime gives a place that we have filled, or none.
        true => loop_that_makes_tasks()
            .or_else(|| loop_of_part(unsafe { read(parent) }, address))
            .or_else(|| loop_of_part(executed_now(), address)),
        false => None,
    };
    if let Some(region) = of_loop {
        *kept = std::ptr::from_ref(region).expose_provenance() as u64;
        return;
    }
    let kind = if flags & abi::UNTIED_TASK != 0 {
        RegionKind::UntiedTask
    } else {
        RegionKind::Task
    };
    let region = places::region((kind, 0), address.addr());
    let events = [Event::TaskCreateEnter, Event::TaskCreateExit];
    // The second event follows when the call returns.
    let events = match begin_creation(region) {
        true => &events[..1],
        false => &events,
    };
    let label = match not_done_at_once(events, || region) {
        [] => None,
        events => event_of(
            |_| region,
            |thread, region| {
                catch_up(thread);
                let mut label = None;
                for event in events {
                    on_event(*event, thread, region);
                    label = label.or_else(|| thread.trace_creation());
                }
                label
            },
        )
        .flatten(),
    };
    if let Some(region) = region {
        *kept = links::keep(region, label.unwrap_or(0));
    }
}

/// The dependences of the task that this thread has just created.
pub(super) unsafe extern "C" fn dependences(task: Data, list: *const Dependence, number: c_int) {
    // SAFETY: the runtime gives the place that we filled, if the task is a new one.
    let kept = unsafe { task.as_ref() }.copied().unwrap_or(0);
    // SAFETY: as above.
    let Some((_, label)) = (unsafe { links::region_and_label(kept) }) else {
        return;
    };
    if label == 0 || kept & BEGUN != 0 || list.is_null() {
        return;
    }
    thread_event(move |thread| {
        for index in 0..usize::try_from(number).unwrap_or(0) {
            // SAFETY: the runtime gives this many.
            let Dependence { address, kind } = unsafe { *list.add(index) };
            let (kind, address) = match kind {
                depend::IN => (Kind::In, address),
                depend::OUT => (Kind::Out, address),
                depend::MUTEXINOUTSET => (Kind::Mutexinoutset, address),
                depend::INOUTSET => (Kind::Inoutset, address),
                depend::OUT_ALL_MEMORY => (Kind::Out, ALL_MEMORY),
                depend::INOUT_ALL_MEMORY => (Kind::Inout, ALL_MEMORY),
                depend::SOURCE | depend::SINK => continue,
                _ => (Kind::Inout, address),
            };
            thread.trace_depend(label, kind, address);
        }
    });
}

fn loop_that_makes_tasks() -> Option<&'static Region> {
    event_of(
        |thread| open(thread, RegionKind::Taskloop),
        |_, region| region,
    )
}

thread_local! {
    /// The word that is kept for the explicit task that this thread executes; 0 if it executes none.
    static EXECUTED: Cell<u64> = const { Cell::new(0) };
}

/// The explicit task that this thread executes.
fn executed_now() -> Option<(&'static Region, u64)> {
    // SAFETY: it was kept for a task that is not over.
    unsafe { links::region_and_label(EXECUTED.get()) }
}

/// The loop of which a task is a part. The runtime may let such a task make tasks of a part of its
/// iterations: as its own children, or as children of the task that executes the loop. The user's
/// tasks that it makes have places of their own.
fn loop_of_part(task: Option<(&'static Region, u64)>, address: Address) -> Option<&'static Region> {
    let (region, _) = task?;
    let is_user_s = places::is_stated(TASK, address.addr());
    (region.kind == RegionKind::Taskloop && !is_user_s).then_some(region)
}

/// The region of an explicit task and the label of its creation, from what is kept for it.
///
/// # Safety
/// `task` is null or a place that `task_create` or `implicit_task` has filled.
unsafe fn read(task: Data) -> Option<(&'static Region, u64)> {
    // SAFETY: as the caller promises.
    unsafe { links::region_and_label(*task.as_ref()?) }
}

/// Whether the runtime reports nothing more of a task with this status.
fn is_over(status: c_int) -> bool {
    matches!(status, abi::COMPLETE | abi::CANCELLED | abi::FULFILLED_LATE)
}

pub(super) unsafe extern "C" fn task_schedule(prior: Data, status: c_int, next: Data) {
    // SAFETY: the runtime gives places that we have filled, or none.
    let (ended, begun) = unsafe { (read(prior), read(next)) };
    if ended.is_some() && is_over(status) {
        // SAFETY: as above; it is not null, and nothing follows of the task.
        unsafe { links::give_back(std::mem::take(&mut *prior)) };
    }
    if matches!(status, abi::FULFILLED_EARLY | abi::FULFILLED_LATE) {
        return;
    }
    // SAFETY: as above.
    EXECUTED.set(unsafe { next.as_ref() }.copied().unwrap_or(0));
    if (is_over(status) || status == abi::DETACHED)
        && let Some((region, _)) = ended
    {
        let is_recorded = may_pass_over()
            && coarse_times::is_recorded(Event::TaskEnd, || region.known_execution());
        if !is_recorded {
            event_of(
                |_| region.execution(),
                |thread, region| {
                    catch_up(thread);
                    on_event(Event::TaskEnd, thread, region);
                },
            );
        }
    }
    let Some((region, label)) = begun else {
        return;
    };
    // SAFETY: as above; it is not null.
    let is_new = unsafe {
        let is_new = *next & BEGUN == 0;
        *next |= BEGUN;
        is_new
    };
    let stack = stack_here();
    let is_recorded =
        || may_pass_over() && coarse_times::opens_execution(|| region.known_execution(), stack);
    if is_new && !is_recorded() {
        event_of(
            |_| Some(region),
            move |thread, region| {
                catch_up(thread);
                begin_task_at(thread, region, label, stack);
            },
        );
    }
}
