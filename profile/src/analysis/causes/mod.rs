//! Why the run took longer than it had to: one list of causes, which all outputs use. The first
//! cause is the one that would win the most *elapsed* time.
//!
//! - Every loss is in the [`ledger`] once, and goes to one cause: the first of [`DETECTORS`]
//!   that explains it. So no loss is counted in two causes, and all causes together never win
//!   more than the run's duration.
//! - The *likely* win is the time that even work, or no wait, would save, as far as one run can
//!   show it: the weighted loss (see [`ledger`]). The *upper* win is the longest wait, or all
//!   of the lost time.
//! - A cause below [`NEGLIGIBLE`] percent of the run is not listed on its own.

mod before;
mod contention;
mod creator;
mod handing_out;
mod kernel;
mod kinds;
mod ledger;
mod long_tasks;
mod machine;
mod pairs;
mod queued;
mod reductions;
mod sections;
mod serial;
mod settings;
mod shape;
mod small;
mod small_loops;
mod small_teams;
mod spinning;
mod task_waits;
mod tasks;
mod teams;
mod teams_of_one;
mod waits;

pub use kinds::{CAUSE_KINDS, Kind};

use std::cmp::Reverse;

pub(crate) use self::kernel::{FirstThread, first_thread};
use self::ledger::{Amount, Entry, Ledger, largest, sum};
use self::machine::MostToWin;
use super::dilation::Dilation;
use super::efficiency::Efficiencies;
use super::grain::Grain;
use super::labels::Label;
use super::overheads::Overheads;
use super::tables::Table;
use super::tree::{Tree, TreeNode};
use super::wall::Walls;
use super::{NEGLIGIBLE, Share};
use crate::columns::{Measures, Quantity};
use crate::model::{Profile, Region, Row, Span, words_of_source};
use crate::order;
use crate::overheads::Category;

/// The number of causes that reports describe in words; further ones are only counted.
pub(crate) const MOST_NAMED_CAUSES: usize = 5;
/// The least win, in percent of the run, for which a cause is reported if threads were late in
/// turns for no visible reason. The noise of a machine is as large.
const BY_CHANCE: f64 = 10.0;
/// Causes that do not matter alone are reported together if they win at least this much, in
/// percent of the run.
const MANY_SMALL_CAUSES_PERCENT: f64 = 5.0;

/// Why the run took longer than it had to.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The kind of cause.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
    /// The region at whose end it begins, if it lies outside of regions.
    pub begins_behind: Option<usize>,
    /// The overhead category of the loss, if it has one.
    pub category: Option<Category>,
    /// Thread time that was lost; percent of the program's thread time.
    pub lost: Share,
    /// Elapsed time that the run would likely save; percent of its duration.
    pub likely: Share,
    /// The most elapsed time that the run could save; percent of its duration.
    pub upper: Share,
    /// The numbers that support the cause, by name.
    pub evidence: Vec<(&'static str, u64)>,
    /// Whether the loss was not measured, but estimated.
    pub is_estimated: bool,
    /// Whether the machine may be the reason instead.
    doubt: Doubt,
    /// Whether it is a wait for other threads.
    is_wait: bool,
    /// A description of what happened, as a clause.
    pub what: String,
    /// Advice in sentences; empty if there is none.
    pub remedy: String,
}

/// Why the machine, and not the program, may be the reason for a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doubt {
    None,
    /// The machine or the runtime may have caused a short wait: threads were ready without a
    /// processor for as long, or the runtime took that long to find tasks.
    Short,
    /// A thread was late, and its work in the construct does not explain it.
    LateThread,
    /// Threads were late in turns, without a reason of their own.
    ByChance,
}

impl Doubt {
    /// The least win with which such a cause is reported, in percent of the run.
    fn least_win(self) -> f64 {
        match self {
            Self::None => NEGLIGIBLE,
            Self::Short | Self::LateThread => machine::NO_PROCESSOR_PERCENT,
            Self::ByChance => BY_CHANCE,
        }
    }
}

/// Where a cause is.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Indices of the regions; the first is the one to look at first.
    pub regions: Vec<usize>,
    /// The place in words, with its preposition: `at the implicit barrier of the LOOP
    /// at a.c:15`.
    pub words: String,
}

