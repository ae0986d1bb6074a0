//! Whether an event needs a second look, because somebody wants to be told of it at
//! once, or because the program has paused measurement. One flag, so that events of
//! all other runs look at no more than that.

use std::sync::atomic::{AtomicBool, Ordering};

static NEEDED: AtomicBool = AtomicBool::new(false);

/// Whether it does.
#[inline(always)]
pub(super) fn is_needed() -> bool {
    NEEDED.load(Ordering::Relaxed)
}

/// From now on it does.
pub(crate) fn need() {
    NEEDED.store(true, Ordering::Release);
}
