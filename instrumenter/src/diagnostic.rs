//! Diagnostics for the user: each gives the place, the problem and the remedy.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::find::lines::{LineMap, Presumed};
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
    /// The problem, in one sentence without a final stop.
    pub message: String,
    /// The place: first and last byte.
    pub range: Range<usize>,
    /// The remedy.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Renders the diagnostic with `file:line:column` and the source line. A very long source
    /// line is not shown.
    #[must_use]
    pub fn render(&self, name: &str, text: &[u8], lines: &LineMap, color: bool) -> String {
        let name = profile::printable::printable(name);
        let first_line = lines.physical(self.range.start) as usize;
        let Some((shown, range)) = window(text, lines, &self.range) else {
            let column = lines.column(self.range.start);
            let severity = match self.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            let message = &self.message;
            return format!("{name}:{first_line}:{column}: {severity}: {message}");
        };
        // A source may contain any bytes, and offsets must stay right.
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

/// The length of the longest line that is shown, in bytes.
const LONGEST: usize = 4096;

/// The line around a range, and the range within it.
fn window(
    text: &[u8],
    lines: &LineMap,
    range: &Range<usize>,
) -> Option<(Range<usize>, Range<usize>)> {
    let at = range.start.min(text.len());
    let start = at - (lines.column(at) as usize - 1);
    let most = &text[start..text.len().min(start + LONGEST)];
    let length = memchr::memchr(b'\n', most);
    let whole = start + most.len() == text.len();
    let end = start + length.or_else(|| whole.then_some(most.len()))?;
    (at <= end).then(|| (start..end, at - start..range.end.clamp(at, end) - start))
}

fn printable(byte: u8) -> char {
    match byte {
        b'\t' => ' ',
        0x20..=0x7e => char::from(byte),
        _ => '?',
    }
}

/// A warning about a line as the compiler counts it, without the line's text.
#[must_use]
pub fn at_line(line: Option<Presumed>, message: &str) -> String {
    said_of(line, "warning", message)
}

/// An error about a line as the compiler counts it, without the line's text.
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

/// The message for a file that the user named and that cannot be read.
#[must_use]
pub fn cannot_read(path: &Path, error: &std::io::Error) -> String {
    format!("error: cannot read '{}': {error}", path.display())
}

/// An error that concerns a file as a whole.
#[must_use]
pub fn file_error(path: &Path, what: &str, help: &str) -> String {
    format!("error: {}: {what}\n  = help: {help}", path.display())
}
