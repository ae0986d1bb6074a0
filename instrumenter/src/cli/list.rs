//! `romp list`

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Failure;
use crate::list::{FileListing, listing, write_text};
use crate::{Options, instrument};

/// Arguments of `romp list`.
#[derive(Debug, Args)]
#[command(after_help = "instrumented: it has probes.\n\
    passed through: there is nothing to measure, or nothing may be inserted; the reason follows.\n\
    left alone: it should be measured, but cannot be; the reason follows.")]
pub(super) struct Arguments {
    /// Source files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How to write the list
    #[arg(short, long, default_value = "text")]
    format: Format,
    #[command(flatten)]
    disable: super::Disable,
    /// The compiler makes no code for a device: list the constructs in target regions as instrumented too
    #[arg(long)]
    host_only: bool,
    /// As `romp instrument --chunks`: say of which loops the chunks cannot be traced
    #[arg(long)]
    chunks: bool,
    /// The Fortran standard in force has no block construct (before 2008), which --chunks needs
    #[arg(long)]
    without_blocks: bool,
    #[command(flatten)]
    lines: super::lines::Lines,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One line per directive
    Text,
    /// An array with one object per file
    Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let options = Options {
        disabled: arguments.disable.groups(),
        host_only: arguments.host_only,
        chunks: arguments.chunks,
        without_blocks: arguments.without_blocks,
        ..Options::default()
    };
    let listings: Vec<FileListing> = arguments
        .files
        .iter()
        .map(|path| {
            let mut source = super::read_source(path)?;
            arguments.lines.lay_out(&mut source);
            Ok(listing(&source, &instrument(&source, &options)))
        })
        .collect::<Result<_, Failure>>()?;
    super::print(|out| match arguments.format {
        Format::Text => write_text(&listings, out),
        Format::Json => {
            profile::printable::write_pretty_json(&mut *out, &listings)?;
            writeln!(out)
        }
    })
}
