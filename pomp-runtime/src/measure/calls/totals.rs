//! The totals of a node: count and ticks of each pseudo-region.

use profile::region_kind::PseudoRegion;

use crate::measure::memory;
use crate::measure::records::Node;

/// Count and ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) count: u64,
    pub(crate) ticks: u64,
}

impl Total {
    fn of(node: &Node, pseudo_region: PseudoRegion) -> Self {
        let span = node.span(pseudo_region);
        Self {
            count: span.count.get(),
            ticks: span.ticks.get(),
        }
    }

    /// Adds one instance.
    pub(crate) fn add(&mut self, ticks: u64) {
        self.join(Self { count: 1, ticks });
    }

    #[inline(always)]
    pub(crate) fn join(&mut self, other: Self) {
        self.count = self.count.wrapping_add(other.count);
        self.ticks = self.ticks.wrapping_add(other.ticks);
    }

    /// The total that takes this one out of a sum when it is added.
    pub(crate) fn negated(self) -> Self {
        Self {
            count: self.count.wrapping_neg(),
            ticks: self.ticks.wrapping_neg(),
        }
    }
}

/// Totals of all pseudo-regions.
pub(crate) type Totals = [Total; PseudoRegion::COUNT];

/// Copies of the totals of many nodes. Most nodes have totals in few pseudo-regions only.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    nodes: Vec<Held>,
    /// The totals that are not zero, node by node.
    totals: Vec<Total>,
}

/// Where the totals of a node begin, and, in the lowest bits, of which pseudo-regions
/// they are.
#[derive(Clone, Copy, Debug)]
struct Held(usize);

impl Held {
    fn first(self) -> usize {
        self.0 >> PseudoRegion::COUNT
    }

    fn has(self, part: usize) -> bool {
        self.0 & (1 << part) != 0
    }
}

impl Recorded {
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.totals.reserve(2 * nodes);
        memory::prefer_large_pages(&self.nodes);
        memory::prefer_large_pages(&self.totals);
    }

    /// Copies the totals of the next node.
    pub(crate) fn push(&mut self, node: &Node) {
        let mut held = Held(self.totals.len() << PseudoRegion::COUNT);
        for (part, pseudo_region) in PseudoRegion::ALL.into_iter().enumerate() {
            let total = Total::of(node, pseudo_region);
            if total != Total::default() {
                held.0 |= 1 << part;
                self.totals.push(total);
            }
        }
        self.nodes.push(held);
    }

    /// The totals of a node.
    #[inline(always)]
    pub(crate) fn of(&self, node: usize) -> Totals {
        let mut totals = Totals::default();
        let Some(held) = self.nodes.get(node) else {
            return totals;
        };
        let mut recorded = self.totals.get(held.first()..).unwrap_or_default().iter();
        for (part, total) in totals.iter_mut().enumerate() {
            if held.has(part) {
                *total = recorded.next().copied().unwrap_or_default();
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_copied_is_what_was_held() {
        let filled = |parts: &[PseudoRegion]| {
            let node = Node::default();
            for (number, part) in (1..).zip(parts) {
                node.span(*part).add(number);
            }
            node
        };
        let [main, _, body, .., seq] = PseudoRegion::ALL;
        let nodes = [
            filled(&[main, body]),
            filled(&[]),
            filled(&PseudoRegion::ALL),
            filled(&[seq]),
        ];
        let mut recorded = Recorded::default();
        nodes.iter().for_each(|node| recorded.push(node));
        for (index, node) in nodes.iter().enumerate() {
            let expected = PseudoRegion::ALL.map(|part| Total::of(node, part));
            assert_eq!(recorded.of(index), expected, "{index}");
        }
        assert_eq!(recorded.of(nodes.len()), Totals::default());
        assert_eq!(recorded.totals.len(), 2 + PseudoRegion::COUNT + 1);
    }
}
