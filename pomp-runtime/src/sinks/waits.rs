//! What a profile holds beside the tree: how the times of instances are spread,
//! who came last to barriers, who kept whom out of what.

use profile::model::{self, Profile};
use profile::region_kind::PseudoRegion;

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
        sum.join(&snapshot.distributions[place.node]);
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
