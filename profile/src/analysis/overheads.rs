//! The overhead analysis: how much time parallel regions lose, by category. The table in
//! [`crate::overheads`] says which time belongs to which category.
//!
//! - The *total* of a parallel region is the thread time of its teams: from fork to join,
//!   summed over the members. The time for which a member had forked a nested team is not
//!   included; it is in that team's total. If teams have one size and do not nest, the total
//!   equals ompP's wall time x threads.
//! - The overheads of a construct belong to the innermost parallel region around it. Overheads
//!   outside all parallel regions are kept apart.
//! - The base of the whole program is duration x largest number of threads that were active at
//!   once.
//! - The parallel coverage is the wall time for which at least one initial thread had a team.
//!   The rest of the duration is serial.
//! - Time is *untold* if no measurement shows what the thread did in it (see
//!   [`super::estimate`]).
//!
//! These add up:
//!
//! ```text
//! thread time = totals of all parallel regions + serial part + idle + small teams
//! thread time = useful + overhead + untold + idle + small teams
//! ```

use std::cmp::Reverse;

use super::Share;
use super::tree::{Tree, TreeNode};
use super::wall::Walls;
use crate::columns::{Measures, Quantity};
use crate::model::Profile;
use crate::order;
use crate::overheads::{self, Category, Charge, Cost};
use crate::region_kind::Barrier;

/// Time lost, by [`Category`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    by_category: [u64; Category::ALL.len()],
}

impl Losses {
    /// The time lost to one category.
    #[must_use]
    pub fn of(&self, category: Category) -> u64 {
        self.by_category[category as usize]
    }

    /// The time lost to all categories.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_category.iter().sum()
    }

    fn add(&mut self, category: Category, ns: u64) {
        self.by_category[category as usize] += ns;
    }

    fn add_all(&mut self, other: &Self) {
        for category in Category::ALL {
            self.add(category, other.of(category));
        }
    }
}

/// A parallel region and its share of the run.
#[derive(Clone, Copy, Debug)]
pub struct ParallelRegion {
    /// Index of the region.
    pub region: usize,
    /// Wall-like time; percent of the duration.
    pub wall: Share,
    /// How many threads were members of its teams.
    pub threads: usize,
    /// Thread time of its teams.
    pub total_ns: u64,
    /// The time lost in it.
    pub losses: Losses,
    /// Thread time that may have been work or lost.
    pub untold_ns: u64,
    /// Whether nothing is known of what its threads did: it was measured from
    /// outside.
    pub is_outside: bool,
}

/// Where thread time was spent that may or may not have been lost.
#[derive(Clone, Copy, Debug)]
pub struct Untold {
    /// Index of the region.
    pub region: usize,
    /// How much; percent of the program's thread time.
    pub time: Share,
    /// Whether it was measured as a whole, so that not even the number of its threads is
    /// known. Otherwise, its barrier cannot be separated from its work.
    pub is_outside: bool,
    /// Whether threads may have executed the tasks of a `taskloop` while they waited
    /// there.
    pub may_have_tasks: bool,
}

/// A line of the tables of overheads.
#[derive(Clone, Copy, Debug)]
pub struct OverheadRow {
    /// Index of the region; none for what is in no parallel region.
    pub region: Option<usize>,
    /// Thread time of the region's teams.
    pub total: Share,
    /// The part of it that was lost.
    pub overhead: Share,
    /// The same by category, in the order of [`Category::ALL`].
    pub by_category: [Share; Category::ALL.len()],
    /// The part of the total that may or may not have been lost.
    pub untold: Share,
    /// Whether it was measured as a whole, so that its losses are not known.
    pub is_outside: bool,
}

/// Where time was lost: one kind of cost of one region.
#[derive(Clone, Copy, Debug)]
pub struct LossPlace {
    /// Index of the region.
    pub region: usize,
    /// Which of its costs.
    pub cost: &'static Cost,
    /// The category of the loss; of several categories, the one with the largest loss.
    pub category: Category,
    /// How much; percent of the program's thread time.
    pub lost: Share,
    /// Whether the loss was estimated.
    pub is_estimated: bool,
}

