//! One run, reduced to the times that scaling needs.

use std::collections::BTreeMap;

use super::{Amounts, Part};
use crate::analysis::{ParallelRegion, Report, Table};
use crate::columns::Quantity;
use crate::overheads::Category;
use crate::runs::{Common, OnProcessors};

/// One run.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) threads: u64,
    pub(super) processors: u64,
    pub(super) duration_ns: u64,
    /// Thread times, by the number of the region among the common regions.
    pub(super) regions: BTreeMap<usize, Amounts>,
    /// The thread time outside parallel regions.
    outside: Amounts,
    /// The counter values of each region.
    counters: BTreeMap<usize, Vec<u64>>,
    /// The work in each region that was profiled, including regions inside parallel regions.
    pub(super) work: BTreeMap<usize, u64>,
}

impl Measured {
    /// The thread time of a place.
    pub(super) fn of(&self, region: Option<usize>) -> Amounts {
        match region {
            Some(region) => self.regions.get(&region).copied().unwrap_or_default(),
            None => self.outside,
        }
    }

    /// The thread time of the whole program.
    pub(super) fn total(&self) -> Amounts {
        let mut total = self.outside;
        self.regions.values().for_each(|amounts| total.add(amounts));
        total
    }

    /// The counter values of a place. They are not known for time outside parallel regions.
    pub(super) fn counted(&self, region: Option<usize>) -> Vec<u64> {
        let counted = region.and_then(|region| self.counters.get(&region));
        counted.cloned().unwrap_or_default()
    }
}

/// Reduces a run. `run` is its number in the common list.
pub(super) fn measure(
    report: &Report<'_>,
    run: usize,
    common: &Common,
    counters: &[String],
) -> Measured {
    let numbers = (0..common.regions.len()).filter_map(|region| {
        let here = common.in_profile(run, region)?;
        Some((here, region))
    });
    let number: BTreeMap<usize, usize> = numbers.collect();
    let overheads = &report.overheads;
    let mut regions: BTreeMap<usize, Amounts> = BTreeMap::new();
    let mut outside = Amounts::default();
    for row in &overheads.regions {
        let amounts = match number.get(&row.region) {
            Some(region) => regions.entry(*region).or_default(),
            None => &mut outside,
        };
        amounts.add(&of_region(row));
    }
    let mut measured = Measured {
        threads: overheads.threads,
        processors: u64::from(report.profile.run.processors),
        duration_ns: overheads.duration_ns,
        regions,
        outside,
        counters: counted(report, counters, &number),
        work: work(report, &number),
    };
    measured.outside.add(&of_rest(report, &measured));
    take_out_not_run(report, &mut measured);
    measured
}

fn of_region(row: &ParallelRegion) -> Amounts {
    let runtime = i128::from(row.losses.of(Category::Mgmt));
    let waiting = i128::from(row.losses.total()) - runtime;
    let untold = i128::from(row.untold_ns);
    let mut amounts = Amounts::default();
    amounts.0[Part::Waiting as usize] = waiting;
    amounts.0[Part::Runtime as usize] = runtime;
    amounts.0[Part::Untold as usize] = untold;
    amounts.0[Part::Work as usize] = i128::from(row.total_ns) - waiting - runtime - untold;
    amounts
}

/// The thread time outside all regions.
fn of_rest(report: &Report<'_>, measured: &Measured) -> Amounts {
    let overheads = &report.overheads;
    let in_regions = measured.total();
    let mut amounts = Amounts::default();
    let small = i128::from(overheads.small_teams.ns);
    let untold = i128::from(overheads.untold.ns) - in_regions.of(Part::Untold);
    let rest = i128::from(overheads.thread_time_ns) - in_regions.total();
    amounts.0[Part::SmallTeams as usize] = small;
    amounts.0[Part::Untold as usize] = untold;
    amounts.0[Part::Serial as usize] = rest - small - untold;
    amounts
}

/// Removes work for which the process had no processor: it was on processors for less time than
/// the work. The region is not known, so each region loses its proportional share.
fn take_out_not_run(report: &Report<'_>, measured: &mut Measured) {
    let OnProcessors { busy_ns, ran_ns } = OnProcessors::of(report);
    let serial = i128::from(report.overheads.serial.ns) * i128::from(report.overheads.processes);
    let move_over = |amounts: &mut Amounts, from: Part, of: i128| {
        let ns = of - of.saturating_mul(ran_ns) / busy_ns.max(1);
        amounts.0[from as usize] -= ns;
        amounts.0[Part::NotRun as usize] += ns;
    };
    if ran_ns == busy_ns {
        return;
    }
    for amounts in measured.regions.values_mut() {
        let work = amounts.of(Part::Work);
        move_over(amounts, Part::Work, work);
    }
    move_over(&mut measured.outside, Part::Serial, serial);
}

fn counted(
    report: &Report<'_>,
    names: &[String],
    number: &BTreeMap<usize, usize>,
) -> BTreeMap<usize, Vec<u64>> {
    let known = &report.profile.run.counters;
    let indices: Vec<usize> = names
        .iter()
        .filter_map(|name| known.iter().position(|other| other == name))
        .collect();
    let of = |table: &Table| {
        let sum = |index: &usize| {
            let column = table.column(Quantity::Counter(*index))?;
            Some(table.sum[column])
        };
        let sums: Vec<u64> = indices.iter().filter_map(sum).collect();
        let region = number.get(&table.region)?;
        (sums.len() == names.len() && !sums.is_empty()).then_some((*region, sums))
    };
    report.flat.iter().filter_map(of).collect()
}

fn work(report: &Report<'_>, number: &BTreeMap<usize, usize>) -> BTreeMap<usize, u64> {
    let of = |row: crate::analysis::Decomposition| {
        let work = row.threads.iter().map(|parts| parts.work_ns).sum();
        Some((*number.get(&row.region)?, work))
    };
    report.decomposition().filter_map(of).collect()
}
