//! The analyses of a measured run. Their results are read-only, and every report writer gets
//! the same ones. Each file has one subject. Times are nanoseconds, and percentages are
//! computed here: a writer only lays them out.

mod atomics;
mod call_graph;
mod causes;
mod decomposition;
mod derived;
mod dilation;
mod efficiency;
mod estimate;
mod grain;
mod initial;
mod labels;
mod overheads;
mod own;
pub(crate) mod pattern;
mod polling;
mod properties;
mod ranks;
mod remedy;
mod selection;
mod severity;
mod summary;
mod tables;
mod teams;
mod tree;
mod updates;
mod waits;
mod wall;
pub mod words;

pub use call_graph::{CallGraph, CallPath, Times};
pub(crate) use causes::MOST_NAMED_CAUSES;
pub use causes::{CAUSE_KINDS, Cause, Causes, Kind as CauseKind, Place as CausePlace};
pub use decomposition::{Decomposition, Parts};
pub use derived::{Derived, Formulas};
pub use dilation::{Dilation, RegionDilation};
pub use efficiency::{Efficiencies, Efficiency, Processor, processor};
pub use grain::Grain;
pub use labels::Label;
pub use overheads::{LossPlace, Losses, OverheadRow, Overheads, ParallelRegion, Untold};
pub use own::OwnTime;
pub use properties::Property;
pub use ranks::Rank;
pub use selection::{Selection, SelectionError};
pub use severity::{PARTS, Part, PartRow, PartTimes, Severities, Severity, losses_of};
pub use summary::Summary;
pub use tables::{OnCallPaths, Table};
pub use waits::{Contended, Latecomer, Lateness, Pattern, Spread};

use self::decomposition::Decompositions;
use crate::model::{Profile, Region};
use crate::outside;
use crate::printable::printable;
pub use crate::region_kind::Barrier;
use crate::region_kind::{KindRow, REGION_KINDS, RegionKind};

/// A loss below this percentage of the thread time is not worth advice.
pub const NEGLIGIBLE: f64 = 2.0;

/// A run, analysed.
#[derive(Debug)]
pub struct Report<'p> {
    /// The profile; general information about the run is in [`Profile::run`].
    pub profile: &'p Profile,
    /// Names of the threads, such as `0->3`.
    pub threads: Vec<String>,
    /// Names of the regions.
    pub labels: Vec<Label>,
    /// The registered regions by kind, in ompP's order.
    pub overview: Vec<Overview>,
    /// The call graph.
    pub call_graph: CallGraph,
    /// One profile per region that ran, most thread time first.
    pub flat: Vec<Table>,
    /// One profile per call path, in the order of [`CallGraph::paths`].
    pub on_call_paths: OnCallPaths<'p>,
    /// The exclusive time of each call path, in the order of [`CallGraph::paths`].
    pub own_times: Vec<OwnTime>,
    /// The overhead analysis.
    pub overheads: Overheads,
    /// Why the run took longer than it had to, most to win first.
    pub causes: Causes,
    /// ompP's performance properties that hold, most severe first.
    pub properties: Vec<Property>,
    /// Parallel efficiency and its factors.
    pub efficiency: Efficiencies,
    /// The decompositions are made on demand by [`Report::decomposition`].
    decompositions: Decompositions,
    /// The cost of the measurement, if it is known.
    pub dilation: Option<Dilation>,
    /// How the times of instances are spread.
    pub spreads: Vec<Spread>,
    /// The threads that came last to barriers.
    pub lateness: Vec<Lateness>,
    /// The resources for which threads waited for each other.
    pub contention: Vec<Contended>,
    /// The contribution of each rank; empty unless several processes were merged.
    pub ranks: Vec<Rank>,
    /// Formulas over counters.
    pub formulas: Formulas,
    /// Where the time went, in words.
    pub summary: Summary,
    /// See [`outside::loops_without_work`].
    loops_without_work: Vec<bool>,
    /// From this severity on, in percent, a property is worth reading.
    pub least_severity: f64,
    /// The selection that is shown, in words; none if everything is shown.
    pub shown: Option<String>,
}

/// The regions of one kind.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The kind.
    pub kind: &'static KindRow,
    /// Index of each region, and whether it ran.
    pub regions: Vec<(usize, Execution)>,
}

/// Whether a region ran, as far as the profile shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    /// It has a table.
    Measured,
    /// It releases a lock: its time counts with the call that set the lock.
    CountsWithSet,
    /// It did not run.
    Never,
}

/// A time, and its percentage of a base. The field or function with this type names the base.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// The time in nanoseconds.
    pub ns: u64,
    /// Percent of the base; 0 of nothing.
    pub percent: f64,
}

impl Share {
    pub(crate) fn of(ns: u64, base_ns: u64) -> Self {
        let percent = if base_ns == 0 {
            0.0
        } else {
            100.0 * ns as f64 / base_ns as f64
        };
        Self { ns, percent }
    }
}

