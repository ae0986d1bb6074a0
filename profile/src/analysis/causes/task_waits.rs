//! Waits for tasks: which of them have one reason, and why there were too few tasks.

use super::creator::creator;
use super::ledger::Entry;
use super::{Cause, Doubt, Facts, Kind, long_tasks, mentions};
use crate::advice::{LONG_TASK, TASKS_IN_ORDER, TOO_FEW_TASKS, WAITED_FOR_SOON};
use crate::analysis::remedy::tasks_while_waiting;
use crate::analysis::tree::TreeNode;
use crate::analysis::words::time;
use crate::model::Region;
use crate::region_kind::{PseudoRegion, RegionKind};

/// Constructs in which one thread waits for the tasks that it created.
pub(super) const FOR_TASKS: &[RegionKind] = &[
    RegionKind::Taskwait,
    RegionKind::Taskgroup,
    RegionKind::Taskloop,
];

/// Advice for a thread that has more to do than to create tasks.
const CREATOR: &str = "Let the tasks do that work, or let more threads create them.";

/// Clauses that can have a thread execute a task where it creates it (OpenMP 5.2, section 12.5).
const UNDEFERRING: &[&str] = &["if", "final"];

/// Advice for tasks that such a clause keeps with the thread that creates them.
const UNDEFERRED: &str = "Where its if clause is false, or its final clause is true, no other thread can execute \
                          a task: let the clause hold for smaller tasks only.";

/// Tasks do not explain a wait if they were executed for at most this part of it.
const EXECUTED_SHARE: f64 = 0.5;

/// Advice for waits until events are fulfilled (OpenMP 5.2, 15.11).
const DETACHED: &str = "Create all tasks that can be under way at the same time before the wait, or give the threads \
                        other work until then.";

/// The cause of a wait at the largest of these entries, if tasks explain it. `by_one_thread` is the construct for
/// which the other threads wait, if there is one.
pub(super) fn cause(
    facts: &Facts<'_, '_>,
    taken: &[Entry],
    entry: &Entry,
    by_one_thread: Option<usize>,
) -> Option<Cause> {
    let region = entry.region;
    let at = facts.at(entry.cost.place, region);
    let executed = tasks_while_waiting(facts.table(region)?, entry.cost.quantity);
    if let Some(executed) = executed
        && let Some(creator) = creator(facts, entry)
        && waits_for_one_task(facts, region).is_none()
    {
        let work = creator.work_ns;
        let it = match creator.region == region {
            true => "it".to_owned(),
            false => facts.the(creator.region),
        };
        let what = format!(
            "one thread worked {} in {it} besides creating tasks, while the others waited, or executed \
             tasks for {}",
            time(work),
            time(executed)
        );
        let kind = match facts.profile.regions[creator.region].kind {
            RegionKind::Single => Kind::Single,
            _ => Kind::Master,
        };
        let cause = facts.cause(kind, at, taken);
        let cause = cause.showing(&[("work_ns", work), ("tasks_ns", executed)]);
        return Some(cause.saying(what, CREATOR));
    }
    let cause = facts.cause(Kind::TooFewTasks, at, taken);
    let cause = cause.doubted(Doubt::Short);
    let is_for_tasks = executed.is_some() || entry.is_of(FOR_TASKS) || by_one_thread.is_some();
    if let Some(tasks) = detached_tasks(facts, entry).filter(|_| is_for_tasks) {
        let tasks = facts.the(tasks);
        let what = format!("threads waited for the events of the detached tasks of {tasks}");
        return Some(cause.saying(what, DETACHED));
    }
    let what = match executed {
        Some(executed) => {
            let cause = cause.showing(&[("tasks_ns", executed)]);
            let times = [entry.amount.lost, executed];
            return Some(wait_for_tasks(facts, cause, region, times));
        }
        None if entry.is_of(FOR_TASKS) && facts.overheads.threads < 2 => {
            "the only thread created its tasks and executed them"
        }
        None if entry.is_of(FOR_TASKS) => "threads waited for tasks that others executed",
        None if by_one_thread.is_some_and(|construct| executes_tasks_mostly(facts, construct)) => {
            "one thread created and executed the tasks one after the other"
        }
        None => return None,
    };
    match by_one_thread.and_then(|construct| undeferred_tasks(facts, construct)) {
        Some((tasks, number)) => {
            let what = format!(
                "one thread executed each of the {number} tasks of {} where it created it, while others waited",
                facts.the(tasks)
            );
            Some(cause.saying(what, UNDEFERRED))
        }
        None => Some(cause.saying(what, too_few_tasks(facts, region))),
    }
}

