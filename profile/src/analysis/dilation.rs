//! The cost of the measurement itself: the number of events times their calibrated cost.
//!
//! A pair of events is an enter and its exit. The cost was calibrated in a loop that does
//! nothing else, so it is the least that a pair can cost. Its share is that of the processor time: a thread
//! that waits for a processor, or sleeps, would hide it in the thread time. While a thread records the begin and the
//! end of a team, the other members wait, so these events cost the time of all members. So do events
//! of a thread that holds a lock for which others queue.

use std::cmp::Reverse;

use super::Share;
use super::polling::polling_threads;
use super::tree::{Tree, TreeNode};
use crate::columns::occupied;
use crate::model::{Profile, Row};
use crate::order;
use crate::region_kind::RegionKind;

/// The cost of the events of one region.
#[derive(Clone, Copy, Debug)]
pub struct RegionDilation {
    /// Index of the region.
    pub region: usize,
    /// Pairs of events that were timed, all threads together.
    pub pairs: u64,
    /// Pairs of events that were counted but not timed.
    pub passed_pairs: u64,
    /// The cost of both; percent of the time that threads spent in the region.
    pub cost: Share,
}

/// The cost of all events.
#[derive(Clone, Debug)]
pub struct Dilation {
    /// Cost of a pair in picoseconds.
    pub pair_cost_ps: u64,
    /// The cost of a pair that is not timed, in picoseconds.
    pub passed_pair_cost_ps: u64,
    /// Pairs of events that were timed, all threads together.
    pub pairs: u64,
    /// Pairs of events that were counted but not timed.
    pub passed_pairs: u64,
    /// How long threads waited for each other because of the events, as far as that was
    /// measured.
    pub waited_ns: u64,
    /// The cost of all events; percent of [`of_ns`](Self::of_ns).
    pub cost: Share,
    /// The processor time of the run, or its thread time if that is shorter or the only one known.
    pub of_ns: u64,
    /// By region, the most costly first.
    pub regions: Vec<RegionDilation>,
}

/// From this percentage of the processor time on, a reader must know of the cost before any other
/// figure. The computed cost is a lower bound. It is largest where regions are short.
const DISTORTS: f64 = 5.0;

impl Dilation {
    /// The pairs of events of a region that were timed.
    pub(crate) fn pairs_of(&self, region: usize) -> u64 {
        let mut regions = self.regions.iter();
        let of_region = regions.find(|of| of.region == region);
        of_region.map_or(0, |of| of.pairs)
    }

    /// The region with the most events, if their cost affects all times.
    pub(crate) fn culprit(&self) -> Option<&RegionDilation> {
        let distorts = self.cost.percent >= DISTORTS;
        self.regions.first().filter(|_| distorts)
    }
}

impl RegionDilation {
    /// A sentence that says how to measure the region, which is of this kind, at less cost;
    /// none if there is no way.
    pub(crate) fn cheaper(&self, kind: RegionKind) -> Option<String> {
        // Without its parallel regions, a program's profile shows nothing.
        if kind.is_parallel() {
            return None;
        }
        let group = kind.group();
        // Of a loop, all executions are timed if something else happens in it.
        let may_be_sampled = kind.may_be_sampled() && !kind.is_shared_by_a_team();
        let sample = match may_be_sampled && self.passed_pairs == 0 {
            true => {
                "ROMP_BUDGET=none, ROMP_TRACE and ROMP_COUNTERS time every execution: if one of them is set, \
                 leave it out. "
            }
            false => "",
        };
        Some(format!(
            "{sample}ROMP_DISABLE={group} leaves such events out of a run, and \
             ROMP_INSTRUMENT_DISABLE={group} builds the program without their probes."
        ))
    }
}

/// The number and the cost of a region's events.
#[derive(Clone, Copy, Default)]
struct Sum {
    pairs: u64,
    passed: u64,
    cost_ps: u128,
    waited_ps: u128,
    time: u64,
}

impl Sum {
    fn cost(self, of: u64) -> Share {
        Share::of(u64::try_from(self.cost_ps / 1000).unwrap_or(u64::MAX), of)
    }
}

/// The mean number of threads in the teams of a parallel region, without the thread that forked;
/// 0 for other constructs.
fn others_of_team(node: &TreeNode<'_>) -> f64 {
    if !node.kind.is_parallel() {
        return 0.0;
    }
    let count = |number: fn(&Row) -> u64| node.rows().map(|row| number(row.row)).sum::<u64>();
    let (teams, members) = (count(|row| row.seq().count), count(|row| row.main.count));
    (members as f64 / teams.max(1) as f64 - 1.0).max(0.0)
}

