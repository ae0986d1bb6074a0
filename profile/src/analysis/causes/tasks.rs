//! Tasks that do less work than creating them and handing them out costs.

use super::ledger::Ledger;
use super::{Cause, Facts, Kind, Place, mentions};
use crate::analysis::remedy::tasks_while_waiting;
use crate::analysis::words::{count, time};
use crate::model::Region;
use crate::region_kind::RegionKind;

/// How tasks of a construct become larger.
fn larger_tasks(region: &Region) -> &'static str {
    match region.kind {
        RegionKind::Taskloop if mentions(region, "grainsize") => {
            "Give the loop a larger grainsize, so that each task has more to do."
        }
        RegionKind::Taskloop if mentions(region, "num_tasks") => {
            "Have the loop make fewer tasks (num_tasks), so that each one has more to do."
        }
        RegionKind::Taskloop => "Give the loop a grainsize, so that each task has more to do.",
        _ => {
            "Create fewer and larger ones: below some size call the work directly, without a task."
        }
    }
}

/// One cause for all constructs whose tasks are too small.
pub(super) fn small(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let small: Vec<_> = facts.grains.iter().filter(|it| it.is_too_small()).collect();
    let Some(worst) = small.first() else {
        return Vec::new();
    };
    let creates = |region: usize| small.iter().any(|grain| grain.region == region);
    let waits_for_tasks = |region: usize, quantity| {
        let table = facts.table(region);
        table.is_some_and(|table| tasks_while_waiting(table, quantity).is_some())
    };
    let taken = ledger.take(|entry| {
        creates(entry.region)
            || entry.is_of(&[RegionKind::Taskwait])
            || waits_for_tasks(entry.region, entry.cost.quantity)
    });
    let mut regions: Vec<usize> = small.iter().map(|grain| grain.region).collect();
    regions.extend(taken.iter().map(|entry| entry.region));
    let mut seen = vec![false; facts.profile.regions.len()];
    regions.retain(|&region| !std::mem::replace(&mut seen[region], true));
    let place = Place {
        words: format!("in the tasks of {}", facts.the(worst.region)),
        regions,
    };
    let tasks: u64 = small.iter().map(|grain| grain.tasks).sum();
    let mut what = format!(
        "{} worked for only {} each, and took {} each to create",
        count(tasks, "task"),
        time(worst.mean_work_ns()),
        time(worst.mean_creation_ns())
    );
    if worst.waits_are_handing_out() && worst.waiting_ns > worst.creation_ns {
        what += &format!(" and {} to hand out", time(worst.mean_waiting_ns()));
    }
    let remedy = larger_tasks(&facts.profile.regions[worst.region]);
    let cause = facts.cause(Kind::SmallTasks, place, &taken);
    let cause = cause.showing(&[
        ("tasks", tasks),
        ("work_each_ns", worst.mean_work_ns()),
        ("creation_each_ns", worst.mean_creation_ns()),
        ("waiting_each_ns", worst.mean_waiting_ns()),
    ]);
    vec![cause.saying(what, remedy)]
}
