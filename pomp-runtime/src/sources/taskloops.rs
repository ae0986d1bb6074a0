//! The tasks of a `taskloop`. The compiler makes a function of the loop's body, and the runtime
//! makes tasks of that function: no probe can be placed where the tasks begin and end.
//!
//! Our functions are weak definitions of the runtimes' names. Each calls the runtime's own
//! function once, with a function of ours for the tasks (`task_functions`). Where the runtime is
//! linked statically, the linker takes the runtime's functions instead, and the tasks are not
//! measured.

use std::ffi::{c_int, c_void};

use profile::region_kind::RegionKind;

use super::boundary::event_of;
use super::task_functions::TaskFunction;
use super::weak::of_runtime;
use crate::measure::records::Frame;
use crate::measure::state;

/// Our function for the tasks of the taskloop that this thread is in, or the program's own if the
/// tasks are not measured. Untied tasks are not measured where the runtime calls their function
/// once for each part.
fn measured(function: usize, calls_parts: bool) -> usize {
    if state::is_off() {
        return function;
    }
    let body = event_of(
        |thread| {
            let region = thread.top().and_then(Frame::region)?;
            let is_untied = || region.descriptor.other.contains_key("hasUntied");
            let is_meant = region.kind == RegionKind::Taskloop && !(calls_parts && is_untied());
            is_meant.then_some(region)
        },
        |_, region| TaskFunction::of(function, region),
    );
    body.flatten().map_or(function, TaskFunction::stub)
}

/// The first fields of LLVM's record of a task. The fields behind them are not used here.
#[repr(C)]
struct KmpTask {
    shareds: *mut c_void,
    routine: usize,
}

/// Puts our function into a task that LLVM's runtime will copy.
///
/// # Safety
/// `task` is null or points to a task that was not given to the runtime yet.
unsafe fn measured_task(task: *mut KmpTask) -> *mut KmpTask {
    // SAFETY: as the caller promises: nobody else knows the task.
    if let Some(task) = unsafe { task.as_mut() } {
        task.routine = measured(task.routine, true);
    }
    task
}

fn as_it_is<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// Defines functions of GCC's runtime: its name, and ours. All arguments are as wide as a register.
macro_rules! gomp {
    ($($name:ident => $ours:ident,)+) => {$(
        of_runtime! {
            $name $ours(
                function: usize,
                data: usize,
                copy: usize,
                size: usize,
                alignment: usize,
                flags: usize,
                tasks: usize,
                priority: usize,
                start: usize,
                end: usize,
                step: usize
            ) -> (), (), as_it_is, function = measured(function, false)
        }
    )+};
}

/// Defines functions of LLVM's runtime: its name, ours, and the arguments between the grainsize
/// and the function that copies a task.
macro_rules! kmpc {
    ($($name:ident => $ours:ident($($more:ident: $type:ty)?),)+) => {$(
        of_runtime! {
            $name $ours(
                source: *mut c_void,
                thread: c_int,
                task: *mut KmpTask,
                is_deferred: c_int,
                first: *mut u64,
                last: *mut u64,
                step: i64,
                has_no_group: c_int,
                kind: c_int,
                size: u64,
                $($more: $type,)?
                copy: *mut c_void
            ) -> (), (), as_it_is,
            // SAFETY: as the caller promises the runtime.
            task = unsafe { measured_task(task) }
        }
    )+};
}

gomp! {
    GOMP_taskloop => romp_gomp_taskloop,
    GOMP_taskloop_ull => romp_gomp_taskloop_ull,
}

kmpc! {
    __kmpc_taskloop => romp_kmpc_taskloop(),
    __kmpc_taskloop_5 => romp_kmpc_taskloop_5(modifier: c_int),
}