/// The construct in the team of a wait whose tasks are complete only when their events are fulfilled (`detach`), if
/// the execution of tasks does not explain the wait.
fn detached_tasks(facts: &Facts<'_, '_>, wait: &Entry) -> Option<usize> {
    let binding = facts.binding_regions();
    let regions = facts.profile.regions.iter().enumerate();
    let mut its = regions.filter(|(task, region)| {
        region.kind.is_task_creation()
            && binding[*task] == binding[wait.region]
            && mentions(region, "detach")
    });
    let (creation, _) = its.next()?;
    let nodes = facts.tree.nodes.iter();
    let executions = nodes.filter(|node| node.kind.is_task_execution());
    let executed: u64 = executions
        .map(|node| time_in(node, PseudoRegion::Main))
        .sum();
    (executed as f64 <= EXECUTED_SHARE * wait.amount.lost as f64).then_some(creation)
}

/// The tasks with an `if` or `final` clause that take most of the time of a thread in a `single` or `master`, and
/// their number. If several could run at the same time, other threads would have executed some, unless the clause
/// had the thread execute each where it created it.
fn undeferred_tasks(facts: &Facts<'_, '_>, construct: usize) -> Option<(usize, u64)> {
    let has_clause = |node: &&TreeNode<'_>| {
        let region = &facts.profile.regions[node.region];
        node.kind.is_task_execution()
            && UNDEFERRING.iter().any(|clause| mentions(region, clause))
            && around(facts, node).any(|around| around.region == construct)
    };
    let nodes = || facts.tree.nodes.iter().filter(has_clause);
    let longest = nodes().max_by_key(|node| time_in(node, PseudoRegion::Main))?;
    let number = times(longest);
    let takes_most = time_in(longest, PseudoRegion::Main) > work_in(facts, construct) / 2;
    let is_certain = waits_for_one_task(facts, construct).is_none() && !have_dependences(facts);
    let creation = facts.profile.creation_of(longest.region);
    (takes_most && is_certain && number >= REPEATED)
        .then_some((creation.unwrap_or(longest.region), number))
}

/// Adds waits for tasks to the cause at the end of the construct around them, or at a barrier behind it.
/// While one thread waits in a `taskwait` for the task of another, the others wait there for work.
pub(super) fn with_inner_ones(facts: &Facts<'_, '_>, causes: Vec<Cause>) -> Vec<Cause> {
    let region = |cause: &Cause| cause.place.regions.first().copied();
    let is_wait_for_tasks = |cause: &Cause| {
        let kind = region(cause).map(|region| facts.profile.regions[region].kind);
        cause.kind == Kind::TooFewTasks && kind.is_some_and(|kind| FOR_TASKS.contains(&kind))
    };
    let (inner, mut outer): (Vec<Cause>, Vec<Cause>) =
        causes.into_iter().partition(is_wait_for_tasks);
    for mut cause in inner {
        let is_around = |outer: &&mut Cause| {
            let both = region(outer).zip(region(&cause));
            let is_around = both.is_some_and(|(outer, inner)| {
                let around = match facts.profile.regions[outer].kind {
                    RegionKind::Barrier => facts.construct_around(outer),
                    _ => Some(outer),
                };
                around.is_some_and(|around| encloses(facts, around, inner))
            });
            outer.kind == Kind::TooFewTasks && is_around
        };
        match outer.iter_mut().find(is_around) {
            Some(around) => {
                if cause.likely.ns > around.likely.ns {
                    std::mem::swap(around, &mut cause);
                }
                around.add(facts, cause.amount());
                around.place.regions.extend(cause.place.regions);
            }
            None => outer.push(cause),
        }
    }
    outer
}

/// Whether a region is entered within another.
pub(super) fn encloses(facts: &Facts<'_, '_>, outer: usize, inner: usize) -> bool {
    let nodes = &facts.tree.nodes;
    let mut its = nodes.iter().filter(|node| node.region == inner);
    its.any(|node| around(facts, node).any(|around| around.region == outer))
}

/// The nodes around a node, the innermost first.
fn around<'f, 'p>(
    facts: &'f Facts<'_, 'p>,
    node: &TreeNode<'p>,
) -> impl Iterator<Item = &'f TreeNode<'p>> {
    let nodes = &facts.tree.nodes;
    let parent = |node: &TreeNode<'p>| node.parent.map(|parent| &nodes[parent]);
    std::iter::successors(parent(node), move |&node| parent(node))
}

/// From this number of waits on, it is no coincidence that each of them is for one task.
const REPEATED: u64 = 3;

/// A `taskwait` waits for one task at a time if there are at most this many tasks for each wait.
const ONE_TASK: f64 = 1.5;

