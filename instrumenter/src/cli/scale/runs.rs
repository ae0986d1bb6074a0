//! Runs a program with several numbers of threads, and collects its profiles.
//!
//! Each run has a directory of its own for the files that it writes. The runs with the same
//! number of threads don't follow each other directly. So if the machine is busy for a while,
//! that does not slow down only one number of threads. The program's input, output and errors
//! are not changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use profile::merge::{Part, fold, merge};
use profile::model::Profile;

use super::Failure;
use crate::cli::executable;
use crate::diagnostic::file_error;

/// The program to run, and the way to run it.
#[derive(Debug)]
pub(super) struct Runs<'a> {
    /// The command that runs the program, such as `romp run`; empty if the program runs by itself.
    pub(super) under: &'a [OsString],
    /// The program, and its arguments.
    pub(super) command: &'a [OsString],
    /// The numbers of threads.
    pub(super) threads: &'a [u32],
    /// The number of runs with each number of threads.
    pub(super) repeat: u32,
    /// The directory where the profiles are kept.
    pub(super) keep: Option<&'a Path>,
}

/// What the runs left.
#[derive(Debug)]
pub(super) struct Done {
    /// The profiles of all runs.
    pub(super) profiles: Vec<Profile>,
    /// The first status other than 0 that a run ended with.
    pub(super) status: u8,
}

/// Runs the program with each number of threads.
pub(super) fn all(runs: &Runs<'_>) -> Result<Done, Failure> {
    let scratch = tempfile::tempdir().map_err(|error| {
        let help = "set TMPDIR to a directory that can be written";
        file_error(&std::env::temp_dir(), &error.to_string(), help)
    })?;
    let folder = runs.keep.unwrap_or(scratch.path());
    // A number that is given twice is measured no better by that: `--repeat` does it.
    let mut widths: Vec<u32> = Vec::new();
    for &threads in runs.threads {
        if !widths.contains(&threads) {
            widths.push(threads);
        }
    }
    if widths.len() < 2 {
        let what = "nothing can be compared: give several, such as 1,2,4";
        return Err(format!("error: there is only one number of threads: {what}").into());
    }
    let number = widths.len() as u32 * runs.repeat;
    let mut profiles = Vec::new();
    let mut first = 0;
    for repeat in 1..=runs.repeat {
        for &threads in &widths {
            let run = profiles.len() + 1;
            tell!("romp: run {run} of {number}: {}", of(threads));
            let folder = folder.join(format!("threads-{threads}.{repeat}"));
            let (profile, status) = one(runs, threads, &folder)?;
            profiles.push(profile);
            if first == 0 {
                first = status;
            }
        }
    }
    if let Some(keep) = runs.keep {
        tell!("romp: the profiles are in '{}'", keep.display());
    }
    Ok(Done {
        profiles,
        status: first,
    })
}

/// Spells a number of threads: `4 threads`.
fn of(threads: u32) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// Runs the program once. Returns its profile and its status.
fn one(runs: &Runs<'_>, threads: u32, folder: &Path) -> Result<(Profile, u8), Failure> {
    let Some(program) = runs.command.first() else {
        return Err("error: no program is given".to_owned().into());
    };
    let words = [runs.under, runs.command].concat();
    std::fs::create_dir_all(folder).map_err(|error| {
        file_error(
            folder,
            &error.to_string(),
            "choose another directory with --keep",
        )
    })?;
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if !saved(&folder)?.is_empty() {
        let what = "it holds profiles of earlier runs";
        return Err(file_error(&folder, what, "choose another directory with --keep").into());
    }
    let name = Path::new(program).display();
    let run = |mut command: Command| {
        command
            .env("OMP_NUM_THREADS", threads.to_string())
            .env("ROMP_OUTPUT", &folder)
            .env("ROMP_QUIET", "on")
            .status()
    };
    let (first, others) = (Path::new(&words[0]), &words[1..]);
    let mut command = Command::new(first);
    command.args(others);
    let mut ended = run(command);
    if executable::is_for_shell(&ended) {
        ended = run(executable::by_shell(first, others));
    }
    let status = ended.map_err(|error| format!("error: cannot run '{name}': {error}"))?;
    let paths = saved(&folder)?;
    // A program may say something by its status though it did its work.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    let code = code.filter(|code| *code == 0 || !paths.is_empty());
    let Some(code) = code else {
        return Err(format!("error: '{name}' with {} ended with {status}", of(threads)).into());
    };
    if code != 0 {
        tell!("romp: '{name}' with {} ended with {status}", of(threads));
    }
    let profile = profile_of(&paths).map_err(|why| {
        format!(
            "error: '{name}' with {} {why}\n  = help: build it with rompcc and leave \
             ROMP_MEASURE on, or measure it as it is: romp run --scale N,... {name}",
            of(threads)
        )
    })?;
    Ok((profile, code))
}

/// The profiles in a directory, in the order of their names.
fn saved(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failure = |error: std::io::Error| {
        file_error(
            folder,
            &error.to_string(),
            "choose another directory with --keep",
        )
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failure)? {
        let path = entry.map_err(failure)?.path();
        if path.to_string_lossy().ends_with(".romp.json") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The profile of a run. For the ranks of a job it is the merged one; for several other
/// processes it is that of the process with the most work.
fn profile_of(paths: &[PathBuf]) -> Result<Profile, String> {
    let load = |path: &PathBuf| {
        let profile = super::super::load(path).map_err(|failure| failure.message)?;
        let path = path.clone();
        Ok::<Part, String>(Part { path, profile })
    };
    let parts = paths
        .iter()
        .map(load)
        .collect::<Result<Vec<Part>, String>>()?;
    if parts.len() > 1 && parts.iter().all(|part| part.profile.run.rank.is_some()) {
        let merged = merge(&parts).map_err(|error| error.to_string())?;
        return Ok(fold(&merged));
    }
    let time = |part: &Part| {
        let run = &part.profile.run;
        run.duration_ns.saturating_mul(u64::from(run.max_threads))
    };
    let most = parts.into_iter().max_by_key(time);
    most.map(|part| fold(&part.profile))
        .ok_or_else(|| "left no profile".to_owned())
}
