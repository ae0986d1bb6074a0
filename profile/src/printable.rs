//! Makes names that come from the program safe to show: on a terminal, in a report, in a
//! spreadsheet. All outputs use this module.
//!
//! A source can choose its file names (`#line`), and a program the names of its regions. So a
//! name may contain anything: terminal commands, line ends, marks that change the direction of
//! the text after them. Characters that change how other text is shown are written as Rust
//! escape sequences, such as `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

/// Whether a character changes how text around it is shown.
#[must_use]
pub fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Ends of lines and of paragraphs, and marks of direction.
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
        )
}

/// A name in a form that is safe to show.
#[must_use]
pub fn printable(name: &str) -> Cow<'_, str> {
    if !name.contains(is_command) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        if is_command(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The formatter of all JSON that Romp writes. Characters in strings that would change how a
/// terminal shows the text after them are written as JSON escapes. A JSON reader gets the same
/// text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Escaping<F>(pub F);

/// Writes a value as JSON on one line.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json(out: impl io::Write, value: &impl serde::Serialize) -> io::Result<()> {
    let format = Escaping(serde_json::ser::CompactFormatter);
    let mut writer = serde_json::Serializer::with_formatter(out, format);
    Ok(value.serialize(&mut writer)?)
}

/// Writes a value as JSON with indentation, for people to read.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_pretty_json(out: impl io::Write, value: &impl serde::Serialize) -> io::Result<()> {
    let format = Escaping(serde_json::ser::PrettyFormatter::new());
    let mut writer = serde_json::Serializer::with_formatter(out, format);
    Ok(value.serialize(&mut writer)?)
}

/// Forwards the functions that write the begin and end of values.
macro_rules! pass_on {
    ($($function:ident($($argument:ident: $type:ty),*);)+) => {$(
        fn $function<W: ?Sized + io::Write>(&mut self, out: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$function(out $(, $argument)*)
        }
    )+};
}

impl<F: serde_json::ser::Formatter> serde_json::ser::Formatter for Escaping<F> {
    pass_on! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_command) {
            out.write_all(&rest.as_bytes()[..at])?;
            let mut behind = rest[at..].chars();
            let mut escape = String::new();
            for unit in behind.next().into_iter().flat_map(units) {
                // Writing to a string cannot fail.
                let _ = write!(escape, "\\u{unit:04x}");
            }
            out.write_all(escape.as_bytes())?;
            rest = behind.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

fn units(c: char) -> impl Iterator<Item = u16> {
    let mut buffer = [0; 2];
    let length = c.encode_utf16(&mut buffer).len();
    buffer.into_iter().take(length)
}

/// Nanoseconds as seconds, exactly.
pub(crate) fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A name as a field between separators. A spreadsheet evaluates a field that begins like a
/// formula. So such a field gets a quotation mark in front and is text.
pub(crate) fn quoted(field: &str) -> Cow<'_, str> {
    let mut field = printable(field);
    if field.starts_with(['=', '+', '-', '@']) {
        field = Cow::Owned(format!("'{field}"));
    }
    if field.contains([',', '"']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_and_not_obeyed() {
        assert_eq!(printable("src/größe.c"), "src/größe.c");
        assert_eq!(printable("a\u{1b}[31m\n.c"), "a\\u{1b}[31m\\n.c");
        assert_eq!(
            printable("\u{9b}\u{7f}\u{202e}\u{2066}"),
            "\\u{9b}\\u{7f}\\u{202e}\\u{2066}"
        );
    }

    #[test]
    fn json_says_the_same_without_commands() {
        let text = "a\u{1b}\u{9b}\u{7f}\u{202e}\"\\\nö";
        let mut json = Vec::new();
        write_json(&mut json, &text).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert!(!json.contains(is_command), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
