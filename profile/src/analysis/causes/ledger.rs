//! All losses, each with its worth in elapsed time. Each entry goes to one cause alone. So the
//! causes together never win more than was lost.
//!
//! The weights of threads are those of [`super::super::wall`]: in a team of `n`, each member's
//! time counts as `1/n` elapsed time. So the weighted wait at a barrier is the mean wait. The
//! mean wait is the longest work minus the mean work, which is the time that an even
//! distribution of the work would win.

use crate::analysis::overheads::category;
use crate::analysis::tree::{Tree, TreeNode};
use crate::analysis::wall::Walls;
use crate::columns::{Measures, Quantity};
use crate::model::{Profile, Thread};
use crate::overheads::{self, Category, Cost};
use crate::region_kind::{Barrier, RegionKind};

/// One kind of cost of one region, and the time lost to it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) region: usize,
    pub(super) cost: &'static Cost,
    pub(super) category: Category,
    pub(super) amount: Amount,
    pub(super) is_estimated: bool,
    is_taken: bool,
}

/// A loss in thread time and in elapsed time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub(super) lost: u64,
    /// Elapsed time that the run likely saves without this loss.
    pub(super) likely: f64,
    /// The most elapsed time that it can save.
    pub(super) upper: f64,
}

impl Amount {
    /// The amount, if no more elapsed time than this can be won.
    pub(super) fn at_most(self, most: f64) -> Self {
        Self {
            lost: self.lost,
            likely: self.likely.min(most),
            upper: self.upper.min(most),
        }
    }
}

impl std::ops::AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.lost = self.lost.saturating_add(other.lost);
        self.likely += other.likely;
        self.upper += other.upper;
    }
}

/// All losses.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: Vec<Entry>,
}

impl Ledger {
    pub(super) fn new(profile: &Profile, tree: &Tree<'_>, walls: &Walls) -> Self {
        Self::of_nodes(profile, tree, walls, |_| true)
    }

    /// The losses in some nodes.
    pub(super) fn of_nodes(
        profile: &Profile,
        tree: &Tree<'_>,
        walls: &Walls,
        is_chosen: impl Fn(&TreeNode<'_>) -> bool,
    ) -> Self {
        let first = first_entries(profile);
        let mut entries: Vec<Entry> = profile
            .regions
            .iter()
            .enumerate()
            .flat_map(|(region, it)| {
                overheads::costs_of(it.kind).map(move |cost| entry(region, cost))
            })
            .collect();
        let is_one_initial = profile.has_one_initial_thread_each();
        // No thread can wait for another one outside of all teams, or where no team has two threads,
        // whatever is estimated.
        let is_another = |thread: &Thread| !thread.is_initial() && !thread.is_first_member();
        let has_teams = profile.threads.iter().any(is_another);
        let nodes = tree.nodes.iter().enumerate();
        for (here, node) in nodes.filter(|(_, node)| is_chosen(node)) {
            let is_alone = is_one_initial && (node.scope.is_none() || !has_teams);
            if is_alone && matches!(node.kind, RegionKind::Critical | RegionKind::Lock) {
                continue;
            }
            let from = first[node.region];
            let of_node = entries.iter_mut().skip(from);
            for entry in of_node.take_while(|entry| entry.region == node.region) {
                entry.add(&WeighedNode { here, node, walls }, profile.run.pair_cost_ps);
            }
        }
        entries.retain(|entry| entry.amount.lost > 0);
        Self { entries }
    }

    /// The entries that no cause has taken yet.
    pub(super) fn open(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.is_taken)
    }

    /// Takes the entries that fit, for one cause.
    pub(super) fn take(&mut self, fits: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let mut taken = Vec::new();
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_taken) {
            if fits(entry) {
                entry.is_taken = true;
                taken.push(entry.clone());
            }
        }
        taken
    }

    /// Takes the entries that fit, grouped by region.
    pub(super) fn take_by_region(&mut self, fits: impl Fn(&Entry) -> bool) -> Vec<Vec<Entry>> {
        // Entries are ordered by region.
        let taken = self.take(fits);
        let regions = taken.chunk_by(|a, b| a.region == b.region);
        regions.map(<[Entry]>::to_vec).collect()
    }
}

