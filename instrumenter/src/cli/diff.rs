//! `romp diff`

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use profile::diff::{Noise, WRITERS, diff};
use profile::merge::fold;

use super::Failure;

/// Arguments of `romp diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "Regions are matched by file, function and directive, so that edits \
    elsewhere do not matter; an edited clause is shown as a change of the region. The exit \
    status is 0 whatever changed: romp check sets limits.\n\n\
    Example: romp diff before.0.romp.json after.0.romp.json --noise 5% --noise 1ms"
)]
pub(super) struct Arguments {
    /// The saved profile of the first run
    before: PathBuf,
    /// The saved profile of the second run
    after: PathBuf,
    /// How to write it
    #[arg(short, long, default_value = WRITERS[0].name, value_parser = formats())]
    format: String,
    /// Changes smaller than this are noise: percent of the larger time (1% by default),
    /// or a time such as 1ms; may be given once for each
    #[arg(long, value_name = "LIMIT")]
    noise: Vec<String>,
}

/// The choices of `--format`, from the table of writers.
fn formats() -> clap::builder::PossibleValuesParser {
    let values = WRITERS
        .iter()
        .map(|writer| PossibleValue::new(writer.name).help(writer.about));
    values.collect::<Vec<_>>().into()
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut noise = Noise::default();
    for limit in &arguments.noise {
        noise
            .set(limit)
            .map_err(|error| format!("error: --noise: {error}"))?;
    }
    let before = fold(&super::load(&arguments.before)?);
    let after = fold(&super::load(&arguments.after)?);
    let diff = diff(&before, &after, noise);
    let writer = WRITERS
        .iter()
        .find(|writer| writer.name == arguments.format);
    super::print(|out| (writer.unwrap_or(&WRITERS[0]).write)(&diff, out))
}
