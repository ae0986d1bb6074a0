//! What a thread keeps of the [`reduction`](super::reduction) to which it gives its part.

use super::shared::SharedU64;

/// A thread's part of a reduction, from when the thread begins to combine it until its next event.
#[derive(Debug)]
pub(crate) struct Reducing {
    /// 0 if there is none.
    pub(super) since: SharedU64,
    /// Whether the thread combines it, so that it works; 0 if it only waits for others.
    pub(super) combines: SharedU64,
}

impl Reducing {
    pub(super) const fn none() -> Self {
        Self {
            since: SharedU64::new(0),
            combines: SharedU64::new(0),
        }
    }

    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.since.get() != 0
    }

    pub(super) fn begin(&self, since: u64, combines: bool) {
        self.combines.set(u64::from(combines));
        self.since.set(since);
    }
}
