//! OPARI 1: the functions that OPARI's output calls and that are not in [`super::pomp`].
//!
//! - In C the functions are called `pomp_<construct>_<event>`; KOJAK's and TAU's
//!   versions call them as we do, `POMP_<Construct>_<event>`.
//! - In Fortran they get a number, under which the descriptor is in the program's table. OPARI
//!   writes that table as a source file, which the program links.
//! - ompP's version has tasks, with other names for their events.

use std::ffi::c_int;
use std::sync::atomic::AtomicI32;

use super::boundary::{Action, caught, event, event_of};
use super::descriptor::OmpRegDescr;
use super::opari1_table::table;
use super::pomp::{
    begin_announced, begin_task, fork_announced, on_any_event, switch_off, switch_on,
};
use super::regions;
use super::spelling::subroutine;
use crate::measure::clock::now;
use crate::measure::records::Region;
use crate::run::life_cycle;
use profile::event::Event;

/// Whether the program is traced: a flag of the interface that programs may read.
#[allow(non_upper_case_globals)] // The interface's name.
#[unsafe(no_mangle)]
static pomp_tracing: AtomicI32 = AtomicI32::new(1);

/// The region that has this number in the program's table.
///
/// # Safety
/// `number` is null or points to a number.
#[inline(always)]
unsafe fn region_of(number: *const c_int) -> Option<&'static Region> {
    // SAFETY: as the caller promises, and what the table says.
    unsafe {
        let number = usize::try_from(*number.as_ref()?).ok()?;
        regions::region_of(table().get(number)?.as_ref()?)
    }
}

/// Runs `action` for an event of a descriptor's region.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[inline(never)]
unsafe fn described(descriptor: *const OmpRegDescr, action: Action) {
    // SAFETY: as the caller promises.
    unsafe { event(descriptor, action) };
}

/// Runs `action` for an event of the region with a number.
///
/// # Safety
/// As [`region_of`].
#[inline(never)]
unsafe fn numbered(number: *const c_int, action: Action) {
    // SAFETY: as the caller promises.
    event_of(move |_| unsafe { region_of(number) }, action);
}

/// Defines the functions that report an event.
macro_rules! probes {
    ($($function:ident, $fortran:literal => $action:expr,)+) => {$(
        /// Reports the event that it is named after.
        ///
        /// # Safety
        /// `descriptor` is null or points to a descriptor.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(descriptor: *const OmpRegDescr) {
            // SAFETY: as the caller promises.
            unsafe { described(descriptor, $action) }
        }
        subroutine! {
            /// The same for Fortran.
            "pomp_", $fortran(number: *const c_int) {
                // SAFETY: the number is the program's.
                unsafe { numbered(number, $action) }
            }
        }
    )+};
}

/// An action that reports one event.
macro_rules! event {
    ($event:ident) => {
        |thread, region| on_any_event(Event::$event, thread, region)
    };
}

probes! {
    pomp_atomic_enter, "atomic_enter" => event!(AtomicEnter),
    pomp_atomic_exit, "atomic_exit" => event!(AtomicExit),
    pomp_barrier_enter, "barrier_enter" => event!(BarrierEnter),
    pomp_barrier_exit, "barrier_exit" => event!(BarrierExit),
    pomp_flush_enter, "flush_enter" => event!(FlushEnter),
    pomp_flush_exit, "flush_exit" => event!(FlushExit),
    pomp_critical_enter, "critical_enter" => event!(CriticalEnter),
    pomp_critical_begin, "critical_begin" => event!(CriticalBegin),
    pomp_critical_end, "critical_end" => event!(CriticalEnd),
    pomp_critical_exit, "critical_exit" => event!(CriticalExit),
    pomp_for_enter, "do_enter" => event!(LoopEnter),
    pomp_for_exit, "do_exit" => event!(LoopExit),
    pomp_master_begin, "master_begin" => event!(MasterBegin),
    pomp_master_end, "master_end" => event!(MasterEnd),
    pomp_parallel_fork, "parallel_fork" => fork_announced,
    pomp_parallel_begin, "parallel_begin" => begin_announced,
    pomp_parallel_end, "parallel_end" => |thread, region| thread.end_member(region, now()),
    pomp_parallel_join, "parallel_join" => |thread, region| thread.join(region, now()),
    pomp_section_begin, "section_begin" => event!(SectionBegin),
    pomp_section_end, "section_end" => event!(SectionEnd),
    pomp_sections_enter, "sections_enter" => event!(SectionsEnter),
    pomp_sections_exit, "sections_exit" => event!(SectionsExit),
    pomp_single_enter, "single_enter" => event!(SingleEnter),
    pomp_single_begin, "single_begin" => event!(SingleBegin),
    pomp_single_end, "single_end" => event!(SingleEnd),
    pomp_single_exit, "single_exit" => event!(SingleExit),
    pomp_workshare_enter, "workshare_enter" => event!(WorkshareEnter),
    pomp_workshare_exit, "workshare_exit" => event!(WorkshareExit),
    pomp_begin, "begin" => event!(UserBegin),

    POMP_Task_enter, "task_enter" => event!(TaskCreateEnter),
    POMP_Task_exit, "task_exit" => event!(TaskCreateExit),
    pomp_task_begin, "task_begin" => begin_task,
    pomp_task_end, "task_end" => event!(TaskEnd),
    POMP_Utask_enter, "utask_enter" => event!(TaskCreateEnter),
    POMP_Utask_begin, "utask_begin" => begin_task,
    POMP_Utask_end, "utask_end" => event!(TaskEnd),
    POMP_Utask_exit, "utask_exit" => event!(TaskCreateExit),
    pomp_taskwait_enter, "taskwait_enter" => event!(TaskwaitEnter),
    pomp_taskwait_exit, "taskwait_exit" => event!(TaskwaitExit),
}

/// A region that the user marked ends, also while measurement is off.
///
/// # Safety
/// `descriptor` is null or points to a descriptor.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pomp_end(descriptor: *const OmpRegDescr) {
    event_of(
        // SAFETY: as the caller promises.
        move |_| regions::region_of(unsafe { descriptor.as_ref() }?),
        event!(UserEnd),
    );
}

subroutine! {
    /// As `pomp_end`.
    "pomp_", "end"(number: *const c_int) {
        // SAFETY: the number is the program's.
        event_of(move |_| unsafe { region_of(number) }, event!(UserEnd));
    }
}

/// Defines the functions by which the program steers its measurement. The name of each says what it
/// does.
macro_rules! controls {
    ($($function:ident, $fortran:literal => $action:path,)+) => {$(
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $function() {
            caught(|| {
                $action();
                Some(())
            });
        }
        subroutine! {
            "pomp_", $fortran() { $function() }
        }
    )+};
}

controls! {
    pomp_init, "init" => life_cycle::ensure_started,
    pomp_finalize, "finalize" => life_cycle::finish_now,
    pomp_on, "on" => switch_on,
    pomp_off, "off" => switch_off,
}
