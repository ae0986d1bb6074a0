//! Teams with fewer threads than the program has at other times, such as those of a region that an `if` clause
//! keeps serial.
//!
//! The profile has a row for each number of a thread in its team, so the threads of small teams belong to large
//! teams, too. Sorted by the time that they were in a region, the n-th thread and the next one differ by the time
//! for which the region had n threads.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::ledger::{Amount, Ledger};
use super::small::WORTH_A_TEAM;
use super::{Cause, Facts, Kind, mentions, settings};
use crate::analysis::NEGLIGIBLE;
use crate::analysis::words::{count, percent, time};

/// Less than this part of a region's time goes without saying, in percent.
const UNMENTIONED_PERCENT: f64 = 1.0;

/// The small teams of an outermost parallel region.
#[derive(Clone, Copy, Debug, Default)]
struct SmallTeams {
    region: usize,
    /// The time of the threads that teams of all threads would have had more, in nanoseconds.
    unused: u64,
    /// The elapsed time that is won if every team has a thread for each processor, in nanoseconds.
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
            () if part >= 100.0 - UNMENTIONED_PERCENT => threads,
            () => format!("{threads} for {} of its time", percent(part)),
        }
    }
}

/// Regions whose teams have fewer threads than the program has at other times, as one cause.
pub(super) fn regions(facts: &Facts<'_, '_>, _: &mut Ledger) -> Vec<Cause> {
    let overheads = facts.overheads;
    if overheads.threads_are_least {
        return Vec::new();
    }
    if overheads.threads == 1 && overheads.processes == 1 {
        return cause_of_one_thread(facts).into_iter().collect();
    }
    if overheads.small_teams.percent < NEGLIGIBLE {
        return Vec::new();
    }
    let small = all_small(facts, overheads.threads);
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
    let all = count(overheads.threads, "thread");
    let (lost, sizes) = (time(lost), most.sizes());
    let (what, all_threads) = match small.len() {
        1 => (
            format!("its teams had {sizes}, not {all}: {lost} of thread time was not used"),
            "See whether it can use all threads.",
        ),
        _ => (
            format!(
                "their teams had fewer than {all}: {lost} of thread time was not used; the teams of that one \
                 had {sizes}"
            ),
            "See whether these regions can use all threads.",
        ),
    };
    let why = clauses(facts, most.region);
    vec![cause.saying(what, format!("{all_threads}{why}"))]
}

/// The small teams of all outermost regions, most to win first, if the program can have this many threads.
fn all_small(facts: &Facts<'_, '_>, threads: u64) -> Vec<SmallTeams> {
    let all = members_by_region(facts).into_iter();
    let small = all.filter_map(|(region, members)| small_teams(facts, region, members, threads));
    let mut small: Vec<SmallTeams> = small.collect();
    crate::order::sort_by(&mut small, |a, b| b.likely.total_cmp(&a.likely));
    small
}

/// All regions, if none of them ever had more than one thread, and the user did not ask for that.
fn cause_of_one_thread(facts: &Facts<'_, '_>) -> Option<Cause> {
    let threads = settings::threads_of_team(facts);
    let small = all_small(facts, threads);
    let most = small.first()?;
    // There was no other thread that could have lost time.
    let likely = small.iter().map(|it| it.likely).sum::<f64>();
    let amount = Amount {
        lost: 0,
        likely,
        upper: likely,
    };
    let regions: Vec<usize> = small.iter().map(|it| it.region).collect();
    let their_teams = match regions.len() {
        1 => "its teams",
        _ => "their teams",
    };
    let place = facts.in_all(regions, "parallel regions");
    let cause = facts.cause_of(Kind::SmallTeams, place, amount);
    let cause = cause.showing(&[("threads", 1), ("threads_at_once", threads)]);
    let why = match clauses(facts, most.region) {
        none if none.is_empty() => " The program may call omp_set_num_threads.".to_owned(),
        why => why,
    };
    let what = format!(
        "{their_teams} had 1 thread, though {}",
        settings::reason_for_threads(facts, threads)
    );
    Some(cause.saying(
        what,
        format!("See whether the program can use all threads.{why}"),
    ))
}

