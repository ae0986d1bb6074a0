//! Teams with more threads than processors.

use std::sync::atomic::AtomicU64;

use super::cost::found_once;
use super::omp;

/// How many threads of the innermost team share a processor; at least 1. Their times are longer by this
/// factor than the times during which they run, except for short ones, which are seldom interrupted.
pub(super) fn threads_per_processor() -> f64 {
    static PROCESSORS: AtomicU64 = AtomicU64::new(0);
    let processors = found_once(&PROCESSORS, || {
        u64::try_from(omp::omp_get_num_procs()).unwrap_or(0)
    });
    let threads = omp::omp_get_team_size(omp::omp_get_level());
    (f64::from(threads) / processors as f64).max(1.0)
}
