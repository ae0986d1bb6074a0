//! Every problem that a user sees: where, what, what to do.

use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::find::lines::Presumed;
use crate::names;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing was done.
    Error,
    /// Something was left alone.
    Warning,
}

/// A problem at a place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// What is the matter, in one sentence without a final stop.
    pub message: String,
    /// The place: first and last byte.
    pub range: std::ops::Range<usize>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Renders it with `file:line:column` and the source line.
    #[must_use]
    pub fn render(&self, name: &str, text: &[u8], color: bool) -> String {
        let name = profile::printable::printable(name);
        let (shown, range) = window(text, &self.range);
        let first_line = text[..shown.start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        // Any bytes may stand in a source; offsets must survive.
        let source: String = text[shown].iter().map(|byte| printable(*byte)).collect();
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let snippet = Snippet::source(source)
            .path(&*name)
            .line_start(first_line)
            .annotation(AnnotationKind::Primary.span(range));
        let mut group = level.primary_title(&self.message).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.render(&[group])
    }
}

/// The lines around a range, and the range within them.
fn window(
    text: &[u8],
    range: &std::ops::Range<usize>,
) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    let at = range.start.min(text.len());
    let start = text[..at]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1);
    let line_end = text[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |newline| at + newline);
    let end = range.end.clamp(at, line_end);
    (start..line_end, at - start..end - start)
}

fn printable(byte: u8) -> char {
    match byte {
        b'\t' => ' ',
        0x20..=0x7e => char::from(byte),
        _ => '?',
    }
}

/// A warning about a line that the compiler counts, where its text can't be
/// shown.
#[must_use]
pub fn at_line(line: Option<Presumed>, message: &str) -> String {
    said_of(line, "warning", message)
}

/// An error about such a line.
#[must_use]
pub fn error_at(line: Option<Presumed>, message: &str) -> String {
    said_of(line, "error", message)
}

fn said_of(line: Option<Presumed>, severity: &str, message: &str) -> String {
    match line {
        Some(Presumed { file, line }) => {
            format!("{}:{line}: {severity}: {message}", names::shown(&file))
        }
        None => format!("{severity}: {message}"),
    }
}

/// An error that concerns a file as a whole.
#[must_use]
pub fn file_error(path: &Path, what: &str, help: &str) -> String {
    format!("error: {}: {what}\n  = help: {help}", path.display())
}
