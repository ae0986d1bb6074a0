//! The overhead analysis: what parallel regions lose, and to what. Which time
//! is which overhead is told by [`crate::overheads`].
//!
//! - The *total* of a parallel region is the thread time that its teams had:
//!   fork to join, summed over the members. For teams of one size that is
//!   ompP's wall time x threads.
//! - The overheads of a construct belong to the innermost parallel region
//!   around it; those of a construct outside any are kept apart.
//! - The base of the whole program is duration x largest number of threads.
//! - The parallel coverage is the wall-like time of the outermost parallel
//!   regions; the rest of the duration is serial.

use std::cmp::Reverse;

use super::Share;
use super::tree::{Tree, TreeNode};
use super::wall::Wall;
use crate::model::Profile;
use crate::order;
use crate::overheads::{self, Category, Charge, Cost};

/// Time lost, by [`Category`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    by_category: [u64; Category::ALL.len()],
}

impl Losses {
    /// What one category lost.
    #[must_use]
    pub fn of(&self, category: Category) -> u64 {
        self.by_category[category as usize]
    }

    /// What all categories lost.
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
    /// What was lost in it.
    pub losses: Losses,
}

/// A line of the tables of overheads.
#[derive(Clone, Copy, Debug)]
pub struct OverheadRow {
    /// Index of the region; none for what is in no parallel region.
    pub region: Option<usize>,
    /// Thread time of the region's teams.
    pub total: Share,
    /// What was lost of it.
    pub overhead: Share,
    /// The same by category, in the order of [`Category::ALL`].
    pub by_category: [Share; Category::ALL.len()],
}

/// Where time was lost: one kind of cost of one region.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Index of the region.
    pub region: usize,
    /// Which of its costs.
    pub cost: &'static Cost,
    /// To which category it went; of several the one that lost most.
    pub category: Category,
    /// How much; percent of the program's thread time.
    pub lost: Share,
}

/// The overhead analysis.
#[derive(Clone, Debug)]
pub struct Overheads {
    /// Wall time of the run.
    pub duration_ns: u64,
    /// Largest number of threads at once.
    pub threads: u64,
    /// Number of processes: a serial part keeps one thread of each busy.
    pub processes: u64,
    /// Duration x threads: the base of the whole program.
    pub thread_time_ns: u64,
    /// Wall-like time in parallel regions; percent of the duration.
    pub coverage: Share,
    /// The rest of the duration.
    pub serial: Share,
    /// Thread time in which threads had nothing to do since the program was
    /// serial; percent of the program's thread time. ompP has no such figure.
    pub idle: Share,
    /// How many parallel regions ran.
    pub parallel_regions: usize,
    /// The parallel regions that ran, longest wall time first.
    pub regions: Vec<ParallelRegion>,
    /// Wall time of them all; nested ones are counted in those around them.
    pub wall_sum: Share,
    /// Their overheads, percent of each one's own total.
    pub of_each: Vec<OverheadRow>,
    /// Their overheads, percent of the program's thread time, worst first.
    pub of_whole: Vec<OverheadRow>,
    /// The sum of the latter.
    pub whole_sum: OverheadRow,
    /// What was lost outside parallel regions.
    pub outside: Losses,
    /// All places where time was lost, worst first.
    pub places: Vec<Place>,
}

pub(crate) fn analyse(profile: &Profile, tree: &Tree<'_>, walls: &[Wall]) -> Overheads {
    let duration_ns = profile.run.duration_ns;
    let processes = profile.ranks.len().max(1) as u64;
    let mut sums = Sums::new(profile);
    sums.add_walls(tree, walls);
    sums.add_losses(tree);
    // Threads that fork teams at the same time have more than any one team.
    let busy_ns = sums.in_teams_ns.saturating_add(sums.outside.total());
    let threads = u64::from(profile.run.max_threads.max(1));
    let threads = threads.max(busy_ns.div_ceil(duration_ns.max(1)));
    let thread_time_ns = duration_ns.saturating_mul(threads);
    let coverage_ns = (sums.coverage.round() as u64).min(duration_ns);
    let serial_ns = duration_ns - coverage_ns;
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
        of_whole.push(overhead_row(None, 0, &sums.outside, thread_time_ns));
    }
    order::by_key(&mut of_whole, |row| Reverse(row.overhead.ns));
    Overheads {
        duration_ns,
        threads,
        processes,
        thread_time_ns,
        coverage: Share::of(coverage_ns, duration_ns),
        serial: Share::of(serial_ns, duration_ns),
        idle: Share::of(
            serial_ns.saturating_mul(threads.saturating_sub(processes)),
            thread_time_ns,
        ),
        wall_sum: Share::of(coverage_ns, duration_ns),
        whole_sum: sums.whole(&regions, thread_time_ns),
        outside: sums.outside,
        parallel_regions: regions.len(),
        places: sums.places(thread_time_ns),
        regions,
        of_each,
        of_whole,
    }
}

