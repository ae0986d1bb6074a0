//! The limit of the memory for records (`ROMP_MEMORY`).

use std::sync::atomic::{AtomicU64, Ordering};

/// The limit if none is set: 128 MiB, some 350,000 call paths of a thread. A recursion of tasks
/// makes more than anyone reads, and all are written when the program ends.
pub(super) const DEFAULT: u64 = 1 << 27;

static LEFT: AtomicU64 = AtomicU64::new(DEFAULT);

/// Sets the limit in bytes.
pub(crate) fn limit(bytes: u64) {
    LEFT.store(bytes, Ordering::Relaxed);
}

/// Takes memory from what is left; false if less is left.
pub(crate) fn take(bytes: usize) -> bool {
    let less = |left: u64| left.checked_sub(bytes as u64);
    LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
        .is_ok()
}

/// Asks for large pages for the room of a vector. In one of many megabytes, the page faults of
/// small pages take longer than filling it.
pub(crate) fn prefer_large_pages<T>(room: &Vec<T>) {
    const PAGE: usize = 1 << 21;
    let start = room.as_ptr().addr().next_multiple_of(PAGE);
    let end = room.as_ptr().addr() + room.capacity() * size_of::<T>();
    let Some(bytes) = end.checked_sub(start).map(|bytes| bytes & !(PAGE - 1)) else {
        return;
    };
    if bytes > 0 {
        let start = room.as_ptr().cast::<libc::c_void>().with_addr(start);
        // SAFETY: the range lies within what the vector has allocated, and the advice changes
        // nothing of its content. The kernel may refuse the advice without harm.
        unsafe { libc::madvise(start.cast_mut(), bytes, libc::MADV_HUGEPAGE) };
    }
}