/// All causes.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    /// The causes that matter, most to win first.
    pub list: Vec<Cause>,
    /// Places where lost time cannot be separated from work, or cannot be won, in sentences.
    pub notes: Vec<String>,
    /// If the list is empty: a cause that the machine or chance may explain as well.
    pub doubtful: Option<Cause>,
    /// For how long the program slept outside of teams; percent of the run. Zero if that is little, or
    /// not known.
    pub slept: Share,
    /// The elapsed time that all causes together can win; percent of the run. It is less than
    /// the run where threads shared processors.
    pub(crate) most: Share,
}

/// The data from which causes are derived.
pub(crate) struct Facts<'a, 'p> {
    pub(crate) profile: &'p Profile,
    /// Those of [`Profile::timed_instances`].
    pub(crate) instances: &'a [[u64; 2]],
    pub(crate) labels: &'a [Label],
    pub(crate) threads: &'a [String],
    pub(crate) flat: &'a [Table],
    pub(crate) tree: &'a Tree<'p>,
    pub(crate) walls: &'a Walls,
    pub(crate) overheads: &'a Overheads,
    pub(crate) efficiency: &'a Efficiencies,
    pub(crate) grains: &'a [Grain],
    pub(crate) dilation: Option<&'a Dilation>,
    /// See [`crate::outside::loops_without_work`].
    pub(crate) loops_without_work: &'a [bool],
    /// The kernel's figures for the initial thread, if it gives any.
    pub(crate) first_thread: Option<FirstThread>,
}

impl Facts<'_, '_> {
    /// Whether the run had more threads at once than the process has processors.
    fn is_crowded(&self) -> bool {
        self.profile.run.is_crowded_by(self.overheads.threads)
    }

    /// Whether a node has teams of several threads within other teams.
    fn has_inner_teams(&self, node: &TreeNode<'_>) -> bool {
        let forked = |row: Measures<'_>| self.profile.threads[row.row.thread].is_first_member();
        let is_inner = node.kind.is_parallel() && node.scope.is_some();
        is_inner && node.members().any(|row| !forked(row))
    }

    fn table(&self, region: usize) -> Option<&Table> {
        self.flat.iter().find(|table| table.region == region)
    }

    /// An elapsed time in nanoseconds, and its percentage of the run.
    fn elapsed(&self, ns: f64) -> Share {
        let duration = self.overheads.duration_ns;
        Share::of((ns.max(0.0).round() as u64).min(duration), duration)
    }

    /// The elapsed time that each region lasted, in nanoseconds.
    fn elapsed_by_region(&self) -> Vec<f64> {
        let mut elapsed = vec![0.0; self.profile.regions.len()];
        for (node, wall) in self.tree.nodes.iter().zip(&self.walls.nodes) {
            if !node.inside_itself {
                elapsed[node.region] += wall.inclusive;
            }
        }
        elapsed
    }

    /// The sum of a span over the rows of each region.
    fn sums(&self, of: impl Fn(&Row) -> Span) -> Vec<Span> {
        let mut sums = vec![Span::default(); self.profile.regions.len()];
        for node in &self.tree.nodes {
            for row in node.rows.iter() {
                sums[node.region] += of(row);
            }
        }
        sums
    }

    /// The sum of a quantity over all threads of a region; 0 if it is not known.
    fn sum_of(&self, region: usize, quantity: Quantity) -> u64 {
        let table = self.table(region);
        table
            .and_then(|table| Some(table.sum[table.column(quantity)?]))
            .unwrap_or(0)
    }

    /// How often the thread that executed a region most often did so.
    fn most_executions(&self, region: usize) -> Option<u64> {
        let table = self.table(region)?;
        let counts = table.column(Quantity::ExecCount)?;
        table.rows().map(|(_, cells)| cells[counts]).max()
    }

    /// The construct around a region.
    fn construct_around(&self, region: usize) -> Option<usize> {
        let nodes = &self.tree.nodes;
        let mut its = nodes.iter().filter(|node| node.region == region);
        its.find_map(|node| Some(nodes[node.parent?].region))
    }

