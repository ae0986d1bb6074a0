//! The gaps between parallel regions: how long the initial thread worked alone between the join
//! of one region and the fork of the next.
//!
//! Gaps are recorded as long as there is one initial thread, and only this thread writes here.
//! If measurement was paused there are none: what happened in between is not known. The number
//! of pairs of regions is fixed, so that nothing is allocated; further pairs are not recorded.

use super::records::Region;
use super::shared::{SharedRef, SharedU64};

/// Pairs of regions that are told apart.
const PLACES: usize = 256;
/// How many places a pair may stand at.
const TRIES: usize = 8;
/// Stands for the time of a join while a team is open.
const OPEN: u64 = u64::MAX;

/// A stretch of the serial part, and how often and long it was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// The region that ended before; none at the beginning.
    pub(crate) after: Option<&'static Region>,
    /// The region that began after it; none at the end.
    pub(crate) before: Option<&'static Region>,
    pub(crate) count: u64,
    pub(crate) ticks: u64,
}

#[derive(Debug)]
struct Between {
    after: SharedRef<Region>,
    before: SharedRef<Region>,
    count: SharedU64,
    ticks: SharedU64,
}

/// All gaps, by their regions.
#[derive(Debug)]
pub(super) struct Gaps {
    latest: SharedRef<Region>,
    joined_at: SharedU64,
    places: [Between; PLACES],
}

impl Gaps {
    pub(super) const fn new() -> Self {
        Self {
            latest: SharedRef::none(),
            joined_at: SharedU64::new(0),
            places: [const {
                Between {
                    after: SharedRef::none(),
                    before: SharedRef::none(),
                    count: SharedU64::new(0),
                    ticks: SharedU64::new(0),
                }
            }; PLACES],
        }
    }

    /// A forked child is a run of its own.
    pub(super) fn start_anew(&self) {
        self.latest.set(None);
        self.joined_at.set(0);
        for place in &self.places {
            place.before.set(None);
            place.count.set(0);
            place.ticks.set(0);
        }
    }

    /// The initial thread forks a team.
    #[inline]
    pub(super) fn ends(&self, before: &'static Region, at: u64) {
        let after = self.latest.get();
        let from = self.joined_at.get();
        self.joined_at.set(OPEN);
        if from == OPEN {
            return;
        }
        let address = |region: &Region| std::ptr::from_ref(region).addr();
        let first = (address(before) >> 5) ^ (after.map_or(0, address) >> 6);
        for place in (first..first + TRIES).map(|place| &self.places[place % PLACES]) {
            if place.count.get() == 0 {
                place.after.set(after);
                place.before.set(Some(before));
            } else if !place.before.is(before) || !same(place.after.get(), after) {
                continue;
            }
            place.count.add(1);
            // The first stretch counts from the beginning, which is known at the end.
            place.ticks.add(at.wrapping_sub(from));
            return;
        }
    }

    /// The initial thread has joined a team.
    #[inline]
    pub(super) fn begins(&self, after: &'static Region, at: u64) {
        self.latest.set(Some(after));
        self.joined_at.set(at);
    }

    /// All gaps from the beginning of the run to its end.
    pub(crate) fn all(&self, beginning: u64, end: u64) -> Vec<Gap> {
        let used = self.places.iter().filter(|place| place.count.get() > 0);
        let mut gaps: Vec<Gap> = used
            .map(|place| Gap {
                after: place.after.get(),
                before: place.before.get(),
                count: place.count.get(),
                ticks: place.ticks.get(),
            })
            .collect();
        for gap in gaps.iter_mut().filter(|gap| gap.after.is_none()) {
            gap.ticks = gap.ticks.wrapping_sub(beginning);
        }
        let joined_at = self.joined_at.get();
        if let Some(after) = self.latest.get().filter(|_| joined_at != OPEN) {
            gaps.push(Gap {
                after: Some(after),
                before: None,
                count: 1,
                ticks: end.wrapping_sub(joined_at),
            });
        }
        gaps
    }
}

fn same(one: Option<&'static Region>, other: Option<&'static Region>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => false,
    }
}
