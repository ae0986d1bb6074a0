//! Distributions, late arrivals and contention: the distribution of the times of a region's
//! instances, the threads that come last to a barrier, and the threads that hold what others
//! wait for. They are made from the lists of the same names in [`crate::model`].

use std::cmp::Reverse;

use super::Share;
use crate::model::{Bucket, Contention, Profile};
use crate::order;
use crate::printable::printable;
use crate::region_kind::PseudoRegion;

/// From this number of instances on, a pattern at a barrier can be told from chance.
const FEWEST_INSTANCES: u64 = 8;
/// A difference of more than this many standard deviations is not due to chance.
const BEYOND_CHANCE: f64 = 3.0;

/// The times of the instances of one part of a region, all threads together.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Index of the region.
    pub region: usize,
    /// The pseudo-region to which the instances belong.
    pub part: PseudoRegion,
    /// Number of instances that were timed.
    pub count: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The mean of all counted instances, in nanoseconds.
    pub mean_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Numbers of instances by duration, shortest first.
    pub histogram: Vec<Bucket>,
}

/// Whether the same thread is late again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One thread is last more often than chance explains.
    Systematic,
    /// Threads are last about as often as chance explains.
    Random,
    /// Too few instances to tell.
    Unknown,
}

impl Pattern {
    /// The word in machine-readable outputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Systematic => "systematic",
            Self::Random => "random",
            Self::Unknown => "too few to tell",
        }
    }

    /// Its meaning, as a clause.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Systematic => "one thread came last more often than chance explains",
            Self::Random => "each thread came last about as often as chance explains",
            Self::Unknown => "too few to tell whether one thread came last more often",
        }
    }
}

/// One thread that came last to a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Latecomer {
    /// Index of the thread.
    pub thread: usize,
    /// How often it came last.
    pub last: u64,
    /// The same in percent of the instances.
    pub percent: f64,
    /// Mean time between the arrival of the thread before it and its own, in nanoseconds.
    pub late_ns: u64,
    /// Mean time between the first arrival and its own, in nanoseconds; 0 if not measured.
    pub after_first_ns: u64,
}

/// The threads that came last to one barrier.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// Index of the region.
    pub region: usize,
    /// The pseudo-region with the wait.
    pub part: PseudoRegion,
    /// Number of instances.
    pub instances: u64,
    /// Whether the late arrivals have a pattern.
    pub pattern: Pattern,
    /// The threads that came last, most often first.
    pub threads: Vec<Latecomer>,
}

/// A resource that only one thread at a time can hold; places that waited longest first.
#[derive(Clone, Debug)]
pub struct Contended {
    /// The record in the profile.
    pub guard: Contention,
    /// How often a thread got it.
    pub acquisitions: u64,
    /// How many of these were timed.
    pub timed: u64,
    /// The same of each place.
    pub timed_by_site: Vec<u64>,
    /// How many of the timed ones had to wait.
    pub waited: u64,
    /// Time to get it; percent of the program's thread time.
    pub wait: Share,
    /// Time for which it was held; percent of the duration.
    pub hold: Share,
}

/// The distributions, regions in order.
pub(crate) fn spreads(profile: &Profile) -> Vec<Spread> {
    let mut spreads: Vec<Spread> = Vec::new();
    let mut parts: Vec<_> = profile.distributions.iter().collect();
    parts.retain(|of| of.region < profile.regions.len());
    order::sort_by_key(&mut parts, |of| (of.region, of.part));
    for of in parts {
        let count: u64 = of.histogram.iter().map(|bucket| bucket.count).sum();
        match spreads.last_mut() {
            Some(last) if (last.region, last.part) == (of.region, of.part) => {
                last.count += count;
                last.min_ns = last.min_ns.min(of.min_ns);
                last.max_ns = last.max_ns.max(of.max_ns);
                last.histogram.extend(&of.histogram);
            }
            _ => spreads.push(Spread {
                region: of.region,
                part: of.part,
                count,
                min_ns: of.min_ns,
                mean_ns: 0,
                max_ns: of.max_ns,
                histogram: of.histogram.clone(),
            }),
        }
    }
    if spreads.is_empty() {
        return spreads;
    }
    let means = Means::new(profile, &spreads);
    for spread in &mut spreads {
        spread.mean_ns = means.of(spread.region, spread.part);
        join_equal(&mut spread.histogram);
    }
    spreads
}

/// Sorts buckets, and joins those with the same lower bound. The upper bounds of two such
/// buckets may differ by a nanosecond: the last bucket of a distribution includes its longest
/// instance. The higher bound is kept.
fn join_equal(histogram: &mut Vec<Bucket>) {
    order::sort_by_key(histogram, |bucket| (bucket.from_ns, bucket.below_ns));
    histogram.dedup_by(|next, kept| {
        let same = next.from_ns == kept.from_ns;
        if same {
            kept.below_ns = next.below_ns;
            kept.count += next.count;
        }
        same
    });
}

/// Count and time of all rows, by region and wanted pseudo-region.
struct Means {
    sums: Vec<[Option<(u64, u64)>; PseudoRegion::COUNT]>,
}

