//! `romp trace FILE ...`

mod dump;
mod export;
mod info;
mod loops;
mod periods;
mod progress;
mod stats;
mod waits;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trace::read::Trace;

use super::{Failure, print};

/// Arguments of `romp trace`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The trace, APP.N.romp.trace
    file: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What the trace holds: its size, threads, regions, what is missing
    Info,
    /// Every event, in the order of time
    Dump(dump::Arguments),
    /// Write the trace in the format of another tool
    Export(export::Arguments),
    /// Hold the trace against what must be true of it; status 1 if it is not
    Check,
    /// Counts and times of each region and thread, as the profile has them
    Stats(stats::Arguments),
    /// What the iterations of each loop cost, with the heavy ones named (rompcc --chunks)
    Loops(loops::Arguments),
    /// When the iterations of each chunk, and each task, really ran
    Periods(periods::Arguments),
    /// Who came last to each barrier, and who held what others waited for
    Waits,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let trace = Trace::open(&arguments.file).map_err(failure)?;
    match &arguments.command {
        Command::Info => info::run(&arguments.file, &trace),
        Command::Dump(dump) => dump::run(&trace, dump),
        Command::Export(export) => progress::shown(&trace, || export::run(&trace, export)),
        Command::Check => progress::shown(&trace, || check(&trace)),
        Command::Stats(stats) => stats::run(&trace, stats),
        Command::Loops(loops) => loops::run(&trace, loops),
        Command::Periods(periods) => periods::run(&trace, periods),
        Command::Waits => waits::run(&trace),
    }
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure {
        message: format!("error: {error}"),
    }
}

fn check(trace: &Trace) -> Result<(), Failure> {
    let findings = trace::check::check(trace).map_err(failure)?;
    print(|out| {
        writeln!(
            out,
            "{} events; {} loops, each iteration in one chunk; {} of them as the schedule fixes it",
            findings.events, findings.loops, findings.predicted
        )
    })?;
    if findings.faults == 0 {
        return Ok(());
    }
    let mut message = format!("error: {} faults", findings.faults);
    for fault in &findings.described {
        message.push_str("\n  ");
        message.push_str(fault);
    }
    Err(Failure { message })
}
