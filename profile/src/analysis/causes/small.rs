//! Parallel regions that do less work than their teams cost. A loop over time steps may have
//! many of them; they are one cause. If nested teams together have more threads than there are
//! processors, the inner ones are a cause of another kind: oversubscription. So are teams that have
//! more threads than processors, if their regions would not be small otherwise.

use super::ledger::{Amount, Entry, Ledger};
use super::shape::unexplained;
use super::{COPYIN, Cause, Facts, Kind, mentions, settings};
use crate::analysis::words::{count, time};
use crate::model::Run;
use crate::overheads::Category;

/// From this number of instances on, a region counts as repeated.
const REPEATED: u64 = 10;
/// A region is small if a thread works for at most this time in one instance, in nanoseconds.
/// Teams cost microseconds.
pub(super) const SMALL: f64 = 100_000.0;
/// The team, or the barrier, must cost at least this part of the construct's elapsed time.
pub(super) const COSTS: f64 = 0.25;

/// The same beside other small regions: all regions of a loop over time steps can be joined.
const COSTS_BESIDE: f64 = 0.1;

/// A wait of at most this time, per thread and execution, may be the cost of the barrier
/// itself, in nanoseconds. A thread without a processor is late by milliseconds.
const BARRIER: f64 = 20_000.0;
/// The same where threads sleep as soon as they wait, and must be woken, or where they need a processor that
/// another thread has.
const WAKING_BARRIER: f64 = 200_000.0;

/// The longest wait that may be the cost of a barrier, in nanoseconds, if threads share processors or do not.
pub(super) fn most_of_barrier(facts: &Facts<'_, '_>, share_processors: bool) -> f64 {
    match share_processors || settings::sleeps_at_once(facts).is_some() {
        true => WAKING_BARRIER,
        false => BARRIER,
    }
}

/// A region with this much work is worth a team that has a processor for each of its threads, in
/// nanoseconds of all threads: such a team costs one or two microseconds.
pub(super) const WORTH_A_TEAM: f64 = 10_000.0;

/// The part of a team's cost that is won if different regions are joined: a barrier between
/// them stays (measured with libgomp: 50 % of the elapsed time, with fast and with slow caches).
const JOINED: f64 = 0.5;

/// The part of what a region costs beside its work that is won if it is executed once, around the loop that
/// repeated it. All of it is won if threads need not meet in each iteration; a barrier is left if they must.
const WITHOUT_TEAMS: f64 = 0.85;

/// The elapsed time of a region that an `if` clause keeps serial, in nanoseconds. The runtime
/// still makes a team of one thread (measured: libgomp 350, libomp 400).
const SERIAL_TEAM: f64 = 350.0;

/// The least and the most time that a thread needs to get its iterations and data, in
/// nanoseconds. It is part of a body, but a serial region does not need it (measured with
/// libomp, for a static schedule: 350 on two processors, 500 to 900 on four and more).
pub(super) const HANDING_OUT: [f64; 2] = [300.0, 1000.0];

/// The least such time with GCC's runtime. Its compiler computes a thread's part of a static schedule in place.
const HANDING_OUT_IN_PLACE: f64 = 100.0;

/// The time that a member needs to get its iterations and data, as a part of the cost of the team.
/// Both times are mostly waits for cache lines (measured on 16 cores, two to eight threads: 0.16 to
/// 0.6).
pub(super) const FETCHING_PER_TEAM_COST: f64 = 0.35;

/// The least part of a body that counts as the user's work.
pub(super) const LEAST_WORK: f64 = 0.2;

/// A parallel region, with the sums over its instances.
struct Region {
    region: usize,
    instances: u64,
    members: u64,
    /// Elapsed time of all instances, in nanoseconds.
    wall: f64,
    /// Time that threads worked in all instances, in nanoseconds.
    useful: f64,
    /// Whether all its teams are forked inside other teams, and have several threads.
    is_nested: bool,
}

impl Region {
    /// The elapsed time that is won if an `if` clause keeps the region serial. `measuring` is
    /// the elapsed time that its events took.
    fn won_by_if(&self, run: &Run, measuring: f64) -> f64 {
        self.wall - measuring - self.work(run) - SERIAL_TEAM * self.instances as f64
    }

    /// The elapsed time less the mean work of a member.
    fn beside_work(&self) -> f64 {
        self.wall - self.useful / self.width()
    }

    fn width(&self) -> f64 {
        self.members.max(1) as f64
    }

    /// Whether its teams cost so much since they have more threads than there are processors.
    fn is_crowded(&self, processors: u64) -> bool {
        let each = self.useful / self.instances.max(1) as f64;
        self.is_nested || self.members > processors && each >= WORTH_A_TEAM
    }

    /// The user's work in all bodies.
    fn work(&self, run: &Run) -> f64 {
        let bodies = self.instances * self.members;
        let each = FETCHING_PER_TEAM_COST * self.beside_work() / self.instances.max(1) as f64;
        without_overhead(run, self.useful, bodies, each)
    }
}

