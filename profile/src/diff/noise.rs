//! Which changes are larger than noise.
//!
//! A change is noise unless it passes all of these tests:
//! - It is at least as large as the *tolerance*, a percentage of the larger time. Even on an
//!   otherwise idle machine, runs of one program differ by some percent. One run does not show
//!   by how much. So the tolerance is 10 % if a side has one run, 3 % if two, else 1 %. With
//!   one run, the tolerance is also at least the part of their work for which threads had no
//!   processor: the machine may have slowed the program down by that much.
//! - It is at least as large as a *share* of the thread time of the whole program, so that
//!   changes of tiny regions are not reported. A loss is the difference of two times, each with
//!   its own tolerance. So with one run per side, the share for losses is half of the
//!   tolerance.
//! - The *intervals* of both sides do not overlap, and their medians are farther apart than
//!   chance brings them ([`Sample::differs`]). The interval of one run is derived from the
//!   spread of a region's instances.
//!
//! A tolerance that the user gives replaces the computed one, and the test of the share is
//! skipped.

use crate::runs::Sample;
use crate::units::{Nanoseconds, Percent, UnitError};

/// Limits for noise. A change below one of them is noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Percent of the larger of both times. If not given, it depends on the number of runs.
    pub percent: Option<Percent>,
    /// A time.
    pub time: Nanoseconds,
}

/// A change must be at least this percentage of the program's thread time.
const SHARE: f64 = 1.0;

/// A time on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) before: Sample,
    pub(super) after: Sample,
    /// The larger thread time of the whole programs.
    pub(super) whole_ns: u64,
    /// Whether it is a lost time.
    pub(super) is_loss: bool,
    /// Percent of their work for which threads had no processor, on the worse side.
    pub(super) not_run_percent: f64,
}

impl Noise {
    /// Parses a limit that the user wrote: a percentage or a time.
    ///
    /// # Errors
    /// If it is neither.
    pub fn set(&mut self, text: &str) -> Result<(), UnitError> {
        let expected = "a percentage such as 5%, or a time such as 1ms";
        match text.trim_end().ends_with('s') {
            true => self.time = text.parse().map_err(|_| UnitError::new(text, expected))?,
            false => {
                let percent = text.parse().map_err(|_| UnitError::new(text, expected))?;
                self.percent = Some(percent);
            }
        }
        Ok(())
    }

    /// The tolerance in percent of the larger time. `runs` is the number of runs on the smaller
    /// side, and `not_run_percent` the part of their work for which threads had no processor.
    pub(super) fn tolerance(&self, runs: usize, not_run_percent: f64) -> Percent {
        let by_runs = match runs {
            0 | 1 => Percent(f64::max(10.0, not_run_percent)),
            2 => Percent(3.0),
            _ => Percent(1.0),
        };
        self.percent.unwrap_or(by_runs)
    }

    pub(super) fn covers(&self, of: &Compared) -> bool {
        let Compared { before, after, .. } = of;
        let change = before.median.abs_diff(after.median);
        let runs = before.runs.min(after.runs);
        let tolerance = self.tolerance(runs, of.not_run_percent).0 / 100.0;
        let relative = tolerance * before.median.max(after.median) as f64;
        let share = match (self.percent, of.is_loss, runs) {
            (Some(_), _, _) => 0.0,
            (None, true, 0 | 1) => tolerance / 2.0,
            (None, _, _) => SHARE / 100.0,
        };
        let share = share * of.whole_ns as f64;
        change == 0
            || (change as f64) < f64::max(relative, share)
            || change < self.time.0
            || !before.differs(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(noise: Noise, before: &[u64], after: &[u64], is_loss: bool) -> bool {
        let sample = |times: &[u64]| Sample::of(times.to_vec());
        noise.covers(&Compared {
            before: sample(before),
            after: sample(after),
            whole_ns: 1000,
            is_loss,
            not_run_percent: 0.0,
        })
    }

    #[test]
    fn what_one_run_tells_is_little() {
        let noise = Noise::default();
        assert!(covered(noise, &[500], &[545], false));
        assert!(!covered(noise, &[500], &[600], false));
        // Twice as much, but only 4 and 6 % of the thread time.
        assert!(covered(noise, &[40], &[80], true));
        assert!(!covered(noise, &[60], &[120], true));
    }

    #[test]
    fn one_run_on_a_busy_machine_tells_less() {
        let one = |ns| Sample::of(vec![ns]);
        let covers = |not_run_percent| {
            Noise::default().covers(&Compared {
                before: one(500),
                after: one(600),
                whole_ns: 1000,
                is_loss: false,
                not_run_percent,
            })
        };
        assert!(!covers(5.0) && covers(20.0));
    }

    #[test]
    fn with_more_runs_smaller_changes_are_seen() {
        let noise = Noise::default();
        let (before, after) = ([500, 501, 502], [520, 521, 522]);
        assert!(!covered(noise, &before, &after, false));
        assert!(!covered(noise, &before, &after, true));
        // But not if the runs of one side differ by as much.
        assert!(covered(noise, &before, &[501, 521, 541], false));
        // Nor if the change is too small to matter.
        assert!(covered(noise, &[5, 5, 5], &[9, 9, 9], false));
    }

    #[test]
    fn what_the_user_says_is_meant() {
        let mut noise = Noise::default();
        noise.set("0%").unwrap();
        assert!(!covered(noise, &[500], &[501], false));
        assert!(covered(noise, &[500], &[500], false));
        noise.set("5ns").unwrap();
        assert!(covered(noise, &[500], &[504], false));
        assert!(noise.set("much").is_err());
    }
}
