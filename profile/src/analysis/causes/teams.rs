//! The cost of teams: creating the threads of the first team, starting and ending later teams.

use super::ledger::{Ledger, largest, sum};
use super::{Cause, Facts, Kind};
use crate::advice::{LoopFacts, advice};
use crate::analysis::words::{count, time};
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::region_kind::PseudoRegion;

/// Drops the one-time cost of creating the threads: no change of the region can win it.
pub(super) fn drop_start_of_first(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let roots = facts.tree.nodes.iter();
    let mut teams = roots.filter(|node| node.is_outermost_team());
    let Some(first) = teams.next() else {
        return Vec::new();
    };
    let instances: u64 = first.rows().map(|row| row.row.seq().count).sum();
    let longest = facts
        .profile
        .distributions
        .iter()
        .filter(|of| of.region == first.region && of.part == PseudoRegion::Seq)
        .map(|of| of.max_ns)
        .max();
    let region = first.region;
    let members = first.members().count().max(1) as u64;
    let started: u64 = first.rows().map(|row| row.row.enter().ns).sum();
    // With one instance, the whole start is the one-time cost. With several, one instance must
    // be long enough to explain it.
    let once = match longest {
        _ if instances <= 1 => true,
        Some(longest) => longest.saturating_mul(members) >= started,
        None => false,
    };
    let is_start = |cost: &crate::overheads::Cost| {
        cost.kind.is_parallel() && cost.quantity == Quantity::EnterTime
    };
    if once {
        ledger.take(|entry| entry.region == region && is_start(entry.cost));
    }
    Vec::new()
}

/// One cause for each region whose teams cost time to start and end, where the region is not
/// small.
pub(super) fn starting(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let mut causes = Vec::new();
    for taken in ledger.take_by_region(|_| true) {
        let Some(most) = largest(&taken) else {
            continue;
        };
        let region = most.region;
        let place = facts.at(most.cost.place, region);
        let kind = facts.profile.regions[region].kind;
        let of_region = facts.tree.nodes.iter().filter(|node| node.region == region);
        let rows = of_region.flat_map(|node| node.rows());
        let starts: u64 = rows
            .map(|row| match kind.is_parallel() {
                true => row.row.seq().count,
                false => row.row.main.count,
            })
            .sum();
        let lost = sum(&taken).lost;
        let each = time(lost / starts.max(1));
        let what = match kind.is_task_creation() {
            true => format!("{} took {each} each", count(starts, "task")),
            false => format!(
                "started {}; each time, {each} of thread time was lost on average",
                count(starts, "time")
            ),
        };
        let remedy = advice(kind, most.category, LoopFacts::default())
            .filter(|_| most.category != Category::Imbal);
        let cause = facts.cause(Kind::Teams, place, &taken).by_chance();
        causes.push(cause.saying(what, remedy.unwrap_or_default()));
    }
    causes
}
