//! One flag that says whether events need more than to be recorded: a collector wants to be
//! notified of each, or the program has paused measurement. In all other runs an event reads
//! this flag and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};

use super::coarse_clock;

static NEEDED: AtomicBool = AtomicBool::new(false);

/// Whether events need more than to be recorded.
#[inline(always)]
pub(super) fn is_needed() -> bool {
    NEEDED.load(Ordering::Relaxed)
}

/// From now on events need more than to be recorded.
pub(crate) fn need() {
    NEEDED.store(true, Ordering::Release);
    coarse_clock::request();
}
