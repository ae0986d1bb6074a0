//! How long the sections of a construct take, compared with each other.

use std::collections::BTreeMap;

use super::Facts;
use crate::analysis::tree::TreeNode;
use crate::analysis::words::time;
use crate::region_kind::RegionKind;

/// A section is longer than the others if it takes at least this multiple of their mean time.
const LONGER: f64 = 1.25;

/// The comparison of the sections of a construct.
pub(super) enum Sections {
    /// One takes longer than the others: what there is to say of it.
    OneIsLonger(String),
    /// They take as long as each other.
    Even,
    /// How long each takes is not known.
    Unknown,
}

/// The sections of a construct.
pub(super) fn nodes_of<'f, 'p>(
    facts: &'f Facts<'_, 'p>,
    construct: usize,
) -> impl Iterator<Item = &'f TreeNode<'p>> {
    let nodes = &facts.tree.nodes;
    let is_its = move |node: &&TreeNode<'_>| {
        let around = node.parent.map(|parent| nodes[parent].region);
        node.kind == RegionKind::Section && around == Some(construct)
    };
    nodes.iter().filter(is_its)
}

/// The time in each section of a construct, in nanoseconds.
pub(super) fn times(facts: &Facts<'_, '_>, construct: usize) -> BTreeMap<usize, u64> {
    let mut times = BTreeMap::new();
    for node in nodes_of(facts, construct) {
        let main = node.rows().map(|row| row.row.main.ns);
        *times.entry(node.region).or_default() += main.sum::<u64>();
    }
    times
}

/// The section of a construct that took the longest time.
pub(super) fn longest(facts: &Facts<'_, '_>, construct: usize) -> Option<usize> {
    let times = times(facts, construct).into_iter();
    times.max_by_key(|(_, ns)| *ns).map(|(region, _)| region)
}

/// Compares the sections of a construct by their mean time in one execution.
pub(super) fn compare(facts: &Facts<'_, '_>, construct: usize) -> Sections {
    let mut all: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
    for node in nodes_of(facts, construct) {
        let [ns, count] = all.entry(node.region).or_default();
        for row in node.rows() {
            *ns += row.row.main.ns;
            *count += row.row.main.count;
        }
    }
    let mean = |[ns, count]: [u64; 2]| ns / count.max(1);
    let longest = all.iter().max_by_key(|(_, it)| mean(**it));
    let Some((&region, &longest)) = longest.filter(|_| all.len() > 1) else {
        return Sections::Unknown;
    };
    let longest = mean(longest);
    let sum: u64 = all.values().map(|it| mean(*it)).sum();
    let others = (sum - longest) / (all.len() as u64 - 1);
    match longest as f64 >= LONGER * others as f64 {
        true => Sections::OneIsLonger(format!(
            "{} took {} on average, and the other sections {}",
            facts.the(region),
            time(longest),
            time(others)
        )),
        false => Sections::Even,
    }
}
