//! Tasks that do less work than creating them and handing them out costs, and tasks that are so many
//! that the thread that creates them keeps them all.

use super::creator::creator;
use super::ledger::{Entry, Ledger, sum};
use super::task_waits::{encloses, is_mostly, times};
use super::{Cause, Facts, Kind, Place, mentions};
use crate::analysis::remedy::tasks_while_waiting;
use crate::analysis::tree::TreeNode;
use crate::analysis::words::{count, time};
use crate::columns::Quantity;
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
            "Create fewer and larger tasks: below some size, do the work directly, without a task."
        }
    }
}

/// How a taskloop makes more tasks.
fn more_tasks(region: &Region) -> &'static str {
    if mentions(region, "grainsize") {
        "Give the loop a smaller grainsize, so that there are several tasks for each thread."
    } else if mentions(region, "num_tasks") {
        "Have the loop make more tasks (num_tasks), so that there are several for each thread."
    } else {
        "It has too few iterations: collapse its nest, or make tasks of an inner loop."
    }
}

/// A taskloop makes one task each time if it makes at most this many on average.
const ONE_EACH: f64 = 1.5;

/// Advice for a taskloop that makes one task each time.
const NO_TASKLOOP: &str = "It made one task each time: where it has few iterations, branch to a copy of the loop \
                           without taskloop.";

/// One cause for all constructs whose tasks are too small.
pub(super) fn small(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let small: Vec<_> = facts.grains.iter().filter(|it| it.is_too_small()).collect();
    let Some(worst) = small.first() else {
        return Vec::new();
    };
    let tasks: u64 = small.iter().map(|grain| grain.tasks).sum();
    let all: u64 = facts.grains.iter().map(|grain| grain.tasks).sum();
    // Threads wait for all tasks alike.
    let are_waited_for = tasks > all / 2;
    let creates = |region: usize| small.iter().any(|grain| grain.region == region);
    let waits_for_tasks = |region: usize, quantity| {
        let table = facts.table(region);
        table.is_some_and(|table| tasks_while_waiting(table, quantity).is_some())
    };
    // LLVM's runtime gives back the tasks' memory when the team ends.
    let binding = facts.binding_regions();
    let teams: Vec<usize> = small.iter().filter_map(|it| binding[it.region]).collect();
    let taken = ledger.take(|entry| {
        let waits = entry.is_of(&[RegionKind::Taskwait])
            || waits_for_tasks(entry.region, entry.cost.quantity)
                && creator(facts, entry).is_none();
        let ends_team = teams.contains(&entry.region) && entry.cost.quantity == Quantity::ExitTime;
        creates(entry.region) || waits && are_waited_for || ends_team
    });
    let creations = small.iter().map(|grain| grain.region);
    let place = place(facts, worst.region, creations, &taken);
    let mut what = format!(
        "{} worked for only {} each",
        count(worst.tasks, "task"),
        time(worst.mean_work_ns())
    );
    let creation = Some(worst.mean_creation_ns()).filter(|ns| *ns > 0);
    let waits =
        are_waited_for && worst.waits_are_handing_out() && worst.waiting_ns > worst.creation_ns;
    let handing_out = Some(worst.mean_waiting_ns()).filter(|_| waits);
    what += &match (creation.map(time), handing_out.map(time)) {
        (Some(creation), Some(handing_out)) => {
            format!(", and took {creation} each to create and {handing_out} to hand out")
        }
        (Some(creation), None) => format!(", and took {creation} each to create"),
        (None, Some(handing_out)) => format!(", and took {handing_out} each to hand out"),
        (None, None) => String::new(),
    };
    if small.len() > 1 {
        let others = count(small.len() as u64 - 1, "other construct");
        let of_others = count(tasks - worst.tasks, "task");
        what += &format!("; {of_others} of {others} are too small, too");
    }
    let loops = facts.sum_of(worst.region, Quantity::ExecCount);
    let region = &facts.profile.regions[worst.region];
    let remedy = match region.kind {
        RegionKind::Taskloop if worst.tasks as f64 <= ONE_EACH * loops as f64 => {
            match mentions(region, "if") {
                true => format!("{NO_TASKLOOP} Its if clause does not keep it from making a task."),
                false => NO_TASKLOOP.to_owned(),
            }
        }
        _ => larger_tasks(region).to_owned(),
    };
    let cause = facts.cause(Kind::SmallTasks, place, &taken);
    let cause = cause.showing(&[
        ("tasks", worst.tasks),
        ("tasks_of_all", tasks),
        ("work_each_ns", worst.mean_work_ns()),
        ("creation_each_ns", worst.mean_creation_ns()),
        ("waiting_each_ns", worst.mean_waiting_ns()),
    ]);
    vec![cause.saying(what, remedy)]
}

/// A thread keeps the tasks of a taskloop if it executes at least this part of them itself.
const KEPT_TASKS_SHARE: f64 = 0.9;

/// With at most this many tasks for each thread, GCC's runtime hands them out.
const HANDED_OUT: u64 = 64;

/// One cause for each taskloop of which the encountering thread executes all tasks, while the
/// others wait for it at the end of a `single`. There are fewer tasks than threads; or they are so many
/// that GCC's runtime executes them at once.
pub(super) fn kept(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let regions = facts.profile.regions.iter().enumerate();
    regions
        .filter(|(_, region)| region.kind == RegionKind::Taskloop)
        .filter_map(|(taskloop, _)| {
            let kept = tasks_kept(facts, taskloop)?;
            cause_of_kept(facts, ledger, taskloop, kept)
        })
        .collect()
}

