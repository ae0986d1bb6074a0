//! The limit of the memory for records (`ROMP_MEMORY`).

use std::sync::atomic::{AtomicU64, Ordering};

/// Where nothing is set: a gigabyte.
pub(super) const DEFAULT: u64 = 1 << 30;

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
