//! POMP2, version 3.0: the functions that OPARI2's output calls, in C and in Fortran.
//!
//! A region is named by the variable in which the program keeps its handle. Its text comes with
//! the first event. So objects link and run without the registration code that OPARI2's users have
//! to generate; if that code is there, it registers the same regions earlier.
//!
//! Compilers for Fortran pass everything by reference and the length of a text behind all other
//! arguments. The other arguments that differ (task handles, values of clauses) each fit one
//! register and are not needed: the library tells tasks and teams apart by itself.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use profile::descriptor::Descriptor;

use super::boundary::{Action, caught, event_of};
use super::pomp::{begin_announced, begin_task, fork_announced, on_any_event, switch_off};
use super::spelling::subroutine;
use crate::measure::clock::now;
use crate::measure::records::Region;
use crate::measure::records::region::register;
use crate::measure::{errno, omp, pausing, thread};
use crate::run::life_cycle;
use profile::event::Event;

/// The program's variable for a region's handle.
#[repr(transparent)]
struct Handle(AtomicPtr<Region>);

/// A word of the interface that is not needed.
type Ignored = usize;

/// The text of a region.
#[derive(Clone, Copy)]
enum Text {
    /// No text: the region is known.
    None,
    /// A text that ends with a null byte.
    C(*const c_char),
    /// A text with its length.
    Fortran(*const c_char, usize),
}

impl Text {
    /// Reads it.
    ///
    /// # Safety
    /// It is null or as its variant says.
    unsafe fn read(self) -> Option<Descriptor> {
        let text = match self {
            Self::None => return None,
            Self::C(text) | Self::Fortran(text, _) if text.is_null() => return None,
            // SAFETY: as the caller promises.
            Self::C(text) => unsafe { CStr::from_ptr(text) }.to_bytes(),
            // SAFETY: as the caller promises.
            Self::Fortran(text, length) => unsafe {
                std::slice::from_raw_parts(text.cast(), length)
            },
        };
        Descriptor::parse(String::from_utf8_lossy(text).trim_end()).ok()
    }
}

/// The region of a handle.
///
/// # Safety
/// `handle` is null or points to a handle that is zero or was set here; `text`
/// is as [`Text::read`] demands.
#[inline(always)]
unsafe fn region_of(handle: *const Handle, text: Text) -> Option<&'static Region> {
    // SAFETY: as the caller promises; regions are never freed.
    unsafe {
        let handle = handle.as_ref()?;
        match handle.0.load(Ordering::Acquire).as_ref() {
            Some(region) => Some(region),
            None => assign(handle, text),
        }
    }
}

/// The length of a text from C.
const ENDS_WITH_NULL: usize = usize::MAX;

/// Runs `action` for an event of a handle's region. Without a text, the region is known.
///
/// # Safety
/// As [`region_of`]; the text has this length.
#[inline(never)]
unsafe fn reported(handle: *const Handle, text: *const c_char, length: usize, action: Action) {
    let text = match length {
        _ if text.is_null() => Text::None,
        ENDS_WITH_NULL => Text::C(text),
        length => Text::Fortran(text, length),
    };
    // SAFETY: as the caller promises.
    event_of(move |_| unsafe { region_of(handle, text) }, action);
}

/// # Safety
/// As [`region_of`].
#[cold]
#[inline(never)]
unsafe fn assign(handle: &Handle, text: Text) -> Option<&'static Region> {
    errno::keep(|| {
        // SAFETY: as the caller promises.
        let region = register(unsafe { text.read() }?)?;
        let pointer = std::ptr::from_ref(region).cast_mut();
        handle.0.store(pointer, Ordering::Release);
        Some(region)
    })
}

/// Defines the twin for Fortran of a function.
macro_rules! fortran {
    ($($definition:tt)*) => {
        subroutine! {
            /// The twin for Fortran of the function that it is named after.
            "pomp2_", $($definition)*
        }
    };
}

