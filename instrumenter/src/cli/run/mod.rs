//! `romp run`: measures a program that was not built with Romp.
//!
//! ```text
//! program      what is to be run, and why it can't be measured
//! preload      the library that is loaded before it, and the list that its processes write
//! processes    what became of them, and what is said of it
//! completing   places in the source for the regions of a profile
//! constructs   which construct of the source each region is, when the program has ended
//! wanted       a region whose construct is looked for
//! by_order     the constructs of calls that GNU's compilers made, by the order of the calls
//! sources      the constructs of a source, and where there may be more of them
//! headers      the files that a source includes, with their macros
//! bodies       which of several constructs each function is that was made of a body
//! by_line      the constructs of calls that LLVM's compilers made, by the lines of the calls
//! module       what the program or a library says of the places of calls
//! traces       the same constructs, for the regions of the trace
//! machine      which instruction a call is that has no place of its own, and which entry it calls
//! entries      the entries of the runtimes, by what begins there
//! ```

mod align;
mod bodies;
mod branches;
mod by_line;
mod by_order;
mod completing;
mod constructs;
mod directives;
mod dwarf;
mod entries;
mod folded;
mod folding;
mod guards;
mod headers;
mod inlined;
mod machine;
mod module;
mod optional;
mod parts;
mod preload;
mod processes;
mod program;
mod sections;
mod sources;
mod symbols;
mod traces;
mod wanted;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

pub(super) use completing::complete_read;
use processes::Processes;

use super::executable;
use super::scale;
use crate::wrapper::inherited::{self, Ended};

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
    #[arg(value_parser = scale::numbers_of_threads())]
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
        return scale::of_unmeasured(&arguments.command, &arguments.scale);
    }
    let preload = match preload::prepare() {
        Ok(preload) => preload,
        Err(message) => {
            say(&message);
            return ExitCode::from(NOT_RUN);
        }
    };
    let mut command = Command::new(&program);
    command.arg0(name).args(words);
    preload.add_to(&mut command);
    let mut ended = inherited::run_program(&mut command);
    if executable::is_for_shell(&ended) {
        let mut shell = executable::by_shell(&program, words);
        preload.add_to(&mut shell);
        ended = inherited::run_program(&mut shell);
    }
    match ended {
        Ok(ended) => {
            finish(&preload, &ended);
            inherited::end(ended.code)
        }
        Err(error) => {
            say(&program::not_started(&program, &error));
            ExitCode::from(NOT_RUN)
        }
    }
}

/// Completes the regions of the written profiles, reports these profiles, and says what is not
/// measured.
fn finish(preload: &preload::Preload, ended: &Ended) {
    let processes = Processes::of(preload.entries());
    if preload.is_wanted() {
        processes
            .missing(ended, is_running)
            .iter()
            .for_each(|of| say(of));
    }
    for (path, process) in &processes.profiles {
        if is_running(*process) {
            let path = short(path).display();
            say(&format!(
                "process {process} still runs: {path} is what it wrote so far, and 'romp report' \
                 shows what it writes until it ends"
            ));
            continue;
        }
        match completing::complete(path) {
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

/// Whether a process has not ended. One that has, and that nobody has asked for its status yet,
/// has the state Z.
fn is_running(process: u32) -> bool {
    let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
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
