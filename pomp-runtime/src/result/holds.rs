//! Bounds the estimated times for which threads held a lock or were in a critical section: one thread at a
//! time does, so these times together are no longer than the parallel region around them. What the
//! estimates say beyond that was waiting.

use std::collections::{BTreeMap, BTreeSet};

use profile::model::{Contention, Profile, Row};
use profile::region_kind::PseudoRegion;

/// Takes for waiting what the estimated holds of each lock or critical section say beyond the time of the parallel
/// region around them.
pub(super) fn bound(profile: &mut Profile) {
    let mut contention = std::mem::take(&mut profile.contention);
    for guard in contention.iter_mut().filter(|guard| guard.members == 1) {
        for (nodes, excess) in excesses(profile, guard) {
            move_to_waits(profile, guard, &nodes, excess);
        }
    }
    profile.contention = contention;
}

/// The nodes of a guard in each parallel region, and by how many nanoseconds the times of their holds together
/// exceed the time of that region.
fn excesses(profile: &Profile, guard: &Contention) -> Vec<(Vec<usize>, u64)> {
    let regions: BTreeSet<usize> = guard.sites.iter().map(|site| site.region).collect();
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, node) in profile.nodes.iter().enumerate() {
        if regions.contains(&node.region)
            && let Some(place) = outermost_parallel(profile, index)
        {
            places.entry(place).or_default().push(index);
        }
    }
    let excess = |(place, nodes): (usize, Vec<usize>)| {
        let forks = profile.nodes[place].rows.iter();
        let passed: u64 = forks.map(|row| row.span(PseudoRegion::Seq).ns).sum();
        let rows = nodes.iter().flat_map(|&node| &profile.nodes[node].rows);
        let held: u64 = rows.map(|row| row.body.ns).sum();
        let excess = held.saturating_sub(passed);
        (passed > 0 && excess > 0).then_some((nodes, excess))
    };
    places.into_iter().filter_map(excess).collect()
}

/// The parallel region around a node that is in no other one.
fn outermost_parallel(profile: &Profile, node: usize) -> Option<usize> {
    let above = std::iter::successors(profile.nodes[node].parent, |&at| profile.nodes[at].parent);
    let is_parallel = |&at: &usize| profile.regions[profile.nodes[at].region].kind.is_parallel();
    above.filter(is_parallel).last()
}

/// Takes time of estimated holds for waiting, of each row in proportion.
fn move_to_waits(profile: &mut Profile, guard: &mut Contention, nodes: &[usize], excess: u64) {
    let is_estimated = |row: &&Row| row.estimate().is_some();
    let rows = nodes.iter().flat_map(|&node| &profile.nodes[node].rows);
    let estimated: u64 = rows.filter(is_estimated).map(|row| row.body.ns).sum();
    let share = excess as f64 / estimated.max(1) as f64;
    for &node in nodes {
        let region = profile.nodes[node].region;
        let rows = profile.nodes[node].rows.iter_mut();
        for row in rows.filter(|row| row.estimate().is_some()) {
            let moved = (row.body.ns as f64 * share.min(1.0)) as u64;
            row.body.ns -= moved;
            row.span_mut(PseudoRegion::Enter).ns += moved;
            let mut sites = guard.sites.iter_mut();
            if let Some(site) = sites.find(|site| site.region == region) {
                site.hold_ns = site.hold_ns.saturating_sub(moved);
                site.wait_ns += moved;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::model::{ContentionSite, Estimate, GuardKind, Node, Region, Span};
    use profile::region_kind::RegionKind;

    fn node(parent: Option<usize>, region: usize, rows: Vec<Row>) -> Node {
        Node {
            parent,
            region,
            within: PseudoRegion::Body,
            rows,
        }
    }

    fn row(thread: usize, body: u64, is_estimated: bool) -> Row {
        let row = Row::of(thread).with(PseudoRegion::Body, Span { count: 1, ns: body });
        match is_estimated {
            true => row.with_estimate(Some(Estimate::default())),
            false => row,
        }
    }

    /// Two threads are in a parallel region for 100 ns, and hold a lock for 80 and 60 ns by estimates.
    #[test]
    fn no_two_threads_hold_a_lock_at_a_time() {
        for (is_estimated, holds, waits) in [(true, [58, 43], [22, 17]), (false, [80, 60], [0, 0])]
        {
            let forks = vec![Row::of(0).with(PseudoRegion::Seq, Span { count: 1, ns: 100 })];
            let locks = vec![row(0, 80, is_estimated), row(1, 60, is_estimated)];
            let site = ContentionSite {
                region: 1,
                acquisitions: 2,
                waited: 0,
                wait_ns: 0,
                max_wait_ns: 0,
                hold_ns: 140,
                holders: Vec::new(),
            };
            let guard = Contention {
                kind: GuardKind::Lock,
                name: "0x10".to_owned(),
                members: 1,
                sites: vec![site],
            };
            let mut profile = Profile {
                regions: [RegionKind::Parallel, RegionKind::Lock]
                    .map(Region::of_kind)
                    .to_vec(),
                nodes: vec![node(None, 0, forks), node(Some(0), 1, locks)],
                contention: vec![guard],
                ..Profile::default()
            };
            bound(&mut profile);
            let rows = &profile.nodes[1].rows;
            let near = |found: u64, expected: u64| found.abs_diff(expected) <= 1;
            for (row, (hold, wait)) in rows.iter().zip(holds.into_iter().zip(waits)) {
                assert!(near(row.body.ns, hold) && near(row.span(PseudoRegion::Enter).ns, wait));
            }
            let site = &profile.contention[0].sites[0];
            assert!(near(site.hold_ns, holds.iter().sum()));
            assert!(near(site.wait_ns, waits.iter().sum()));
        }
    }
}