/// The tasks of a taskloop.
struct Kept {
    /// How often the taskloop was executed.
    loops: u64,
    /// How many tasks were executed.
    tasks: u64,
    /// How many of them the thread executed that came to the taskloop.
    kept: u64,
    /// The part of the taskloop's time that the measurement of its tasks took.
    measuring: f64,
}

/// The tasks of a taskloop if its thread keeps them.
fn tasks_kept(facts: &Facts<'_, '_>, taskloop: usize) -> Option<Kept> {
    let nodes = &facts.tree.nodes;
    let region = &facts.profile.regions[taskloop];
    let its = |node: &&TreeNode<'_>| {
        let execution = &facts.profile.regions[node.region];
        execution.kind.is_task_execution() && execution.is_of_construct(region)
    };
    let is_inside = |node: &&TreeNode<'_>| {
        let parent = node.parent.map(|parent| nodes[parent].region);
        parent == Some(taskloop)
    };
    let inside = || nodes.iter().filter(its).filter(is_inside);
    let loops = || nodes.iter().filter(|node| node.region == taskloop);
    let run = &facts.profile.run;
    let rows = inside().flat_map(|node| node.rows().map(|it| run.measuring_ps(it.row, node.kind)));
    let measuring_ps: u128 = rows.sum();
    let spent_ns: u64 = loops()
        .flat_map(TreeNode::rows)
        .map(|it| it.row.main.ns)
        .sum();
    let kept = Kept {
        loops: loops().map(times).sum(),
        tasks: nodes.iter().filter(its).map(times).sum(),
        kept: inside().map(times).sum(),
        measuring: (measuring_ps as f64 / 1000.0 / spent_ns.max(1) as f64).min(1.0),
    };
    let threads = facts.overheads.threads;
    (kept.are_kept() && (kept.are_few(threads) || kept.are_many(threads))).then_some(kept)
}

impl Kept {
    fn are_kept(&self) -> bool {
        self.tasks > 0 && self.kept as f64 >= KEPT_TASKS_SHARE * self.tasks as f64
    }

    /// There is not a task for each thread.
    fn are_few(&self, threads: u64) -> bool {
        self.tasks < self.loops * threads
    }

    /// They are too many to be handed out.
    fn are_many(&self, threads: u64) -> bool {
        self.tasks > HANDED_OUT * threads * self.loops
    }
}

fn cause_of_kept(
    facts: &Facts<'_, '_>,
    ledger: &mut Ledger,
    taskloop: usize,
    its: Kept,
) -> Option<Cause> {
    // A `single` whose end was not seen is waited for at the end of its team.
    let is_wait_for_it = |entry: &Entry| {
        entry.is_wait()
            && (entry.is_of(&[RegionKind::Single]) || entry.cost.kind.is_parallel())
            && encloses(facts, entry.region, taskloop)
            && is_mostly(facts, entry.region, taskloop)
    };
    let waits: Vec<Entry> = ledger
        .open()
        .filter(|it| is_wait_for_it(it))
        .cloned()
        .collect();
    if !facts.matters(&waits) {
        return None;
    }
    let taken = ledger.take(|entry| entry.region == taskloop || is_wait_for_it(entry));
    // A runtime that executes them at once spends little time on them, so the others could share the rest.
    let likely = sum(&waits).likely * (1.0 - its.measuring);
    let region = &facts.profile.regions[taskloop];
    let (kind, what, remedy) = match its.are_few(facts.overheads.threads) {
        true => (Kind::TooFewTasks, its.few(), more_tasks(region)),
        false => (Kind::SmallTasks, its.many(), larger_tasks(region)),
    };
    let place = place(facts, taskloop, std::iter::once(taskloop), &taken);
    let mut cause = facts.cause(kind, place, &taken);
    cause.likely = facts.elapsed(likely);
    let evidence = [("tasks", its.tasks), ("kept", its.kept)];
    Some(cause.showing(&evidence).saying(what, remedy))
}

impl Kept {
    /// Says that there are fewer tasks than threads.
    fn few(&self) -> String {
        let each_time = match self.loops {
            1 => "",
            _ => " each time",
        };
        format!(
            "it made only {}{each_time}, and the thread that encountered it executed them itself while others waited",
            count(self.tasks.div_ceil(self.loops), "task"),
        )
    }

    /// Says that there are too many tasks to be handed out.
    fn many(&self) -> String {
        let all = match self.kept == self.tasks {
            true => "all",
            false => "nearly all",
        };
        format!(
            "the thread that encountered it executed {all} of {} itself while others waited: the runtime does \
             so if a taskloop makes very many tasks",
            count(self.tasks, "task"),
        )
    }
}

/// Whether a cause is a taskloop of which one thread executed all tasks.
pub(super) fn are_kept(cause: &Cause) -> bool {
    cause.number("kept") > 0
}

/// Whether a cause is a taskloop that made fewer tasks than there are threads, as counted.
pub(super) fn are_fewer_than_threads(cause: &Cause) -> bool {
    cause.kind == Kind::TooFewTasks && are_kept(cause)
}

/// The place of a cause: the tasks of a construct, with the regions that create them and those of the
/// losses, each once.
fn place(
    facts: &Facts<'_, '_>,
    creation: usize,
    creations: impl Iterator<Item = usize>,
    losses: &[Entry],
) -> Place {
    let losses = losses.iter().map(|entry| entry.region);
    let mut regions: Vec<usize> = creations.chain(losses).collect();
    let mut seen = vec![false; facts.profile.regions.len()];
    regions.retain(|&region| !std::mem::replace(&mut seen[region], true));
    Place {
        words: format!("in the tasks of {}", facts.the(creation)),
        regions,
    }
}