/// Sentences on the clauses by which a region limits its teams.
fn clauses(facts: &Facts<'_, '_>, region: usize) -> String {
    let clauses = CLAUSES.iter();
    let its = clauses.filter(|(clause, _)| mentions(&facts.profile.regions[region], clause));
    its.map(|(_, sentence)| *sentence).collect()
}

/// Clauses that limit a team, and what is said of a directive that has one.
const CLAUSES: &[(&str, &str)] = &[
    (
        "if",
        " An if clause may keep it serial more often than necessary.",
    ),
    (
        "num_threads",
        " A num_threads clause sets the number of its threads.",
    ),
];

/// How long a thread was in the teams of a region, and how often.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    ns: u64,
    times: u64,
}

/// The teams of an outermost region that have fewer threads than there are processors for, if they work long
/// enough to be worth more. `threads`: as many as a team can have.
fn small_teams(
    facts: &Facts<'_, '_>,
    region: usize,
    mut members: Vec<Member>,
    threads: u64,
) -> Option<SmallTeams> {
    // Of more threads than processors, only as many as there are processors run at once.
    let at_once = facts.profile.run.at_once(threads) as usize;
    crate::order::sort_by_key(&mut members, |member| Reverse(member.ns));
    let all = members.first()?.ns;
    let sum: u64 = members.iter().map(|member| member.ns).sum();
    // For each size of small teams: their elapsed time, and how many there were.
    let sizes = 1..at_once.min(members.len() + 1);
    let teams_of = |size: usize| {
        let next = members.get(size).copied().unwrap_or_default();
        let this = members[size - 1];
        (this.ns - next.ns, this.times.saturating_sub(next.times))
    };
    let teams: Vec<(usize, (u64, u64))> = sizes.map(|size| (size, teams_of(size))).collect();
    let &(fewest, (smallest, _)) = teams.iter().find(|(_, (ns, _))| *ns > 0)?;
    let small: u64 = teams.iter().map(|(_, (ns, _))| ns).sum();
    let instances: u64 = teams.iter().map(|(_, (_, times))| times).sum();
    let won = teams
        .iter()
        .map(|&(size, (ns, _))| ns as f64 * (at_once - size) as f64 / at_once as f64);
    // An `if` clause may keep short instances serial for a good reason.
    let is_long = small as f64 >= WORTH_A_TEAM * instances.max(1) as f64;
    is_long.then_some(SmallTeams {
        region,
        unused: threads.saturating_mul(all).saturating_sub(sum),
        likely: won.sum(),
        all,
        small,
        smallest,
        threads: fewest as u64,
        mean: sum as f64 / all.max(1) as f64,
    })
}

/// The members of the teams of each outermost region, and of teams within these. The first member of a team is
/// the thread that forked it, which is in the team around it, too.
fn members_by_region(facts: &Facts<'_, '_>) -> BTreeMap<usize, Vec<Member>> {
    let nodes = &facts.tree.nodes;
    // The outermost node around each; parents stand before their children.
    let mut outermost: Vec<usize> = Vec::with_capacity(nodes.len());
    let mut members: BTreeMap<usize, BTreeMap<usize, Member>> = BTreeMap::new();
    for (here, node) in nodes.iter().enumerate() {
        outermost.push(node.scope.map_or(here, |scope| outermost[scope]));
        if !node.kind.is_parallel() {
            continue;
        }
        let of_region = members.entry(nodes[outermost[here]].region).or_default();
        for row in node.members() {
            let thread = &facts.profile.threads[row.row.thread];
            if node.scope.is_none() || !thread.is_first_member() {
                let member = of_region.entry(row.row.thread).or_default();
                member.ns += row.row.main.ns;
                member.times += row.row.main.count;
            }
        }
    }
    let members = members.into_iter();
    let members = members.map(|(region, of)| (region, of.into_values().collect()));
    members.collect()
}