/// The overhead analysis.
#[derive(Clone, Debug)]
pub struct Overheads {
    /// Wall time of the run.
    pub duration_ns: u64,
    /// Largest number of threads at once.
    pub threads: u64,
    /// Whether the real number may be larger, since some team was measured as a whole.
    pub threads_are_least: bool,
    /// Number of processes: a serial part keeps one thread of each busy.
    pub processes: u64,
    /// Duration x threads: the base of the whole program.
    pub thread_time_ns: u64,
    /// Wall time in parallel regions; percent of the duration.
    pub coverage: Share,
    /// The rest of the duration.
    pub serial: Share,
    /// Thread time that the serial part kept busy.
    pub serial_busy_ns: u64,
    /// Thread time in which threads had no work because the program was serial; percent of the
    /// program's thread time. ompP has no such figure.
    pub idle: Share,
    /// Thread time that was not available because teams were smaller than the largest number of
    /// threads; percent of the program's thread time.
    pub small_teams: Share,
    /// Thread time that may or may not have been lost; percent of the program's thread time.
    pub untold: Share,
    /// All places of such time, largest first.
    pub untold_places: Vec<Untold>,
    /// How many parallel regions ran.
    pub parallel_regions: usize,
    /// The parallel regions that ran, longest wall time first.
    pub regions: Vec<ParallelRegion>,
    /// Sum of their wall-like times. Nested regions are counted in the regions around them.
    pub wall_sum: Share,
    /// Their overheads, percent of each one's own total.
    pub of_each: Vec<OverheadRow>,
    /// Their overheads, percent of the program's thread time, worst first.
    pub of_whole: Vec<OverheadRow>,
    /// The sum of the latter.
    pub whole_sum: OverheadRow,
    /// The time lost outside parallel regions.
    pub outside: Losses,
    /// All places where time was lost, worst first.
    pub places: Vec<LossPlace>,
}

pub(crate) fn analyse(profile: &Profile, tree: &Tree<'_>, walls: &Walls) -> Overheads {
    let duration_ns = profile.run.duration_ns;
    let processes = profile.ranks.len().max(1) as u64;
    let mut sums = Sums::new(profile);
    sums.add_walls(tree, walls);
    sums.add_losses(tree);
    let whole = Whole::new(profile, &sums, walls);
    let thread_time_ns = whole.thread_time_ns;
    let regions = sums.parallel_regions(duration_ns);
    let of_each = regions
        .iter()
        .map(|region| row(region, region.total_ns))
        .collect();
    let mut of_whole: Vec<_> = regions
        .iter()
        .map(|region| row(region, thread_time_ns))
        .collect();
    if sums.outside.total() > 0 {
        let outside = RegionSums {
            losses: sums.outside,
            ..RegionSums::default()
        };
        of_whole.push(overhead_row(None, &outside, thread_time_ns));
    }
    order::sort_by_key(&mut of_whole, |row| Reverse(row.overhead.ns));
    Overheads {
        duration_ns,
        threads: whole.threads,
        threads_are_least: sums.of_region.iter().any(|sums| sums.is_outside),
        processes,
        thread_time_ns,
        coverage: Share::of(whole.coverage_ns, duration_ns),
        serial: Share::of(duration_ns - whole.coverage_ns, duration_ns),
        serial_busy_ns: whole.serial_busy_ns,
        idle: Share::of(whole.idle_ns, thread_time_ns),
        small_teams: Share::of(whole.small_teams_ns, thread_time_ns),
        untold: Share::of(whole.untold_ns, thread_time_ns),
        untold_places: sums.untold_places(&whole),
        wall_sum: Share::of(sums.outermost_walls.round() as u64, duration_ns),
        whole_sum: sums.whole(thread_time_ns),
        outside: sums.outside,
        parallel_regions: regions.len(),
        places: sums.places(thread_time_ns),
        regions,
        of_each,
        of_whole,
    }
}

/// The thread time of the program, and how it was used.
struct Whole {
    threads: u64,
    thread_time_ns: u64,
    coverage_ns: u64,
    serial_busy_ns: u64,
    idle_ns: u64,
    small_teams_ns: u64,
    untold_ns: u64,
    /// The average number of further threads that may have been in outermost teams measured
    /// from outside.
    unseen_threads: f64,
}

impl Whole {
    fn new(profile: &Profile, sums: &Sums, walls: &Walls) -> Self {
        let duration_ns = profile.run.duration_ns;
        let processes = profile.ranks.len().max(1) as u64;
        let coverage_ns = (walls.coverage_ns.round() as u64).min(duration_ns);
        let serial_ns = duration_ns - coverage_ns;
        // One thread of each process executes its serial part, or several threads wait there
        // for each other. An estimated time of one thread alone may exceed the serial part.
        let of_one_each = serial_ns.saturating_mul(processes);
        let serial_busy_ns = match profile.has_one_initial_thread_each() {
            true => of_one_each,
            false => of_one_each.max(sums.outside.total()),
        };
        let busy_ns = sums.in_teams_ns.saturating_add(serial_busy_ns);
        let threads = u64::from(profile.run.max_threads.max(1));
        let threads = threads.max(busy_ns.div_ceil(duration_ns.max(1)));
        let thread_time_ns = duration_ns.saturating_mul(threads);
        let unused_ns = thread_time_ns.saturating_sub(busy_ns);
        let idle_ns = serial_ns
            .saturating_mul(threads)
            .saturating_sub(serial_busy_ns)
            .min(unused_ns);
        let rest_ns = unused_ns - idle_ns;
        // The number of threads in a team measured as a whole is not known. So it is not
        // known either whether the other threads were idle.
        let others = threads.div_ceil(processes).saturating_sub(1);
        let unseen_ns = sums.untold_outermost_ns.saturating_mul(others).min(rest_ns);
        let untold_outermost_ns = sums.untold_outermost_ns.max(1) as f64;
        Self {
            threads,
            thread_time_ns,
            coverage_ns,
            serial_busy_ns,
            idle_ns,
            small_teams_ns: rest_ns - unseen_ns,
            untold_ns: sums.untold_ns() + unseen_ns,
            unseen_threads: unseen_ns as f64 / untold_outermost_ns,
        }
    }
}

