//! `romp check`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use profile::check::{Check, Checked, Overhead, Thresholds, check_runs};
use profile::model::Profile;
use profile::units::{Factor, Percent};

use super::{Failure, junit};
use crate::diagnostic::{cannot_read, file_error};

/// Status if a threshold is violated.
const VIOLATED: u8 = 1;
/// Status if the outcome is unknown. clap uses the same for wrong usage.
const ERROR: u8 = 2;

/// Arguments of `romp check`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/check.txt"))]
pub(super) struct Arguments {
    /// The saved profile, APP.N.romp.json; or those of three or more runs, of which the medians
    /// are judged. Of two the second is the baseline
    #[arg(required = true)]
    profiles: Vec<PathBuf>,
    /// Saved profiles of the runs to compare with; they may also stand behind --
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "others")]
    baseline: Vec<PathBuf>,
    /// Saved profiles of the runs to compare with
    #[arg(last = true, value_name = "BASELINE")]
    others: Vec<PathBuf>,
    /// File with limits (TOML); options override what it says
    #[arg(short, long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// Largest part of the program's thread time that may be lost to a category
    /// (synch, imbal, limpar, mgmt) or in total; may be given again
    #[arg(long, value_name = "CATEGORY=PERCENT", value_parser = overhead)]
    max_overhead: Vec<(Overhead, Percent)>,
    /// Largest part of a region's thread time that threads may wait at its implicit barrier
    #[arg(long, value_name = "PERCENT")]
    max_imbalance: Option<Percent>,
    /// Largest part of the run that one cause may likely win, as the report says it
    #[arg(long, value_name = "PERCENT")]
    max_win: Option<Percent>,
    /// Smallest part of the run that must be in parallel regions
    #[arg(long, value_name = "PERCENT")]
    min_coverage: Option<Percent>,
    /// Largest duration, as a multiple of the baseline's
    #[arg(long, value_name = "FACTOR")]
    max_time_ratio: Option<Factor>,
    /// Largest thread time of a region, as a multiple of the baseline's
    #[arg(long, value_name = "FACTOR")]
    max_region_ratio: Option<Factor>,
    /// Regions with a smaller part of the thread time are not looked at one by one [default: 1%]
    #[arg(long, value_name = "PERCENT")]
    min_share: Option<Percent>,
    /// Write the outcome as JUnit XML too
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// Reads `CATEGORY=PERCENT`.
fn overhead(text: &str) -> Result<(Overhead, Percent), String> {
    let (category, percent) = text
        .split_once('=')
        .ok_or("say CATEGORY=PERCENT, such as synch=5%")?;
    let percent: Percent = percent
        .parse()
        .map_err(|error: profile::units::UnitError| error.to_string())?;
    Ok((category.parse()?, percent))
}

/// Runs the command; status 1 if a threshold is violated, 2 after an error.
pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match checked(arguments) {
        Ok(checked) if checked.violations().next().is_none() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(VIOLATED),
        Err(failure) => {
            tell!("{}", failure.message);
            ExitCode::from(ERROR)
        }
    }
}

fn checked(arguments: &Arguments) -> Result<Checked, Failure> {
    let thresholds = thresholds(arguments)?;
    let (runs, baseline) = arguments.sides();
    let checked = check_runs(&load(runs)?, &load(baseline)?, &thresholds)
        .map_err(|error| format!("error: {error}"))?;
    show(arguments, &checked)?;
    if let Some(path) = &arguments.junit {
        let written = junit::write(&arguments.name(), &checked, path);
        written.map_err(|error| {
            file_error(path, &error.to_string(), "choose another file with --junit")
        })?;
    }
    Ok(checked)
}

fn load(paths: &[PathBuf]) -> Result<Vec<Profile>, Failure> {
    paths.iter().map(|path| super::load_folded(path)).collect()
}

impl Arguments {
    /// The profiles of the runs, and those of the runs that they are compared with.
    fn sides(&self) -> (&[PathBuf], &[PathBuf]) {
        match (self.profiles.as_slice(), &self.baseline, &self.others) {
            ([_, _], baseline, others) if baseline.is_empty() && others.is_empty() => {
                self.profiles.split_at(1)
            }
            (runs, baseline, others) if baseline.is_empty() => (runs, others),
            (runs, baseline, _) => (runs, baseline),
        }
    }

    /// The name of the judged profile, or of the first of them.
    fn name(&self) -> String {
        match self.sides().0 {
            [] => String::new(),
            [profile] => profile.display().to_string(),
            [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
        }
    }
}

/// The thresholds of the file and of the options together.
fn thresholds(arguments: &Arguments) -> Result<Thresholds, Failure> {
    let options = Thresholds {
        max_overhead: BTreeMap::from_iter(arguments.max_overhead.iter().copied()),
        max_imbalance: arguments.max_imbalance,
        max_win: arguments.max_win,
        min_coverage: arguments.min_coverage,
        max_time_ratio: arguments.max_time_ratio,
        max_region_ratio: arguments.max_region_ratio,
        min_share: arguments.min_share,
    };
    // Limits in a file may be meant for later comparisons; a limit on the command line is meant
    // for this one.
    if let ([], [limit, ..]) = (arguments.sides().1, options.comparing().as_slice()) {
        let what = "compares with a baseline: give its saved profile as the second file";
        return Err(format!("error: --{limit} {what}").into());
    }
    let Some(path) = &arguments.thresholds else {
        return Ok(options);
    };
    let text = std::fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    let file: Thresholds = toml::from_str(&text).map_err(|error| {
        let what = error.to_string();
        let help = "romp check --help shows what a file of limits may say";
        file_error(path, what.trim_end(), help)
    })?;
    Ok(file.overridden_by(options))
}

/// Prints one line per violation and note, and one line for the whole.
fn show(arguments: &Arguments, checked: &Checked) -> Result<(), Failure> {
    let profile = arguments.name();
    super::print(|out| {
        for check in checked.violations() {
            writeln!(out, "{}", line(check, &profile))?;
        }
        for note in &checked.notes {
            writeln!(out, "note: {note}")?;
        }
        let (all, failed) = (checked.checks.len(), checked.violations().count());
        match (failed, all) {
            (0, 1) => writeln!(out, "{profile}: 1 check passed"),
            (0, _) => writeln!(out, "{profile}: {all} checks passed"),
            _ => writeln!(out, "{profile}: {failed} of {all} checks failed"),
        }
    })
}

/// The line for a violation: `a.c:35: max-imbalance: waiting at ...`.
fn line(check: &Check, profile: &str) -> String {
    let Check {
        threshold,
        message,
        place,
        ..
    } = check;
    match place {
        Some((file, line)) => format!("{file}:{line}: {threshold}: {message}"),
        None => format!("{profile}: {threshold}: {message}"),
    }
}
