//! The destination of text: a file, or a terminal. Text is fitted to the width of a terminal.

use std::io::{self, Write};

/// How text is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether everything is written, whatever its size.
    pub is_whole: bool,
    /// Columns of the terminal; longer lines are cut. None for a file.
    pub width: Option<usize>,
    /// Whether titles may be emphasised.
    pub has_colour: bool,
}

/// Prose is wrapped before this column.
const PROSE_WIDTH: usize = 96;
/// A terminal with fewer columns is treated as if it had this many.
const NARROWEST: usize = 40;
const STRONG: &[u8] = b"\x1b[1m";
const NORMAL: &[u8] = b"\x1b[0m";

/// The destination of text. Lines are cut and emphasised here, so that code that lays out
/// tables need not know about terminals.
pub(crate) struct TextSink<'o> {
    out: &'o mut dyn Write,
    style: Style,
    /// The text of the current line; only used for a terminal.
    line: Vec<u8>,
    is_strong: bool,
}

impl<'o> TextSink<'o> {
    pub(crate) fn new(out: &'o mut dyn Write, style: Style) -> Self {
        Self {
            out,
            style,
            line: Vec::new(),
            is_strong: false,
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.style.is_whole
    }

    /// The largest width of a line of prose.
    pub(crate) fn prose_width(&self) -> usize {
        self.width()
            .map_or(PROSE_WIDTH, |width| width.min(PROSE_WIDTH))
    }

    /// Whether lines with this number of columns are cut.
    pub(crate) fn is_narrower(&self, columns: usize) -> bool {
        self.width().is_some_and(|width| width < columns)
    }

    /// The columns of the terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        self.style.width.map(|width| width.max(NARROWEST))
    }

    /// Emphasises the lines that `write` writes.
    pub(crate) fn strong(
        &mut self,
        write: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.is_strong = true;
        let written = write(self);
        self.is_strong = false;
        written
    }

    fn is_plain(&self) -> bool {
        self.style.width.is_none() && !self.style.has_colour
    }

    /// Writes a line without its end.
    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        let is_strong = self.is_strong && self.style.has_colour && !line.is_empty();
        if is_strong {
            self.out.write_all(STRONG)?;
        }
        match (self.width(), std::str::from_utf8(line)) {
            (Some(width), Ok(text)) if text.chars().count() > width => {
                let kept: String = text.chars().take(width - 1).collect();
                self.out.write_all(kept.as_bytes())?;
                self.out.write_all("…".as_bytes())?;
            }
            _ => self.out.write_all(line)?,
        }
        if is_strong {
            self.out.write_all(NORMAL)?;
        }
        Ok(())
    }
}

impl Write for TextSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_plain() {
            return self.out.write(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.pop_if(|last| *last == b'\n').is_some() {
                let line = std::mem::take(&mut self.line);
                self.put(&line)?;
                self.out.write_all(b"\n")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.put(&line)?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(style: Style, text: &str) -> String {
        let mut out = Vec::new();
        let mut sink = TextSink::new(&mut out, style);
        sink.write_all(text.as_bytes()).unwrap();
        sink.strong(|sink| writeln!(sink, "title")).unwrap();
        sink.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_terminal_is_not_left_to_fold_lines() {
        let style = Style {
            width: Some(40),
            ..Style::default()
        };
        let long = "ä".repeat(41);
        let cut = format!("{}…\n{}\ntitle\n", "ä".repeat(39), "b".repeat(40));
        assert_eq!(shown(style, &format!("{long}\n{}\n", "b".repeat(40))), cut);
        let whole = format!("{long}\ntitle\n");
        assert_eq!(shown(Style::default(), &format!("{long}\n")), whole);
    }

    #[test]
    fn only_titles_are_emphasised() {
        let style = Style {
            has_colour: true,
            ..Style::default()
        };
        assert_eq!(shown(style, "a\n"), "a\n\x1b[1mtitle\x1b[0m\n");
    }

    #[test]
    fn a_terminal_of_no_width_does_no_harm() {
        let style = Style {
            width: Some(0),
            ..Style::default()
        };
        assert_eq!(shown(style, "a\n"), "a\ntitle\n");
    }
}
