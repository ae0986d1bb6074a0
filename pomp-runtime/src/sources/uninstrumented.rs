//! Work for a program that was not built with Romp, whatever its runtime: `romp run` is told of
//! the profiles, and the reader is told what cannot be seen.

use std::ffi::{c_int, c_void};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::AtomicPtr;

use profile::model::{Run, Runtime};
use profile::outside::{self, Interface};
use profile::save::{LIST, Saved};

use super::collector;
use crate::measure::{dynamic, state};
use crate::run::writing;

/// A runtime was met.
pub(super) fn begin() {
    writing::tell_instead(|saved: &Saved| note(&saved.json));
}

/// Tells `romp run` of a profile. `romp run` looks up the regions, and then tells the user. False
/// if nobody asked for that.
fn note(line: &Path) -> bool {
    let Some(list) = std::env::var_os(LIST) else {
        return false;
    };
    let line = [line.as_os_str().as_bytes(), b"\n"].concat();
    let file = std::fs::OpenOptions::new().append(true).open(list);
    file.is_ok_and(|mut file| file.write_all(&line).is_ok())
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
        note(Path::new("-"));
    }
}
