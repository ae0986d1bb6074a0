//! `romp check`: compares a profile with thresholds, alone or beside a baseline. Tests of a
//! program's performance use it.
//!
//! A profile in which no parallel region ran is a violation. Without it, thresholds would hold
//! only because nothing was measured.
//!
//! Several runs of one program are judged by their medians. So a single run on a busy machine
//! changes nothing.

mod checking;
mod thresholds;
mod wording;

pub use thresholds::{Overhead, Thresholds};

use crate::model::Profile;
use crate::units::Percent;
use checking::{Checking, Runs};

/// Regions with a smaller part of the thread time are not looked at one by one.
const MIN_SHARE: Percent = Percent(1.0);

/// Why thresholds cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// No threshold is given.
    #[error("there is no limit to check: give one, such as --max-overhead total=20%")]
    NoThreshold,
    /// No profile is given.
    #[error("there is no profile to check")]
    NoProfile,
    /// A baseline is given, but no threshold needs it.
    #[error(
        "a baseline is given, but no limit compares with it: give --max-time-ratio or \
         --max-region-ratio, or leave the baseline out"
    )]
    BaselineUnused,
}

/// The result of one threshold for the program or for one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The threshold, as the user calls it.
    pub threshold: String,
    /// The subject: the program, or a region.
    pub subject: String,
    /// File and line to look at, if there is one.
    pub place: Option<(String, u32)>,
    /// The value and the limit, in one sentence without a full stop at the end.
    pub message: String,
    /// Whether the threshold holds.
    pub holds: bool,
}

/// The outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Every check, in the order of the thresholds.
    pub checks: Vec<Check>,
    /// Comparisons that were not possible, one sentence each.
    pub notes: Vec<String>,
}

impl Checked {
    /// The checks that failed.
    pub fn violations(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }
}

/// Applies thresholds to one profile. Call [`crate::merge::fold`] on the profiles before.
/// Without a baseline, thresholds that compare with one are skipped, with a note.
///
/// # Errors
/// If there is no threshold, or a baseline is given and no threshold needs it.
pub fn check(
    profile: &Profile,
    baseline: Option<&Profile>,
    thresholds: &Thresholds,
) -> Result<Checked, CheckError> {
    let baseline = baseline.map_or(&[][..], std::slice::from_ref);
    check_runs(std::slice::from_ref(profile), baseline, thresholds)
}

/// Applies thresholds to the medians of several runs, as [`check`] does for one run. The
/// baseline may be empty.
///
/// # Errors
/// If there is no profile or no threshold, or a baseline is given and no threshold needs it.
pub fn check_runs(
    profiles: &[Profile],
    baseline: &[Profile],
    thresholds: &Thresholds,
) -> Result<Checked, CheckError> {
    if thresholds.is_empty() {
        return Err(CheckError::NoThreshold);
    }
    let comparing = thresholds.comparing();
    if !baseline.is_empty() && comparing.is_empty() {
        return Err(CheckError::BaselineUnused);
    }
    let runs = Runs::new(profiles).ok_or(CheckError::NoProfile)?;
    let mut checking = Checking::new(&runs, thresholds.min_share.unwrap_or(MIN_SHARE));
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
    if let Some(limit) = thresholds.max_win {
        checking.win(limit);
    }
    match Runs::new(baseline) {
        Some(baseline) => checking.compare(&baseline, thresholds),
        None if comparing.is_empty() => {}
        None => checking.checked.notes.push(format!(
            "no baseline is given, so not checked: {}",
            comparing.join(", ")
        )),
    }
    Ok(checking.checked)
}