/// Defines functions that come with the region's text.
macro_rules! with_text {
    ($($function:ident, $name:literal ($($ignored:ident),*) => $action:expr,)+) => {$(
        /// Reports the event that it is named after.
        ///
        /// # Safety
        /// As [`region_of`].
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(
            handle: *const Handle, $($ignored: Ignored,)* text: *const c_char,
        ) {
            let _ = ($($ignored,)*);
            // SAFETY: as the caller promises.
            unsafe { reported(handle, text, ENDS_WITH_NULL, $action) }
        }
        fortran! {
            $name(
                handle: *const Handle, $($ignored: Ignored,)*
                text: *const c_char, length: usize
            ) {
                let _ = ($($ignored,)*);
                // SAFETY: a compiler passes the text and its length.
                unsafe { reported(handle, text, length, $action) }
            }
        }
    )+};
}

/// Defines functions of a region that is known.
macro_rules! without_text {
    ($($function:ident, $name:literal ($($ignored:ident),*) => $action:expr,)+) => {$(
        /// Reports the event that it is named after.
        ///
        /// # Safety
        /// As [`region_of`].
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(handle: *const Handle $(, $ignored: Ignored)*) {
            let _ = ($($ignored,)*);
            // SAFETY: as the caller promises.
            unsafe { reported(handle, std::ptr::null(), 0, $action) }
        }
        fortran! {
            $name(handle: *const Handle $(, $ignored: Ignored)*) {
                let _ = ($($ignored,)*);
                // SAFETY: the handle is the program's.
                unsafe { reported(handle, std::ptr::null(), 0, $action) }
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

with_text! {
    POMP2_Atomic_enter, "atomic_enter"() => event!(AtomicEnter),
    POMP2_Barrier_enter, "barrier_enter"(_old) => event!(BarrierEnter),
    POMP2_Critical_enter, "critical_enter"() => event!(CriticalEnter),
    POMP2_Flush_enter, "flush_enter"() => event!(FlushEnter),
    POMP2_For_enter, "do_enter"() => event!(LoopEnter),
    POMP2_Master_begin, "master_begin"() => event!(MasterBegin),
    POMP2_Ordered_enter, "ordered_enter"() => event!(OrderedEnter),
    POMP2_Parallel_fork, "parallel_fork"(_if, _threads, _old) => fork_announced,
    POMP2_Section_begin, "section_begin"() => event!(SectionBegin),
    POMP2_Sections_enter, "sections_enter"() => event!(SectionsEnter),
    POMP2_Single_enter, "single_enter"() => event!(SingleEnter),
    POMP2_Task_create_begin, "task_create_begin"(_new, _old, _if) => event!(TaskCreateEnter),
    POMP2_Untied_task_create_begin, "untied_task_create_begin"(_new, _old, _if)
        => event!(TaskCreateEnter),
    POMP2_Taskwait_begin, "taskwait_begin"(_old) => event!(TaskwaitEnter),
    POMP2_Workshare_enter, "workshare_enter"() => event!(WorkshareEnter),
    POMP2_Begin, "begin"() => event!(UserBegin),
}

without_text! {
    POMP2_Atomic_exit, "atomic_exit"() => event!(AtomicExit),
    POMP2_Barrier_exit, "barrier_exit"(_old) => event!(BarrierExit),
    POMP2_Implicit_barrier_enter, "implicit_barrier_enter"(_old) => event!(ImplicitBarrierEnter),
    POMP2_Implicit_barrier_exit, "implicit_barrier_exit"(_old) => event!(ImplicitBarrierExit),
    POMP2_Critical_begin, "critical_begin"() => event!(CriticalBegin),
    POMP2_Critical_end, "critical_end"() => event!(CriticalEnd),
    POMP2_Critical_exit, "critical_exit"() => event!(CriticalExit),
    POMP2_Flush_exit, "flush_exit"() => event!(FlushExit),
    POMP2_For_exit, "do_exit"() => event!(LoopExit),
    POMP2_Master_end, "master_end"() => event!(MasterEnd),
    POMP2_Ordered_begin, "ordered_begin"() => event!(OrderedBegin),
    POMP2_Ordered_end, "ordered_end"() => event!(OrderedEnd),
    POMP2_Ordered_exit, "ordered_exit"() => event!(OrderedExit),
    POMP2_Parallel_begin, "parallel_begin"() => begin_announced,
    POMP2_Parallel_end, "parallel_end"() => |thread, region| thread.end_member(region, now()),
    POMP2_Parallel_join, "parallel_join"(_old) => |thread, region| thread.join(region, now()),
    POMP2_Section_end, "section_end"() => event!(SectionEnd),
    POMP2_Sections_exit, "sections_exit"() => event!(SectionsExit),
    POMP2_Single_begin, "single_begin"() => event!(SingleBegin),
    POMP2_Single_end, "single_end"() => event!(SingleEnd),
    POMP2_Single_exit, "single_exit"() => event!(SingleExit),
    POMP2_Task_create_end, "task_create_end"(_old) => event!(TaskCreateExit),
    POMP2_Task_begin, "task_begin"(_new) => begin_task,
    POMP2_Task_end, "task_end"() => event!(TaskEnd),
    POMP2_Untied_task_create_end, "untied_task_create_end"(_old) => event!(TaskCreateExit),
    POMP2_Untied_task_begin, "untied_task_begin"(_new) => begin_task,
    POMP2_Untied_task_end, "untied_task_end"() => event!(TaskEnd),
    POMP2_Taskwait_end, "taskwait_end"(_old) => event!(TaskwaitExit),
    POMP2_Workshare_exit, "workshare_exit"() => event!(WorkshareExit),
}

/// A region that the user marked ends, also while measurement is off.
///
/// # Safety
/// As [`region_of`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn POMP2_End(handle: *const Handle) {
    // SAFETY: as the caller promises.
    event_of(
        move |_| unsafe { region_of(handle, Text::None) },
        event!(UserEnd),
    );
}

fortran! {
    "end"(handle: *const Handle) {
        // SAFETY: the handle is the program's.
        unsafe { POMP2_End(handle) }
    }
}

/// Registers a region before its first event.
///
/// # Safety
/// As [`region_of`].
unsafe fn assigned(handle: *const Handle, text: Text) {
    caught(|| {
        life_cycle::ensure_started();
        // SAFETY: as the caller promises.
        thread::inside(|| unsafe { region_of(handle, text) });
        Some(())
    });
}

/// Defines the functions that register a region.
macro_rules! registering {
    ($($function:ident, $name:literal,)+) => {$(
        /// Registers a region before its first event.
        ///
        /// # Safety
        /// As [`region_of`].
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $function(handle: *const Handle, text: *const c_char) {
            // SAFETY: as the caller promises.
            unsafe { assigned(handle, Text::C(text)) }
        }
        fortran! {
            $name(handle: *const Handle, text: *const c_char, length: usize) {
                // SAFETY: a compiler passes the text and its length.
                unsafe { assigned(handle, Text::Fortran(text, length)) }
            }
        }
    )+};
}

registering! {
    POMP2_Assign_handle, "assign_handle",
    POMP2_USER_Assign_handle, "user_assign_handle",
}

/// Defines the functions by which the program steers its measurement. The name of each says what it
/// does.
macro_rules! controls {
    ($($function:ident, $name:literal => $action:path,)+) => {$(
        #[unsafe(no_mangle)]
        extern "C-unwind" fn $function() {
            caught(|| {
                $action();
                Some(())
            });
        }
        fortran! { $name() { $function() } }
    )+};
}

controls! {
    POMP2_Init, "init" => life_cycle::ensure_started,
    POMP2_Finalize, "finalize" => life_cycle::finish_now,
    POMP2_On, "on" => pausing::switch_on,
    POMP2_Off, "off" => switch_off,
}

/// The latest handle of a task.
static TASKS: AtomicI64 = AtomicI64::new(0);

/// Returns a task handle that no other task has.
#[unsafe(no_mangle)]
extern "C-unwind" fn POMP2_Get_new_task_handle() -> i64 {
    TASKS.fetch_add(1, Ordering::Relaxed) + 1
}

fortran! {
    "get_new_task_handle"() -> i64 { POMP2_Get_new_task_handle() }
}

/// The function that OPARI2 calls for the number of threads of a `parallel` without `num_threads`.
#[unsafe(no_mangle)]
extern "C-unwind" fn POMP2_Lib_get_max_threads() -> c_int {
    omp::omp_get_max_threads()
}

fortran! {
    "lib_get_max_threads"() -> c_int { POMP2_Lib_get_max_threads() }
}
