//! `romp trace export TRACE`: one row per format in `EXPORTERS`.

mod otf2;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use trace::export::{self, ExportError};
use trace::read::Trace;

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
        write: chrome,
    },
    Exporter {
        name: "folded",
        about: "stacks with their time in nanoseconds, for flame graphs",
        write: folded,
    },
    Exporter {
        name: "otf2",
        about: "a folder FILE with an archive for Vampir and Score-P's tools; needs libotf2",
        write: otf2::write,
    },
    Exporter {
        name: "paraver",
        about: "FILE.prv with FILE.pcf and FILE.row, for Paraver",
        write: paraver,
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
    let exporters = EXPORTERS.iter();
    crate::cli::choices(exporters.map(|exporter| (exporter.name, exporter.about)))
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

fn chrome(trace: &Trace, output: &Path) -> Result<(), Failure> {
    into(output, |out| export::chrome(trace, out))
}

fn folded(trace: &Trace, output: &Path) -> Result<(), Failure> {
    into(output, |out| export::folded(trace, out))
}

fn paraver(trace: &Trace, output: &Path) -> Result<(), Failure> {
    let file = |extension| output.with_extension(extension);
    into(&file("prv"), |out| export::paraver(trace, out))?;
    into(&file("pcf"), |out| Ok(export::paraver_names(trace, out)?))?;
    into(&file("row"), |out| export::paraver_threads(trace, out))
}

/// Writes a new file.
fn into(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), ExportError>,
) -> Result<(), Failure> {
    let named = |error: &dyn std::fmt::Display| failure(format!("'{}': {error}", path.display()));
    let file = File::create_new(path).map_err(|error| named(&error))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    match write(&mut out) {
        Ok(()) => out.flush().map_err(|error| named(&error)),
        // This error already names the trace.
        Err(ExportError::Read(error)) => Err(failure(error)),
        Err(error) => Err(named(&error)),
    }
}
