//! The teams that a fork node had, by size.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::measure::pause;
use crate::measure::shared::{SharedRef, SharedU64, leak};
use crate::measure::span::Span;

/// The teams of one size that a fork node had.
#[derive(Debug, Default)]
pub(crate) struct TeamSize {
    pub(crate) size: AtomicU32,
    pub(crate) instances: SharedU64,
    /// Sum of the join times, wrapping.
    pub(crate) joins: SharedU64,
    /// Where the barrier at the end has no events of its own: sum of the times
    /// at which the last member's part ended, wrapping.
    pub(crate) ends: SharedU64,
    /// The teams whose members were passed over: their number, and their ticks from fork to join.
    pub(crate) passed: Span,
    next: SharedRef<TeamSize>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct TeamSizes {
    first: SharedRef<TeamSize>,
    /// The time of the latest join, in ticks.
    pub(crate) last_join: SharedU64,
}

impl TeamSizes {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static TeamSize> {
        std::iter::successors(self.first.get(), |record| record.next.get())
    }

    /// A team of this size that the fork node had was joined `at` this time. `latest_end` is the
    /// time at which the part of the last member ended; it is used only if the barrier has no
    /// events of its own.
    pub(crate) fn add_join(&self, size: u32, at: u64, latest_end: u64) {
        self.last_join.set(at);
        if size == 0 {
            return;
        }
        let record = self.team_size(size);
        if let Some(record) = record {
            record.instances.add(1);
            record.joins.add(pause::without(0, at));
            record.ends.add(pause::without(0, latest_end));
        }
    }

    /// As `add_join`, of a team whose members were passed over, which lasted this many ticks.
    pub(crate) fn add_passed_join(&self, size: u32, at: u64, ticks: u64) {
        self.last_join.set(at);
        if let Some(record) = self.team_size(size).filter(|_| size != 0) {
            record.passed.add(ticks);
        }
    }

    /// How many teams had members that were passed over, and the ticks of these teams.
    pub(crate) fn passed(&self) -> (u64, u64) {
        self.iter().fold((0, 0), |(count, ticks), record| {
            let passed = &record.passed;
            (count + passed.count.get(), ticks + passed.ticks.get())
        })
    }

    fn team_size(&self, size: u32) -> Option<&'static TeamSize> {
        let first = self.first.get();
        let mut at = first;
        while let Some(record) = at {
            if record.size.load(Ordering::Relaxed) == size {
                return at;
            }
            at = record.next.get();
        }
        let record = leak(TeamSize {
            size: AtomicU32::new(size),
            ..TeamSize::default()
        })?;
        record.next.set(first);
        self.first.set(Some(record));
        Some(record)
    }
}
