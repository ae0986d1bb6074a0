//! Holds a profile against thresholds, alone or beside a baseline: what a test
//! of a program's performance is made of.
//!
//! A profile in which no parallel region ran violates: thresholds that hold
//! because nothing was measured say nothing.

mod thresholds;

pub use thresholds::{Overhead, Thresholds};

use std::collections::HashMap;

use crate::analysis::words::percent;
use crate::analysis::{Label, NEGLIGIBLE, Report, Share};
use crate::columns::Quantity;
use crate::identity::{Pair, pairs};
use crate::model::{Profile, Region};
use crate::overheads::Category;
use crate::units::{Factor, Percent};

/// Regions with a smaller part of the thread time are not looked at one by one.
const MIN_SHARE: Percent = Percent(1.0);

/// Why thresholds cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// There is none.
    #[error("there is no threshold to check: give one, such as --max-overhead total=20%")]
    NoThreshold,
    /// None needs the baseline that is given.
    #[error(
        "a baseline is given, but no threshold compares with it: give --max-time-ratio or \
         --max-region-ratio, or leave the baseline out"
    )]
    BaselineUnused,
}

/// One threshold applied to one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The threshold, as the user calls it.
    pub threshold: String,
    /// What it was applied to: the program, or a region.
    pub subject: String,
    /// File and line to look at, if one is to blame.
    pub place: Option<(String, u32)>,
    /// What was found, and the limit, in one sentence without a final stop.
    pub message: String,
    /// Whether the threshold holds.
    pub holds: bool,
}

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Every check, in the order of the thresholds.
    pub checks: Vec<Check>,
    /// What could not be compared, one sentence each.
    pub notes: Vec<String>,
}

impl Checked {
    /// The checks that failed.
    pub fn violations(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }
}

/// Applies thresholds; [`crate::merge::fold`] the profiles before. Without
/// baseline those that compare with one are passed over, with a note.
///
/// # Errors
/// If there is no threshold, or none needs the baseline.
pub fn check(
    profile: &Profile,
    baseline: Option<&Profile>,
    thresholds: &Thresholds,
) -> Result<Checked, CheckError> {
    if thresholds.is_empty() {
        return Err(CheckError::NoThreshold);
    }
    let comparing = thresholds.comparing();
    if baseline.is_some() && comparing.is_empty() {
        return Err(CheckError::BaselineUnused);
    }
    let report = Report::new(profile);
    let min_share = thresholds.min_share.unwrap_or(MIN_SHARE);
    let mut checking = Checking {
        report: &report,
        exec: exec_times(&report),
        min_share,
        checked: Checked::default(),
    };
    checking.something_ran();
    for (&overhead, &limit) in &thresholds.max_overhead {
        checking.overhead(overhead, limit);
    }
    if let Some(limit) = thresholds.min_coverage {
        checking.coverage(limit);
    }
    if let Some(limit) = thresholds.max_imbalance {
        checking.imbalance(limit);
    }
    match baseline {
        Some(baseline) => checking.compare(&Report::new(baseline), thresholds),
        None if comparing.is_empty() => {}
        None => checking.checked.notes.push(format!(
            "no baseline is given, so not checked: {}",
            comparing.join(", ")
        )),
    }
    Ok(checking.checked)
}

/// Thread time in each region that ran, with all that is below.
fn exec_times(report: &Report<'_>) -> HashMap<usize, u64> {
    let of = |table: &crate::analysis::Table| {
        let column = table.column(Quantity::ExecTime)?;
        Some((table.region, table.sum[column]))
    };
    report.flat.iter().filter_map(of).collect()
}

struct Checking<'a, 'p> {
    report: &'a Report<'p>,
    exec: HashMap<usize, u64>,
    min_share: Percent,
    checked: Checked,
}

