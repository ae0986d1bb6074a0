//! `romp trace export TRACE`: one file a format, and a line in `EXPORTERS`.

mod chrome;
mod folded;
mod otf2;
mod paraver;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValue;
use trace::read::Trace;
use trace::replay::Open;

use super::{Failure, failure};

/// A format.
struct Exporter {
    name: &'static str,
    about: &'static str,
    /// Writes the file, and others beside it if the format has several.
    write: fn(&Trace, &Path) -> Result<(), Failure>,
}

const EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "chrome",
        about: "JSON for the Perfetto viewer (ui.perfetto.dev) and chrome://tracing",
        write: chrome::write,
    },
    Exporter {
        name: "folded",
        about: "stacks with their time in nanoseconds, for flame graphs",
        write: folded::write,
    },
    Exporter {
        name: "otf2",
        about: "a folder FILE with an archive for Vampir and Score-P's tools; needs libotf2",
        write: otf2::write,
    },
    Exporter {
        name: "paraver",
        about: "FILE.prv with FILE.pcf and FILE.row, for Paraver",
        write: paraver::write,
    },
];

/// Arguments of `romp trace export TRACE`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What to write
    #[arg(short, long, value_parser = formats())]
    format: String,
    /// The file to write; it must not be there yet
    #[arg(short, long)]
    output: PathBuf,
}

fn formats() -> clap::builder::PossibleValuesParser {
    let values = EXPORTERS
        .iter()
        .map(|exporter| PossibleValue::new(exporter.name).help(exporter.about));
    values.collect::<Vec<_>>().into()
}

pub(super) fn run(trace: &Trace, arguments: &Arguments) -> Result<(), Failure> {
    let exporter = EXPORTERS
        .iter()
        .find(|exporter| exporter.name == arguments.format);
    match exporter {
        Some(exporter) => (exporter.write)(trace, &arguments.output),
        None => Ok(()),
    }
}

/// A new file, and what to say if it cannot be written.
fn create(path: &Path) -> Result<std::io::BufWriter<std::fs::File>, Failure> {
    let file = std::fs::File::create_new(path);
    let file = file.map_err(|error| failure(format!("'{}': {error}", path.display())))?;
    Ok(std::io::BufWriter::with_capacity(1 << 18, file))
}

fn written(path: &Path, result: std::io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| failure(format!("'{}': {error}", path.display())))
}

/// A region as it is named in all formats.
pub(super) fn region(trace: &Trace, number: u32) -> String {
    let region = trace.region(number);
    region.map_or_else(
        || "?".to_owned(),
        |region| {
            format!(
                "{} {}:{}",
                region.region_type, region.begin.file, region.begin.first
            )
        },
    )
}

/// A phase as it is named; none for the region itself.
fn phase(open: &Open) -> Option<&'static str> {
    use profile::region_kind::PseudoRegion::{Body, Enter, Exit, Ibarr, Main, Seq};
    match open.phase {
        Main | Seq => None,
        Enter => Some("enter"),
        Body => Some("body"),
        Ibarr => Some("implicit barrier"),
        Exit => Some("exit"),
    }
}
