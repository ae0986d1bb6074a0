//! Support for programs that were not built with Romp, whatever their runtime: `romp run` gets a
//! message about each profile, and the profile a note on what cannot be seen.

use std::ffi::{c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use profile::model::{Run, Runtime};
use profile::outside::{self, Interface};
use profile::run_list::Mark;

use super::collector;
use crate::measure::{dynamic, handed_out, run_list, state};
use crate::run::at_end;
use crate::run::writing::{self, SaveOutcome};

/// The library was loaded into a program.
pub fn at_load() {
    run_list::remember();
    handed_out::ask();
    run_list::note(Mark::Loaded, b"");
    // The program may register handlers before it first uses OpenMP.
    at_end::register();
    // ThreadSanitizer knows nothing of our memory, and would report races in it. The tool of its
    // own for LLVM's runtime (Archer) is found only if there is no other.
    // SAFETY: the name is a C string, and the call only asks.
    let sanitizer = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__tsan_init".as_ptr()) };
    if !sanitizer.is_null() {
        state::turn_off();
        run_list::note(Mark::Sanitized, b"");
    }
}

/// A runtime was met.
pub(super) fn begin() {
    run_list::note(Mark::Runtime, b"");
    writing::set_outcome_listener(note);
}

/// The program calls LLVM's runtime. It reports events to nobody if the user forbids tools.
pub(super) fn llvm_is_called() {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    // SAFETY: both are C strings. The runtime reads the variable in the same way.
    let is_forbidden = unsafe {
        let value = libc::getenv(c"OMP_TOOL".as_ptr());
        !value.is_null() && libc::strcasecmp(value, c"disabled".as_ptr()) == 0
    };
    if is_forbidden && !IS_SAID.swap(true, Ordering::Relaxed) {
        run_list::note(Mark::NoTool, b"");
    }
}

/// Reports the outcome of a profile to `romp run`. `romp run` looks up the regions, and then informs the
/// user. False if nobody asked for that.
fn note(outcome: SaveOutcome<'_>) -> bool {
    match outcome {
        SaveOutcome::Saved(saved) => run_list::note(Mark::Saved, saved.json.as_os_str().as_bytes()),
        SaveOutcome::Lost => run_list::note(Mark::Lost, b""),
        SaveOutcome::Nothing => run_list::note(Mark::Nothing, b""),
    }
}

/// Answers a tool for the collector interface. It may ask before a runtime is met, and in
/// processes that have none.
///
/// # Safety
/// `requests` is a list as `__omp_collector_api` of a measured program takes.
pub unsafe fn answer_collector(requests: *mut c_void) -> c_int {
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    type Answer = unsafe extern "C" fn(*mut c_void) -> c_int;
    // SAFETY: null is the `None` of a function pointer, and a function of this name has this
    // type.
    let next: Option<Answer> = unsafe {
        std::mem::transmute::<*const c_void, Option<Answer>>(dynamic::next(
            &NEXT,
            c"__omp_collector_api",
        ))
    };
    // SAFETY: as the caller promises.
    unsafe {
        match next {
            // A program that measures itself, or a runtime that answers.
            Some(next) => next(requests),
            None => {
                begin();
                collector::answer(requests)
            }
        }
    }
}

/// Notes in the run that a runtime was met, and which of its constructs cannot be seen.
pub(super) fn add_runtime(run: &mut Run, path: &Path, threads: u32, interface: Interface) {
    let missing = outside::ROWS
        .iter()
        .flat_map(|row| row.view(interface).missing);
    run.unplaced = true;
    run.runtimes.push(Runtime {
        path: path.to_string_lossy().into_owned(),
        threads,
        not_visible: missing.map(|what| (*what).to_owned()).collect(),
    });
}

/// The program was built with Romp, and measures itself. `romp run` says so.
pub fn stand_back() {
    if state::is_untouched() {
        state::turn_off();
        run_list::note(Mark::Itself, b"");
    }
}
