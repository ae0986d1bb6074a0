//! `romp run`: measures a program that was not built with Romp.
//!
//! ```text
//! program      what is to be run, and why it can't be measured
//! preload      the library that is loaded before it, and the list of profiles
//! constructs   which construct of the source each region is, when the program has ended
//! module       what the program or a library says of the places of calls
//! traces       the same constructs, for the regions of the trace
//! machine      which instruction a call is that has no place of its own
//! ```

mod align;
mod constructs;
mod folding;
mod machine;
mod module;
mod preload;
pub(super) mod program;
mod sources;
mod traces;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use profile::merge;
use profile::save::{SaveOptions, Saved, save_over};

use super::scale;
use crate::wrapper::inherited;

/// What stands after `romp run`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The profile is that of a program built with rompcc, less what can't be seen \
    from outside, which the report lists.\n\n\
    Examples:\n  \
    romp run ./app input.dat\n  \
    romp run --scale 1,2,4 ./app input.dat"
)]
pub(super) struct Arguments {
    /// Run it with each of these numbers of threads, and say why it does not get faster with
    /// more, as romp scale does
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=scale::MOST_THREADS))]
    scale: Vec<u32>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// The status that shells use if a program does not exist or can't be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let Some((name, words)) = arguments.command.split_first() else {
        return ExitCode::from(2);
    };
    let program = match program::find(name) {
        Ok(program) => program,
        Err(refusal) => {
            say(&refusal.message);
            return ExitCode::from(if refusal.is_missing {
                NOT_FOUND
            } else {
                NOT_RUN
            });
        }
    };
    if !arguments.scale.is_empty() {
        return super::end(scale::of_unmeasured(&arguments.command, &arguments.scale));
    }
    let preload = match preload::prepare() {
        Ok(preload) => preload,
        Err(message) => {
            say(&message);
            return ExitCode::FAILURE;
        }
    };
    let mut command = Command::new(&program);
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    command.args(words);
    preload.add_to(&mut command);
    let ended = inherited::run_program(&mut command);
    finish(&preload);
    match ended {
        Ok(code) => inherited::end(code),
        Err(error) => {
            say(&format!("cannot run '{}': {error}", program.display()));
            ExitCode::from(NOT_RUN)
        }
    }
}

/// Completes the regions of the written profiles, and reports these profiles.
fn finish(preload: &preload::Preload) {
    let listed = preload.listed();
    if listed.is_empty() && preload.is_wanted() {
        say("the program used no OpenMP runtime that can be measured");
    }
    if listed.iter().any(|path| !path.is_absolute()) {
        say("this program was built with Romp and measures itself: romp run adds nothing");
    }
    let paths: BTreeSet<&PathBuf> = listed.iter().filter(|path| path.is_absolute()).collect();
    let completed: Vec<Result<Saved, String>> =
        paths.into_iter().map(|path| complete(path)).collect();
    for profile in completed {
        match profile {
            Ok(saved) => say(&format!(
                "{} [{}, {}]",
                saved.headline,
                short(&saved.text).display(),
                short(&saved.json).display()
            )),
            Err(problem) => say(&problem),
        }
    }
}

/// Completes the regions of a profile and its trace, and saves the profile again.
fn complete(path: &Path) -> Result<Saved, String> {
    let mut profile = profile::load::load(path).map_err(|error| error.to_string())?;
    let before = profile.regions.clone();
    super::functions::locate(&mut profile);
    let found = constructs::locate(&mut profile);
    let profile = merge::fold(&profile);
    let earlier = Saved {
        json: path.to_owned(),
        text: path.with_extension("txt"),
        headline: String::new(),
    };
    let options = SaveOptions {
        directory: path.parent().map(Path::to_owned).unwrap_or_default(),
        application: profile.run.application.clone(),
        rank: profile.run.rank,
        number: None,
    };
    let saved = save_over(&profile, &options, &earlier).map_err(|error| error.to_string());
    // The profile comes first: the disk may be nearly full.
    if let Err(problem) = traces::complete(path, profile.run.pid, &before, &found) {
        say(&problem);
    }
    saved
}

/// A path for display: relative if it is below the current directory.
fn short(path: &Path) -> &Path {
    std::env::current_dir()
        .ok()
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
}

fn say(message: &str) {
    let is_quiet = std::env::var("ROMP_QUIET").ok();
    if is_quiet.and_then(|value| profile::environment::truth(&value)) != Some(true) {
        tell!("romp: {}", profile::printable::printable(message));
    }
}