fn row(region: &ParallelRegion, base_ns: u64) -> OverheadRow {
    let sums = RegionSums {
        total_ns: region.total_ns,
        losses: region.losses,
        untold_ns: region.untold_ns,
        is_outside: region.is_outside,
        ..RegionSums::default()
    };
    overhead_row(Some(region.region), &sums, base_ns)
}

fn overhead_row(region: Option<usize>, sums: &RegionSums, base_ns: u64) -> OverheadRow {
    let losses = &sums.losses;
    OverheadRow {
        region,
        total: Share::of(sums.total_ns, base_ns),
        overhead: Share::of(losses.total(), base_ns),
        by_category: Category::ALL.map(|category| Share::of(losses.of(category), base_ns)),
        untold: Share::of(sums.untold_ns, base_ns),
        is_outside: sums.is_outside,
    }
}

/// The sums over the nodes.
struct Sums {
    /// Per region; only parallel ones are used.
    of_region: Vec<RegionSums>,
    /// Per region and row of [`overheads::costs_of`], by category.
    costs: Vec<Vec<(&'static Cost, Losses)>>,
    /// The time lost outside parallel regions.
    outside: Losses,
    /// Wall-like time of outermost parallel regions.
    outermost_walls: f64,
    /// Thread time in all teams: the sum of the regions' totals.
    in_teams_ns: u64,
    /// For threads that forked outermost teams measured as a whole: the duration of those
    /// teams.
    untold_outermost_ns: u64,
    /// Per region whether waits at its end are estimated.
    are_estimated: Vec<bool>,
    /// The unknown time of each region.
    untold: Vec<UntoldSums>,
    /// See [`Profile::same_threads`].
    same_threads: Vec<usize>,
}

/// The unknown time of a region.
#[derive(Clone, Copy, Debug, Default)]
struct UntoldSums {
    ns: u64,
    is_outside: bool,
    may_have_tasks: bool,
    /// For outermost teams measured as a whole: the time for which the forking threads were
    /// in them.
    outermost_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct RegionSums {
    ran: bool,
    wall: f64,
    total_ns: u64,
    members: Vec<usize>,
    losses: Losses,
    untold_ns: u64,
    is_outside: bool,
}

impl Sums {
    fn new(profile: &Profile) -> Self {
        let costs = |kind| {
            overheads::costs_of(kind)
                .map(|cost| (cost, Losses::default()))
                .collect()
        };
        Self {
            of_region: vec![RegionSums::default(); profile.regions.len()],
            costs: profile
                .regions
                .iter()
                .map(|region| costs(region.kind))
                .collect(),
            outside: Losses::default(),
            outermost_walls: 0.0,
            in_teams_ns: 0,
            untold_outermost_ns: 0,
            are_estimated: vec![false; profile.regions.len()],
            untold: vec![UntoldSums::default(); profile.regions.len()],
            same_threads: profile.same_threads(),
        }
    }

    fn add_walls(&mut self, tree: &Tree<'_>, walls: &Walls) {
        for (node, wall) in tree.nodes.iter().zip(&walls.nodes) {
            if !node.kind.is_parallel() {
                continue;
            }
            let sums = &mut self.of_region[node.region];
            sums.ran = true;
            for row in node.executors() {
                // A thread that stands for a team is still the thread that forked nested teams.
                let total = row.row.main.ns.saturating_sub(row.nested.forked);
                sums.total_ns += total;
                self.in_teams_ns = self.in_teams_ns.saturating_add(total);
                if !node.is_untold(row.row) {
                    sums.members.push(self.same_threads[row.row.thread]);
                    continue;
                }
                sums.is_outside = true;
                self.untold[node.region].is_outside = true;
                if node.is_outermost_team() {
                    self.untold_outermost_ns += row.row.main.ns;
                    self.untold[node.region].outermost_ns += row.row.main.ns;
                }
            }
            if !node.inside_itself {
                sums.wall += wall.inclusive;
            }
            if node.is_outermost_team() {
                self.outermost_walls += wall.inclusive;
            }
        }
    }

