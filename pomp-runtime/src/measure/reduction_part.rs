//! A thread's part of a [`reduction`](super::reduction).

use super::shared::SharedU64;

/// A thread's part of a reduction, from when the thread begins to combine it until its next event.
#[derive(Debug)]
pub(crate) struct ReductionPart {
    /// 0 if there is none.
    since: SharedU64,
    /// 1 if the thread combines its part, which is work; 0 if it only waits for the others.
    combines: SharedU64,
}

impl ReductionPart {
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

    /// Whether the thread combines it.
    pub(super) fn is_combined(&self) -> bool {
        self.combines.get() != 0
    }

    pub(super) fn begin(&self, since: u64, combines: bool) {
        self.combines.set(u64::from(combines));
        self.since.set(since);
    }

    /// Ends it. Returns when it began.
    pub(super) fn end(&self) -> u64 {
        let since = self.since.get();
        self.since.set(0);
        since
    }
}
