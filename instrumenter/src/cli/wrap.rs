//! `romp wrap`

use std::ffi::OsString;
use std::process::ExitCode;

/// What stands after `romp wrap`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print the commands and run none of them
    #[arg(long)]
    dry_run: bool,
    /// The compiler and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    crate::wrapper::wrap(&arguments.command, arguments.dry_run)
}