fn row(region: &ParallelRegion, base_ns: u64) -> OverheadRow {
    overhead_row(
        Some(region.region),
        region.total_ns,
        &region.losses,
        base_ns,
    )
}

fn overhead_row(
    region: Option<usize>,
    total_ns: u64,
    losses: &Losses,
    base_ns: u64,
) -> OverheadRow {
    OverheadRow {
        region,
        total: Share::of(total_ns, base_ns),
        overhead: Share::of(losses.total(), base_ns),
        by_category: Category::ALL.map(|category| Share::of(losses.of(category), base_ns)),
    }
}

/// What is summed up over the nodes.
struct Sums {
    /// Per region; only parallel ones are used.
    of_region: Vec<RegionSums>,
    /// Per region and row of [`overheads::COSTS`], by category.
    costs: Vec<Vec<(&'static Cost, Losses)>>,
    /// What was lost outside parallel regions.
    outside: Losses,
    coverage: f64,
    /// Thread time in all teams; of those in others only what they add.
    in_teams_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct RegionSums {
    ran: bool,
    wall: f64,
    total_ns: u64,
    members: Vec<usize>,
    losses: Losses,
}

impl Sums {
    fn new(profile: &Profile) -> Self {
        let costs = |kind| {
            overheads::of(kind)
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
            coverage: 0.0,
            in_teams_ns: 0,
        }
    }

    fn add_walls(&mut self, tree: &Tree<'_>, walls: &[Wall]) {
        for (node, wall) in tree.nodes.iter().zip(walls) {
            if !node.kind.is_parallel() {
                continue;
            }
            let sums = &mut self.of_region[node.region];
            let members: u64 = node.executors().map(|member| member.row.main.ns).sum();
            let forks: u64 = node.rows().map(|row| row.row.seq().ns).sum();
            let known = if node.scope.is_some() { forks } else { 0 };
            self.in_teams_ns = self
                .in_teams_ns
                .saturating_add(members.saturating_sub(known));
            sums.ran = true;
            sums.total_ns += members;
            sums.members
                .extend(node.executors().map(|member| member.row.thread));
            if !node.inside_itself {
                sums.wall += wall.inclusive;
            }
            if node.scope.is_none() {
                self.coverage += wall.inclusive;
            }
        }
    }

    fn add_losses(&mut self, tree: &Tree<'_>) {
        for (here, node) in tree.nodes.iter().enumerate() {
            let mut losses = Losses::default();
            for (cost, by_category) in &mut self.costs[node.region] {
                let ns = node
                    .executors()
                    .map(|row| cost.quantity.inclusive(&row))
                    .sum();
                let category = category(cost.charge, node);
                losses.add(category, ns);
                by_category.add(category, ns);
            }
            let around = if node.kind.is_parallel() {
                Some(here)
            } else {
                node.scope
            };
            match around {
                Some(around) => {
                    self.of_region[tree.nodes[around].region]
                        .losses
                        .add_all(&losses);
                }
                None => self.outside.add_all(&losses),
            }
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
            });
        }
        order::by_key(&mut regions, |region| Reverse(region.wall.ns));
        regions
    }

    fn whole(&self, regions: &[ParallelRegion], thread_time_ns: u64) -> OverheadRow {
        let mut losses = self.outside;
        for region in regions {
            losses.add_all(&region.losses);
        }
        let total = regions.iter().map(|region| region.total_ns).sum();
        overhead_row(None, total, &losses, thread_time_ns)
    }

    fn places(&self, thread_time_ns: u64) -> Vec<Place> {
        let mut places = Vec::new();
        for (region, costs) in self.costs.iter().enumerate() {
            for (cost, losses) in costs.iter().filter(|(_, losses)| losses.total() > 0) {
                let worst = Category::ALL
                    .into_iter()
                    .max_by_key(|&category| losses.of(category));
                let lost = Share::of(losses.total(), thread_time_ns);
                places.extend(worst.map(|category| Place {
                    region,
                    cost,
                    category,
                    lost,
                }));
            }
        }
        order::by_key(&mut places, |place| Reverse(place.lost.ns));
        places
    }
}

/// To which category a cost goes at this node.
fn category(charge: Charge, node: &TreeNode<'_>) -> Category {
    match charge {
        Charge::To(category) => category,
        Charge::BySections => {
            let sections: u64 = node.executors().map(|row| row.nested.sections.count).sum();
            let executions: u64 = node.executors().map(|row| row.row.main.count).sum();
            if sections < executions {
                Category::Limpar
            } else {
                Category::Imbal
            }
        }
    }
}