    /// Whether the work of a worksharing construct is known.
    fn knows_work_of(&self, region: usize) -> bool {
        !self.loops_without_work[region]
    }

    /// The part of a region's thread time that `ns` is, and what the region wins without `ns`.
    /// `elapsed` is the duration of the region. With more threads than processors, another thread
    /// computes while one waits; the part is then of the time in which threads do not wait.
    fn part_of_region(&self, region: usize, ns: u64, elapsed: f64) -> Option<(f64, Amount)> {
        let table = self.table(region)?;
        let sum = |quantity| Some(table.sum[table.column(quantity)?]);
        let all = sum(Quantity::ExecTime)?.max(1);
        let waited = sum(Quantity::BarrierTime).filter(|_| self.is_crowded());
        let busy = all.saturating_sub(waited.unwrap_or(0)).max(1);
        let part = (ns as f64 / busy as f64).min(1.0);
        let amount = Amount {
            lost: ns.min(all),
            likely: elapsed * part,
            upper: elapsed,
        };
        Some((part, amount))
    }

    /// The binding region of each region: the parallel region to whose teams it binds, if there is
    /// only one.
    fn binding_regions(&self) -> Vec<Option<usize>> {
        let mut found: Vec<Option<Option<usize>>> = vec![None; self.profile.regions.len()];
        for node in &self.tree.nodes {
            let binding = match node.kind.is_parallel() {
                true => Some(node.region),
                false => node.scope.map(|scope| self.tree.nodes[scope].region),
            };
            let known = &mut found[node.region];
            *known = match known {
                None => Some(binding),
                Some(other) if *other == binding => Some(binding),
                Some(_) => Some(None),
            };
        }
        found.into_iter().map(Option::flatten).collect()
    }

    /// Percent of the run.
    fn share(&self, ns: f64) -> f64 {
        self.elapsed(ns).percent
    }

    /// Whether a loss may be a cause of its own, so that it is worth a closer look.
    fn matters(&self, entries: &[Entry]) -> bool {
        sum(entries).likely * 200.0 >= NEGLIGIBLE * self.overheads.duration_ns as f64
    }

    /// `the LOOP at a.c:15`.
    fn the(&self, region: usize) -> String {
        format!("the {}", self.labels[region].in_words())
    }

    /// A place of one region.
    fn at(&self, preposition: &str, region: usize) -> Place {
        Place {
            regions: vec![region],
            words: format!("{preposition} {}", self.the(region)),
        }
    }

    /// A place with several regions of one sort, the worst first.
    fn in_all(&self, regions: Vec<usize>, sort: &str) -> Place {
        let words = match regions[..] {
            [] => String::new(),
            [one] => format!("in {}", self.the(one)),
            [worst, ..] => format!("in {} {sort}, such as {}", regions.len(), self.the(worst)),
        };
        Place { regions, words }
    }

    /// A cause whose loss stands in the ledger.
    fn cause(&self, kind: Kind, place: Place, entries: &[Entry]) -> Cause {
        let mut cause = self.cause_of(kind, place, sum(entries));
        let most = largest(entries);
        cause.category = most.map(|entry| entry.category);
        cause.is_estimated = most.is_some_and(|entry| entry.is_estimated);
        cause.is_wait = most.is_some_and(Entry::is_wait);
        cause
    }

    fn cause_of(&self, kind: Kind, place: Place, amount: Amount) -> Cause {
        let likely = self.elapsed(amount.likely);
        Cause {
            kind,
            place,
            begins_behind: None,
            category: None,
            lost: Share::of(amount.lost, self.overheads.thread_time_ns),
            likely,
            upper: self.elapsed(amount.upper.max(amount.likely)),
            evidence: Vec::new(),
            is_estimated: false,
            doubt: Doubt::None,
            is_wait: false,
            what: String::new(),
            remedy: String::new(),
        }
    }
}

/// Whether a region is the place of any of these causes. A serial part lies beside the regions of its place.
fn explains(causes: &[Cause], region: usize) -> bool {
    let inside = causes.iter().filter(|cause| cause.kind != Kind::SerialPart);
    let mut places = inside.flat_map(|cause| &cause.place.regions);
    places.any(|place| *place == region)
}