/// The user's work in this many bodies, in nanoseconds, if threads were busy for `useful`
/// nanoseconds, and each body needed this `overhead`.
pub(super) fn without_overhead(run: &Run, useful: f64, bodies: u64, overhead: f64) -> f64 {
    let [least, most] = HANDING_OUT;
    let least = match run.calls_gnu_runtime() {
        true => HANDING_OUT_IN_PLACE,
        false => least,
    };
    (useful - overhead.clamp(least, most) * bodies as f64).max(LEAST_WORK * useful)
}

const ONE_REGION: &str = "Put one parallel region around the loop that repeats it, or join it with \
                          its neighbours";

/// All regions that are too small, as one cause. Inner regions with too many threads are
/// another cause.
pub(super) fn regions(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let binding = facts.binding_regions();
    let mut candidates: Vec<(Region, f64)> = Vec::new();
    for region in self::candidates(facts) {
        let its = ledger
            .open()
            .filter(|entry| binding[entry.region] == Some(region.region));
        let cost = its.map(|entry| team_cost(facts, entry)).sum();
        candidates.push((region, cost));
    }
    let costs = |part: f64| move |(region, cost): &(Region, f64)| *cost >= part * region.wall;
    let least = match candidates.iter().any(costs(COSTS)) {
        true => COSTS_BESIDE,
        false => COSTS,
    };
    let mut small: Vec<(Region, Vec<Entry>)> = Vec::new();
    for (region, _) in candidates.into_iter().filter(costs(least)) {
        let is_its = |entry: &Entry| binding[entry.region] == Some(region.region);
        let taken = ledger.take(|entry| is_its(entry) && team_cost(facts, entry) > 0.0);
        small.push((region, taken));
    }
    let is_crowded = facts.is_crowded();
    let processors = u64::from(facts.profile.run.processors);
    let (crowded, small): (Vec<_>, Vec<_>) = small
        .into_iter()
        .partition(|(region, _)| is_crowded && region.is_crowded(processors));
    let crowded = cause(facts, Kind::Oversubscription, crowded);
    let small = cause(facts, Kind::SmallRegions, small);
    crowded.into_iter().chain(small).collect()
}

/// Regions that are repeated with little work each time.
fn candidates(facts: &Facts<'_, '_>) -> Vec<Region> {
    let mut instances = vec![0; facts.profile.regions.len()];
    let wall = facts.elapsed_by_region();
    let mut is_nested = vec![true; facts.profile.regions.len()];
    let mut holds_teams = vec![false; facts.profile.regions.len()];
    for node in &facts.tree.nodes {
        if node.kind.is_parallel() && !node.inside_itself {
            instances[node.region] += node.rows().map(|row| row.row.seq().count).sum::<u64>();
            is_nested[node.region] &= facts.has_inner_teams(node);
        }
        // The work of such a region is done by the teams in it.
        if let Some(scope) = node.scope.filter(|_| node.kind.is_parallel()) {
            holds_teams[facts.tree.nodes[scope].region] = true;
        }
    }
    let rows = facts
        .overheads
        .regions
        .iter()
        .zip(&facts.efficiency.regions);
    let regions = rows
        .filter(|(row, _)| !row.is_outside && !holds_teams[row.region])
        .map(|(row, (_, of))| Region {
            region: row.region,
            instances: instances[row.region],
            members: row.threads as u64,
            wall: wall[row.region],
            useful: of.useful_ns as f64,
            is_nested: is_nested[row.region],
        });
    let is_small = |region: &Region| {
        let each = (region.instances.max(1) * region.members.max(1)) as f64;
        region.instances >= REPEATED && region.useful / each <= SMALL
    };
    regions.filter(is_small).collect()
}

/// The part of an entry's loss that the team itself causes: starting and ending it, and waits
/// that no uneven work explains.
fn team_cost(facts: &Facts<'_, '_>, entry: &Entry) -> f64 {
    if entry.category == Category::Mgmt && entry.cost.kind.is_parallel() {
        return entry.amount.likely;
    }
    if entry.category != Category::Imbal || !entry.is_wait() {
        return 0.0;
    }
    let part = facts
        .table(entry.region)
        .map_or(1.0, |it| unexplained(it).1);
    entry.amount.likely * part
}

