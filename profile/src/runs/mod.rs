//! Several runs of one program as a sample: the median and the interval of repeated
//! measurements, and the matching of the regions in their profiles.

mod causes;
mod common;

pub(crate) use causes::{CommonCause, partners};
pub(crate) use common::{Common, Site, location};

use serde::Serialize;

use crate::analysis::Report;

/// From this number of runs on, the interval may leave out runs at both ends.
const TRIMMED_FROM: usize = 6;

/// Repeated measurements of one quantity.
///
/// With up to five runs, the interval is the range of all runs. It contains the true median in
/// all but `2 / 2^n` of the samples of `n` runs. With more runs, it is the narrowest pair of
/// runs, counted from both ends, that contains the true median in at least 95 % of the samples.
/// Both hold for any distribution of the times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// The value in the middle; the mean of the middle two for an even number of values.
    pub median: u64,
    /// The interval's lower end.
    pub low: u64,
    /// The interval's upper end.
    pub high: u64,
    /// The number of runs.
    pub runs: usize,
}

impl Sample {
    /// The sample of these values; all fields are zero if there are none.
    #[must_use]
    pub fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let runs = values.len();
        let Some(last) = runs.checked_sub(1) else {
            return Self::default();
        };
        let (below, above) = (values[last / 2], values[runs / 2]);
        let left_out = left_out(runs);
        Self {
            median: below + (above - below) / 2,
            low: values[left_out],
            high: values[last - left_out],
            runs,
        }
    }

    /// The width of the interval.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.high - self.low
    }

    /// Whether the difference from another sample is larger than chance alone explains.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let is_apart = self.high < other.low || other.high < self.low;
        let widths = self.width() as f64 + other.width() as f64;
        let least = times_the_widths(self.runs.min(other.runs)) * widths;
        is_apart && self.median.abs_diff(other.median) as f64 > least
    }
}

/// The number of runs that the interval leaves out at each end.
pub(crate) fn left_out(runs: usize) -> usize {
    if runs < TRIMMED_FROM {
        return 0;
    }
    // P(fewer than k + 1 of n runs lie below the median), by the binomial distribution.
    let mut term = 0.5_f64.powi(i32::try_from(runs).unwrap_or(i32::MAX));
    let mut below = term;
    let mut left_out = 0;
    while left_out + 1 < runs / 2 {
        term *= (runs - left_out) as f64 / (left_out + 1) as f64;
        below += term;
        if below > 0.025 {
            break;
        }
        left_out += 1;
    }
    left_out
}

/// A factor by which the sum of both intervals' widths is multiplied, by the number of runs of
/// the smaller side. For runs that do not differ, medians are farther apart than this product
/// in at most 1 of 100 comparisons. The factors were found by drawing pairs of samples from a
/// normal, an exponential and a heavy-tailed distribution.
fn times_the_widths(runs: usize) -> f64 {
    match runs {
        // One run has no width, so the sum is the width of the other side.
        0 | 1 => 4.0,
        2 => 4.0,
        3 => 1.2,
        4 => 0.65,
        _ => 0.0,
    }
}

/// The work of threads, and the time for which they had a processor meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnProcessors {
    /// Useful elapsed time of all threads.
    pub(crate) busy_ns: i128,
    /// The part of that time for which they had a processor; all of it if that is not known.
    pub(crate) ran_ns: i128,
}

impl OnProcessors {
    /// The times of a run. The kernel reports for all threads how long they ran and how long
    /// they were ready without a processor, but not where. So work gets its proportional share.
    pub(crate) fn of(report: &Report<'_>) -> Self {
        let (profile, overheads) = (report.profile, &report.overheads);
        let useful = overheads.regions.iter().map(|row| {
            let not_useful = i128::from(row.losses.total()) + i128::from(row.untold_ns);
            i128::from(row.total_ns) - not_useful
        });
        let serial = i128::from(overheads.serial.ns) * i128::from(overheads.processes);
        let busy_ns = useful.sum::<i128>() + serial;
        // With several processes, each process has its own values.
        let runs = std::iter::once(&profile.run).chain(&profile.ranks);
        let told = runs.filter_map(|run| run.scheduling);
        let (ran, ready) = told.fold((0, 0), |(ran, ready), of| {
            (ran + i128::from(of.run_ns), ready + i128::from(of.ready_ns))
        });
        let share = busy_ns.saturating_mul(ready) / (ran + ready).max(1);
        // Sleeping threads are not ready.
        Self {
            busy_ns,
            ran_ns: busy_ns - share.min(ready),
        }
    }

    /// The part of the time without a processor, in percent.
    pub(crate) fn missing_percent(self) -> f64 {
        100.0 * (self.busy_ns - self.ran_ns) as f64 / self.busy_ns.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_has_as_many_runs_below_as_above() {
        assert_eq!(Sample::of(Vec::new()), Sample::default());
        let of = |values: &[u64]| Sample::of(values.to_vec());
        assert_eq!(of(&[7]).median, 7);
        assert_eq!(of(&[9, 1, 5]).median, 5);
        assert_eq!(of(&[4, 1]).median, 2);
        assert_eq!(of(&[u64::MAX, u64::MAX]).median, u64::MAX);
    }

    #[test]
    fn the_interval_of_many_runs_leaves_out_the_ends() {
        let of = |runs: u64| Sample::of((0..runs).collect());
        assert_eq!((of(5).low, of(5).high), (0, 4));
        // Binomial: P(X <= 0) of 6 is 1.6 %, P(X <= 1) 11 %; of 9, P(X <= 1) is 2.0 %.
        assert_eq!((of(6).low, of(6).high), (0, 5));
        assert_eq!((of(9).low, of(9).high), (1, 7));
        assert_eq!((of(20).low, of(20).high), (5, 14));
        // No overflow, whatever is given.
        assert!(of(5000).width() > 0);
    }

    #[test]
    fn one_slow_run_of_many_is_not_in_the_interval() {
        let mut times = vec![100; 9];
        times.push(9_000);
        let sample = Sample::of(times);
        assert_eq!((sample.median, sample.high), (100, 100));
    }

    #[test]
    fn what_overlaps_does_not_differ() {
        let of = |values: &[u64]| Sample::of(values.to_vec());
        assert!(!of(&[10, 12, 14]).differs(&of(&[13, 15, 17])));
        assert!(of(&[10, 11, 12]).differs(&of(&[30, 31, 32])));
        // Two runs a side are apart by chance in one of three comparisons.
        assert!(!of(&[10, 11]).differs(&of(&[13, 14])));
        assert!(of(&[10, 11]).differs(&of(&[23, 24])));
        assert!(!of(&[10]).differs(&of(&[10])));
    }
}
