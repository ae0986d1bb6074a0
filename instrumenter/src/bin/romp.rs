//! The command `romp`: instruments sources, lists directives, shows reports.

use std::process::ExitCode;

fn main() -> ExitCode {
    instrumenter::cli::run()
}