fn cause(facts: &Facts<'_, '_>, kind: Kind, mut small: Vec<(Region, Vec<Entry>)>) -> Option<Cause> {
    crate::order::sort_by(&mut small, |a, b| b.0.wall.total_cmp(&a.0.wall));
    let (first, _) = small.first()?;
    let pair_cost = facts.profile.run.pair_cost_ps as f64 / 1000.0;
    let stay_regions = kind == Kind::SmallRegions && small.len() > 1;
    let are_nested = small.iter().any(|(region, _)| region.is_nested);
    let are_teams_too_large = kind == Kind::Oversubscription && !are_nested;
    // With fewer threads, the processors still have the same work to do.
    let most = match are_teams_too_large {
        true => f64::from(facts.profile.run.processors),
        false => f64::INFINITY,
    };
    let width = |region: &Region| region.width().min(most);
    let mut amount = Amount::default();
    let (mut instances, mut wall, mut useful, mut paid) = (0, 0.0, 0.0, 0.0);
    let run = &facts.profile.run;
    for (region, taken) in &small {
        let lost = super::sum(taken);
        // In every instance, at most three pairs of events are on the critical path. The members
        // of a team have their events at the same time.
        let timed = facts.dilation.map_or(0, |it| it.pairs_of(region.region));
        let pairs = (timed / region.members.max(1)).min(3 * region.instances);
        let measuring = pair_cost * pairs as f64;
        let team = region.beside_work().max(lost.likely) - measuring;
        let likely = match stay_regions {
            true => region.won_by_if(run, measuring).max(JOINED * team),
            false => WITHOUT_TEAMS * (region.wall - region.work(run) / width(region) - measuring),
        };
        let likely = likely.max(0.0);
        amount += Amount {
            lost: lost.lost,
            likely,
            upper: region.beside_work(),
        };
        instances += region.instances;
        wall += region.wall;
        useful += region.useful;
        paid += lost.likely;
    }
    let each = |ns: f64| (ns / instances.max(1) as f64).max(0.0).round() as u64;
    let members = first.members.max(2) as f64;
    let breaks_even = each(paid * members / (members - 1.0));
    let regions = small.iter().map(|(region, _)| region.region).collect();
    let place = facts.in_all(regions, "small regions");
    let shared = match are_teams_too_large {
        true => settings::shared(facts, first.members) + ": ",
        false => String::new(),
    };
    let what = format!(
        "{shared}started {}, with {} of work each time; its team costs {}",
        count(instances, "time"),
        time(each(useful)),
        time(each(paid)),
    );
    let remedy = match are_teams_too_large {
        true => settings::advice_on_fewer_threads(facts),
        false => {
            let usual = remedy(facts, kind, [each(useful), each(paid), breaks_even]);
            match mentions(&facts.profile.regions[first.region], "copyin") {
                true => format!("{COPYIN} {usual}"),
                false => usual,
            }
        }
    };
    let mut cause = facts.cause_of(kind, place, amount);
    cause.category = Some(Category::Mgmt);
    let evidence = [
        ("instances", instances),
        ("elapsed_ns", wall as u64),
        ("work_each_ns", each(useful)),
        ("team_costs_ns", each(paid)),
        ("breaks_even_ns", breaks_even),
    ];
    Some(cause.showing(&evidence).saying(what, remedy))
}

/// Whether threads may have waited for a processor: the cause is small regions, and their teams
/// cost more than teams do that have a processor for each thread. The limit is lower for regions
/// with enough work for a team.
pub(super) fn may_lack_processors(facts: &Facts<'_, '_>, cause: &Cause) -> bool {
    let [work, costs] = ["work_each_ns", "team_costs_ns"].map(|name| cause.number(name) as f64);
    let most = match work >= WORTH_A_TEAM {
        true => most_of_barrier(facts, false),
        false => WAKING_BARRIER,
    };
    cause.kind == Kind::SmallRegions && costs > most
}

/// Advice on small regions. `work`: mean work of an instance; `paid`: mean cost of its team;
/// `breaks_even`: the work from which on a team pays. All in nanoseconds.
fn remedy(facts: &Facts<'_, '_>, kind: Kind, [work, paid, breaks_even]: [u64; 3]) -> String {
    if kind == Kind::Oversubscription {
        return settings::advice_against_nesting(facts);
    }
    let wakes = settings::advice_on_waking(facts, paid);
    // With a clause that is false, GCC's runtime still makes a team, of one thread.
    let by_branch = facts.profile.run.calls_gnu_runtime();
    let serial = if 2 * work <= breaks_even {
        let least = time(breaks_even);
        match by_branch {
            true => format!(
                ", or branch to a serial copy of it where it has less than about {least} of work (with an if \
                 clause, it still starts a team of one thread)"
            ),
            false => format!(
                ", or keep it serial with an if clause where it has less than about {least} of work"
            ),
        }
    } else if work as f64 <= WORTH_A_TEAM {
        let how = match by_branch {
            true => "in a serial copy of the code",
            false => "with an if clause",
        };
        let why = match facts.overheads.threads > 1 {
            true => ": part of the threads' work is fetching data from each other's caches",
            false => "",
        };
        format!(", or try whether it is faster serial, {how}{why}")
    } else {
        String::new()
    };
    format!("{wakes}{ONE_REGION}{serial}.")
}
