//! The data that a profile holds beside the tree: how the times of instances are spread, which
//! thread came last to each barrier, and which threads kept others out of critical sections, locks
//! and atomics.

use profile::model::{self, Arrivals, Profile};
use profile::order;
use profile::region_kind::{PseudoRegion, RegionKind};

use super::contention;
use super::holds;
use super::node_merge::Places;
use super::snapshot::part_of;
use crate::hash::Map;
use crate::measure::clock::Scale;
use crate::measure::records::distribution::Distribution;

/// If there are more distributions than this, they are not written thread by thread, but for all
/// threads together.
const MOST_DISTRIBUTIONS: usize = 10_000;

/// Fills in what the nodes recorded. `rank` gives the final index of a thread.
pub(super) fn describe(profile: &mut Profile, places: &Places<'_>, rank: &[usize], scale: Scale) {
    profile.distributions = distributions(profile, places, rank, scale);
    profile.arrivals = arrivals(profile, places, rank, scale);
    profile.contention = contention::describe(profile, places, rank, scale);
    holds::bound(profile);
}

fn distributions(
    profile: &Profile,
    places: &Places<'_>,
    rank: &[usize],
    scale: Scale,
) -> Vec<model::Distribution> {
    let threads = profile.threads.len();
    let by_thread = profile.regions.len() * threads <= MOST_DISTRIBUTIONS;
    let columns = if by_thread { threads } else { 1 };
    let mut sums: Vec<Option<Box<Distribution>>> = Vec::new();
    sums.resize_with(profile.regions.len() * columns, || None);
    for placed in places.placed() {
        let column = if by_thread { rank[placed.thread] } else { 0 };
        let sum = &mut sums[places.region(placed) * columns + column];
        let sum = sum.get_or_insert_default();
        places.snapshot.add_instances_to(sum, placed.node);
    }
    let described = sums.iter().enumerate().filter_map(|(place, sum)| {
        let region = place / columns;
        let thread = by_thread.then_some(place % columns);
        let part = match profile.regions[region].kind.is_parallel() {
            true => PseudoRegion::Seq,
            false => PseudoRegion::Main,
        };
        sum.as_ref()?.describe(region, thread, part, scale)
    });
    described.collect()
}

/// The node of a barrier belongs to the member that forked the team, and names the other members
/// by their numbers.
fn arrivals(profile: &Profile, places: &Places<'_>, rank: &[usize], scale: Scale) -> Vec<Arrivals> {
    let mut sums: Map<(usize, usize), [u64; 3]> = Map::default();
    for (node, waits) in &places.snapshot.waits {
        let Some(placed) = places.of(*node) else {
            continue;
        };
        for (number, late) in waits.late() {
            let Some(thread) = sibling(profile, rank[placed.thread], number) else {
                continue;
            };
            let sum = sums.entry((places.region(placed), thread)).or_default();
            let more = [&late.times, &late.after_others, &late.after_first];
            for (sum, more) in sum.iter_mut().zip(more) {
                *sum = sum.wrapping_add(more.get());
            }
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    order::sort_by_key(&mut sums, |(key, _)| *key);
    let described = sums.into_iter().map(|((region, thread), sum)| Arrivals {
        region,
        part: match profile.regions[region].kind {
            RegionKind::Barrier => PseudoRegion::Main,
            _ => PseudoRegion::Ibarr,
        },
        thread,
        last: sum[0],
        late_ns: scale.to_ns(sum[1]),
        after_first_ns: scale.to_ns(sum[2]),
    });
    let mut arrivals: Vec<Arrivals> = described.collect();
    bound_estimates(profile, &mut arrivals);
    arrivals
}

/// A team whose members were timed stands for many teams whose members were passed over. So the
/// estimated lateness is bounded by the whole time that the threads of the region waited.
fn bound_estimates(profile: &Profile, arrivals: &mut [Arrivals]) {
    let mut waited = vec![0; profile.regions.len()];
    let mut is_estimated = vec![false; profile.regions.len()];
    for node in &profile.nodes {
        waited[node.region] += node.rows.iter().map(|row| row.ibarr.ns).sum::<u64>();
        is_estimated[node.region] |= node.rows.iter().any(|row| row.estimate().is_some());
    }
    for of_region in arrivals.chunk_by_mut(|a, b| a.region == b.region) {
        let region = of_region[0].region;
        let waited = waited[region];
        let longest: u64 = of_region.iter().map(|of| of.after_first_ns).sum();
        if is_estimated[region] && longest > waited {
            for of in of_region {
                of.late_ns = part_of(waited, of.late_ns, longest);
                of.after_first_ns = part_of(waited, of.after_first_ns, longest);
            }
        }
    }
}

/// The thread with this number in the team of a thread.
fn sibling(profile: &Profile, thread: usize, number: u32) -> Option<usize> {
    let mut path = profile.threads[thread].path.clone();
    *path.last_mut()? = number;
    let found = profile
        .threads
        .binary_search_by(|thread| thread.path.cmp(&path));
    found.ok()
}
