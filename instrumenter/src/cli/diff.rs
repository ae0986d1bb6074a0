//! `romp diff`

use std::path::PathBuf;

use clap::Args;
use profile::diff::{Noise, WRITERS, diff_runs};
use profile::model::Profile;

use super::Failure;

/// Arguments of `romp diff`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/diff.txt"))]
#[command(override_usage = "romp diff [OPTIONS] BEFORE AFTER\n       \
    romp diff [OPTIONS] BEFORE... -- AFTER...\n       \
    romp diff [OPTIONS] --before BEFORE... --after AFTER...")]
pub(super) struct Arguments {
    /// The saved profiles of two runs; with more behind --, those of the first side
    files: Vec<PathBuf>,
    /// The saved profiles of the second side
    #[arg(last = true)]
    others: Vec<PathBuf>,
    /// The saved profiles of the first side
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "after")]
    #[arg(conflicts_with_all = ["files", "others"])]
    before: Vec<PathBuf>,
    /// The saved profiles of the second side
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "before")]
    after: Vec<PathBuf>,
    /// How to write it
    #[arg(short, long, default_value = WRITERS[0].name, value_parser = formats())]
    format: String,
    /// Changes smaller than this are noise: percent of the larger time (by default by the
    /// number of runs, see below), or a time such as 1ms; may be given once for each
    #[arg(long, value_name = "LIMIT")]
    noise: Vec<String>,
}

/// The choices of `--format`.
fn formats() -> clap::builder::PossibleValuesParser {
    super::choices(WRITERS.iter().map(|writer| (writer.name, writer.about)))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut noise = Noise::default();
    for limit in &arguments.noise {
        noise
            .set(limit)
            .map_err(|error| format!("error: --noise: {error}"))?;
    }
    let (before, after) = arguments.sides()?;
    let diff = diff_runs(&load(before)?, &load(after)?, noise);
    let writer = WRITERS
        .iter()
        .find(|writer| writer.name == arguments.format);
    super::print(|out| (writer.unwrap_or(&WRITERS[0]).write)(&diff, out))
}

fn load(paths: &[PathBuf]) -> Result<Vec<Profile>, Failure> {
    paths.iter().map(|path| super::load_folded(path)).collect()
}

impl Arguments {
    /// The files of both sides.
    fn sides(&self) -> Result<(&[PathBuf], &[PathBuf]), Failure> {
        if !self.before.is_empty() {
            return Ok((&self.before, &self.after));
        }
        match (self.files.as_slice(), self.others.as_slice()) {
            ([before], []) => Err(Failure::from(format!(
                "error: there is nothing to compare '{}' with: give a second profile",
                before.display()
            ))),
            ([_, _], []) => Ok(self.files.split_at(1)),
            (before @ [_, ..], after @ [_, ..]) => Ok((before, after)),
            _ => Err(Failure::from(
                "error: say which runs belong to which side: romp diff a1.romp.json \
                 a2.romp.json -- b1.romp.json b2.romp.json"
                    .to_owned(),
            )),
        }
    }
}