impl Checking<'_, '_> {
    fn add(
        &mut self,
        threshold: &str,
        region: Option<usize>,
        subject: String,
        message: String,
        holds: bool,
    ) {
        let place = region.map(|region| {
            let region = &self.report.profile.regions[region];
            (region.file.clone(), region.begin[0])
        });
        self.checked.checks.push(Check {
            threshold: threshold.to_owned(),
            subject,
            place,
            message,
            holds,
        });
    }

    fn something_ran(&mut self) {
        if self.report.overheads.regions.is_empty() {
            let message = "no parallel region ran, so that thresholds say nothing".to_owned();
            self.add("measured", None, PROGRAM.to_owned(), message, false);
        }
    }

    fn overhead(&mut self, overhead: Overhead, limit: Percent) {
        let overheads = &self.report.overheads;
        let (share, worst): (Share, _) = match overhead {
            Overhead::Total => (overheads.whole_sum.overhead, overheads.places.first()),
            Overhead::Of(category) => (
                overheads.whole_sum.by_category[category as usize],
                overheads
                    .places
                    .iter()
                    .find(|place| place.category == category),
            ),
        };
        let most = worst.map(|worst| {
            let label = &self.report.labels[worst.region];
            let estimated = match worst.is_estimated {
                true => "estimated ",
                false => "",
            };
            let lost = percent(worst.lost.percent);
            let place = worst.cost.place;
            format!(", most {place} the {} ({estimated}{lost})", name(label))
        });
        let (holds, found) = at_most(share.percent, limit);
        let message = format!(
            "{} is {found} of the thread time{}{}",
            overhead.in_words(),
            most.unwrap_or_default(),
            self.not_known()
        );
        let threshold = format!("max-overhead {}", overhead.name());
        let region = worst.map(|worst| worst.region);
        self.add(&threshold, region, PROGRAM.to_owned(), message, holds);
    }

    /// Of how much of the thread time nobody knows whether it was lost.
    fn not_known(&self) -> String {
        let untold = self.report.overheads.untold.percent;
        match untold >= NEGLIGIBLE {
            true => format!(
                "; of {} it is not known whether it was lost",
                percent(untold)
            ),
            false => String::new(),
        }
    }

    fn coverage(&mut self, limit: Percent) {
        let found = self.report.overheads.coverage.percent;
        let holds = found >= limit.0;
        let verb = if holds { "at least" } else { "less than" };
        let message = format!(
            "{} % of the run is in parallel regions, {verb} {limit}",
            digits(found, limit.0)
        );
        self.add("min-coverage", None, PROGRAM.to_owned(), message, holds);
    }

    /// Whether a region is large enough to be looked at.
    fn counts(&self, exec_ns: u64, thread_time_ns: u64) -> bool {
        exec_ns as f64 >= self.min_share.0 / 100.0 * thread_time_ns as f64
    }

    fn imbalance(&mut self, limit: Percent) {
        let report = self.report;
        let mut lost: Vec<(usize, u64)> = Vec::new();
        for place in &report.overheads.places {
            if place.category == Category::Imbal {
                lost.push((place.region, place.lost.ns));
            }
        }
        for (region, lost) in lost {
            let exec = self.exec.get(&region).copied().unwrap_or(0);
            if !self.counts(exec, report.overheads.thread_time_ns) {
                continue;
            }
            let (holds, found) = at_most(Share::of(lost, exec).percent, limit);
            let subject = self.subject(region);
            let message = format!(
                "waiting at the implicit barrier of the {subject} is {found} of the thread \
                 time in it"
            );
            self.add("max-imbalance", Some(region), subject, message, holds);
        }
    }

    fn subject(&self, region: usize) -> String {
        described(self.report, region)
    }

