//! Teams with fewer threads than the program has at other times, such as those of a region that an `if` clause
//! keeps serial.
//!
//! A thread's number in its team is its place in the profile, so the threads of small teams are those that
//! belong to large ones, too. Sorted by the time that they were in a region, the n-th and the next one differ by
//! the time for which the region had n threads.

use super::ledger::{Amount, Ledger};
use super::small::WORTH_A_TEAM;
use super::{Cause, Facts, Kind};
use crate::analysis::NEGLIGIBLE;
use crate::analysis::words::{count, percent, time};
use crate::model::Region;

/// Less than this part of a region's time goes without saying, in percent.
const HARDLY: f64 = 1.0;

/// The small teams of an outermost parallel region.
#[derive(Clone, Copy, Debug, Default)]
struct SmallTeams {
    region: usize,
    /// The time that members of large teams were not in these, in nanoseconds.
    unused: u64,
    /// What is won if they have a thread for each processor, in nanoseconds.
    likely: f64,
    /// Elapsed time of all teams, of small ones, and of the smallest ones among these, in nanoseconds.
    all: u64,
    small: u64,
    smallest: u64,
    /// The number of threads of the smallest ones.
    threads: u64,
    /// The mean number of threads of all teams.
    mean: f64,
}

impl SmallTeams {
    /// `1 thread for 75 % of its time`; the mean number where teams have many sizes.
    fn sizes(&self) -> String {
        let part = 100.0 * self.smallest as f64 / self.all.max(1) as f64;
        let threads = count(self.threads, "thread");
        match () {
            () if 2 * self.smallest < self.small => {
                format!("{:.1} threads on average", self.mean)
            }
            () if part >= 100.0 - HARDLY => threads,
            () => format!("{threads} for {} of its time", percent(part)),
        }
    }
}

/// Regions whose teams have fewer threads than the program has at other times, as one cause.
pub(super) fn regions(facts: &Facts<'_, '_>, _: &mut Ledger) -> Vec<Cause> {
    let overheads = facts.overheads;
    if overheads.small_teams.percent < NEGLIGIBLE || overheads.threads_are_least {
        return Vec::new();
    }
    let all = facts.profile.regions.iter().enumerate();
    let mut small: Vec<SmallTeams> = all.filter_map(|(it, _)| small_teams(facts, it)).collect();
    crate::order::by(&mut small, |a, b| b.likely.total_cmp(&a.likely));
    let Some(&most) = small.first() else {
        return Vec::new();
    };
    let unused: u64 = small.iter().map(|it| it.unused).sum();
    let lost = unused.min(overheads.small_teams.ns);
    let part = lost as f64 / unused.max(1) as f64;
    let amount = Amount {
        lost,
        likely: part * small.iter().map(|it| it.likely).sum::<f64>(),
        upper: lost as f64,
    };
    let regions = small.iter().map(|it| it.region).collect();
    let place = facts.in_all(regions, "parallel regions");
    let cause = facts.cause_of(Kind::SmallTeams, place, amount);
    let cause = cause.showing(&[
        ("threads", most.threads),
        ("threads_at_once", overheads.threads),
    ]);
    let which = if small.len() > 1 { "that one" } else { "it" };
    let what = format!(
        "teams of fewer than {} left {} of thread time without a thread; {which} had {}",
        count(overheads.threads, "thread"),
        time(lost),
        most.sizes(),
    );
    let why = match has_if_clause(&facts.profile.regions[most.region]) {
        true => IF_CLAUSE,
        false => "",
    };
    vec![cause.saying(what, format!("{ALL_THREADS}{why}"))]
}

const ALL_THREADS: &str = "See whether these regions can use all threads.";

/// Whether a region's directive has an `if` clause.
fn has_if_clause(region: &Region) -> bool {
    let directive = region.directive.as_deref().unwrap_or_default();
    let words = directive.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.skip(1).any(|word| word.eq_ignore_ascii_case("if"))
}

/// For a directive with an `if` clause.
const IF_CLAUSE: &str = " An if clause may keep more of them serial than need be.";

/// The teams of an outermost region that have fewer threads than there are processors for, if they work long
/// enough to be worth more.
fn small_teams(facts: &Facts<'_, '_>, region: usize) -> Option<SmallTeams> {
    let threads = facts.overheads.threads.max(1);
    // Of more threads than processors, only as many as there are processors run at once.
    let at_once = facts.profile.run.at_once(threads) as usize;
    let mut members = members(facts, region);
    crate::order::by_key(&mut members, |it| std::cmp::Reverse(it.0));
    let &(all, _) = members.first()?;
    let at = |number: usize| members.get(number).copied().unwrap_or_default();
    let with = |number: usize| at(number - 1).0 - at(number).0;
    let unused = threads.saturating_mul(all);
    let unused = unused.saturating_sub(members.iter().map(|it| it.0).sum());
    let sizes = 1..at_once;
    let won_of = |size: usize| with(size) as f64 * (at_once - size) as f64 / at_once as f64;
    let smallest = sizes.clone().find(|size| with(*size) > 0)?;
    let (small, instances) = sizes.clone().fold((0, 0), |(ns, instances), size| {
        let more = at(size - 1).1.saturating_sub(at(size).1);
        (ns + with(size), instances + more)
    });
    // An `if` clause may keep short instances serial for a good reason.
    let is_long = small as f64 >= WORTH_A_TEAM * instances.max(1) as f64;
    is_long.then_some(SmallTeams {
        region,
        unused,
        likely: sizes.map(won_of).sum(),
        all,
        small,
        smallest: with(smallest),
        threads: smallest as u64,
        mean: members.iter().map(|it| it.0 as f64).sum::<f64>() / all.max(1) as f64,
    })
}

/// For how long each thread was in teams of an outermost region, or in teams within these, in nanoseconds, and
/// how often. The first member of a team is the thread that forked it, which is in the team around it, too.
fn members(facts: &Facts<'_, '_>, region: usize) -> Vec<(u64, u64)> {
    let nodes = &facts.tree.nodes;
    let outermost = |mut here: usize| {
        while let Some(scope) = nodes[here].scope {
            here = scope;
        }
        here
    };
    let mut times = std::collections::BTreeMap::<usize, (u64, u64)>::new();
    let teams = nodes
        .iter()
        .enumerate()
        .filter(|it| it.1.kind.is_parallel());
    for (_, node) in teams.filter(|(here, _)| nodes[outermost(*here)].region == region) {
        for row in node.members() {
            let number = facts.profile.threads[row.row.thread].path.last();
            if node.scope.is_none() || number != Some(&0) {
                let (ns, count) = times.entry(row.row.thread).or_default();
                *ns += row.row.main.ns;
                *count += row.row.main.count;
            }
        }
    }
    times.into_values().collect()
}
