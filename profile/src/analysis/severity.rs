//! The time of each thread on each call path, divided by metric: every nanosecond of the
//! program's thread time belongs to exactly one of [`PARTS`]. EXPERT's three trees (metric,
//! call path, location) are sums of these times.
//!
//! The time of a thread on a call path is exclusive. The table in [`crate::overheads`] says
//! which part of it is lost, so the sums equal those of [`super::overheads`]. The rest is
//! work. The rest also contains the time that measuring took, since the measurement of a wait
//! ends with the wait.
//!
//! ```text
//! thread time = parts of all call paths + parts of the program itself
//! ```

use super::call_graph::CallPath;
use super::overheads::{Overheads, category};
use super::tree::{Tree, TreeNode};
use crate::columns::{Measures, Quantity, occupied};
use crate::model::Profile;
use crate::overheads::{self, Category, Charge};
use crate::region_kind::RegionKind;

/// The kinds of thread time. The discriminant is the index in [`PARTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Work of teams.
    Work,
    /// Work of the one active thread while the program was serial.
    Serial,
    /// Waiting in `barrier`.
    Barrier,
    /// Waiting for a critical section.
    Critical,
    /// Waiting for a lock.
    Lock,
    /// Waiting for one's turn.
    Ordered,
    /// In `atomic` and `flush`.
    Atomic,
    /// Waiting for a task group.
    Taskgroup,
    /// See [`Category::Imbal`].
    Imbalance,
    /// See [`Category::Limpar`].
    LittleWork,
    /// Starting a team.
    Start,
    /// Ending a team.
    End,
    /// Handing out sections, leaving critical sections, giving back locks.
    Other,
    /// Creating tasks.
    Creation,
    /// Waiting for tasks in `taskwait`, without those executed meanwhile.
    Taskwait,
    /// Measuring.
    Measuring,
    /// Time that may have been work or waiting.
    Untold,
    /// A thread without work, since the program was serial.
    Idle,
    /// A missing thread, since the team was small.
    SmallTeam,
}

/// The names and words for a part.
#[derive(Debug)]
pub struct PartRow {
    /// Which.
    pub part: Part,
    /// Name in machine formats.
    pub id: &'static str,
    /// Its group, and its own name, for readers.
    pub names: [&'static str; 2],
    /// Its meaning, in one line.
    pub help: &'static str,
}

const fn row(
    part: Part,
    id: &'static str,
    names: [&'static str; 2],
    help: &'static str,
) -> PartRow {
    PartRow {
        part,
        id,
        names,
        help,
    }
}

const SYNCHRONISATION: &str = "Synchronisation";
const MANAGEMENT: &str = "Management";
const TASKS: &str = "Task overhead";
const NO_WORK: &str = "No work for threads";

/// All parts; parts of one group stand together.
pub const PARTS: [PartRow; 19] = [
    row(
        Part::Work,
        "work",
        ["Work", "Work"],
        "Threads of teams did the work of the program.",
    ),
    row(
        Part::Serial,
        "serial",
        ["Serial", "Serial"],
        "One thread worked outside parallel regions.",
    ),
    row(
        Part::Barrier,
        "barrier",
        [SYNCHRONISATION, "At barriers"],
        "Waiting in barrier directives.",
    ),
    row(
        Part::Critical,
        "critical",
        [SYNCHRONISATION, "For critical sections"],
        "Waiting to enter critical sections.",
    ),
    row(
        Part::Lock,
        "lock",
        [SYNCHRONISATION, "For locks"],
        "Waiting for locks.",
    ),
    row(
        Part::Ordered,
        "ordered",
        [SYNCHRONISATION, "For one's turn"],
        "Waiting to enter ordered blocks.",
    ),
    row(
        Part::Atomic,
        "atomic",
        [SYNCHRONISATION, "In atomics"],
        "In atomic and flush constructs.",
    ),
    row(
        Part::Taskgroup,
        "taskgroup",
        [SYNCHRONISATION, "For task groups"],
        "Waiting at the end of task groups.",
    ),
    row(
        Part::Imbalance,
        "imbalance",
        ["Imbalance", "Imbalance"],
        "Waiting at implicit barriers since work was spread unevenly.",
    ),
    row(
        Part::LittleWork,
        "little_work",
        ["Too little parallel work", "Too little parallel work"],
        "Waiting at implicit barriers since there was too little parallel work.",
    ),
    row(
        Part::Start,
        "start",
        [MANAGEMENT, "Starting teams"],
        "From the fork of a team until the thread begins.",
    ),
    row(
        Part::End,
        "end",
        [MANAGEMENT, "Ending teams"],
        "From the thread's end to the join of the team.",
    ),
    row(
        Part::Other,
        "other",
        [MANAGEMENT, "Other"],
        "Handing out sections, leaving critical sections and unsetting locks.",
    ),
    row(
        Part::Creation,
        "creation",
        [TASKS, "Creating tasks"],
        "Creating tasks, without those executed at once.",
    ),
    row(
        Part::Taskwait,
        "taskwait",
        [TASKS, "Waiting for tasks"],
        "In taskwait, without the tasks executed meanwhile.",
    ),
    row(
        Part::Measuring,
        "measuring",
        ["Measuring", "Measuring"],
        "What measuring took of the time that was not waiting.",
    ),
    row(
        Part::Untold,
        "untold",
        ["Not known", "Not known"],
        "Work or waiting: the construct was measured as a whole, or its barrier is not separated from the work.",
    ),
    row(
        Part::Idle,
        "idle",
        [NO_WORK, "While the program was serial"],
        "Threads had nothing to do since the program was serial.",
    ),
    row(
        Part::SmallTeam,
        "small_teams",
        [NO_WORK, "Small teams"],
        "Threads that were in no team, since teams were smaller than the largest number of threads.",
    ),
];

/// Nanoseconds by [`Part`].
pub type PartTimes = [u64; PARTS.len()];

/// The times of one thread on one call path.
#[derive(Clone, Debug)]
pub struct Severity {
    /// Index of the thread; none if it is not known, or if the thread is a missing one.
    pub thread: Option<usize>,
    /// Its exclusive time there.
    pub parts: PartTimes,
    /// How often it executed the construct.
    pub count: u64,
    /// Counter values there, without the called regions, in the order of the run's counters.
    pub counters: Vec<u64>,
}

/// Computes the severities of a run.
#[derive(Debug)]
pub struct Severities<'r, 'p> {
    profile: &'p Profile,
    tree: &'r Tree<'p>,
    paths: &'r [CallPath],
    overheads: &'r Overheads,
}

impl<'r, 'p> Severities<'r, 'p> {
    pub(crate) fn new(
        profile: &'p Profile,
        tree: &'r Tree<'p>,
        paths: &'r [CallPath],
        overheads: &'r Overheads,
    ) -> Self {
        Self {
            profile,
            tree,
            paths,
            overheads,
        }
    }

    /// The exclusive times of the threads on a call path, which is given by its place in
    /// [`super::CallGraph::paths`]. Threads are in order.
    pub fn of_path(&self, path: usize) -> impl Iterator<Item = Severity> {
        let node = self.paths.get(path).map(|path| &self.tree.nodes[path.node]);
        node.into_iter().flat_map(|node| self.of_node(node))
    }

    fn of_node<'a>(&'a self, node: &'a TreeNode<'p>) -> impl Iterator<Item = Severity> + 'a {
        let rows = node
            .executors()
            .filter(|measures| self.tree.is_charged(node, measures.row.thread));
        rows.map(move |measures| Severity {
            thread: Some(measures.row.thread),
            parts: self.parts(node, &measures),
            count: measures.row.main.count,
            counters: self.own_counters(node, &measures),
        })
    }

