//! The checks, one function for each threshold.

use std::collections::HashMap;

use super::wording::{SharePerRun, ratio};
use super::{Check, Checked, Overhead, Thresholds};
use crate::analysis::words::percent;
use crate::analysis::{Label, NEGLIGIBLE, Report, Share};
use crate::columns::Quantity;
use crate::identity::{Pair, pairs};
use crate::model::Profile;
use crate::overheads::Category;
use crate::runs::{Common, CommonCause, Sample};
use crate::units::{Factor, Percent};

/// The runs of one program.
pub(super) struct Runs<'p> {
    reports: Vec<Report<'p>>,
    common: Common,
    /// For each run, the thread time in each region that ran, including the regions below.
    exec: Vec<HashMap<usize, u64>>,
    /// The run of median duration. The place to look at is taken from this run.
    median: usize,
}

impl<'p> Runs<'p> {
    /// Returns none if there is no run.
    pub(super) fn new(profiles: &'p [Profile]) -> Option<Self> {
        let reports: Vec<Report<'p>> = profiles.iter().map(Report::new).collect();
        let mut by_duration: Vec<usize> = (0..reports.len()).collect();
        by_duration.sort_by_key(|run| profiles[*run].run.duration_ns);
        Some(Self {
            median: *by_duration.get(reports.len().checked_sub(1)? / 2)?,
            common: Common::new(profiles.iter().map(|profile| profile.regions.as_slice())),
            exec: reports.iter().map(exec_times).collect(),
            reports,
        })
    }

    /// The run of median duration.
    fn report(&self) -> &Report<'p> {
        &self.reports[self.median]
    }

    fn found(&self, of: impl Fn(&Report<'p>) -> f64) -> SharePerRun {
        SharePerRun::of(self.reports.iter().map(of))
    }

    /// The median over the runs.
    fn ns(&self, of: impl Fn(usize) -> u64) -> u64 {
        Sample::of((0..self.reports.len()).map(of).collect()).median
    }

    fn duration_ns(&self) -> u64 {
        self.ns(|run| self.reports[run].overheads.duration_ns)
    }

    fn thread_time_ns(&self) -> u64 {
        self.ns(|run| self.reports[run].overheads.thread_time_ns)
    }

    /// Thread time in a common region in one run.
    fn exec_in(&self, run: usize, region: usize) -> u64 {
        let here = self.common.in_profile(run, region);
        let time = here.and_then(|here| self.exec[run].get(&here));
        time.copied().unwrap_or(0)
    }

    fn exec_ns(&self, region: usize) -> u64 {
        self.ns(|run| self.exec_in(run, region))
    }

    /// The time that one run lost in a common region at its implicit barriers.
    fn imbalance_in(&self, run: usize, region: usize) -> u64 {
        let here = self.common.in_profile(run, region);
        let places = self.reports[run].overheads.places.iter();
        let of_region =
            places.filter(|place| place.category == Category::Imbal && Some(place.region) == here);
        of_region.map(|place| place.lost.ns).sum()
    }

    /// The common regions that lose time at implicit barriers. Those that lose most in the run
    /// of median duration stand first.
    fn imbalanced(&self) -> Vec<usize> {
        let all = 0..self.common.regions.len();
        let runs = 0..self.reports.len();
        let loses = |region: &usize| {
            let mut runs = runs.clone();
            runs.any(|run| self.imbalance_in(run, *region) > 0)
        };
        let mut found: Vec<usize> = all.filter(loses).collect();
        found.sort_by_key(|region| std::cmp::Reverse(self.imbalance_in(self.median, *region)));
        found
    }

    fn label(&self, region: usize) -> &Label {
        self.common.label(&self.reports, region)
    }

    /// `LOOP in main`.
    fn described(&self, region: usize) -> String {
        let label = self.label(region);
        let name = name(label);
        match &label.function {
            Some(function) => format!("{name} in {function}"),
            None => name,
        }
    }

    /// `a.c:35: LOOP in main`.
    fn described_at(&self, region: usize) -> String {
        let (file, line) = self.place(region);
        format!("{file}:{line}: {}", self.described(region))
    }

    fn place(&self, region: usize) -> (String, u32) {
        let region = &self.common.regions[region];
        (region.file.clone(), region.begin[0])
    }
}

