//! `romp report`

use std::path::PathBuf;

use clap::Args;

use super::Failure;

/// Arguments of `romp report`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The saved profile, `<app>.<n>.romp.json`
    profile: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    Err(Failure { message: arguments.profile.display().to_string() })
}