/// The sum of the entries' amounts.
pub(super) fn sum(entries: &[Entry]) -> Amount {
    let mut sum = Amount::default();
    for entry in entries {
        sum += entry.amount;
    }
    sum
}

/// The entry with the largest loss; of equal ones the first.
pub(super) fn largest(entries: &[Entry]) -> Option<&Entry> {
    entries
        .iter()
        .reduce(|most, entry| match entry.amount.lost > most.amount.lost {
            true => entry,
            false => most,
        })
}

/// For each region, the index of its first entry.
fn first_entries(profile: &Profile) -> Vec<usize> {
    let mut next = 0;
    let first = profile.regions.iter().map(|region| {
        let first = next;
        next += overheads::costs_of(region.kind).count();
        first
    });
    first.collect()
}

fn entry(region: usize, cost: &'static Cost) -> Entry {
    Entry {
        region,
        cost,
        category: Category::Synch,
        amount: Amount::default(),
        is_estimated: false,
        is_taken: false,
    }
}

/// A node, with the weights of its threads.
struct WeighedNode<'a, 'p> {
    here: usize,
    node: &'a TreeNode<'p>,
    walls: &'a Walls,
}

impl Entry {
    fn add(&mut self, place: &WeighedNode<'_, '_>, pair_cost_ps: u64) {
        let WeighedNode { here, node, walls } = *place;
        let is_team = node.kind.is_parallel();
        let scope = if is_team { Some(here) } else { node.scope };
        let mut here = Amount::default();
        let mut executors = 0;
        for row in node.executors() {
            executors += 1;
            let ns = node.lost(self.cost, &row);
            let mut net = ns.saturating_sub(measuring(self.cost.quantity, &row, pair_cost_ps));
            if node.kind == RegionKind::Barrier {
                net = net.saturating_sub(node.maybe_tasks(row.row.thread));
            }
            here.lost += ns;
            here.likely += walls.weight(scope, row.row.thread) * net as f64;
        }
        // A single thread waits for no other one: the time measured there is the measurement's
        // own. But a thread that waits for tasks waits for tasks that others execute.
        let waits_for_threads = self.is_wait() && node.kind != RegionKind::Taskgroup;
        if executors < 2 && waits_for_threads {
            return;
        }
        let others = (executors as f64 - 1.0).max(1.0);
        here.upper = here.likely * executors as f64 / others;
        self.amount += here;
        if here.lost > 0 {
            self.category = category(self.cost.charge, node);
        }
        self.is_estimated |=
            self.cost.quantity == Quantity::BarrierTime && node.barrier == Barrier::Estimated;
    }

    /// Whether it is a wait for other members of the team.
    pub(super) fn is_wait(&self) -> bool {
        is_wait_of_members(self.cost.quantity)
    }

    /// Whether it is about a region of this kind.
    pub(super) fn is_of(&self, kinds: &[RegionKind]) -> bool {
        kinds.contains(&self.cost.kind)
    }
}

/// Whether a time is one for which members of a team wait for each other.
pub(super) fn is_wait_of_members(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::BarrierTime | Quantity::WaitTime)
}

/// The part of a time that the measurement itself took, in nanoseconds.
fn measuring(quantity: Quantity, row: &Measures<'_>, pair_cost_ps: u64) -> u64 {
    let count = match (quantity, row.row.estimate()) {
        (Quantity::BarrierTime, _) => row.row.ibarr.count,
        // The estimated time of untimed instances contains no measurement.
        (_, Some(estimate)) => estimate.timed,
        _ => row.row.main.count,
    };
    let ps = overheads::within_measured_time(u128::from(count) * u128::from(pair_cost_ps));
    u64::try_from(ps / 1000).unwrap_or(u64::MAX)
}
