//! `romp report`

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use profile::analysis::{Report, Selection};
use profile::report::{WRITERS, Writer, text, writer};

use super::{Failure, page, style};

/// The format that is shown in a browser.
const PAGE: &str = "html";
/// The format that is shown in the terminal.
const TEXT: &str = "text";

/// Arguments of `romp report`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The saved profile, APP.N.romp.json, or a folder, for the newest one in it; - reads standard
    /// input; the newest one here if none is given
    profile: Option<PathBuf>,
    /// How to write it; text, or html with --open
    #[arg(short, long, value_parser = formats())]
    format: Option<String>,
    /// Where to write it, in place of standard output
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Write the page and show it in a browser ($BROWSER); -o names it
    #[arg(long)]
    open: bool,
    /// Leave the program's source out of the page
    #[arg(long)]
    no_source: bool,
    /// In text, everything: also the regions and call paths that hardly matter, and each of up
    /// to 64 threads (the other formats always have everything)
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Say what a column, overhead, property or kind of region means, such as exitBarT
    #[arg(long, value_name = "NAME")]
    explain: Option<String>,
}

/// What is shown.
#[derive(Debug, Args)]
struct SelectionArguments {
    /// Only regions whose number, kind, name, function, file or file:line contains this text; a
    /// pattern with * or ? must match the whole; may be given several times
    #[arg(long, value_name = "PATTERN")]
    region: Vec<String>,
    /// Only rows of this thread, by its path such as 0->3, or of several such as '0->*'
    #[arg(long, value_name = "PATH")]
    thread: Vec<String>,
    /// Only what has at least so many percent of the time
    #[arg(long, value_name = "X", value_parser = number)]
    min_percent: Option<f64>,
    /// Sort regions by the sum of a column or overhead, largest first
    #[arg(long, value_name = "COLUMN")]
    sort: Option<String>,
    /// Only the first so many regions
    #[arg(long, value_name = "N")]
    #[arg(value_parser = super::whole(0..=u32::MAX, "a whole number such as 3"))]
    top: Option<u32>,
}

/// Reads a number that may have decimals.
fn number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| "give a number such as 5".to_owned())
}

/// The choices of `--format`.
fn formats() -> clap::builder::PossibleValuesParser {
    super::choices(WRITERS.iter().map(|writer| (writer.name, writer.about)))
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match (&arguments.explain, &arguments.profile) {
        (Some(name), _) => explain(name),
        (None, Some(folder)) if folder.is_dir() => show(&page::newest(folder)?, arguments),
        (None, Some(profile)) => show(profile, arguments),
        (None, None) => show(&page::newest(Path::new("."))?, arguments),
    }
}

/// The chosen format.
fn chosen(arguments: &Arguments) -> Result<&'static Writer, Failure> {
    match (arguments.format.as_deref(), arguments.open) {
        (Some(name), true) if name != PAGE => Err(Failure {
            message: format!("error: --open shows the page: leave -f {name} out"),
        }),
        (None, true) => Ok(writer(PAGE).unwrap_or(&WRITERS[0])),
        (name, _) => Ok(name.and_then(writer).unwrap_or(&WRITERS[0])),
    }
}

fn show(path: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let failure = |error: &dyn std::fmt::Display| Failure {
        message: format!("error: {error}"),
    };
    let writer = chosen(arguments)?;
    let profile = super::load(path)?;
    let selection = arguments.selection.selection();
    if writer.is_whole && !selection.is_all() {
        let name = writer.name;
        return Err(failure(&format!(
            "the format {name} is the whole profile: choose another one to show a part of it"
        )));
    }
    let mut report = Report::new(&profile);
    report.select(&selection).map_err(|error| failure(&error))?;
    let name = arguments.open.then(|| page::name_of(path));
    let output = arguments.output.clone().or(name);
    let style = match output {
        Some(_) => style::of_file(arguments.all),
        None => style::of_stdout(arguments.all),
    };
    let write = |out: &mut dyn Write| match writer.name {
        PAGE => page::page(&report, path, !arguments.no_source).write(out),
        TEXT => text::write_styled(&report, style, out),
        _ => (writer.write)(&report, out),
    };
    let Some(output) = output else {
        return super::print(write);
    };
    page::write_file(&output, &[path], write)?;
    match arguments.open {
        true => page::open(&output),
        false => Ok(()),
    }
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
            top: self.top.map(|top| top as usize),
        }
    }
}
