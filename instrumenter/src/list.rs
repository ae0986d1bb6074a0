//! `romp list`: every directive with what becomes of it.

use std::io::{self, Write};

use serde::Serialize;

use crate::Instrumented;
use crate::plan::{Listed, Outcome};

/// The listing of one file.
#[derive(Debug, Serialize)]
pub struct FileListing {
    /// Its name.
    pub file: String,
    /// Its directives and redirected calls, in source order.
    pub entries: Vec<Entry>,
}

/// One directive or call.
#[derive(Debug, Serialize)]
pub struct Entry {
    /// File, as the compiler counts lines.
    pub file: String,
    /// Line, as the compiler counts lines; 0 if that can't be told.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// Name of the construct or routine; empty if it is not understood.
    pub construct: String,
    /// As written.
    pub text: String,
    /// Names of its clauses.
    pub clauses: Vec<String>,
    /// What becomes of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Why the chunks of its loop cannot be traced, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchunked: Option<String>,
}

/// The listing of a source that was instrumented.
#[must_use]
pub fn listing(name: &str, result: &Instrumented) -> FileListing {
    let entry = |listed: &Listed| {
        let line = result.lines.presumed(listed.offset);
        Entry {
            file: line
                .as_ref()
                .map_or_else(|| name.to_owned(), |line| line.file.clone()),
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
        file: name.to_owned(),
        entries: result.plan.listing.iter().map(entry).collect(),
    }
}

/// Writes listings for people.
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
    let count = |wanted: &str| {
        entries()
            .filter(|entry| word(&entry.outcome) == wanted)
            .count()
    };
    writeln!(
        out,
        "{} directives and lock calls: {} instrumented, {} passed through, {} left alone",
        entries().count(),
        count("instrumented"),
        count("passed"),
        count("left alone"),
    )
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Instrumented { .. } => "instrumented",
        Outcome::PassedThrough { .. } => "passed",
        Outcome::LeftAlone { .. } => "left alone",
    }
}

fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Instrumented { unsplit } => unsplit
            .as_ref()
            .map(|reason| format!("its barrier is not measured separately: {reason}")),
        Outcome::PassedThrough { reason } | Outcome::LeftAlone { reason } => Some(reason.clone()),
    }
}
