//! The command line of `romp`: one file per subcommand.

/// Writes a line to standard error. If nobody can read it, the work goes on, and the status of the
/// command says what happened; `eprintln` would panic.
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod check;
mod completions;
mod config;
mod debug_file;
mod diff;
mod env;
mod executable;
mod functions;
mod instrument;
mod junit;
mod lines;
mod list;
mod man;
mod merge;
mod misplaced_words;
mod opari2;
mod page;
mod report;
mod run;
mod scale;
mod style;
mod trace;
mod view;
mod wrap;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

/// See where OpenMP programs wait.
#[derive(Debug, Parser)]
#[command(
    name = "romp",
    version,
    about = "See where OpenMP programs wait",
    long_about = include_str!("help/about.txt"),
    after_help = include_str!("help/examples.txt"),
    max_term_width = 100,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(flatten)]
    config: config::Arguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Rewrite a source file so that its OpenMP constructs are measured
    Instrument(instrument::Arguments),
    /// List the OpenMP directives of source files and what becomes of each
    List(list::Arguments),
    /// Instrument as OPARI2 does, with its command line, for builds that call it
    Opari2(opari2::Arguments),
    /// Measure a program that was not built with Romp
    Run(run::Arguments),
    /// Show the profile that a measured program left behind
    Report(report::Arguments),
    /// Show a profile as a page in the browser, with its trace and runs to compare it with
    View(view::Arguments),
    /// Merge the profiles of the ranks of an MPI job into one
    Merge(merge::Arguments),
    /// Compare two profiles, or two sets of them: what became faster or slower, region by region
    Diff(diff::Arguments),
    /// Compare a profile with limits; status 1 if one is violated, 2 if that can't be told
    Check(check::Arguments),
    /// See why a program does not get faster with more threads, from several runs
    Scale(scale::Arguments),
    /// Look into the trace that a measured program left behind (ROMP_TRACE=on)
    Trace(trace::Arguments),
    /// Run a compile command with instrumented sources: romp wrap gcc -fopenmp a.c
    Wrap(wrap::Arguments),
    /// List the environment variables of romp, rompcc and measured programs
    Env,
    /// Print the completion of romp's command line for a shell
    Completions(completions::Arguments),
    /// Write the manual pages into a directory
    #[command(hide = true)]
    Man(man::Arguments),
}

/// The constructs that are left as they are.
#[derive(Debug, clap::Args)]
struct Disable {
    /// Groups of constructs to leave as they are, such as atomic,flush
    #[arg(long, value_name = "GROUP,...", value_parser = crate::Groups::parse)]
    disable: Option<crate::Groups>,
}

impl Disable {
    fn groups(&self) -> crate::Disabled {
        crate::Disabled {
            groups: self.disable.clone().unwrap_or_default(),
            by: "--disable",
            ..crate::Disabled::default()
        }
    }
}

/// A failure that is reported to the user.
#[derive(Debug)]
pub struct Failure {
    /// The whole message.
    pub message: String,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message }
    }
}

/// Runs the command line. The exit code is 0, 1 after a reported error, or 2 for wrong usage.
/// `check` has 1 for a violation and 2 for every error.
#[must_use]
pub fn run() -> ExitCode {
    crate::wrapper::inherited::with_stack(run_command)
}

fn run_command() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if crate::wrapper::clean_if_asked(&words) {
        return ExitCode::SUCCESS;
    }
    let words = match trace::command_first(words) {
        Ok(words) => words,
        Err(message) => {
            tell!("{message}");
            return ExitCode::from(2);
        }
    };
    if let Some(message) = misplaced_words::meant(&Arguments::command(), &words) {
        tell!("{message}");
        return ExitCode::from(2);
    }
    let name = std::env::args_os().next().unwrap_or_else(|| "romp".into());
    let arguments = Arguments::parse_from([name].into_iter().chain(words));
    let Some(command) = arguments.command else {
        return end(config::run(&arguments.config));
    };
    let result = match command {
        Command::Instrument(arguments) => instrument::run(&arguments),
        Command::Opari2(arguments) => opari2::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Run(arguments) => return run::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Check(arguments) => return check::run(&arguments),
        Command::Scale(arguments) => return scale::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Wrap(arguments) => return wrap::run(&arguments),
        Command::Env => env::run(),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    };
    end(result)
}