/// Whether a region's directive has a word, such as the name of a clause. Fortran has no case.
fn mentions(region: &Region, word: &str) -> bool {
    let directive = region.directive.as_deref().unwrap_or_default();
    words_of_source(directive).any(|found| found == word)
}

/// Advice for a region whose directive has a `copyin` clause.
const COPYIN: &str = "Its copyin clause copies variables to all other threads each time: if they are large, \
                      let the threads share them.";

impl Place {
    fn everywhere() -> Self {
        Self {
            regions: Vec::new(),
            words: "in the whole run".to_owned(),
        }
    }
}

impl Cause {
    fn doubted(mut self, doubt: Doubt) -> Self {
        self.doubt = doubt;
        self
    }

    fn by_chance(self) -> Self {
        self.doubted(Doubt::ByChance)
    }

    /// A number of its evidence, by name; 0 if it has none.
    fn number(&self, name: &str) -> u64 {
        let mut evidence = self.evidence.iter();
        evidence.find(|it| it.0 == name).map_or(0, |it| it.1)
    }

    fn amount(&self) -> Amount {
        Amount {
            lost: self.lost.ns,
            likely: self.likely.ns as f64,
            upper: self.upper.ns as f64,
        }
    }

    /// Adds an amount that has the same reason. Both may have lost the same time, so the lost
    /// times are not summed up.
    fn add(&mut self, facts: &Facts<'_, '_>, amount: Amount) {
        let lost = self.lost.ns.max(amount.lost);
        self.lost = Share::of(lost, facts.overheads.thread_time_ns);
        self.likely = facts.elapsed(self.likely.ns as f64 + amount.likely);
        self.upper = facts.elapsed(self.upper.ns as f64 + amount.upper.max(amount.likely));
    }

    /// Whether it wins enough to be reported on its own.
    fn is_worth_a_line(&self) -> bool {
        self.likely.percent >= self.doubt.least_win()
    }

    /// Whether the machine is to blame, not the program.
    fn is_of_machine(&self) -> bool {
        matches!(self.kind, Kind::NoProcessor | Kind::Oversubscription)
    }

    fn saying(mut self, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        self.what = what.into();
        self.remedy = remedy.into();
        self
    }

