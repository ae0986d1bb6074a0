//! What the measurement itself costs: events x their calibrated cost.
//!
//! A pair of events is an enter and its exit. The cost is that of a pair in a
//! loop that does nothing else, so it is the least that an event can cost.

use std::cmp::Reverse;

use super::Share;
use super::tree::Tree;
use crate::columns::occupied;
use crate::model::Profile;
use crate::order;
use crate::region_kind::RegionKind;

/// The cost of the events of one region.
#[derive(Clone, Copy, Debug)]
pub struct RegionDilation {
    /// Index of the region.
    pub region: usize,
    /// Pairs of events, all threads together.
    pub pairs: u64,
    /// Their cost; percent of the time that threads spent in the region.
    pub cost: Share,
    /// Whether only some of its instances were timed.
    pub is_sampled: bool,
}

/// The cost of all events.
#[derive(Clone, Debug)]
pub struct Dilation {
    /// Cost of a pair in picoseconds.
    pub pair_cost_ps: u64,
    /// Pairs of events, all threads together.
    pub pairs: u64,
    /// Their cost; percent of the program's thread time.
    pub cost: Share,
    /// By region, the most costly first.
    pub regions: Vec<RegionDilation>,
}

/// The cost in percent of the thread time from which a reader must know of it
/// before any other figure. It is the least that it can be, and it is most where
/// regions are short.
const DISTORTS: f64 = 5.0;

impl Dilation {
    /// The region with most events, if their cost makes a difference to all times.
    pub(crate) fn culprit(&self) -> Option<&RegionDilation> {
        let distorts = self.cost.percent >= DISTORTS;
        self.regions.first().filter(|_| distorts)
    }
}

impl RegionDilation {
    /// How the region, which is of this kind, is measured at less cost, in a sentence;
    /// nothing if it can't be.
    pub(crate) fn cheaper(&self, kind: RegionKind) -> Option<String> {
        if kind.may_be_sampled() && !self.is_sampled {
            return Some(
                "All executions were timed: without ROMP_BUDGET=none, ROMP_TRACE and \
                 ROMP_COUNTERS only some are, at a twentieth of the time."
                    .to_owned(),
            );
        }
        // Without its parallel regions there is nothing to see of a program.
        if kind.is_parallel() {
            return None;
        }
        Some(format!(
            "ROMP_INSTRUMENT_DISABLE={} builds the program without such probes.",
            kind.group()
        ))
    }
}

/// None if the cost of an event is not known.
pub(crate) fn analyse(profile: &Profile, tree: &Tree<'_>, thread_time_ns: u64) -> Option<Dilation> {
    let pair_cost_ps = profile.run.pair_cost_ps;
    if pair_cost_ps == 0 {
        return None;
    }
    let cost = |pairs: u64| {
        let ps = u128::from(pairs) * u128::from(pair_cost_ps);
        u64::try_from(ps / 1000).unwrap_or(u64::MAX)
    };
    let mut sums = vec![(0, 0); profile.regions.len()];
    let mut is_sampled = vec![false; profile.regions.len()];
    for node in &tree.nodes {
        let (pairs, time): &mut (u64, u64) = &mut sums[node.region];
        for row in node.rows() {
            *pairs += row.row.pairs(node.kind);
            is_sampled[node.region] |= row.row.estimate().is_some();
            // A repeated region's time is part of the outer one's.
            if !node.repeats {
                *time += match node.kind.is_parallel() {
                    true => row.row.main.ns,
                    false => occupied(node.kind, row.row),
                };
            }
        }
    }
    let mut regions: Vec<RegionDilation> = sums
        .iter()
        .enumerate()
        .filter(|(_, (pairs, _))| *pairs > 0)
        .map(|(region, &(pairs, time))| RegionDilation {
            region,
            pairs,
            cost: Share::of(cost(pairs), time),
            is_sampled: is_sampled[region],
        })
        .collect();
    order::by_key(&mut regions, |region| {
        (Reverse(region.pairs), region.region)
    });
    let pairs = sums.iter().map(|(pairs, _)| pairs).sum();
    Some(Dilation {
        pair_cost_ps,
        pairs,
        cost: Share::of(cost(pairs), thread_time_ns),
        regions,
    })
}
