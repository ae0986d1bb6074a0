//! `romp report`

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use profile::analysis::{Report, Selection};
use profile::report::{WRITERS, writer};

use super::Failure;

/// Arguments of `romp report`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The saved profile, APP.N.romp.json
    #[arg(required_unless_present = "explain")]
    profile: Option<PathBuf>,
    /// How to write it
    #[arg(short, long, default_value = WRITERS[0].name, value_parser = formats())]
    format: String,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Say what a column, overhead, property or kind of region means, such as exitBarT
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
}

/// What is shown.
#[derive(Debug, Args)]
struct SelectionArguments {
    /// Only regions like this: part of a number, kind, name, function, file or file:line, or a
    /// whole one with * and ?; may be given several times
    #[arg(long, value_name = "PATTERN")]
    region: Vec<String>,
    /// Only rows of this thread, by its path such as 0->3, or of several such as '0->*'
    #[arg(long, value_name = "PATH")]
    thread: Vec<String>,
    /// Only what has at least so many percent of the time
    #[arg(long, value_name = "X")]
    min_percent: Option<f64>,
    /// Sort regions by the sum of a column or overhead, largest first
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// Only the first so many regions
    #[arg(long, value_name = "N")]
    top: Option<usize>,
}

/// The choices of `--format`, from the table of writers.
fn formats() -> clap::builder::PossibleValuesParser {
    let values = WRITERS
        .iter()
        .map(|writer| PossibleValue::new(writer.name).help(writer.about));
    values.collect::<Vec<_>>().into()
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(name) = &arguments.explain {
        return explain(name);
    }
    match &arguments.profile {
        Some(profile) => show(profile, arguments),
        None => Ok(()),
    }
}

fn show(path: &std::path::Path, arguments: &Arguments) -> Result<(), Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure {
        message: format!("error: {error}"),
    };
    let profile = super::load(path)?;
    let writer = writer(&arguments.format).unwrap_or(&WRITERS[0]);
    let selection = arguments.selection.selection();
    if writer.is_whole && !selection.is_all() {
        let name = writer.name;
        return Err(failure(&format!(
            "the format {name} is the whole profile: choose another one to show a part of it"
        )));
    }
    let mut report = Report::new(&profile);
    report.select(&selection).map_err(|error| failure(&error))?;
    super::print(|out| (writer.write)(&report, out))
}

fn explain(name: &str) -> Result<(), Failure> {
    let Some(paragraphs) = profile::explain::explain(name) else {
        let known = profile::explain::names().join(", ");
        return Err(Failure {
            message: format!("error: nothing is called '{name}' in a report; known are {known}"),
        });
    };
    super::print(|out| {
        paragraphs
            .iter()
            .try_for_each(|text| writeln!(out, "{text}"))
    })
}

impl SelectionArguments {
    fn selection(&self) -> Selection {
        Selection {
            regions: self.region.clone(),
            threads: self.thread.clone(),
            min_percent: self.min_percent,
            sort: self.sort.clone(),
            top: self.top,
        }
    }
}