fn end(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            tell!("{}", failure.message);
            ExitCode::FAILURE
        }
    }
}

/// The first bytes of programs, libraries and object files.
pub(crate) const ELF: &[u8] = b"\x7fELF";

/// Reads a source file, or standard input for `-`.
fn read_source(path: &std::path::Path) -> Result<crate::Source, Failure> {
    let name = crate::names::of_path(path);
    let text = match name.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()).map(String::into_bytes),
        _ => std::fs::read(path),
    };
    let text = text.map_err(|error| crate::diagnostic::cannot_read(path, &error))?;
    if text.starts_with(ELF) {
        let shown = path.display();
        return Err(Failure {
            message: format!(
                "error: '{shown}' is machine code, not a source file\n  = help: give the sources that it was \
                 built from; romp run measures programs that were not built with Romp"
            ),
        });
    }
    let language = crate::Source::language_of(path);
    Ok(crate::Source {
        layout: crate::Source::layout_of(path),
        language,
        name,
        text,
        undefined: crate::source::UndefinedMacros::new(),
    })
}

/// Reads a saved profile, or standard input for `-`.
fn load(path: &std::path::Path) -> Result<profile::model::Profile, Failure> {
    let profile = match path.as_os_str() == "-" {
        true => read_input(path),
        false => profile::load::load(path),
    };
    let mut profile = profile.map_err(|error| Failure {
        message: format!("error: {}", not_loaded(path, &error)),
    })?;
    functions::locate(&mut profile);
    Ok(run::complete_read(profile, path))
}

/// Why a file was not read as a profile, and what can be done with it instead.
fn not_loaded(path: &std::path::Path, error: &profile::load::LoadError) -> String {
    let is_trace = path.extension().is_some_and(|ending| ending == "trace") && path.is_file();
    let shown = path.display();
    match is_trace {
        true => format!("'{shown}' is a trace, not a profile\n  = help: romp trace info {shown}"),
        false => error.to_string(),
    }
}

/// Reads a saved profile for a comparison, with equal regions merged.
fn load_folded(path: &std::path::Path) -> Result<profile::model::Profile, Failure> {
    Ok(profile::merge::fold(&load(path)?))
}

fn read_input(path: &std::path::Path) -> Result<profile::model::Profile, profile::load::LoadError> {
    let mut text = Vec::new();
    let read = std::io::Read::read_to_end(&mut std::io::stdin(), &mut text);
    read.map_err(|source| profile::load::LoadError::Read {
        path: path.to_owned(),
        source,
    })?;
    profile::load::parse(path, &text)
}

/// The values of an option, each with its description.
fn choices(
    rows: impl Iterator<Item = (&'static str, &'static str)>,
) -> clap::builder::PossibleValuesParser {
    let values = rows.map(|(name, about)| clap::builder::PossibleValue::new(name).help(about));
    values.collect::<Vec<_>>().into()
}

/// A parser of whole numbers, whose message shows an example.
fn whole(
    range: std::ops::RangeInclusive<u32>,
    example: &'static str,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| match text.trim().parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        Ok(_) => Err(format!(
            "give a number from {} to {}",
            range.start(),
            range.end()
        )),
        Err(_) => Err(format!("give {example}")),
    }
}

/// Writes to standard output. A reader that has gone away is not an error.
fn print(
    write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let result = write(&mut out).and_then(|()| std::io::Write::flush(&mut out));
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure {
            message: format!("error: standard output: {error}"),
        }),
        _ => Ok(()),
    }
}
