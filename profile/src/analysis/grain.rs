//! Whether tasks are worth creating: the time to create them, compared with their work.

use super::tree::{Tree, TreeNode};
use crate::columns::{Quantity, occupied};
use crate::model::Profile;
use crate::order;
use crate::overheads;
use crate::region_kind::RegionKind;

/// A task whose creation takes more than this part of its work is too small:
/// two threads that share such tasks are not much faster than one without.
const TOO_MUCH: f64 = 0.5;

/// To create a short task and to hand it out must cost at least this part of its work for it to be too
/// small: what several threads win is partly spent on that.
const MUCH_OF_SHORT: f64 = 0.25;
/// A task that works for at most this many nanoseconds is short.
const SHORT_NS: u64 = 2_000;

/// Up to this elapsed time in nanoseconds, a wait for a task may be the time that the runtime
/// takes to hand it out. LLVM's runtime takes 600 ns for a task that another thread created.
const HANDED_OUT_NS: u64 = 1500;

/// A task that works for this many nanoseconds is never too small: both runtimes create one in a few
/// microseconds, also where threads queue for that. If it took longer, the thread had no processor.
const LARGE_NS: u64 = 100_000;

/// The tasks of one construct, all threads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// Index of the region that creates them.
    pub region: usize,
    /// How many were executed.
    pub tasks: u64,
    /// Time to create them, without tasks that were executed at once.
    pub creation_ns: u64,
    /// Their share (by number of tasks) of the time that threads waited for tasks. For tasks
    /// that are too small, it is the time to hand them out.
    pub waiting_ns: u64,
    /// Time in the tasks, with that of the functions and constructs in them, but without waits, without
    /// creating other tasks, and without the cost of measuring.
    pub work_ns: u64,
    /// The number of threads that may have waited at the same time.
    threads: u64,
}

impl Grain {
    /// Whether the tasks are too small to be worth creating.
    #[must_use]
    pub fn is_too_small(&self) -> bool {
        if self.mean_work_ns() >= LARGE_NS {
            return false;
        }
        let costs = match self.mean_work_ns() <= SHORT_NS {
            true => MUCH_OF_SHORT,
            false => 1.0,
        };
        self.creation_ns as f64 > TOO_MUCH * self.work_ns as f64
            || self.waits_are_handing_out() && self.cost_ns() as f64 > costs * self.work_ns as f64
    }

    /// Whether the waits for them may be the time that the runtime takes to hand them out.
    #[must_use]
    pub fn waits_are_handing_out(&self) -> bool {
        self.mean_waiting_ns() <= HANDED_OUT_NS.saturating_mul(self.threads)
    }

    /// Time that was spent on them besides their work.
    #[must_use]
    pub fn cost_ns(&self) -> u64 {
        self.creation_ns + self.waiting_ns
    }

    /// Mean work of a task in nanoseconds.
    #[must_use]
    pub fn mean_work_ns(&self) -> u64 {
        self.work_ns / self.tasks.max(1)
    }

    /// Mean time to create one, in nanoseconds.
    #[must_use]
    pub fn mean_creation_ns(&self) -> u64 {
        self.creation_ns / self.tasks.max(1)
    }

    /// Mean time that threads waited for one, in nanoseconds.
    #[must_use]
    pub fn mean_waiting_ns(&self) -> u64 {
        self.waiting_ns / self.tasks.max(1)
    }
}

/// One per construct whose tasks ran, costliest first.
pub(crate) fn grains(profile: &Profile, tree: &Tree<'_>) -> Vec<Grain> {
    let executions = profile.regions.iter().enumerate();
    let mut executions = executions
        .filter(|(_, region)| region.kind.is_task_execution())
        .peekable();
    // Most programs have no tasks, and adding up a large profile takes long.
    if executions.peek().is_none() {
        return Vec::new();
    }
    let own = times(profile, tree);
    let mut grains: Vec<Grain> = executions
        .filter(|(execution, _)| own[*execution].0 > 0)
        .filter_map(|(execution, _)| {
            let creation = profile.creation_of(execution)?;
            let (tasks, work_ns) = own[execution];
            // In a taskloop, the thread also waits for the tasks of others, but no longer than they work.
            let waited_at_most = match profile.regions[creation].kind {
                RegionKind::Taskloop => work_ns.saturating_sub(executed_in(tree, creation)),
                _ => 0,
            };
            Some(Grain {
                region: creation,
                tasks,
                creation_ns: own[creation].1.saturating_sub(waited_at_most),
                waiting_ns: 0,
                work_ns,
                threads: u64::from(profile.run.max_threads.max(1)),
            })
        })
        .collect();
    share_waits(&mut grains, waits(tree));
    order::sort_by_key(&mut grains, |grain| {
        (std::cmp::Reverse(grain.cost_ns()), grain.region)
    });
    grains
}

