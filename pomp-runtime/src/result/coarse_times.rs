//! Times that were taken from the coarse clock: brings them into line with those that are known
//! exactly.

use profile::region_kind::PseudoRegion;

use super::samples::{MAIN, SEQ, depth};
use super::snapshot::{Snapshot, part_of};
use crate::hash::Map;
use crate::measure::records::Node;
use crate::measure::records::distribution::Distribution;
use crate::measure::records::node::Origin;

impl Snapshot {
    /// The nodes that were timed by the coarse clock, with the sum of the times of their instances
    /// in ticks.
    pub(super) fn coarse_sums(&self) -> Vec<(usize, u64)> {
        let coarse = self.coarse.iter();
        let mut coarse: Vec<_> = coarse
            .map(|index| (*index, self.totals(*index)[MAIN].ticks))
            .collect();
        // Outer nodes come first.
        coarse.sort_by_cached_key(|(index, _)| (depth(self.nodes[*index]), *index));
        coarse
    }

    /// Has the times of these nodes fit those around and inside them, which may be known exactly: a
    /// part is never longer than the whole. `sums` are those before times that are in a recursion
    /// twice were taken out.
    pub(super) fn settle_coarse_times(&mut self, sums: Vec<(usize, u64)>) {
        let before = self.coarse_sums();
        self.fit_coarse_times(&before);
        for ((index, sum), (_, before)) in sums.into_iter().zip(before) {
            let Some(times) = self.nodes[index].coarse_times() else {
                continue;
            };
            let total = self.totals(index)[MAIN];
            let sum = (sum + total.ticks).saturating_sub(before);
            self.add_coarse_instances(index, sum.saturating_sub(times.others().ticks));
        }
    }

    /// The instances that were timed by the coarse clock count as equally long. They took this time
    /// together.
    fn add_coarse_instances(&mut self, index: usize, ticks: u64) {
        let mut known = Distribution::default();
        self.add_instances_to(&mut known, index);
        let coarse = self.totals(index)[MAIN]
            .count
            .saturating_sub(known.longer_than(0));
        if let Some(mean) = ticks.checked_div(coarse) {
            let instances = self.more_instances.entry(index).or_default();
            instances.add_many(mean, coarse);
        }
    }

    /// `coarse` are the nodes, outer ones first, with their ticks.
    fn fit_coarse_times(&mut self, coarse: &[(usize, u64)]) {
        if coarse.is_empty() {
            return;
        }
        // Inner nodes come first: each lasts at least as long as all that was measured inside it.
        let mut least: Map<usize, u64> = Map::default();
        for (index, ticks) in coarse.iter().rev() {
            let inside = self.nodes[*index].children();
            let inside = inside.filter_map(|child| self.ticks_within(child));
            let inside = inside.map(|(child, ticks)| *least.get(&child).unwrap_or(&ticks));
            let inside: u64 = inside.sum();
            least.insert(*index, inside);
            let additions = self.additions.entry(*index).or_default();
            additions[MAIN].ticks += inside.saturating_sub(*ticks);
        }
        // Outer nodes come first, as they stand: a node is made after the one around it.
        for index in 0..self.nodes.len() {
            for within in PseudoRegion::ALL {
                self.fit_children(self.nodes[index], within, &least);
            }
        }
    }

    /// Has the nodes in a part of a node last no longer than that part together. Those that were
    /// timed by the coarse clock are shortened first, as far as what was measured inside them
    /// allows it, and then all.
    fn fit_children(
        &mut self,
        parent: &'static Node,
        within: PseudoRegion,
        least: &Map<usize, u64>,
    ) {
        let children = || {
            parent
                .children()
                .filter(|it| it.key_within() == within as u8)
        };
        if parent.is_leaf() || children().next().is_none() {
            return;
        }
        // A root has no time of its own but that in its parts.
        let is_known = match parent.place() {
            Origin::Within(_) => true,
            Origin::Member(_) => within != PseudoRegion::Main,
            Origin::Initial(_) => false,
        };
        let count = |index: usize| self.totals(index)[within as usize].count;
        if !is_known || self.find(parent).is_none_or(|index| count(index) == 0) {
            return;
        }
        let Some(time) = self.time_in(parent, within) else {
            return;
        };
        for shortens_all in [false, true] {
            let children: Vec<_> = children().filter_map(|it| self.ticks_within(it)).collect();
            let all: u64 = children.iter().map(|(_, ticks)| ticks).sum();
            let spare = children.into_iter().filter_map(|(index, ticks)| {
                let is_team = self.totals(index)[SEQ].count > 0;
                let spare = match least.get(&index) {
                    _ if shortens_all && !is_team => ticks,
                    Some(least) => ticks.saturating_sub(*least),
                    None => 0,
                };
                (spare > 0).then_some((index, spare))
            });
            let spare: Vec<_> = spare.collect();
            let of_all = spare.iter().map(|(_, spare)| spare).sum();
            let excess = all.saturating_sub(time).min(of_all);
            for (index, spare) in spare.into_iter().filter(|_| excess > 0) {
                let ticks = (part_of(excess, spare, of_all) + 1).min(spare);
                self.shorten(index, ticks);
            }
        }
    }

    /// Takes ticks out of a node, and the same share out of each of its parts.
    fn shorten(&mut self, index: usize, ticks: u64) {
        let totals = self.totals(index);
        let additions = self.additions.entry(index).or_default();
        for (addition, total) in additions.iter_mut().zip(totals) {
            let ticks = part_of(ticks, total.ticks, totals[MAIN].ticks);
            addition.ticks = addition.ticks.wrapping_sub(ticks.min(total.ticks));
        }
    }

    /// The index of a node, and its ticks in the node around it. None of the entry into a recursion
    /// that goes on elsewhere.
    fn ticks_within(&self, node: &'static Node) -> Option<(usize, u64)> {
        let index = self.find(node).filter(|_| node.recursion().is_none())?;
        let totals = self.totals(index);
        Some((index, totals[MAIN].ticks + totals[SEQ].ticks))
    }

    /// Takes ticks out of a part of a node, as far as it has as many. It may have fewer if only
    /// what happened inside it was timed by the coarse clock.
    pub(super) fn take_out(&mut self, node: &'static Node, part: usize, ticks: u64) {
        if let Some(index) = self.find(node) {
            let ticks = ticks.min(self.totals(index)[part].ticks);
            let additions = self.additions.entry(index).or_default();
            additions[part].ticks = additions[part].ticks.wrapping_sub(ticks);
        }
    }
}
