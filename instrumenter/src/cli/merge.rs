//! `romp merge`

use std::io;
use std::path::PathBuf;

use clap::Args;
use profile::merge::{Part, merge, number};
use profile::report::json;
use profile::save::write_new;

use super::Failure;
use crate::diagnostic::file_error;

/// Arguments of `romp merge`.
#[derive(Debug, Args)]
#[command(
    after_help = "The threads of the merged profile are called r<rank>:<path>, such as \
    r1:0->3. Show it with romp report, which has a line for each rank.\n\n\
    Example: romp merge app.r*.0.romp.json -o app.romp.json"
)]
pub(super) struct Arguments {
    /// The saved profiles, one per rank: APP.r<RANK>.N.romp.json
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The merged profile; a file that is there already is not overwritten
    #[arg(short, long)]
    output: PathBuf,
    /// Number the files 0, 1, ... as given: for launchers that tell processes no rank
    #[arg(long = "number")]
    numbered: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let load = |path: &PathBuf| {
        Ok(Part {
            path: path.clone(),
            profile: super::load(path)?,
        })
    };
    let mut parts: Vec<Part> = arguments
        .files
        .iter()
        .map(load)
        .collect::<Result<_, Failure>>()?;
    if arguments.numbered {
        number(&mut parts);
    }
    let merged = merge(&parts).map_err(|error| format!("error: {error}"))?;
    let output = &arguments.output;
    write_new(output, |out| json::write(&merged, out)).map_err(|error| {
        let help = match error.kind() {
            io::ErrorKind::AlreadyExists => "nothing is overwritten: choose another name with -o",
            _ => "choose a place that can be written with -o",
        };
        file_error(output, &error.to_string(), help).into()
    })
}
