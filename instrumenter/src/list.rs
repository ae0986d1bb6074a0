//! `romp list`: every directive, with its outcome.

use std::io::{self, Write};

use serde::Serialize;

use crate::find::{Hidden, front_end};
use crate::plan::{Decision, Listed};
use crate::{Instrumented, Source, names};

/// The listing of one file.
#[derive(Debug, Serialize)]
pub struct FileListing {
    /// Its name.
    pub file: String,
    /// Its directives and redirected calls, in source order.
    pub entries: Vec<Entry>,
    /// Macros whose directives or calls only the preprocessed text would show.
    pub hidden: Vec<HiddenEntry>,
}

/// A macro that makes directives or calls.
#[derive(Debug, Serialize)]
pub struct HiddenEntry {
    /// The file, as the compiler counts lines.
    pub file: String,
    /// The line of its definition, as the compiler counts lines; 0 if it is unknown.
    pub line: u32,
    /// What it hides, in words.
    pub reason: String,
}

impl HiddenEntry {
    /// The remedy that is shown, with what `rompcc` does about such a source.
    pub const HELP: &str = "rompcc preprocesses such a source first; here, give the text that \
                            the compiler's -E makes of it";
}

/// One directive or call.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// File, as the compiler counts lines.
    pub file: String,
    /// Line, as the compiler counts lines; 0 if it is unknown.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// Name of the construct or routine; empty if the directive was not understood.
    pub construct: String,
    /// The text as written.
    pub text: String,
    /// Names of its clauses.
    pub clauses: Vec<String>,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Decision,
    /// Why the chunks of its loop can't be traced, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchunked: Option<String>,
}

/// The listing of a source that was instrumented.
#[must_use]
pub fn listing(source: &Source, result: &Instrumented) -> FileListing {
    let name = names::shown(&source.name);
    let entry = |listed: &Listed| {
        let line = result.lines.presumed(listed.offset);
        Entry {
            file: line
                .as_ref()
                .map_or_else(|| name.clone(), |line| names::shown(&line.file)),
            line: line.map_or(0, |line| line.line),
            column: result.lines.column(listed.offset),
            construct: listed.construct.clone(),
            text: listed.text.clone(),
            clauses: listed.clauses.clone(),
            outcome: listed.outcome.clone(),
            unchunked: result.plan.unchunked.get(&listed.offset).cloned(),
        }
    };
    FileListing {
        file: name.clone(),
        entries: result.plan.listing.iter().map(entry).collect(),
        hidden: hidden(source, result),
    }
}

/// The macros of a source that hide directives or calls.
#[must_use]
pub fn hidden(source: &Source, result: &Instrumented) -> Vec<HiddenEntry> {
    let hidden = front_end(source.language).hidden(&source.text);
    let entry = |hidden: Hidden| {
        let line = result.lines.presumed(hidden.offset);
        HiddenEntry {
            line: line.as_ref().map_or(0, |line| line.line),
            file: names::shown(&line.map_or_else(|| source.name.clone(), |line| line.file)),
            reason: hidden.reason,
        }
    };
    hidden.into_iter().map(entry).collect()
}

/// Writes listings as text for people.
///
/// # Errors
/// If `out` can't be written to.
pub fn write_text(listings: &[FileListing], out: &mut dyn Write) -> io::Result<()> {
    let entries = || listings.iter().flat_map(|listing| &listing.entries);
    let place = |entry: &Entry| format!("{}:{}:{}", entry.file, entry.line, entry.column);
    let width = entries().map(|entry| place(entry).len()).max().unwrap_or(0);
    for entry in entries() {
        writeln!(
            out,
            "{:width$}  {:13} {}",
            place(entry),
            word(&entry.outcome),
            entry.text
        )?;
        if let Some(reason) = reason(&entry.outcome) {
            writeln!(out, "{:width$}  {:13} = {reason}", "", "")?;
        }
        if let Some(reason) = &entry.unchunked {
            writeln!(
                out,
                "{:width$}  {:13} = its chunks are not traced: {reason}",
                "", ""
            )?;
        }
    }
    for hidden in listings.iter().flat_map(|listing| &listing.hidden) {
        let HiddenEntry { file, line, reason } = hidden;
        writeln!(out, "{file}:{line}: hidden: {reason}")?;
        writeln!(out, "  = {}", HiddenEntry::HELP)?;
    }
    let count = |wanted: &str| {
        entries()
            .filter(|entry| word(&entry.outcome) == wanted)
            .count()
    };
    writeln!(
        out,
        "{}: {} instrumented, {} passed through, {} left alone",
        match entries().count() {
            1 => "1 directive or lock call".to_owned(),
            all => format!("{all} directives and lock calls"),
        },
        count("instrumented"),
        count("passed"),
        count("left alone"),
    )
}

fn word(outcome: &Decision) -> &'static str {
    match outcome {
        Decision::Instrumented { .. } => "instrumented",
        Decision::PassedThrough { .. } => "passed",
        Decision::LeftAlone { .. } => "left alone",
    }
}

fn reason(outcome: &Decision) -> Option<String> {
    match outcome {
        Decision::Instrumented { unsplit } => unsplit
            .as_ref()
            .map(|reason| format!("its barrier is not measured separately: {reason}")),
        Decision::PassedThrough { reason } | Decision::LeftAlone { reason } => Some(reason.clone()),
    }
}