/// The `taskwait` of the same team that waits for one task at a time, if there is one. A
/// `taskwait` that tasks execute does not count: a recursion makes a task of one half of its work
/// and does the other half itself.
fn waits_for_one_task(facts: &Facts<'_, '_>, region: usize) -> Option<usize> {
    let binding = facts.binding_regions();
    let nodes = &facts.tree.nodes;
    let is_wait = |wait: usize| {
        facts.profile.regions[wait].kind == RegionKind::Taskwait && binding[wait] == binding[region]
    };
    let is_for_one = |wait: usize| {
        let its = || nodes.iter().filter(move |node| node.region == wait);
        let block = |node| around(facts, node).next();
        let blocks: Vec<&TreeNode<'_>> = its().filter_map(block).collect();
        let beside = blocks.iter().flat_map(|block| &block.children);
        let created: u64 = beside
            .map(|&child| &nodes[child])
            .filter(|node| node.kind.is_task_creation())
            .map(times)
            .sum();
        let waited: u64 = its().map(times).sum();
        !blocks.iter().any(|block| block.kind.is_task_execution())
            && waited >= REPEATED
            && created > 0
            && created as f64 <= ONE_TASK * waited as f64
    };
    (0..facts.profile.regions.len()).find(|&wait| is_wait(wait) && is_for_one(wait))
}

/// Whether the thread in a `single` or `master` spends most of its time in the tasks that it created, or
/// waits for them. If several of them could run at the same time, other threads would take some.
fn executes_tasks_mostly(facts: &Facts<'_, '_>, construct: usize) -> bool {
    let nodes = &facts.tree.nodes;
    let in_tasks: u64 = nodes
        .iter()
        .filter(|node| is_for_tasks(node) && !around(facts, node).any(is_for_tasks))
        .filter(|node| around(facts, node).any(|around| around.region == construct))
        .map(|node| time_in(node, PseudoRegion::Main))
        .sum();
    in_tasks > work_in(facts, construct) / 2
}

fn is_for_tasks(node: &TreeNode<'_>) -> bool {
    node.kind.is_task_execution() || node.kind == RegionKind::Taskwait
}

/// Whether the thread in a `single` spends most of its time in another construct.
pub(super) fn is_mostly(facts: &Facts<'_, '_>, single: usize, other: usize) -> bool {
    let nodes = facts.tree.nodes.iter();
    let its = nodes.filter(|node| node.region == other);
    let spent: u64 = its.map(|node| time_in(node, PseudoRegion::Main)).sum();
    spent > work_in(facts, single) / 2
}

/// The time in a construct without the wait at its end, in nanoseconds.
fn work_in(facts: &Facts<'_, '_>, region: usize) -> u64 {
    let nodes = facts.tree.nodes.iter();
    let its = nodes.filter(|node| node.region == region);
    let work = |node| {
        let waited = time_in(node, PseudoRegion::Ibarr);
        time_in(node, PseudoRegion::Main).saturating_sub(waited)
    };
    its.map(work).sum()
}

/// The time of all threads in a part of a node, in nanoseconds.
fn time_in(node: &TreeNode<'_>, part: PseudoRegion) -> u64 {
    node.rows().map(|it| it.row.span(part).ns).sum()
}

/// How often a node was executed, by all threads.
pub(super) fn times(node: &TreeNode<'_>) -> u64 {
    node.rows().map(|it| it.row.main.count).sum()
}

/// A wait at a region, for so long, in which threads executed tasks for so long.
fn wait_for_tasks(
    facts: &Facts<'_, '_>,
    cause: Cause,
    region: usize,
    [waited, executed]: [u64; 2],
) -> Cause {
    let what = format!(
        "threads waited {} there, and executed tasks for {}",
        time(waited),
        time(executed)
    );
    let longest = match waits_for_one_task(facts, region) {
        None if !have_dependences(facts) => long_tasks::longest(facts, region, waited),
        _ => None,
    };
    match longest {
        Some(longest) => cause
            .showing(&[("longest_ns", longest.ns)])
            .saying(format!("{what}. {}", longest.in_words(facts)), LONG_TASK),
        None => cause.saying(what, too_few_tasks(facts, region)),
    }
}

/// The advice for a wait because of too few tasks.
fn too_few_tasks(facts: &Facts<'_, '_>, region: usize) -> String {
    if let Some(wait) = waits_for_one_task(facts, region) {
        let wait = facts.the(wait);
        return format!(
            "Each execution of {wait} waits for only one task: create all tasks that can run at the same time \
             before it."
        );
    }
    let waits_for_tasks = |region: &Region| region.kind == RegionKind::Taskwait;
    let remedy = match have_dependences(facts) {
        true => TASKS_IN_ORDER,
        false if facts.profile.regions.iter().any(waits_for_tasks) => WAITED_FOR_SOON,
        false => TOO_FEW_TASKS,
    };
    remedy.to_owned()
}

/// Whether tasks depend on others.
fn have_dependences(facts: &Facts<'_, '_>) -> bool {
    let regions = facts.profile.regions.iter();
    let mut creations = regions.filter(|region| region.kind.is_task_creation());
    creations.any(|region| mentions(region, "depend"))
}
