//! `romp scale`

mod runs;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use profile::model::Profile;
use profile::scale::{WRITERS, scale, write_text};

use super::Failure;

/// Arguments of `romp scale`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../help/scale.txt"))]
#[command(override_usage = "romp scale [OPTIONS] PROFILES...\n       \
    romp scale [OPTIONS] --threads N,... -- COMMAND...")]
pub(super) struct Arguments {
    /// Saved profiles of runs with several numbers of threads
    #[arg(conflicts_with = "threads")]
    profiles: Vec<PathBuf>,
    /// Run the command behind -- with each of these numbers of threads
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        requires = "command"
    )]
    #[arg(value_parser = numbers_of_threads())]
    threads: Vec<u32>,
    /// Run it so many times with each
    #[arg(long, value_name = "N", default_value_t = 1, requires = "threads")]
    #[arg(value_parser = super::whole(1..=MOST_REPEATS, "a whole number such as 3"))]
    repeat: u32,
    /// Keep the profiles of these runs in this directory
    #[arg(long, value_name = "DIR", requires = "threads")]
    keep: Option<PathBuf>,
    /// How to write it
    #[arg(short, long, default_value = WRITERS[0].name, value_parser = formats())]
    format: String,
    /// In text, all places
    #[arg(long)]
    all: bool,
    /// The program that was built with rompcc, and its arguments
    #[arg(last = true, value_name = "COMMAND", requires = "threads")]
    command: Vec<OsString>,
}

/// The largest number of threads that a program is run with.
const MOST_THREADS: u32 = 65_536;
const MOST_REPEATS: u32 = 1_000;

/// The parser of the numbers of threads that a program is run with.
pub(super) fn numbers_of_threads() -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync {
    super::whole(1..=MOST_THREADS, "numbers such as 1,2,4")
}

/// The choices of `--format`.
fn formats() -> clap::builder::PossibleValuesParser {
    super::choices(WRITERS.iter().map(|writer| (writer.name, writer.about)))
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    end(shown(arguments))
}

/// Ends with the status of the runs.
fn end(shown: Result<u8, Failure>) -> ExitCode {
    match shown {
        Ok(status) => ExitCode::from(status),
        Err(failure) => super::end(Err(failure)),
    }
}

fn shown(arguments: &Arguments) -> Result<u8, Failure> {
    if arguments.threads.is_empty() && arguments.profiles.is_empty() {
        const WHAT: &str = "give profiles to compare, or a program to run:\n  \
            romp scale A.romp.json B.romp.json\n  \
            romp scale --threads 1,2,4 -- ./app\n";
        clap::Error::raw(clap::error::ErrorKind::MissingRequiredArgument, WHAT).exit()
    }
    if arguments.threads.is_empty() && !arguments.command.is_empty() {
        let what = "say with how many threads to run it, such as --threads 1,2,4, and no files";
        return Err(format!("error: a command is given: {what}").into());
    }
    let done = match arguments.threads.is_empty() {
        true => {
            let profiles = arguments.profiles.iter();
            let loaded = profiles.map(|path| super::load_folded(path));
            runs::Done {
                profiles: loaded.collect::<Result<Vec<Profile>, Failure>>()?,
                status: 0,
            }
        }
        false => runs::all(&runs::Runs {
            under: &[],
            command: &arguments.command,
            threads: &arguments.threads,
            repeat: arguments.repeat,
            keep: arguments.keep.as_deref(),
        })?,
    };
    show(&done.profiles, &arguments.format, arguments.all)?;
    Ok(done.status)
}

/// Runs a program that was not built with Romp with each number of threads, and shows how it
/// scales.
pub(super) fn of_unmeasured(program: &[OsString], threads: &[u32]) -> ExitCode {
    end(shown_of_unmeasured(program, threads))
}

fn shown_of_unmeasured(program: &[OsString], threads: &[u32]) -> Result<u8, Failure> {
    let romp = std::env::current_exe().map_err(|error| format!("error: romp: {error}"))?;
    let measured = [romp.into_os_string(), "run".into(), "--".into()];
    let done = runs::all(&runs::Runs {
        under: &measured,
        command: program,
        threads,
        repeat: 1,
        keep: None,
    })?;
    show(&done.profiles, WRITERS[0].name, false)?;
    Ok(done.status)
}

/// Writes how a program scales.
fn show(profiles: &[Profile], format: &str, all: bool) -> Result<(), Failure> {
    let scaling = scale(profiles).map_err(|error| format!("error: {error}"))?;
    let writer = WRITERS.iter().find(|writer| writer.name == format);
    let style = super::style::of_stdout(all);
    super::print(|out| match writer {
        Some(writer) if writer.name != WRITERS[0].name => (writer.write)(&scaling, out),
        _ => write_text(&scaling, style, out),
    })
}
