//! Estimates the time of instances that were passed over from the instances that were timed. The
//! estimate is bounded by the time around them that is left.

use profile::region_kind::{PseudoRegion, RegionKind};

use super::snapshot::Snapshot;
use crate::hash::Map;
use crate::measure::clock::Scale;
use crate::measure::cost::Untimed;
use crate::measure::node_sample::Sample;
use crate::measure::records::node::{Origin, pseudo_region};
use crate::measure::records::{Node, Region};
use crate::measure::thread::Thread;

pub(super) const MAIN: usize = PseudoRegion::Main as usize;
pub(super) const SEQ: usize = PseudoRegion::Seq as usize;
/// The parts of a whole instance, apart from the rest of `main`.
const PARTS: [PseudoRegion; 4] = [
    PseudoRegion::Enter,
    PseudoRegion::Body,
    PseudoRegion::Ibarr,
    PseudoRegion::Exit,
];

impl Snapshot {
    /// Adds the instances that were only counted, and not added to their nodes yet.
    pub(super) fn count_passed(&mut self, thread: &'static Thread) {
        for (node, passed) in thread.pass_table.pending() {
            let Some(index) = self.find(node) else {
                continue;
            };
            *self.samples.entry(index).or_default() += passed;
            let additions = self.additions.entry(index).or_default();
            for part in node.parts_of_each() {
                additions[part as usize].count += passed;
            }
        }
    }

    /// The nodes that were not timed by the clock itself.
    pub(crate) fn untimed(&self) -> Untimed {
        let mut untimed = Untimed::default();
        for index in self.samples.keys().chain(&self.coarse).copied() {
            let node = self.nodes[index];
            let (instances, pairs) = self.untimed_of(index);
            untimed.pairs += pairs;
            let region = node.region();
            match region.map(|region| region.kind) {
                _ if node.coarse_times().is_some() => untimed.coarse += pairs,
                Some(kind) if region.is_some_and(Region::is_lent) => match kind.is_momentary() {
                    true => untimed.counted += instances,
                    false => untimed.noted += instances,
                },
                // The two calls of a lock instance, set and unset, count as one pair.
                Some(RegionKind::Lock) => untimed.calls += instances,
                _ => untimed.calls += pairs,
            }
        }
        untimed
    }

    /// How many instances of a node were not timed by the clock itself, and how many pairs of events
    /// these had, as `Row::passed_pairs` counts them.
    fn untimed_of(&self, index: usize) -> (u64, u64) {
        if let Origin::Member(_) = self.nodes[index].place() {
            let instances = self.samples.get(&index).copied().unwrap_or(0);
            // The begin of a team and its end are events of the thread that forked.
            return (instances, instances);
        }
        let Some(estimate) = self.estimate(index, Scale::one()) else {
            return (0, 0);
        };
        let totals = self.totals(index);
        let kind = self.nodes[index].region().map(|region| region.kind);
        let all = kind.map_or(0, |kind| kind.pairs_of(|part| totals[part as usize].count));
        let instances = totals[MAIN].count.max(1);
        let untimed = instances.saturating_sub(estimate.timed);
        let pairs = u128::from(all) * u128::from(untimed) / u128::from(instances);
        (untimed, pairs as u64)
    }

    /// Adds the calls for locks that were counted, and that no timed one stands for yet. They took no time that
    /// is known.
    fn add_untimed_calls(&mut self) {
        for index in self.samples.keys() {
            let sample = self.nodes[*index].sample();
            let untimed = sample.map_or(0, Sample::untimed_calls);
            if untimed > 0 {
                let instances = self.more_instances.entry(*index).or_default();
                instances.add_many(0, untimed);
            }
        }
    }

    /// Adds the estimated time of instances that were passed over.
    pub(super) fn settle_samples(&mut self) {
        self.add_untimed_calls();
        let is_member = |index: usize| matches!(self.nodes[index].place(), Origin::Member(_));
        let samples = self
            .samples
            .iter()
            .filter(|(index, passed)| **passed > 0 && !is_member(**index));
        let mut samples: Vec<(usize, u64)> = samples.map(|(index, rest)| (*index, *rest)).collect();
        // Outer nodes come first, since the time around a node may be an estimate, too.
        samples.sort_unstable_by_key(|(index, _)| (depth(self.nodes[*index]), *index));
        let mut rooms = Map::default();
        for (index, rest) in samples {
            let node = self.nodes[index];
            let Some(sample) = node.sample() else {
                continue;
            };
            let parts = sample.of_passed(node, rest).parts;
            let whole = parts[MAIN];
            let room = rooms
                .entry((
                    node.parent().map(|parent| self.find(parent)),
                    node.key_within(),
                ))
                .or_insert_with(|| self.room(node).unwrap_or(u64::MAX));
            let bounded = whole.min(*room);
            *room -= bounded;
            let additions = self.additions.entry(index).or_default();
            for (addition, ticks) in additions.iter_mut().zip(parts) {
                let ticks = u128::from(ticks) * u128::from(bounded) / u128::from(whole.max(1));
                addition.ticks += ticks as u64;
            }
            let instances = self.more_instances.entry(index).or_default();
            instances.add_many(bounded / rest, rest);
        }
    }

    /// The time around a node's instances, in ticks, that was not measured in any instance there.
    /// None if that time is not known yet. An initial thread has at most the whole run.
    fn room(&self, node: &'static Node) -> Option<u64> {
        let Origin::Within(within) = node.place() else {
            return None;
        };
        let parent = node.parent()?;
        // Of a member only the body is known before all parts of its team are.
        let time = match (parent.place(), within) {
            (Origin::Initial(_), _) => self.lasted,
            (Origin::Within(_), _) | (Origin::Member(_), PseudoRegion::Body) => {
                self.time_in(parent, within)?
            }
            (Origin::Member(_), _) => return None,
        };
        let beside = parent
            .children()
            .filter(|it| pseudo_region(it.key_within()) == within);
        let measured = beside.filter_map(|it| {
            let totals = self.totals(self.find(it)?);
            Some(totals[MAIN].ticks + totals[SEQ].ticks)
        });
        Some(time.saturating_sub(measured.sum()))
    }

    /// The time in a part of a node, in ticks, without the other parts.
    pub(super) fn time_in(&self, node: &'static Node, part: PseudoRegion) -> Option<u64> {
        let totals = self.totals(self.find(node)?);
        let parts = PARTS.map(|part| totals[part as usize].ticks);
        Some(match part {
            PseudoRegion::Main => totals[MAIN].ticks.saturating_sub(parts.iter().sum()),
            part => totals[part as usize].ticks,
        })
    }
}

/// How many nodes are above a node.
pub(super) fn depth(node: &'static Node) -> usize {
    std::iter::successors(node.parent(), |above| above.parent()).count()
}