/// The begin and the end of a team take this many times the cost of a pair of events, for all its members. What is
/// recorded there stands behind the stores of the runtime's barriers, which wait for other processors (measured:
/// `docs/decisions/measuring-costs.md`).
const TEAM_PAIRS: f64 = 2.5;

/// For how long the members of the teams of a parallel region waited while a thread recorded their begins and
/// ends, besides the pair of events that each team has anyway, in picoseconds. `others`: the members
/// without that thread.
fn delay_of_members_ps(pair_cost_ps: u64, row: &Row, others: f64) -> u128 {
    let pairs = TEAM_PAIRS * (1.0 + others) - 1.0;
    (row.seq().count as f64 * pair_cost_ps as f64 * pairs) as u128
}

/// For how long other threads waited while threads that held a lock passed over its probes, in
/// picoseconds. Each probe delays all threads of the queue. This part of the entries had to wait.
fn delay_of_queue_ps(
    passed_pair_cost_ps: u64,
    kind: RegionKind,
    row: &Row,
    most: f64,
    waited: f64,
) -> u128 {
    if !matches!(kind, RegionKind::Critical | RegionKind::Lock) {
        return 0;
    }
    let queue = waited * row.enter().ns as f64 / row.body.ns.max(1) as f64;
    let cost_ps = row.passed_pairs(kind) as f64 * passed_pair_cost_ps as f64;
    (cost_ps * queue.min(most)) as u128
}

/// For each region, the part of its timed entries that found their lock or critical section taken.
fn waited_shares(profile: &Profile) -> Vec<f64> {
    let mut waited = vec![0_u64; profile.regions.len()];
    for site in profile.contention.iter().flat_map(|guard| &guard.sites) {
        waited[site.region] = waited[site.region].saturating_add(site.waited);
    }
    let timed = profile.timed_instances();
    let shares = waited.iter().zip(&timed);
    shares
        .map(|(waited, [timed, _])| (*waited as f64 / (*timed).max(1) as f64).min(1.0))
        .collect()
}

/// None if the cost of an event is not known.
pub(crate) fn analyse(profile: &Profile, tree: &Tree<'_>, thread_time_ns: u64) -> Option<Dilation> {
    let run = &profile.run;
    if run.pair_cost_ps == 0 {
        return None;
    }
    let polling = polling_threads(profile, tree);
    let waited = waited_shares(profile);
    let mut sums = vec![Sum::default(); profile.regions.len()];
    for (index, node) in tree.nodes.iter().enumerate() {
        let sum = &mut sums[node.region];
        let others = others_of_team(node);
        let queue = node.rows().count().saturating_sub(1) as f64;
        for row in node.rows() {
            let delay_ps = delay_of_members_ps(run.pair_cost_ps, row.row, others)
                + delay_of_queue_ps(
                    run.passed_pair_cost_ps,
                    node.kind,
                    row.row,
                    queue,
                    waited[node.region],
                );
            sum.cost_ps += delay_ps;
            sum.waited_ps += delay_ps;
            sum.pairs += row.row.pairs(node.kind);
            sum.passed += row.row.passed_pairs(node.kind);
            if !polling.contains(&(index, row.row.thread)) {
                sum.cost_ps += run.measuring_ps(row.row, node.kind);
                sum.waited_ps += run.measuring_wait_ps(row.row, node.kind);
            }
            // The time of a repeated region is part of the outer region's time.
            if !node.repeats {
                sum.time += match node.kind.is_parallel() {
                    true => row.row.main.ns,
                    false => occupied(node.kind, row.row),
                };
            }
        }
    }
    let mut regions: Vec<RegionDilation> = sums
        .iter()
        .enumerate()
        .filter(|(_, sum)| sum.pairs > 0)
        .map(|(region, sum)| RegionDilation {
            region,
            pairs: sum.pairs,
            passed_pairs: sum.passed,
            cost: sum.cost(sum.time),
        })
        .collect();
    order::sort_by_key(&mut regions, |region| {
        (Reverse(region.cost.ns), region.region)
    });
    let all = sums.iter().fold(Sum::default(), |all, sum| Sum {
        pairs: all.pairs + sum.pairs,
        passed: all.passed + sum.passed,
        cost_ps: all.cost_ps + sum.cost_ps,
        waited_ps: all.waited_ps + sum.waited_ps,
        time: 0,
    });
    let of_ns = match run.processor_ns() {
        0 => thread_time_ns,
        known => known.min(thread_time_ns),
    };
    Some(Dilation {
        pair_cost_ps: run.pair_cost_ps,
        passed_pair_cost_ps: run.passed_pair_cost_ps,
        pairs: all.pairs,
        passed_pairs: all.passed,
        waited_ns: u64::try_from(all.waited_ps / 1000).unwrap_or(u64::MAX),
        cost: all.cost(of_ns),
        of_ns,
        regions,
    })
}