/// Thread time in each region that ran, including the regions below.
fn exec_times(report: &Report<'_>) -> HashMap<usize, u64> {
    let of = |table: &crate::analysis::Table| {
        let column = table.column(Quantity::ExecTime)?;
        Some((table.region, table.sum[column]))
    };
    report.flat.iter().filter_map(of).collect()
}

pub(super) struct Checking<'a, 'p> {
    runs: &'a Runs<'p>,
    min_share: Percent,
    pub(super) checked: Checked,
}

impl<'a, 'p> Checking<'a, 'p> {
    pub(super) fn new(runs: &'a Runs<'p>, min_share: Percent) -> Self {
        Self {
            runs,
            min_share,
            checked: Checked::default(),
        }
    }

    fn add(
        &mut self,
        threshold: &str,
        place: Option<(String, u32)>,
        subject: String,
        message: String,
        holds: bool,
    ) {
        self.checked.checks.push(Check {
            threshold: threshold.to_owned(),
            subject,
            place,
            message,
            holds,
        });
    }

    pub(super) fn something_ran(&mut self) {
        let mut reports = self.runs.reports.iter();
        if reports.any(|report| report.overheads.regions.is_empty()) {
            let message = "no parallel region ran, so there is nothing to check".to_owned();
            self.add("measured", None, PROGRAM.to_owned(), message, false);
        }
    }

    pub(super) fn overhead(&mut self, overhead: Overhead, limit: Percent) {
        let report = self.runs.report();
        let mut causes = report.causes.list.iter();
        let (found, worst): (SharePerRun, _) = match overhead {
            Overhead::Total => (
                self.runs
                    .found(|report| report.overheads.whole_sum.overhead.percent),
                causes.next(),
            ),
            Overhead::Of(category) => (
                self.runs.found(|report| {
                    report.overheads.whole_sum.by_category[category as usize].percent
                }),
                causes.find(|cause| cause.category == Some(category)),
            ),
        };
        let most = worst.map(|worst| {
            let estimated = match worst.is_estimated {
                true => "estimated ",
                false => "",
            };
            let likely = percent(worst.likely.percent);
            let place = &worst.place.words;
            format!(", most to win {place} ({estimated}{likely} of the run)")
        });
        let (holds, found) = found.at_most(limit);
        let message = format!(
            "{} is {found} of the thread time{}{}",
            overhead.in_words(),
            most.unwrap_or_default(),
            self.not_known()
        );
        let threshold = format!("max-overhead {}", overhead.name());
        let place = worst.and_then(|worst| {
            let region = &report.profile.regions[*worst.place.regions.first()?];
            Some((region.file.clone(), region.begin[0]))
        });
        self.add(&threshold, place, PROGRAM.to_owned(), message, holds);
    }

    /// How much of the thread time may or may not have been lost, in words; empty if
    /// negligible.
    fn not_known(&self) -> String {
        let untold = self.runs.report().overheads.untold.percent;
        match untold >= NEGLIGIBLE {
            true => format!(
                "; for {} it is not known whether it was lost",
                percent(untold)
            ),
            false => String::new(),
        }
    }

    pub(super) fn coverage(&mut self, limit: Percent) {
        let found = self.runs.found(|report| report.overheads.coverage.percent);
        let (holds, [found, against]) = found.at_least(limit);
        let message = format!("{found} % of the run is in parallel regions, {against}");
        self.add("min-coverage", None, PROGRAM.to_owned(), message, holds);
    }

    /// Whether a region is large enough to be looked at.
    fn counts(&self, exec_ns: u64, thread_time_ns: u64) -> bool {
        exec_ns as f64 >= self.min_share.0 / 100.0 * thread_time_ns as f64
    }

