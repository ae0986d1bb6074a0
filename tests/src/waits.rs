//! Checks of the parts of a profile beside its tree.

use profile::model::{Profile, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

/// Everything in which these parts contradict the tree.
pub(crate) fn contradictions(profile: &Profile) -> Vec<String> {
    let mut found = distributions(profile);
    found.extend(arrivals(profile));
    found.extend(contention(profile));
    found
}

/// Sum of a part over the nodes of a region, of one thread or of all.
fn sum(profile: &Profile, region: usize, thread: Option<usize>, part: PseudoRegion) -> Span {
    let nodes = profile.nodes.iter().filter(|node| node.region == region);
    let rows = nodes.flat_map(|node| &node.rows);
    let rows = rows.filter(|row| thread.is_none_or(|thread| row.thread == thread));
    rows.fold(Span::default(), |mut sum, row| {
        sum += row.span(part);
        sum
    })
}

/// Whether a region was entered inside itself.
fn recurs(profile: &Profile, region: usize) -> bool {
    let parent = |node: usize| profile.nodes[node].parent;
    let is_its = |node: &usize| profile.nodes[*node].region == region;
    let mut its = (0..profile.nodes.len()).filter(is_its);
    its.any(|node| {
        std::iter::successors(parent(node), |&above| parent(above)).any(|above| is_its(&above))
    })
}

/// Every instance is in one bucket, and the sum fits their number and bounds.
fn distributions(profile: &Profile) -> Vec<String> {
    let wrong = profile.distributions.iter().filter(|of| {
        let Span { count, ns } = sum(profile, of.region, of.thread, of.part);
        let counted: u64 = of.histogram.iter().map(|bucket| bucket.count).sum();
        let holds = |ns: u64| {
            let mut buckets = of.histogram.iter();
            // Times and bounds are rounded down: a time just below a bound may have the same number.
            buckets.any(|bucket| (bucket.from_ns..=bucket.below_ns).contains(&ns))
        };
        // Each time is rounded down, and so is the sum of each row. Deep in a recursion, the time of an
        // instance is part of that of the instance around it.
        let apart = match recurs(profile, of.region) {
            true => 1,
            false => count,
        };
        let fits = of.min_ns * apart <= ns + count && ns <= (of.max_ns + 1) * count;
        counted != count || !fits || !holds(of.min_ns) || !holds(of.max_ns)
    });
    wrong
        .map(|of| format!("a distribution that does not fit the rows: {of:?}"))
        .collect()
}

/// A thread came last no more often than there was a barrier, and another thread waited for it
/// at least as long.
fn arrivals(profile: &Profile) -> Vec<String> {
    let mut found = Vec::new();
    for region in 0..profile.regions.len() {
        let of_region = profile.arrivals.iter().filter(|of| of.region == region);
        let (mut last, mut longest) = (0, 0);
        let mut part = PseudoRegion::Ibarr;
        for of in of_region {
            last += of.last;
            longest += of.after_first_ns;
            part = of.part;
            if of.late_ns > of.after_first_ns {
                found.push(format!("later than its longest wait: {of:?}"));
            }
        }
        let waits = sum(profile, region, None, part);
        if 2 * last > waits.count || longest > waits.ns {
            found.push(format!(
                "{last} times last in region {region} after {longest} ns: {waits:?}"
            ));
        }
    }
    found
}

/// The sites agree with the rows of their regions.
fn contention(profile: &Profile) -> Vec<String> {
    let sites = profile.contention.iter().flat_map(|guard| &guard.sites);
    let wrong = sites.filter(|site| {
        let is_atomic = profile.regions[site.region].kind == RegionKind::Atomic;
        let (wait, hold) = match is_atomic {
            true => (PseudoRegion::Main, PseudoRegion::Main),
            false => (PseudoRegion::Enter, PseudoRegion::Body),
        };
        let count = sum(profile, site.region, None, hold).count;
        let wait = sum(profile, site.region, None, wait).ns;
        let holders: u64 = site.holders.iter().map(|holder| holder.waited).sum();
        site.acquisitions != count
            || site.wait_ns != wait
            || site.max_wait_ns > wait
            || site.waited > count
            || holders > site.waited
    });
    wrong
        .map(|site| format!("a site that does not fit the rows: {site:?}"))
        .collect()
}