/// The time that the thread in a `single` or `master` works there outside other constructs, in
/// nanoseconds. For so long each other member may have waited for it, also where it creates tasks.
pub(crate) fn work_of_one(node: &TreeNode<'_>) -> u64 {
    let own = match node.kind {
        RegionKind::Single => Quantity::BodyTime,
        RegionKind::Master => Quantity::OwnTime,
        _ => return 0,
    };
    node.executors().map(|it| own.exclusive(&it)).sum()
}

/// How long threads waited for tasks, without the tasks that they executed meanwhile: at
/// `taskwait`, and at barriers where some thread executed tasks.
fn waits(tree: &Tree<'_>) -> u64 {
    let of = |node: &TreeNode<'_>| -> u64 {
        let wait = match node.kind {
            RegionKind::Taskwait => Quantity::OwnTime,
            _ if node.executors().any(|it| it.nested.tasks > 0) => Quantity::BarrierTime,
            _ => return 0,
        };
        let waited: u64 = node.executors().map(|it| wait.inclusive(&it)).sum();
        let others = node.executors().count().saturating_sub(1) as u64;
        waited.saturating_sub(work_of_one(node) * others)
    };
    tree.nodes.iter().map(of).sum()
}

fn share_waits(grains: &mut [Grain], waits: u64) {
    let all: u128 = grains.iter().map(|grain| u128::from(grain.tasks)).sum();
    for grain in grains {
        let share = u128::from(waits) * u128::from(grain.tasks) / all.max(1);
        grain.waiting_ns = u64::try_from(share).unwrap_or(u64::MAX);
    }
}

/// How long threads executed tasks within the construct that created them, in nanoseconds.
fn executed_in(tree: &Tree<'_>, creation: usize) -> u64 {
    let is_in = |node: &&TreeNode<'_>| {
        let around = node.parent.map(|parent| tree.nodes[parent].region);
        node.kind.is_task_execution() && around == Some(creation)
    };
    let nodes = tree.nodes.iter().filter(is_in);
    let rows = nodes.flat_map(TreeNode::executors);
    rows.map(|it| Quantity::ExecTime.exclusive(&it)).sum()
}

/// The task construct whose tasks the thread executes at each node, by the region of its executions.
/// None where the thread is in no task, or creates tasks or waits for them.
fn tasks(tree: &Tree<'_>) -> Vec<Option<usize>> {
    let mut tasks: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        tasks.push(match node.kind {
            kind if kind.is_task_execution() => Some(node.region),
            RegionKind::Taskloop | RegionKind::Taskwait => None,
            kind if kind.is_task_creation() || kind.is_parallel() => None,
            _ => node.parent.and_then(|parent| tasks[parent]),
        });
    }
    tasks
}

/// Of each region: how often it was executed, and for how long threads were in it and in no construct
/// in it. Of executions of tasks: how long they worked, also in such constructs.
fn times(profile: &Profile, tree: &Tree<'_>) -> Vec<(u64, u64)> {
    let mut times = vec![(0, 0); profile.regions.len()];
    // Picoseconds.
    let mut measuring = vec![0; profile.regions.len()];
    for (node, task) in tree.nodes.iter().zip(tasks(tree)) {
        for measures in node.executors() {
            let (count, ns): &mut (u64, u64) = &mut times[node.region];
            *count = count.saturating_add(measures.row.main.count);
            *ns = ns.saturating_add(Quantity::ExecTime.exclusive(&measures));
            if let Some(task) = task.filter(|task| *task != node.region) {
                let lost = overheads::costs_of(node.kind).map(|cost| node.lost(cost, &measures));
                let own = occupied(node.kind, measures.row).saturating_sub(measures.nested.all);
                let worked = own.saturating_sub(lost.sum());
                times[task].1 = times[task].1.saturating_add(worked);
            }
        }
        for child in node.children.iter().map(|child| &tree.nodes[*child]) {
            let measured = child.executors();
            let all = measured.map(|m| profile.run.measuring_ps(m.row, child.kind));
            let ps: &mut u128 = &mut measuring[task.unwrap_or(node.region)];
            *ps = all.fold(*ps, u128::saturating_add);
        }
    }
    for ((_, ns), measuring) in times.iter_mut().zip(measuring) {
        let measuring = u64::try_from(measuring / 1000).unwrap_or(u64::MAX);
        *ns = ns.saturating_sub(measuring);
    }
    times
}