impl Means {
    fn new(profile: &Profile, spreads: &[Spread]) -> Self {
        let mut sums = vec![[None; PseudoRegion::COUNT]; profile.regions.len()];
        for spread in spreads {
            sums[spread.region][spread.part as usize] = Some((0, 0));
        }
        for node in &profile.nodes {
            let Some(sums) = sums.get_mut(node.region) else {
                continue;
            };
            for (part, sum) in PseudoRegion::ALL.into_iter().zip(sums) {
                let Some((count, ns)) = sum else { continue };
                for row in &node.rows {
                    *count += row.span(part).count;
                    *ns += row.span(part).ns;
                }
            }
        }
        Self { sums }
    }

    fn of(&self, region: usize, part: PseudoRegion) -> u64 {
        let (count, ns) = self.sums[region][part as usize].unwrap_or_default();
        ns / count.max(1)
    }
}

/// The late arrivals; the barrier with the longest delays first.
pub(crate) fn lateness(profile: &Profile) -> Vec<Lateness> {
    let mut arrivals: Vec<_> = profile.arrivals.iter().collect();
    arrivals.retain(|of| {
        of.last > 0 && of.region < profile.regions.len() && of.thread < profile.threads.len()
    });
    order::sort_by_key(&mut arrivals, |of| {
        (of.region, of.part, Reverse(of.last), of.thread)
    });
    let same = |a: &&crate::model::Arrivals, b: &&crate::model::Arrivals| {
        (a.region, a.part) == (b.region, b.part)
    };
    let mut all: Vec<(u64, Lateness)> = Vec::new();
    for group in arrivals.chunk_by(same) {
        let instances: u64 = group.iter().map(|of| of.last).sum();
        let late = group.iter().map(|of| of.late_ns).sum();
        let threads: Vec<Latecomer> = group
            .iter()
            .map(|of| Latecomer {
                thread: of.thread,
                last: of.last,
                percent: 100.0 * of.last as f64 / instances as f64,
                late_ns: of.late_ns / of.last,
                after_first_ns: of.after_first_ns / of.last,
            })
            .collect();
        let team = members(profile, group[0].region);
        let lateness = Lateness {
            region: group[0].region,
            part: group[0].part,
            instances,
            pattern: pattern(threads[0].last, instances, team),
            threads,
        };
        all.push((late, lateness));
    }
    order::sort_by_key(&mut all, |(late, lateness)| {
        (Reverse(*late), lateness.region)
    });
    all.into_iter().map(|(_, lateness)| lateness).collect()
}

/// The number of threads that have been at a region.
fn members(profile: &Profile, region: usize) -> usize {
    let nodes = profile.nodes.iter().filter(|node| node.region == region);
    let rows = nodes.flat_map(|node| &node.rows);
    let mut threads: Vec<usize> = rows
        .filter(|row| !row.main.is_zero())
        .map(|row| row.thread)
        .collect();
    threads.sort_unstable();
    threads.dedup();
    threads.len()
}

/// If every thread were last equally often, the number of times that one thread is last would
/// follow the binomial distribution. Its standard deviation tells what is beyond chance.
fn pattern(most: u64, instances: u64, team: usize) -> Pattern {
    if instances < FEWEST_INSTANCES || team < 2 {
        return Pattern::Unknown;
    }
    let (instances, p) = (instances as f64, 1.0 / team as f64);
    let deviation = (instances * p * (1.0 - p)).sqrt();
    if most as f64 > instances * p + BEYOND_CHANCE * deviation {
        Pattern::Systematic
    } else {
        Pattern::Random
    }
}

/// The resources for which threads waited for each other, longest wait first.
/// `instances` are those of [`Profile::timed_instances`].
pub(crate) fn contended(
    profile: &Profile,
    instances: &[[u64; 2]],
    thread_time_ns: u64,
) -> Vec<Contended> {
    let mut all: Vec<Contended> = profile
        .contention
        .iter()
        .map(|guard| {
            let mut guard = guard.clone();
            guard.name = printable(&guard.name).into_owned();
            let (regions, threads) = (profile.regions.len(), profile.threads.len());
            guard.sites.retain(|site| site.region < regions);
            for site in &mut guard.sites {
                site.holders.retain(|holder| {
                    holder.region < regions && holder.thread.is_none_or(|thread| thread < threads)
                });
                order::sort_by_key(&mut site.holders, |holder| Reverse(holder.waited));
            }
            order::sort_by_key(&mut guard.sites, |site| {
                (Reverse(site.wait_ns), site.region)
            });
            let sum =
                |of: fn(&crate::model::ContentionSite) -> u64| guard.sites.iter().map(of).sum();
            let timed = guard.sites.iter().map(|site| site.timed(instances));
            let timed_by_site: Vec<u64> = timed.collect();
            Contended {
                acquisitions: sum(|site| site.acquisitions),
                timed: timed_by_site.iter().sum(),
                timed_by_site,
                waited: sum(|site| site.waited),
                wait: Share::of(sum(|site| site.wait_ns), thread_time_ns),
                hold: Share::of(
                    guard.held_ns(profile.run.duration_ns),
                    profile.run.duration_ns,
                ),
                guard,
            }
        })
        .collect();
    order::sort_by_key(&mut all, |of| Reverse(of.wait.ns));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_what_chance_does_not_do() {
        assert_eq!(pattern(4, 4, 2), Pattern::Unknown);
        assert_eq!(pattern(30, 100, 4), Pattern::Random);
        assert_eq!(pattern(60, 100, 4), Pattern::Systematic);
        assert_eq!(pattern(10, 10, 4), Pattern::Systematic);
    }
}
