//! The shortest of some times.

use super::shared::SharedU64;

/// Ticks plus one; 0 before the first time.
#[derive(Debug, Default)]
pub(super) struct Shortest(SharedU64);

impl Shortest {
    /// Compares a time in ticks with the others. Returns the shortest one so far; `u64::MAX` if there was none.
    pub(super) fn compare(&self, ticks: u64) -> u64 {
        let so_far = match self.0.get() {
            0 => u64::MAX,
            known => known - 1,
        };
        if ticks < so_far {
            self.0.set(ticks.saturating_add(1));
        }
        so_far
    }
}
