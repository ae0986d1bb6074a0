//! How much of the run's duration the time of each initial thread counts for.
//!
//! Initial threads run at the same time, one after the other, or both. If there are several,
//! the profile records for how long at least one of them had a team ([`Run::parallel_ns`]). The
//! weights follow from that time, and never exceed 1:
//! - Threads that fork teams have the weight `that time / the sum of their teams' times`.
//! - The other threads share the rest of the duration.
//!
//! So the wall-like times of outermost parallel regions add up to the parallel coverage, and
//! those of all call paths to no more than the duration. With several processes, each process
//! has the same weight.

use std::collections::BTreeMap;

use super::tree::Tree;
use crate::columns::occupied;
use crate::model::{Profile, Run};

/// The weights of initial threads, and the time for which at least one had a team.
#[derive(Debug, Default)]
pub(super) struct Initial {
    /// Index of the thread, and its weight.
    pub(super) weights: Vec<(usize, f64)>,
    /// Wall time in nanoseconds.
    pub(super) coverage_ns: f64,
}

/// The times of an initial thread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// In everything that it entered.
    busy: u64,
    /// In outermost teams.
    teams: u64,
}

impl Initial {
    pub(super) fn new(profile: &Profile, tree: &Tree<'_>) -> Self {
        let mut processes: BTreeMap<Option<u32>, Vec<(usize, Times)>> = BTreeMap::new();
        let times = times(profile, tree);
        for (index, thread) in profile.threads.iter().enumerate() {
            if thread.is_initial() {
                let process = processes.entry(thread.rank).or_default();
                process.push((index, times[index]));
            }
        }
        let share = 1.0 / profile.ranks.len().max(processes.len()).max(1) as f64;
        let mut initial = Self::default();
        for (rank, threads) in &processes {
            let run = profile.ranks.iter().find(|run| run.rank == *rank);
            initial.add(run.unwrap_or(&profile.run), threads, share);
        }
        initial
    }

    /// Adds the initial threads of a process.
    fn add(&mut self, run: &Run, threads: &[(usize, Times)], share: f64) {
        let forks = |times: &Times| times.teams > 0;
        let sum = |is_of: &dyn Fn(&Times) -> bool, of: fn(&Times) -> u64| -> f64 {
            let times = threads.iter().map(|(_, times)| times);
            times.filter(|times| is_of(times)).map(of).sum::<u64>() as f64
        };
        let teams = sum(&forks, |times| times.teams);
        let forking = threads.iter().filter(|(_, times)| forks(times)).count();
        let coverage = match run.parallel_ns {
            // No less than the longest time of one thread.
            Some(ns) => {
                let longest = threads.iter().map(|(_, times)| times.teams).max();
                (ns as f64).max(longest.unwrap_or(0) as f64).min(teams)
            }
            // Older profiles do not say which teams existed at the same time.
            None => teams / forking.max(1) as f64,
        };
        let duration = run.duration_ns as f64;
        let busy = sum(&forks, |times| times.busy);
        let others = sum(&|times| !forks(times), |times| times.busy);
        let (of_forking, of_others) = match threads.len() {
            1 => (1.0, 1.0),
            _ => {
                let of_forking = part(coverage, teams).min(part(duration, busy));
                let rest = (duration - of_forking * busy).max(0.0);
                (of_forking, part(rest, others))
            }
        };
        let weight = |times: &Times| match forks(times) {
            true => share * of_forking,
            false => share * of_others,
        };
        let weights = threads.iter().map(|(index, times)| (*index, weight(times)));
        self.weights.extend(weights);
        self.coverage_ns += share * coverage;
    }
}

/// The quotient of a part and a whole, at most 1.
fn part(part: f64, whole: f64) -> f64 {
    match part < whole {
        true => part / whole,
        false => 1.0,
    }
}

fn times(profile: &Profile, tree: &Tree<'_>) -> Vec<Times> {
    let mut times = vec![Times::default(); profile.threads.len()];
    for node in tree.roots.iter().map(|&root| &tree.nodes[root]) {
        for row in node.rows() {
            times[row.row.thread].busy += occupied(node.kind, row.row);
        }
    }
    for node in tree.nodes.iter().filter(|node| node.is_outermost_team()) {
        for row in node.rows() {
            times[row.row.thread].teams += row.row.seq().ns;
        }
    }
    times
}