    fn compare(&mut self, baseline: &Report<'_>, thresholds: &Thresholds) {
        let (now, then) = (&self.report.overheads, &baseline.overheads);
        if (now.threads, now.processes) != (then.threads, then.processes) {
            let (now, then) = (now.threads, then.threads);
            self.checked.notes.push(format!(
                "the baseline had {then} threads, this run {now}: times of regions are thread \
                 times and grow with their number"
            ));
        }
        if let Some(limit) = thresholds.max_time_ratio {
            let (holds, found) = ratio(now.duration_ns, then.duration_ns, limit);
            let message = format!("the run took {found} the baseline's time");
            self.add("max-time-ratio", None, PROGRAM.to_owned(), message, holds);
        }
        if let Some(limit) = thresholds.max_region_ratio {
            self.compare_regions(baseline, limit);
        }
    }

    fn compare_regions(&mut self, baseline: &Report<'_>, limit: Factor) {
        let base_times = exec_times(baseline);
        let regions = &self.report.profile.regions;
        for Pair { before, after } in pairs(&baseline.profile.regions, regions) {
            let Some(after) = after else {
                let gone = before.map(|before| described_at(baseline, before));
                self.note(gone, "of the baseline is not in this program any more");
                continue;
            };
            let now = self.exec.get(&after).copied().unwrap_or(0);
            let Some(before) = before else {
                let new = described_at(self.report, after);
                self.note(Some(new), "is not in the baseline");
                continue;
            };
            let then = base_times.get(&before).copied().unwrap_or(0);
            let is_large = self.counts(now, self.report.overheads.thread_time_ns)
                || self.counts(then, baseline.overheads.thread_time_ns);
            match (then, now) {
                (0, 0) => {}
                (0, _) | (_, 0) => {
                    let region = described_at(self.report, after);
                    let when = if then == 0 {
                        "the baseline"
                    } else {
                        "this run"
                    };
                    self.note(Some(region), &format!("did not run in {when}"));
                }
                _ if is_large => {
                    let (holds, found) = ratio(now, then, limit);
                    let subject = self.subject(after);
                    let message = format!("the {subject} took {found} the baseline's thread time");
                    self.add("max-region-ratio", Some(after), subject, message, holds);
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

/// `LOOP in main`.
fn described(report: &Report<'_>, region: usize) -> String {
    let label = &report.labels[region];
    let name = name(label);
    match &label.function {
        Some(function) => format!("{name} in {function}"),
        None => name,
    }
}

/// `a.c:35: LOOP in main`.
fn described_at(report: &Report<'_>, region: usize) -> String {
    let Region { file, begin, .. } = &report.profile.regions[region];
    format!("{file}:{}: {}", begin[0], described(report, region))
}

/// Whether a share is within its limit, and both in words.
fn at_most(found: f64, limit: Percent) -> (bool, String) {
    let holds = found <= limit.0;
    let verb = if holds { "at most" } else { "more than" };
    (
        holds,
        format!("{} % ({verb} {limit})", digits(found, limit.0)),
    )
}

/// Whether a time is within a multiple of another, and both in words.
fn ratio(now: u64, then: u64, limit: Factor) -> (bool, String) {
    let found = now as f64 / then.max(1) as f64;
    let holds = found <= limit.0;
    let verb = if holds { "at most" } else { "more than" };
    (
        holds,
        format!("{} times ({verb} {limit})", digits(found, limit.0)),
    )
}

/// A number with so many decimals that it is not taken for its limit.
fn digits(found: f64, limit: f64) -> String {
    let differ = |decimals: &usize| {
        let shown: f64 = format!("{found:.decimals$}").parse().unwrap_or(found);
        (shown <= limit) == (found <= limit) && (shown >= limit) == (found >= limit)
    };
    let decimals = (2..9).find(differ).unwrap_or(9);
    format!("{found:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_beyond_its_limit_looks_so() {
        assert_eq!(digits(5.0001, 5.0), "5.0001");
        assert_eq!(digits(32.4, 20.0), "32.40");
        assert_eq!(
            at_most(5.0, Percent(5.0)),
            (true, "5.00 % (at most 5 %)".to_owned())
        );
        assert_eq!(
            at_most(5.001, Percent(5.0)),
            (false, "5.001 % (more than 5 %)".to_owned())
        );
    }
}