    fn parts(&self, node: &TreeNode<'_>, measures: &Measures<'_>) -> PartTimes {
        let row = measures.row;
        let busy = match node.kind.is_parallel() {
            true => row.main.ns,
            false => occupied(node.kind, row),
        };
        let mut parts = [0; PARTS.len()];
        let mut rest = busy.saturating_sub(measures.nested.all);
        let mut take = |part: Part, ns: u64| {
            let ns = ns.min(rest);
            rest -= ns;
            parts[part as usize] += ns;
        };
        let is_in_team = node.kind.is_parallel() || node.scope.or(node.beside).is_some();
        if is_in_team {
            take(Part::Untold, node.untold_ns(measures));
        }
        for cost in overheads::costs_of(node.kind) {
            let part = lost(category(cost.charge, node), node.kind, cost.quantity);
            take(part, node.lost(cost, measures));
        }
        let measuring = self.profile.run.measuring_ps(row, node.kind) / 1000;
        take(
            Part::Measuring,
            u64::try_from(measuring).unwrap_or(u64::MAX),
        );
        let work = match is_in_team {
            true => Part::Work,
            false => Part::Serial,
        };
        take(work, u64::MAX);
        parts
    }

    fn own_counters(&self, node: &TreeNode<'_>, measures: &Measures<'_>) -> Vec<u64> {
        let mut own = measures.row.counters().to_vec();
        if own.is_empty() {
            return own;
        }
        for child in node.children.iter().map(|child| &self.tree.nodes[*child]) {
            let below = child.counters_of(measures.row.thread).unwrap_or_default();
            for (own, below) in own.iter_mut().zip(below) {
                *own = own.saturating_sub(*below);
            }
        }
        own
    }

