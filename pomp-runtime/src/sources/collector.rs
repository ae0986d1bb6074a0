//! The entry point of the collector interface: a tool finds it by its name in the running program.
//! The requests of the tool are answered by `measure::collector`.

use std::ffi::{c_int, c_void};

use super::boundary::caught;
use crate::measure::collector::requests;
use crate::run::life_cycle::ensure_started;

/// Answers a buffer of requests, in place. 0, or -1 if it is not well-formed.
///
/// # Safety
/// `requests` is null or a buffer as the interface demands.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn __omp_collector_api(requests: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { answer(requests) }
}

/// Answers the requests of a call of the entry point.
///
/// # Safety
/// As for [`__omp_collector_api`].
pub(super) unsafe fn answer(requests: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    match caught(|| unsafe { requests::answer(requests.cast(), ensure_started) }.then_some(())) {
        Some(()) => 0,
        None => -1,
    }
}