    fn add_losses(&mut self, tree: &Tree<'_>) {
        for (here, node) in tree.nodes.iter().enumerate() {
            let is_charged = |row: &Measures<'_>| tree.is_charged(node, row.row.thread);
            let rows = || node.executors().filter(is_charged);
            let around = match node.kind.is_parallel() {
                true => Some(here),
                false => node.beside.or(node.scope),
            };
            let mut losses = Losses::default();
            self.are_estimated[node.region] |= node.barrier == Barrier::Estimated;
            for (cost, by_category) in &mut self.costs[node.region] {
                let ns = rows().map(|row| node.lost(cost, &row)).sum();
                let category = category(cost.charge, node);
                losses.add(category, ns);
                by_category.add(category, ns);
            }
            let Some(around) = around else {
                self.outside.add_all(&losses);
                continue;
            };
            let untold: u64 = rows().map(|row| node.untold_ns(&row)).sum();
            let around = &mut self.of_region[tree.nodes[around].region];
            around.losses.add_all(&losses);
            around.untold_ns += untold;
            self.untold[node.region].ns += untold;
            self.untold[node.region].may_have_tasks |= node.may_have_tasks();
        }
    }

    fn parallel_regions(&mut self, duration_ns: u64) -> Vec<ParallelRegion> {
        let mut regions: Vec<ParallelRegion> = Vec::new();
        for (region, sums) in self
            .of_region
            .iter_mut()
            .enumerate()
            .filter(|(_, sums)| sums.ran)
        {
            sums.members.sort_unstable();
            sums.members.dedup();
            regions.push(ParallelRegion {
                region,
                wall: Share::of(sums.wall.round() as u64, duration_ns),
                threads: sums.members.len(),
                total_ns: sums.total_ns,
                losses: sums.losses,
                untold_ns: sums.untold_ns,
                is_outside: sums.is_outside,
            });
        }
        order::sort_by_key(&mut regions, |region| Reverse(region.wall.ns));
        regions
    }

    fn whole(&self, thread_time_ns: u64) -> OverheadRow {
        let mut all = RegionSums {
            losses: self.outside,
            ..RegionSums::default()
        };
        for region in &self.of_region {
            all.losses.add_all(&region.losses);
            all.total_ns += region.total_ns;
            all.untold_ns += region.untold_ns;
        }
        overhead_row(None, &all, thread_time_ns)
    }

    fn untold_ns(&self) -> u64 {
        self.of_region.iter().map(|sums| sums.untold_ns).sum()
    }

    fn untold_places(&self, whole: &Whole) -> Vec<Untold> {
        let regions = self.untold.iter().enumerate();
        let untold = regions.map(|(region, sums)| {
            let unseen = whole.unseen_threads * sums.outermost_ns as f64;
            Untold {
                region,
                time: Share::of(sums.ns + unseen.round() as u64, whole.thread_time_ns),
                is_outside: sums.is_outside,
                may_have_tasks: sums.may_have_tasks,
            }
        });
        let mut places: Vec<Untold> = untold.filter(|place| place.time.ns > 0).collect();
        order::sort_by_key(&mut places, |place| Reverse(place.time.ns));
        places
    }

    fn places(&self, thread_time_ns: u64) -> Vec<LossPlace> {
        let mut places = Vec::new();
        for (region, costs) in self.costs.iter().enumerate() {
            for (cost, losses) in costs.iter().filter(|(_, losses)| losses.total() > 0) {
                let worst = Category::ALL
                    .into_iter()
                    .max_by_key(|&category| losses.of(category));
                let lost = Share::of(losses.total(), thread_time_ns);
                places.extend(worst.map(|category| LossPlace {
                    region,
                    cost,
                    category,
                    lost,
                    is_estimated: cost.quantity == Quantity::BarrierTime
                        && self.are_estimated[region],
                }));
            }
        }
        order::sort_by_key(&mut places, |place| Reverse(place.lost.ns));
        places
    }
}

/// The category of a cost at this node.
pub(super) fn category(charge: Charge, node: &TreeNode<'_>) -> Category {
    match charge {
        Charge::To(category) => category,
        Charge::BySections => {
            let sections: u64 = node.executors().map(|row| row.nested.sections.count).sum();
            let executions: u64 = node.executors().map(|row| row.row.main.count).sum();
            // At least one section is executed. If there is none, sections were not seen.
            if 0 < sections && sections < executions {
                Category::Limpar
            } else {
                Category::Imbal
            }
        }
    }
}