    /// The times that are on no call path: the serial part of the program itself, and the time
    /// for which a thread was missing or idle.
    #[must_use]
    pub fn of_program(&self) -> Vec<Severity> {
        let overheads = self.overheads;
        let mut known = [0; PARTS.len()];
        let mut in_serial_nodes = 0;
        for node in &self.tree.nodes {
            let is_serial =
                !node.kind.is_parallel() && node.scope.is_none() && node.beside.is_none();
            for severity in self.of_node(node) {
                for (sum, ns) in known.iter_mut().zip(severity.parts) {
                    *sum += ns;
                    in_serial_nodes += if is_serial { ns } else { 0 };
                }
            }
        }
        let busy = overheads.serial_busy_ns;
        let mut own = [0; PARTS.len()];
        own[Part::Serial as usize] = busy.saturating_sub(in_serial_nodes);
        // Several initial threads may have worked at the same time.
        let mut more = in_serial_nodes.saturating_sub(busy);
        let mut none = [0; PARTS.len()];
        let untold = known[Part::Untold as usize];
        for (part, ns) in [
            (Part::Idle, overheads.idle.ns),
            (Part::SmallTeam, overheads.small_teams.ns),
            // For teams measured as a whole, only the forks are known. Initial threads whose
            // teams partly overlap may have worked meanwhile.
            (Part::Untold, overheads.untold.ns.saturating_sub(untold)),
        ] {
            none[part as usize] = ns.saturating_sub(more);
            more = more.saturating_sub(ns);
        }
        let of = |thread, parts| Severity {
            thread,
            parts,
            count: 0,
            counters: Vec::new(),
        };
        vec![of(self.initial(), own), of(None, none)]
    }

    /// The initial thread, if there is one.
    fn initial(&self) -> Option<usize> {
        let threads = self.profile.threads.iter().enumerate();
        let mut initial = threads.filter(|(_, thread)| thread.is_initial());
        match (initial.next(), initial.next()) {
            (Some((thread, _)), None) => Some(thread),
            _ => None,
        }
    }

    /// The parts of the whole program.
    #[must_use]
    pub fn sum(&self) -> PartTimes {
        let nodes = self.tree.nodes.iter().flat_map(|node| self.of_node(node));
        let mut sum: PartTimes = [0; PARTS.len()];
        for severity in nodes.chain(self.of_program()) {
            for (sum, ns) in sum.iter_mut().zip(severity.parts) {
                *sum = sum.saturating_add(ns);
            }
        }
        sum
    }
}

/// The part to which a cost belongs.
fn lost(category: Category, kind: RegionKind, quantity: Quantity) -> Part {
    match (category, kind, quantity) {
        (Category::Imbal, ..) => Part::Imbalance,
        (Category::Limpar, ..) => Part::LittleWork,
        (Category::Mgmt, kind, Quantity::EnterTime) if kind.is_parallel() => Part::Start,
        (Category::Mgmt, kind, _) if kind.is_parallel() => Part::End,
        (Category::Mgmt, RegionKind::Task | RegionKind::UntiedTask, _) => Part::Creation,
        (Category::Mgmt, ..) => Part::Other,
        (Category::Synch, RegionKind::Critical, _) => Part::Critical,
        (Category::Synch, RegionKind::Lock, _) => Part::Lock,
        (Category::Synch, RegionKind::Ordered, _) => Part::Ordered,
        (Category::Synch, RegionKind::Taskwait | RegionKind::Taskloop, _) => Part::Taskwait,
        (Category::Synch, RegionKind::Taskgroup, _) => Part::Taskgroup,
        (Category::Synch, RegionKind::Atomic | RegionKind::Flush, _) => Part::Atomic,
        (Category::Synch, ..) => Part::Barrier,
    }
}

/// The parts for waiting in a construct of this kind and for managing it, for use where nothing
/// more is known about the time. For sections, it is not known whether there were too few.
#[must_use]
pub fn losses_of(kind: RegionKind) -> [Part; 2] {
    let costs = || {
        overheads::costs_of(kind).map(|cost| match cost.charge {
            Charge::To(category) => (category, cost.quantity),
            Charge::BySections => (Category::Imbal, cost.quantity),
        })
    };
    [false, true].map(|is_management| {
        let fits = |(category, _): &(Category, _)| (*category == Category::Mgmt) == is_management;
        let found = costs().find(fits);
        found.map_or(Part::Other, |(category, quantity)| {
            lost(category, kind, quantity)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_only_known_to_be_lost_goes_to_the_part_of_its_construct() {
        for (kind, expected) in [
            (RegionKind::Loop, [Part::Imbalance, Part::Other]),
            (RegionKind::Single, [Part::LittleWork, Part::Other]),
            (RegionKind::Critical, [Part::Critical, Part::Other]),
            (RegionKind::Parallel, [Part::Imbalance, Part::Start]),
            (RegionKind::Task, [Part::Other, Part::Creation]),
            (RegionKind::Taskwait, [Part::Taskwait, Part::Other]),
        ] {
            assert_eq!(losses_of(kind), expected, "{kind:?}");
        }
    }

    #[test]
    fn parts_stand_in_the_order_of_their_numbers_and_groups_together() {
        let mut groups: Vec<&str> = Vec::new();
        for (index, row) in PARTS.iter().enumerate() {
            assert_eq!(row.part as usize, index, "{}", row.id);
            if groups.last() != Some(&row.names[0]) {
                assert!(!groups.contains(&row.names[0]), "{}", row.id);
                groups.push(row.names[0]);
            }
        }
    }
}
