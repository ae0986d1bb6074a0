//! What a profile holds beside the tree: how the times of instances are spread,
//! who came last to barriers, who kept whom out of what.

use profile::model::{self, Arrivals, Profile};
use profile::region_kind::{PseudoRegion, RegionKind};

use super::contention;
use super::distribution::Distribution;
use super::merge::Placed;
use super::snapshot::Snapshot;
use super::spread::Map;
use crate::measure::clock::Scale;

/// Most distributions that are told thread by thread, rather than of all
/// threads together.
const MOST_DISTRIBUTIONS: usize = 10_000;

/// Fills in what the nodes say. `rank` gives the final index of a thread.
pub(super) fn describe(
    profile: &mut Profile,
    snapshot: &Snapshot,
    placed: &[Placed],
    rank: &[usize],
    scale: Scale,
) {
    profile.distributions = distributions(profile, snapshot, placed, rank, scale);
    profile.arrivals = arrivals(profile, snapshot, placed, rank, scale);
    profile.contention = contention::describe(profile, snapshot, placed, rank, scale);
}

fn distributions(
    profile: &Profile,
    snapshot: &Snapshot,
    placed: &[Placed],
    rank: &[usize],
    scale: Scale,
) -> Vec<model::Distribution> {
    let by_thread = profile.regions.len() * profile.threads.len() <= MOST_DISTRIBUTIONS;
    let mut sums: Map<(usize, Option<usize>), Distribution> = Map::default();
    for place in placed {
        let thread = by_thread.then(|| rank[place.thread]);
        let sum = sums.entry((place.region, thread)).or_default();
        snapshot.add_instances_to(sum, place.node);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(key, _)| *key);
    let described = sums.iter().filter_map(|((region, thread), sum)| {
        let part = match profile.regions[*region].kind.is_parallel() {
            true => PseudoRegion::Seq,
            false => PseudoRegion::Main,
        };
        sum.describe(*region, *thread, part, scale)
    });
    described.collect()
}

/// The node of a barrier belongs to the member that forked the team, and tells
/// of the others by their numbers.
fn arrivals(
    profile: &Profile,
    snapshot: &Snapshot,
    placed: &[Placed],
    rank: &[usize],
    scale: Scale,
) -> Vec<Arrivals> {
    let mut sums: Map<(usize, usize), [u64; 3]> = Map::default();
    for place in placed {
        let Some(waits) = snapshot.nodes[place.node].known_waits() else {
            continue;
        };
        for (number, late) in waits.late() {
            let Some(thread) = sibling(profile, rank[place.thread], number) else {
                continue;
            };
            let sum = sums.entry((place.region, thread)).or_default();
            let more = [&late.times, &late.after_others, &late.after_first];
            for (sum, more) in sum.iter_mut().zip(more) {
                *sum = sum.wrapping_add(more.get());
            }
        }
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(key, _)| *key);
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
    described.collect()
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
