//! `romp report`

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use profile::analysis::Report;
use profile::report::{WRITERS, writer};

use super::Failure;

/// Arguments of `romp report`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The saved profile, APP.N.romp.json
    profile: PathBuf,
    /// How to write it
    #[arg(short, long, default_value = WRITERS[0].name, value_parser = formats())]
    format: String,
}

/// The choices of `--format`, from the table of writers.
fn formats() -> clap::builder::PossibleValuesParser {
    let values = WRITERS
        .iter()
        .map(|writer| PossibleValue::new(writer.name).help(writer.about));
    values.collect::<Vec<_>>().into()
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let profile = super::load(&arguments.profile)?;
    let writer = writer(&arguments.format).unwrap_or(&WRITERS[0]);
    super::print(|out| (writer.write)(&Report::new(&profile), out))
}
