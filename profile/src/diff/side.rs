//! The runs of one side, with the sums to be compared.

use std::collections::HashMap;

use serde::Serialize;

use super::Subject;
use crate::analysis::{Report, Spread};
use crate::columns::Quantity;
use crate::model::{Profile, Region};
use crate::overheads::Category;
use crate::printable::printable;
use crate::runs::{Common, OnProcessors, Sample};

/// The sum of a region's instances is at most this many standard deviations off.
const DEVIATIONS: f64 = 3.0;

/// Facts about one side of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The program.
    pub application: String,
    /// When the first run started.
    pub start: String,
    /// Wall time of the run; the median.
    pub duration_ns: u64,
    /// Largest number of threads.
    pub threads: u64,
    /// Number of processes.
    pub processes: u64,
    /// Number of runs.
    pub runs: usize,
    /// Percent of their work for which threads had no processor; the median.
    pub not_run_percent: f64,
}

/// The runs of one side.
pub(super) struct Analysed<'p> {
    pub(super) reports: Vec<Report<'p>>,
    pub(super) common: Common,
    runs: Vec<Sums>,
}

/// The sums of one run.
struct Sums {
    lost: HashMap<(usize, Category), u64>,
    exec: HashMap<usize, u64>,
    /// The uncertainty of the regions' times that follows from the spread of their instances.
    open: HashMap<usize, u64>,
}

impl<'p> Analysed<'p> {
    pub(super) fn new(profiles: &'p [Profile]) -> Self {
        let reports: Vec<Report<'p>> = profiles.iter().map(Report::new).collect();
        Self {
            common: Common::new(profiles.iter().map(|profile| profile.regions.as_slice())),
            runs: reports.iter().map(Sums::new).collect(),
            reports,
        }
    }

    pub(super) fn regions(&self) -> &[Region] {
        &self.common.regions
    }

    /// The facts about this side. With several runs, text that should be the same in all is
    /// taken from the first run.
    pub(super) fn side(&self) -> Side {
        let most = |of: fn(&Report<'_>) -> u64| self.reports.iter().map(of).max().unwrap_or(0);
        let first = self.reports.first().map(|report| &report.profile.run);
        let text = |of: fn(&crate::model::Run) -> &String| {
            first
                .map(of)
                .map_or_else(String::new, |text| printable(text).into_owned())
        };
        Side {
            application: text(|run| &run.application),
            start: text(|run| &run.start),
            duration_ns: self.of_program(Subject::WallTime).median,
            threads: most(|report| report.overheads.threads),
            processes: most(|report| report.overheads.processes),
            runs: self.reports.len(),
            not_run_percent: self.not_run_percent(),
        }
    }

    /// Percent of their work for which threads had no processor; the median.
    pub(super) fn not_run_percent(&self) -> f64 {
        const PARTS: f64 = 1e6;
        let parts = |run: usize| {
            let missing = OnProcessors::of(&self.reports[run]).missing_percent();
            (missing * PARTS).round() as u64
        };
        self.sample(parts).median as f64 / PARTS
    }

    /// Thread time of the whole program.
    pub(super) fn thread_time_ns(&self) -> u64 {
        self.sample(|run| self.reports[run].overheads.thread_time_ns)
            .median
    }

    /// The times of a region that is not in this program: zeros.
    pub(super) fn sample_of_nothing(&self) -> Sample {
        self.sample(|_| 0)
    }

    fn sample(&self, of: impl Fn(usize) -> u64) -> Sample {
        Sample::of((0..self.reports.len()).map(of).collect())
    }

    pub(super) fn of_region(&self, region: usize, subject: Subject) -> Sample {
        let here = |run: usize| self.common.in_profile(run, region);
        let time = |run: usize| {
            let here = here(run)?;
            match subject {
                Subject::Lost(category) => self.runs[run].lost.get(&(here, category)).copied(),
                Subject::WallTime | Subject::ExecTime => self.runs[run].exec.get(&here).copied(),
            }
        };
        let mut sample = self.sample(|run| time(run).unwrap_or(0));
        if let (1, Subject::ExecTime, Some(here)) = (self.runs.len(), subject, here(0)) {
            let open = self.runs[0].open.get(&here).copied().unwrap_or(0);
            sample.low = sample.low.saturating_sub(open);
            sample.high = sample.high.saturating_add(open);
        }
        sample
    }

    pub(super) fn of_program(&self, subject: Subject) -> Sample {
        self.sample(|run| {
            let overheads = &self.reports[run].overheads;
            match subject {
                Subject::Lost(category) => overheads.whole_sum.by_category[category as usize].ns,
                Subject::WallTime | Subject::ExecTime => overheads.duration_ns,
            }
        })
    }
}

impl Sums {
    fn new(report: &Report<'_>) -> Self {
        let mut lost: HashMap<(usize, Category), u64> = HashMap::new();
        for place in &report.overheads.places {
            *lost.entry((place.region, place.category)).or_default() += place.lost.ns;
        }
        let exec = report.flat.iter().filter_map(|table| {
            let column = table.column(Quantity::ExecTime)?;
            Some((table.region, table.sum[column]))
        });
        let open = report.spreads.iter().map(|spread| {
            // A team's time counts for each of its threads.
            let of_team = |row: &&crate::analysis::ParallelRegion| row.region == spread.region;
            let team = report.overheads.regions.iter().find(of_team);
            let threads = team.map_or(1, |row| row.threads.max(1) as u64);
            (spread.region, open(spread).saturating_mul(threads))
        });
        Self {
            lost,
            exec: exec.collect(),
            open: open.collect(),
        }
    }
}

/// How far the sums of two samples of the same number of instances may differ by chance.
fn open(spread: &Spread) -> u64 {
    let mean = spread.mean_ns as f64;
    let squares = spread.histogram.iter().map(|bucket| {
        // A bucket's bounds may lie outside the range of the measured instances.
        let from = bucket.from_ns.max(spread.min_ns) as f64;
        let below = bucket.below_ns.min(spread.max_ns) as f64;
        let off = f64::midpoint(from, below) - mean;
        bucket.count as f64 * off * off
    });
    (DEVIATIONS * squares.sum::<f64>().sqrt()).round() as u64
}
