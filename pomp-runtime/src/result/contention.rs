//! Which threads kept which others out: of critical sections by name, of locks by address, of
//! atomics by place.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use profile::model::{Contention, ContentionSite, GuardKind, Holder, Node, Profile, Region, Row};
use profile::order;
use profile::region_kind::{PseudoRegion, RegionKind};

use super::node_merge::{Placed, Places};
use crate::hash::Map;
use crate::measure::clock::Scale;
use crate::measure::lock_history::WAITED;
use crate::measure::records::distribution::Distribution;
use crate::measure::records::waits::SEVERAL;

/// The thing that sites share. If several locks were set at a call site, nothing is known that it
/// shares with others.
type Guard = (GuardKind, String, Option<usize>);

/// The records of one region's nodes about waiting.
#[derive(Default)]
struct Site {
    waited: u64,
    longest: u64,
    /// Address of the lock, in the form that a node has it.
    address: usize,
    /// By region and thread of the holder: how often, and how many ticks.
    holders: BTreeMap<(usize, usize), (u64, u64)>,
}

/// Describes what the nodes recorded, with the counts and times of the rows.
pub(super) fn describe(
    profile: &Profile,
    places: &Places<'_>,
    rank: &[usize],
    scale: Scale,
) -> Vec<Contention> {
    let sites = sites(profile, places, rank, scale);
    let rows = sums(profile, &sites);
    let mut guards: BTreeMap<Guard, Vec<ContentionSite>> = BTreeMap::new();
    for (region, site) in sites {
        let described = describe_site(
            &profile.regions[region],
            region,
            &rows[region],
            &site,
            scale,
        );
        if let Some((guard, described)) = described {
            guards.entry(guard).or_default().push(described);
        }
    }
    let described = guards.into_iter().map(|((kind, name, several), sites)| {
        Contention {
            kind,
            name,
            // The number of members is not known; there are at least two.
            members: if kind == GuardKind::Lock && several.is_some() {
                2
            } else {
                1
            },
            sites,
        }
    });
    described.collect()
}

fn sites(
    profile: &Profile,
    places: &Places<'_>,
    rank: &[usize],
    scale: Scale,
) -> BTreeMap<usize, Site> {
    let snapshot = places.snapshot;
    let kind = |placed: Placed| profile.regions[places.region(placed)].kind;
    let guarded = || {
        places.placed().filter(|placed| {
            matches!(
                kind(*placed),
                RegionKind::Critical | RegionKind::Lock | RegionKind::Atomic
            )
        })
    };
    let mut known: Map<usize, Placed> = Map::default();
    for placed in guarded() {
        let address = std::ptr::from_ref(snapshot.nodes[placed.node]).addr();
        known.insert(address, placed);
    }
    let mut sites: BTreeMap<usize, Site> = BTreeMap::new();
    for placed in guarded() {
        let site = sites.entry(places.region(placed)).or_default();
        if kind(placed) == RegionKind::Atomic {
            let mut distribution = Distribution::default();
            snapshot.add_instances_to(&mut distribution, placed.node);
            site.waited += distribution.longer_than(WAITED);
            site.longest = site.longest.max(distribution.longest());
        }
        let Some(waits) = snapshot.nodes[placed.node].known_waits() else {
            continue;
        };
        site.waited += waits.waited.get();
        site.longest = site.longest.max(waits.longest.get());
        site.address = match (site.address, waits.address()) {
            (0, address) | (address, 0) => address,
            (one, other) if one == other => one,
            _ => SEVERAL,
        };
        for holder in waits.holders() {
            if let Some(held) = known.get(&holder.node.load(Ordering::Relaxed)) {
                let key = (places.region(*held), rank[held.thread]);
                let sum = site.holders.entry(key).or_default();
                sum.0 += holder.times.get();
                sum.1 += scale.to_ns(holder.ticks.get());
            }
        }
    }
    sites
}

/// The sum of all rows of each region that is a site.
fn sums(profile: &Profile, sites: &BTreeMap<usize, Site>) -> Vec<Row> {
    let mut sums = vec![Row::default(); profile.regions.len()];
    let is_site = |node: &&Node| sites.contains_key(&node.region);
    for node in profile.nodes.iter().filter(is_site) {
        for (row, part) in node
            .rows
            .iter()
            .flat_map(|row| PseudoRegion::ALL.map(|part| (row, part)))
        {
            *sums[node.region].span_mut(part) += row.span(part);
        }
    }
    sums
}

/// None if nothing happened there.
fn describe_site(
    about: &Region,
    region: usize,
    rows: &Row,
    site: &Site,
    scale: Scale,
) -> Option<(Guard, ContentionSite)> {
    let (kind, wait, hold) = match about.kind {
        RegionKind::Critical => (
            GuardKind::Critical,
            PseudoRegion::Enter,
            Some(PseudoRegion::Body),
        ),
        RegionKind::Lock => (
            GuardKind::Lock,
            PseudoRegion::Enter,
            Some(PseudoRegion::Body),
        ),
        _ => (GuardKind::Atomic, PseudoRegion::Main, None),
    };
    let (name, several) = match (kind, site.address) {
        (GuardKind::Critical, _) => (about.name.clone().unwrap_or_default(), None),
        (GuardKind::Lock, SEVERAL) => (String::new(), Some(region)),
        (GuardKind::Lock, address) => (format!("{address:#x}"), None),
        (GuardKind::Atomic, _) => (String::new(), Some(region)),
    };
    let wait = rows.span(wait);
    let hold = hold.map(|part| rows.span(part));
    let acquisitions = hold.map_or(wait.count, |hold| hold.count);
    let mut holders: Vec<Holder> = site
        .holders
        .iter()
        .map(|((region, thread), (waited, wait_ns))| Holder {
            region: *region,
            thread: Some(*thread),
            waited: *waited,
            wait_ns: *wait_ns,
        })
        .collect();
    order::sort_by_key(&mut holders, |holder| std::cmp::Reverse(holder.waited));
    let described = ContentionSite {
        region,
        acquisitions,
        waited: site.waited,
        wait_ns: wait.ns,
        max_wait_ns: scale.to_ns(site.longest),
        hold_ns: hold.map_or(0, |hold| hold.ns),
        holders,
    };
    (acquisitions > 0).then_some(((kind, name, several), described))
}