impl<'p> Report<'p> {
    /// Analyses a run.
    #[must_use]
    pub fn new(profile: &'p Profile) -> Self {
        let tree = estimate::tree(profile);
        let walls = wall::wall_times(profile, &tree);
        let labels = labels::labels(&profile.regions);
        let call_graph = call_graph::call_graph(&tree, &walls.nodes, profile.run.duration_ns);
        let flat = tables::flat(profile, &tree);
        let overheads = overheads::analyse(profile, &tree, &walls);
        let threads: Vec<String> = profile.threads.iter().map(ToString::to_string).collect();
        let grains = grain::grains(profile, &tree);
        let thread_time_ns = overheads.thread_time_ns;
        let dilation = dilation::analyse(profile, &tree, thread_time_ns);
        let efficiency = efficiency::analyse(profile, &tree, &overheads);
        let instances = profile.timed_instances();
        let loops_without_work = outside::loops_without_work(profile);
        let causes = causes::analyse(&causes::Facts {
            profile,
            instances: &instances,
            labels: &labels,
            threads: &threads,
            flat: &flat,
            tree: &tree,
            walls: &walls,
            overheads: &overheads,
            efficiency: &efficiency,
            grains: &grains,
            dilation: dilation.as_ref(),
            loops_without_work: &loops_without_work,
            first_thread: causes::first_thread(profile, &tree, &overheads),
        });
        let summary = summary::Facts {
            profile,
            labels: &labels,
            flat: &flat,
            overheads: &overheads,
            causes: &causes,
            dilation: dilation.as_ref(),
        }
        .in_words();
        Self {
            properties: properties::analyse(
                profile,
                &tree,
                &labels,
                &flat,
                &grains,
                thread_time_ns,
            ),
            efficiency,
            causes,
            decompositions: Decompositions::new(profile, &tree),
            dilation,
            spreads: waits::spreads(profile),
            lateness: waits::lateness(profile),
            contention: waits::contended(profile, &instances, thread_time_ns),
            own_times: own::own_times(&tree, &call_graph),
            on_call_paths: OnCallPaths::new(profile, tree, &call_graph),
            overview: overview(profile, &flat),
            ranks: ranks::ranks(profile),
            formulas: Formulas::new(profile),
            profile,
            threads,
            labels,
            call_graph,
            flat,
            overheads,
            summary,
            loops_without_work,
            least_severity: NEGLIGIBLE,
            shown: None,
        }
    }

    /// A sentence about times of a region that are not measured or only estimated, and the
    /// reason.
    #[must_use]
    pub fn not_measured(&self, region: usize) -> Option<String> {
        if self.loops_without_work.get(region) == Some(&true) {
            let seen =
                "only the barrier at its end was seen, so its work counts for what is around it";
            return Some(seen.to_owned());
        }
        let why = self.profile.regions.get(region)?.unsplit.as_deref()?;
        let of = |regions: &[ParallelRegion]| {
            let mut regions = regions.iter();
            regions.any(|row| row.region == region && row.is_outside)
        };
        let what = match Barrier::of(&self.profile.regions[region]) {
            _ if of(&self.overheads.regions) => "measured as a whole",
            Barrier::Estimated => "implicit barrier estimated",
            Barrier::Hidden => "implicit barrier not separated from the work",
            Barrier::Measured | Barrier::None => return None,
        };
        Some(format!("{what}: {}", printable(why)))
    }

    /// The time of each thread on each call path, by metric.
    #[must_use]
    pub fn severities(&self) -> Severities<'_, 'p> {
        let tree = self.on_call_paths.tree();
        Severities::new(self.profile, tree, &self.call_graph.paths, &self.overheads)
    }

    /// POMPROF's decomposition, in the order of [`Report::flat`].
    pub fn decomposition(&self) -> impl Iterator<Item = Decomposition> {
        let of = |table| self.decompositions.of(table);
        self.flat.iter().filter_map(of)
    }
}

fn execution(region: &Region, ran: bool) -> Execution {
    let releases = region.kind == RegionKind::Lock
        && region
            .name
            .as_ref()
            .is_some_and(|name| name.contains("unset"));
    match (ran, releases) {
        (true, _) => Execution::Measured,
        (false, true) => Execution::CountsWithSet,
        (false, false) => Execution::Never,
    }
}

fn overview(profile: &Profile, flat: &[Table]) -> Vec<Overview> {
    let mut ran = vec![false; profile.regions.len()];
    for table in flat {
        ran[table.region] = true;
    }
    let of_kind = |kind: &'static KindRow| {
        let regions = profile.regions.iter().enumerate();
        let regions = regions.filter(|(_, region)| region.kind == kind.kind);
        Overview {
            kind,
            regions: regions
                .map(|(index, region)| (index, execution(region, ran[index])))
                .collect(),
        }
    };
    REGION_KINDS
        .iter()
        .map(of_kind)
        .filter(|overview| !overview.regions.is_empty())
        .collect()
}
