//! Tasks that do less work than creating them and handing them out costs, and tasks that are so many
//! that the thread that creates them keeps them all.

use super::ledger::Ledger;
use super::waits::encloses;
use super::{Cause, Facts, Kind, Place, mentions};
use crate::analysis::remedy::tasks_while_waiting;
use crate::analysis::tree::TreeNode;
use crate::analysis::words::{count, time};
use crate::model::Region;
use crate::region_kind::{PseudoRegion, RegionKind};

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

/// A thread keeps the tasks of a taskloop if it executes at least this part of them itself.
const KEEPS: f64 = 0.9;

/// With at most so many tasks for each thread, GCC's runtime hands them out.
const HANDED_OUT: u64 = 64;

/// One cause for each taskloop of which the thread that comes to it executes all tasks, while the
/// others wait for it at the end of a `single`. GCC's runtime executes tasks at once that are too many.
pub(super) fn kept(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let regions = facts.profile.regions.iter().enumerate();
    let loops: Vec<usize> = regions
        .filter(|(_, region)| region.kind == RegionKind::Taskloop)
        .map(|(index, _)| index)
        .collect();
    let loops = loops.into_iter();
    loops
        .filter_map(|taskloop| kept_of(facts, ledger, taskloop))
        .collect()
}

fn kept_of(facts: &Facts<'_, '_>, ledger: &mut Ledger, taskloop: usize) -> Option<Cause> {
    let nodes = &facts.tree.nodes;
    let region = &facts.profile.regions[taskloop];
    let times = |node: &TreeNode<'_>| -> u64 { node.rows().map(|it| it.row.main.count).sum() };
    let spent = |region: usize, part: PseudoRegion| -> u64 {
        let its = nodes.iter().filter(|node| node.region == region);
        its.flat_map(TreeNode::rows)
            .map(|it| it.row.span(part).ns)
            .sum()
    };
    let its = |node: &&TreeNode<'_>| {
        let execution = &facts.profile.regions[node.region];
        execution.kind.is_task_execution() && execution.is_of_construct(region)
    };
    let is_inside = |node: &&TreeNode<'_>| {
        let parent = node.parent.map(|parent| nodes[parent].region);
        parent == Some(taskloop)
    };
    let executed: u64 = nodes.iter().filter(its).map(times).sum();
    let inside: u64 = nodes.iter().filter(its).filter(is_inside).map(times).sum();
    let loops = nodes.iter().filter(|node| node.region == taskloop);
    let loops: u64 = loops.map(times).sum();
    let many = HANDED_OUT * facts.overheads.threads * loops;
    if loops == 0 || executed <= many || (inside as f64) < KEEPS * executed as f64 {
        return None;
    }
    // The single must be little more than the taskloop.
    let is_around = |single: usize| {
        encloses(facts, single, taskloop)
            && spent(taskloop, PseudoRegion::Main) > spent(single, PseudoRegion::Body) / 2
    };
    let is_waited_for = ledger.open().any(|entry| {
        entry.is_wait() && entry.is_of(&[RegionKind::Single]) && is_around(entry.region)
    });
    let taken = ledger.take(|entry| {
        let is_single = entry.is_wait() && entry.is_of(&[RegionKind::Single]);
        is_waited_for && (entry.region == taskloop || is_single && is_around(entry.region))
    });
    if taken.is_empty() {
        return None;
    }
    let mut regions = vec![taskloop];
    regions.extend(taken.iter().map(|entry| entry.region));
    regions.dedup();
    let place = Place {
        words: format!("in the tasks of {}", facts.the(taskloop)),
        regions,
    };
    let what = format!(
        "the thread that came to it executed {} of {} itself, while others waited: the runtime does so \
         where there are very many",
        if inside == executed {
            "all"
        } else {
            "nearly all"
        },
        count(executed, "task"),
    );
    let cause = facts.cause(Kind::SmallTasks, place, &taken);
    let cause = cause.showing(&[("tasks", executed), ("kept", inside)]);
    Some(cause.saying(what, larger_tasks(region)))
}