    pub(super) fn imbalance(&mut self, limit: Percent) {
        let runs = self.runs;
        for region in runs.imbalanced() {
            if !self.counts(runs.exec_ns(region), runs.thread_time_ns()) {
                continue;
            }
            let shares = (0..runs.reports.len()).map(|run| {
                let lost = runs.imbalance_in(run, region);
                Share::of(lost, runs.exec_in(run, region)).percent
            });
            let (holds, found) = SharePerRun::of(shares).at_most(limit);
            let subject = runs.described(region);
            let message = format!(
                "waiting at the implicit barrier of the {subject} is {found} of the thread \
                 time in it"
            );
            let place = Some(runs.place(region));
            self.add("max-imbalance", place, subject, message, holds);
        }
    }

    pub(super) fn win(&mut self, limit: Percent) {
        let runs = self.runs;
        for cause in CommonCause::list(&runs.reports, &runs.common) {
            let Some((_, shown)) = cause.shown() else {
                continue;
            };
            let shares = cause.of_run.iter();
            let shares = shares.map(|cause| cause.map_or(0.0, |cause| cause.likely.percent));
            let (holds, found) = SharePerRun::of(shares).at_most(limit);
            let estimated = if shown.is_estimated { "estimated " } else { "" };
            let message = format!(
                "{estimated}{found} of the run can be won: {} ({})",
                shown.kind.at(&shown.place.words),
                shown.what
            );
            let place = cause.regions.first().map(|&region| runs.place(region));
            let subject = shown.kind.at(&shown.place.words);
            self.add("max-win", place, subject, message, holds);
        }
    }

    pub(super) fn compare(&mut self, baseline: &Runs<'_>, thresholds: &Thresholds) {
        let now = &self.runs.report().overheads;
        let then = &baseline.report().overheads;
        if (now.threads, now.processes) != (then.threads, then.processes) {
            let (now, then) = (now.threads, then.threads);
            self.checked.notes.push(format!(
                "the baseline had {then} threads, this run {now}: times of regions are thread \
                 times and grow with their number"
            ));
        }
        if let Some(limit) = thresholds.max_time_ratio {
            let (holds, found) = ratio(self.runs.duration_ns(), baseline.duration_ns(), limit);
            let message = format!("the run took {found} the baseline's time");
            self.add("max-time-ratio", None, PROGRAM.to_owned(), message, holds);
        }
        if let Some(limit) = thresholds.max_region_ratio {
            self.compare_regions(baseline, limit);
        }
    }

    fn compare_regions(&mut self, baseline: &Runs<'_>, limit: Factor) {
        let runs = self.runs;
        for Pair { before, after } in pairs(&baseline.common.regions, &runs.common.regions) {
            let Some(after) = after else {
                let gone = before.map(|before| baseline.described_at(before));
                self.note(gone, "of the baseline is not in this program any more");
                continue;
            };
            let now = runs.exec_ns(after);
            let Some(before) = before else {
                let new = runs.described_at(after);
                self.note(Some(new), "is not in the baseline");
                continue;
            };
            let then = baseline.exec_ns(before);
            let is_large = self.counts(now, runs.thread_time_ns())
                || self.counts(then, baseline.thread_time_ns());
            match (then, now) {
                (0, 0) => {}
                (0, _) | (_, 0) => {
                    let region = runs.described_at(after);
                    let when = if then == 0 {
                        "the baseline"
                    } else {
                        "this run"
                    };
                    self.note(Some(region), &format!("did not run in {when}"));
                }
                _ if is_large => {
                    let (holds, found) = ratio(now, then, limit);
                    let subject = runs.described(after);
                    let message = format!("the {subject} took {found} the baseline's thread time");
                    let place = Some(runs.place(after));
                    self.add("max-region-ratio", place, subject, message, holds);
                }
                _ => {}
            }
        }
    }

    fn note(&mut self, region: Option<String>, what: &str) {
        let note = region.map(|region| format!("{region} {what}"));
        self.checked.notes.extend(note);
    }
}

const PROGRAM: &str = "the whole program";

/// `LOOP`, `CRITICAL "name"`.
fn name(label: &Label) -> String {
    let kind = label.kind.row().full_name;
    match &label.name {
        Some(name) => format!("{kind} \"{name}\""),
        None => kind.to_owned(),
    }
}