    fn showing(mut self, evidence: &[(&'static str, u64)]) -> Self {
        self.evidence.extend_from_slice(evidence);
        self
    }
}

/// A function that finds causes. It takes the ledger's entries that it explains.
type Detector = fn(&Facts<'_, '_>, &mut Ledger) -> Vec<Cause>;

/// All detectors. Those with a more specific explanation stand first.
const DETECTORS: &[Detector] = &[
    teams::drop_start_of_first,
    teams_of_one::regions,
    small::regions,
    tasks::kept,
    tasks::small,
    small_loops::constructs,
    handing_out::chunks,
    reductions::combining,
    pairs::evened_out,
    spinning::looks,
    contention::queues,
    waits::waits,
    serial::serial_part,
    teams::starting,
    small_teams::regions,
];

/// Finds the causes.
pub(crate) fn analyse(facts: &Facts<'_, '_>) -> Causes {
    let mut causes = Causes::default();
    if facts.overheads.regions.is_empty() {
        return causes;
    }
    let mut ledger = Ledger::new(facts.profile, facts.tree, facts.walls);
    for detect in DETECTORS {
        causes.list.extend(detect(facts, &mut ledger));
    }
    machine::weigh(facts, &mut causes);
    machine::limit_to_processors(facts, &mut causes.list);
    let most = machine::most_to_win(facts, &causes.list);
    causes.most = facts.elapsed(most.all as f64);
    no_more_than(most, facts, &mut causes.list);
    let doubtful = spread(facts, &mut causes.list);
    causes.notes = handing_out::notes(facts, &causes.list);
    causes.doubtful = doubtful.filter(|_| causes.list.is_empty());
    causes.notes.extend(kernel::note_on_sleep(facts));
    causes.notes.extend(contention::notes(facts, &causes.list));
    causes.notes.extend(spinning::notes(facts, &causes.list));
    causes.notes.extend(serial::note(facts));
    causes.slept = facts.elapsed(serial::slept(facts) as f64);
    causes
}

/// A busy machine is said first, unless another cause wins more than this many times as much.
const BUSY_FIRST: u64 = 4;

fn sort(list: &mut [Cause]) {
    let most = list.iter().map(|cause| cause.likely.ns).max().unwrap_or(0);
    order::sort_by_key(list, |cause| {
        let first = cause.place.regions.first().copied();
        let likely = Reverse(cause.likely.ns);
        let is_busy_machine = machine::was_busy(cause) && most / BUSY_FIRST <= cause.likely.ns;
        let lost = Reverse(cause.lost.ns);
        (!is_busy_machine, likely, cause.is_of_machine(), lost, first)
    });
}

/// A doubtful cause that would win this part of the run is mentioned if there is no other one, in percent.
const WORTH_A_LOOK: f64 = 2.0 * NEGLIGIBLE;

/// Drops causes that do not matter alone. If they matter together, adds one cause for all of
/// them. Returns the largest doubtful one that was dropped, if it is worth a look.
fn spread(facts: &Facts<'_, '_>, list: &mut Vec<Cause>) -> Option<Cause> {
    let (mattering, minor): (Vec<Cause>, Vec<Cause>) = std::mem::take(list)
        .into_iter()
        .partition(Cause::is_worth_a_line);
    *list = mattering;
    let (minor, doubtful): (Vec<Cause>, Vec<Cause>) = minor
        .into_iter()
        .partition(|cause| cause.doubt == Doubt::None);
    let doubtful = doubtful
        .into_iter()
        .max_by_key(|cause| cause.likely.ns)
        .filter(|cause| cause.likely.percent >= WORTH_A_LOOK);
    let mut amount = Amount::default();
    for cause in &minor {
        amount += cause.amount();
    }
    let mut regions: Vec<usize> = minor
        .iter()
        .filter(|cause| cause.likely.ns > 0)
        .flat_map(|cause| cause.place.regions.iter().copied())
        .collect();
    let largest = minor
        .iter()
        .map(|cause| cause.likely.percent)
        .fold(0.0, f64::max);
    let mut seen = vec![false; facts.profile.regions.len()];
    regions.retain(|&region| !std::mem::replace(&mut seen[region], true));
    let place = Place {
        words: format!("in {} regions", regions.len()),
        regions,
    };
    let cause = facts.cause_of(Kind::Spread, place, amount);
    if cause.likely.percent < MANY_SMALL_CAUSES_PERCENT || cause.place.regions.len() < 2 {
        return doubtful;
    }
    let number = cause.place.regions.len() as u64;
    let largest = super::words::percent(largest);
    list.push(cause.showing(&[("regions", number)]).saying(
        format!("none of them loses more than {largest} of the run"),
        "There is no one place to change.",
    ));
    sort(list);
    doubtful
}

/// Limits the wins: time that one cause wins cannot be won again by the next. The wins of a
/// busy machine and of the program's own causes overlap, so all of them are reduced by the same factor.
fn no_more_than(most: MostToWin, facts: &Facts<'_, '_>, list: &mut [Cause]) {
    let mut rest_ns = most.all;
    let limit = |cause: &mut Cause, most_ns: u64| {
        cause.likely = facts.elapsed(cause.likely.ns.min(most_ns) as f64);
    };
    for cause in &mut *list {
        limit(cause, most.by(cause));
    }
    if list.iter().any(|cause| cause.kind == Kind::NoProcessor) {
        let all: f64 = list.iter().map(|cause| cause.likely.ns as f64).sum();
        let part = (rest_ns as f64 / all.max(1.0)).min(1.0);
        for cause in &mut *list {
            cause.likely = facts.elapsed(cause.likely.ns as f64 * part);
        }
    }
    sort(list);
    // Fewer threads win what the program's own causes leave.
    let mut own_first: Vec<&mut Cause> = list.iter_mut().collect();
    order::sort_by_key(&mut own_first, |cause| cause.kind == Kind::Oversubscription);
    for cause in own_first {
        limit(cause, rest_ns);
        rest_ns -= cause.likely.ns;
    }
    sort(list);
}
