//! Count and ticks of one pseudo-region.

use crate::measure::shared::SharedU64;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) count: SharedU64,
    pub(crate) ticks: SharedU64,
}

impl Span {
    #[inline(always)]
    pub(crate) fn add(&self, ticks: u64) {
        self.count.add(1);
        self.ticks.add(ticks);
    }
}
