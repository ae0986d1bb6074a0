//! Teams with more threads than processors.

use std::sync::atomic::AtomicU64;

use super::cancellation;
use super::cost::found_once;
use super::omp;

/// How many threads of the innermost team share a processor; at least 1. Time that passes on a thread is
/// this many times the time for which the thread runs. Short times are an exception: in most of them the
/// thread keeps its processor.
pub(super) fn threads_per_processor() -> f64 {
    static PROCESSORS: AtomicU64 = AtomicU64::new(0);
    // LLVM's runtime reads files when it is first asked, so a thread may be cancelled there.
    let held = cancellation::hold();
    let processors = found_once(&PROCESSORS, || {
        u64::try_from(omp::omp_get_num_procs()).unwrap_or(0)
    });
    let threads = omp::omp_get_team_size(omp::omp_get_level());
    held.release();
    (f64::from(threads) / processors as f64).max(1.0)
}
