//! Parallel regions that threads of other teams execute, each with a team of one thread. Libraries have such
//! regions when several threads call them. The team costs as much as the calls of the runtime, and wins nothing.

use super::ledger::{Amount, Entry, Ledger};
use super::small::{HANDING_OUT, LEAST_WORK};
use super::{Cause, Facts, Kind};
use crate::analysis::tree::TreeNode;
use crate::analysis::words::{count, time};
use crate::overheads::Category;

/// The least part of what a region's teams cost that such teams must have cost.
const MOST: f64 = 0.9;

/// Such regions, as one cause.
pub(super) fn regions(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let nodes = facts.tree.nodes.iter();
    let of_one: Vec<&TreeNode<'_>> = nodes.filter(|node| has_teams_of_one(facts, node)).collect();
    if of_one.is_empty() {
        return Vec::new();
    }
    let chosen = |node: &TreeNode<'_>| has_teams_of_one(facts, node);
    let theirs = Ledger::of_nodes(facts.profile, facts.tree, facts.walls, chosen);
    let [theirs, all] = [&theirs, &*ledger].map(|ledger| costs_of_teams(facts, ledger));
    let of_regions = theirs.into_iter().zip(all).enumerate();
    let mostly_theirs = of_regions.filter_map(|(region, (part, all))| {
        let is_most = part.lost > 0 && part.lost as f64 >= MOST * all.lost as f64;
        is_most.then_some((region, all))
    });
    let mut found: Vec<(usize, Amount)> = mostly_theirs.collect();
    ledger.take(|entry| {
        is_cost_of_team(entry) && found.iter().any(|(region, _)| *region == entry.region)
    });
    crate::order::sort_by(&mut found, |a, b| b.1.likely.total_cmp(&a.1.likely));
    cause(facts, &of_one, found).into_iter().collect()
}

/// Of each region, what its teams cost.
fn costs_of_teams(facts: &Facts<'_, '_>, ledger: &Ledger) -> Vec<Amount> {
    let mut costs = vec![Amount::default(); facts.profile.regions.len()];
    for entry in ledger.open().filter(|entry| is_cost_of_team(entry)) {
        costs[entry.region] += entry.amount;
    }
    costs
}

fn is_cost_of_team(entry: &Entry) -> bool {
    entry.category == Category::Mgmt && entry.cost.kind.is_parallel()
}

/// Whether all teams of a node were forked by members of other teams, and had one thread.
fn has_teams_of_one(facts: &Facts<'_, '_>, node: &TreeNode<'_>) -> bool {
    let is_inner = node.kind.is_parallel() && node.scope.is_some();
    is_inner && node.members().next().is_some() && !facts.has_inner_teams(node)
}

fn cause(
    facts: &Facts<'_, '_>,
    of_one: &[&TreeNode<'_>],
    found: Vec<(usize, Amount)>,
) -> Option<Cause> {
    let (mut instances, mut work) = (0, 0);
    let mut amount = Amount::default();
    for &(region, its) in &found {
        let nodes = of_one.iter().filter(|node| node.region == region);
        let rows = nodes.flat_map(|node| node.rows());
        let times: u64 = rows.map(|row| row.row.seq().count).sum();
        let useful = useful(facts, region);
        let hidden = hidden(facts, times, useful);
        instances += times;
        work += useful - hidden;
        amount += Amount {
            lost: its.lost + hidden,
            likely: its.likely + hidden as f64 * its.likely / its.lost.max(1) as f64,
            upper: its.upper,
        };
    }
    if instances == 0 {
        return None;
    }
    let [costs, works] = [amount.lost, work].map(|ns| ns / instances);
    let regions: Vec<usize> = found.into_iter().map(|(region, _)| region).collect();
    let it = match regions.len() {
        1 => "it",
        _ => "them",
    };
    let place = facts.in_all(regions, "regions inside other regions");
    let mut cause = facts.cause_of(Kind::TeamsOfOne, place, amount);
    cause.category = Some(Category::Mgmt);
    let what = format!(
        "threads of other teams started {it} {}, each time with a team of one thread and {} of work; the team costs {}",
        count(instances, "time"),
        time(works),
        time(costs),
    );
    let remedy = format!(
        "Where omp_in_parallel() is true, branch to a serial copy of {it} (with an if clause, it still starts \
         a team of one thread)."
    );
    let evidence = [
        ("instances", instances),
        ("work_each_ns", works),
        ("team_costs_ns", costs),
    ];
    Some(cause.showing(&evidence).saying(what, remedy))
}

/// The time that threads worked in a region itself, in nanoseconds.
fn useful(facts: &Facts<'_, '_>, region: usize) -> u64 {
    let mut regions = facts.efficiency.regions.iter();
    let its = regions.find(|(number, _)| *number == region);
    its.map_or(0, |(_, of)| of.useful_ns)
}

/// The time in this many bodies that LLVM's runtime needed to hand out iterations, in nanoseconds. GCC's code
/// computes them in place. `useful`: the time in these bodies.
fn hidden(facts: &Facts<'_, '_>, bodies: u64, useful: u64) -> u64 {
    if facts.profile.run.calls_gnu_runtime() {
        return 0;
    }
    let [least, _] = HANDING_OUT;
    (least * bodies as f64).min((1.0 - LEAST_WORK) * useful as f64) as u64
}
