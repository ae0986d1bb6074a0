//! The result of a comparison in one sentence.

use super::{CauseChange, Change, Diff, Noise, Status, Subject};
use crate::analysis::words::{count, percent, time};

/// The sentence.
pub(super) fn verdict(diff: &Diff, noise: Noise) -> String {
    let Some(wall) = diff.program.first() else {
        return String::new();
    };
    if diff.has_nothing_in_common() {
        let programs = match diff.before.application == diff.after.application {
            true => format!("two programs with the name {}", diff.after.application),
            false => format!(
                "different programs, {} and {}",
                diff.before.application, diff.after.application
            ),
        };
        // `romp run` finds the lines in the debug information.
        let remedy = match diff.one_sided.iter().any(|region| region.line == 0) {
            true => {
                "; constructs without a source line can be compared if the program is built with -g"
            }
            false => "",
        };
        return format!(
            "{programs}: no construct is in both, so only their times as a whole can be compared \
             ({}){remedy}",
            both_times(wall)
        );
    }
    let runs = diff.before.runs.min(diff.after.runs);
    let not_run = f64::max(diff.before.not_run_percent, diff.after.not_run_percent);
    let tolerance = percent(noise.tolerance(runs, not_run).0);
    let run_time = match (wall.noise, wall.change_ns < 0) {
        (true, _) => format!(
            "no change of the run time beyond noise ({})",
            both_times(wall)
        ),
        (false, is_faster) => {
            let size = 100.0 * wall.change_ns.unsigned_abs() as f64 / wall.before_ns.max(1) as f64;
            let how = if is_faster { "faster" } else { "slower" };
            format!("{how} by {} ({})", percent(size), both_times(wall))
        }
    };
    let what = cause(diff, wall).or_else(|| regions(diff).filter(|_| wall.noise));
    let few = (runs < 3 && noise.percent.is_none()).then(|| {
        let runs = match (diff.before.runs, diff.after.runs) {
            (1, 1) => "one run a side".to_owned(),
            (before, after) => format!("{before} and {after} runs"),
        };
        format!("; with {runs} less than {tolerance} is noise, more runs show smaller changes")
    });
    format!(
        "{run_time}{}{}",
        what.unwrap_or_default(),
        few.unwrap_or_default()
    )
}

/// The cause that changed most. If the run time changed, only causes that explain it count.
fn cause(diff: &Diff, wall: &Change) -> Option<String> {
    let explains =
        |change: &&CauseChange| wall.noise || (change.change_ns < 0) == (wall.change_ns < 0);
    let changed = || {
        diff.causes
            .iter()
            .filter(|change| !change.noise)
            .filter(explains)
    };
    let most = changed().next()?;
    let what = match most.status {
        Status::Vanished => format!("is gone, {} to win before", time(most.before.median)),
        Status::New => format!("is new, {} to win", time(most.after.median)),
        Status::Both => format!(
            "has {} to win, {} before",
            time(most.after.median),
            time(most.before.median)
        ),
    };
    let further = match changed().count() as u64 - 1 {
        0 => String::new(),
        further => format!(", and {}", count(further, "further change")),
    };
    Some(format!("; {} {what}{further}", most.in_words()))
}

/// The number of regions whose times changed, and the place of the largest change.
fn regions(diff: &Diff) -> Option<String> {
    let changed = || diff.changes().filter(|change| !change.noise);
    let most = changed().next()?;
    let number = count(changed().count() as u64, "time");
    Some(format!("; {number} of regions changed{}", place(most)))
}

fn both_times(change: &Change) -> String {
    format!("{} -> {}", time(change.before_ns), time(change.after_ns))
}

/// The place of the largest change.
fn place(change: &Change) -> String {
    let Some(region) = &change.region else {
        return String::new();
    };
    let what = match change.subject {
        Subject::Lost(category) => category.in_words(),
        Subject::ExecTime | Subject::WallTime => "thread time",
    };
    let kind = region.kind.row().full_name;
    format!(
        ", most {what} of {kind} {}, {}",
        region.location(),
        both_times(change)
    )
}
