//! `romp trace COMMAND FILE`

mod dump;
mod export;
mod info;
mod loops;
mod order;
mod periods;
mod progress;
mod stats;
mod tasks;
mod waits;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use profile::analysis::words::count;
use trace::read::Trace;

use super::{Failure, print};
pub(super) use order::command_first;

/// Arguments of `romp trace`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// A trace, and what a command wants to know besides.
#[derive(Debug, Args)]
struct TraceCommand<A: Args> {
    /// The trace, APP.N.romp.trace
    #[arg(value_name = "TRACE")]
    file: PathBuf,
    #[command(flatten)]
    how: A,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What the trace holds: its size, threads, regions, what is missing
    Info(TraceCommand<Nothing>),
    /// Every event, in the order of time
    Dump(TraceCommand<dump::Arguments>),
    /// Write the trace in the format of another tool
    Export(TraceCommand<export::Arguments>),
    /// Check that the trace is complete and consistent; status 1 if it is not
    Check(TraceCommand<Nothing>),
    /// Counts and times of each region and thread, as the profile has them
    Stats(TraceCommand<stats::Arguments>),
    /// What the iterations of each loop cost, with the heavy ones named (rompcc --chunks)
    Loops(TraceCommand<loops::Arguments>),
    /// When the iterations of each chunk, and each task, really ran
    Periods(TraceCommand<periods::Arguments>),
    /// Which tasks made which: how many there were, and how long they ran
    Tasks(TraceCommand<tasks::Arguments>),
    /// Who came last to each barrier, and who held what others waited for
    Waits(TraceCommand<Nothing>),
}

/// A command that wants to know no more.
#[derive(Debug, Args)]
struct Nothing {}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Info(of) => info::run(&open(&of.file)?),
        Command::Dump(of) => dump::run(&opened(of)?, &of.how),
        Command::Export(of) => {
            let trace = opened(of)?;
            progress::shown(&trace, || export::run(&trace, &of.how))
        }
        // The command itself reports an incomplete trace, as an error.
        Command::Check(of) => {
            let trace = open(&of.file)?;
            progress::shown(&trace, || check(&trace))
        }
        Command::Stats(of) => stats::run(&opened(of)?, &of.how),
        Command::Loops(of) => loops::run(&opened(of)?, &of.how),
        Command::Periods(of) => periods::run(&opened(of)?, &of.how),
        Command::Tasks(of) => tasks::run(&opened(of)?, &of.how),
        Command::Waits(of) => waits::run(&opened(of)?),
    }
}

fn open(file: &std::path::Path) -> Result<Trace, Failure> {
    Trace::open(file).map_err(failure)
}

/// Opens a trace, with a warning if it is not complete.
fn opened<A: Args>(of: &TraceCommand<A>) -> Result<Trace, Failure> {
    let trace = open(&of.file)?;
    if !trace.is_complete() {
        let state = trace.state();
        tell!("warning: '{}' is {state}", of.file.display());
    }
    match trace.unplaced() {
        0 => {}
        unplaced => tell!(
            "warning: '{}' has {unplaced} regions that are only known by their machine code: \
             romp run names their lines when the program ends",
            of.file.display()
        ),
    }
    Ok(trace)
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure {
        message: format!("error: {error}"),
    }
}

fn check(trace: &Trace) -> Result<(), Failure> {
    let findings = trace::check::check(trace).map_err(failure)?;
    print(|out| {
        write!(out, "{} checked", count(findings.events, "event"))?;
        if findings.loops > 0 {
            write!(
                out,
                "; the chunks of {} compared with the iterations, and of {} of them with the rules \
                 of the schedule",
                count(findings.loops, "loop instance"),
                findings.predicted
            )?;
        }
        writeln!(out)
    })?;
    let mut problems = Vec::new();
    if !trace.is_complete() {
        problems.push(format!(
            "error: '{}' is {}; what is there was checked",
            trace.path().display(),
            trace.state()
        ));
    }
    if findings.faults > 0 {
        let mut message = format!("error: {} faults", findings.faults);
        for fault in &findings.described {
            message.push_str("\n  ");
            message.push_str(fault);
        }
        problems.push(message);
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Failure {
            message: problems.join("\n"),
        }),
    }
}
