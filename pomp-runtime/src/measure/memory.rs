//! The limit of the memory for records (`ROMP_MEMORY`).

use std::sync::atomic::{AtomicU64, Ordering};

/// Where nothing is set: 128 MiB, some 350,000 call paths of a thread. A recursion of tasks
/// makes more than anyone reads, and the profile is written when the program ends.
pub(super) const DEFAULT: u64 = 1 << 27;

static LEFT: AtomicU64 = AtomicU64::new(DEFAULT);

/// Sets the limit in bytes.
pub(super) fn limit(bytes: u64) {
    LEFT.store(bytes, Ordering::Relaxed);
}

/// Takes memory from what is left; false if that is less.
pub(crate) fn take(bytes: usize) -> bool {
    let less = |left: u64| left.checked_sub(bytes as u64);
    LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
        .is_ok()
}
