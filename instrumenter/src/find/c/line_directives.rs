//! `#line` and the line markers of preprocessed text.

use super::conditionals::{Groups, word};
use super::cursor::unspliced_bytes;
use super::lexer::{PreprocessorLine, TokenKind};
use super::preprocessed::keeps_macros;
use crate::find::lines::LineMap;
use crate::names;

/// The line map of a text.
pub(in crate::find) fn line_map(
    name: &str,
    text: &[u8],
    lines: &[PreprocessorLine],
    groups: &Groups,
) -> LineMap {
    let mut map = LineMap::new(name, text);
    // Clang writes another marker behind each branch, so the line is known there.
    let is_marked = keeps_macros(text);
    for line in lines {
        let from = (line.range.end + 1).min(text.len());
        match parse(text, line) {
            Parsed::Other => {}
            // In a branch that may not be compiled: the `#line` may or may not be in effect
            // behind it.
            _ if !is_marked && groups.around(line.range.start).next().is_some() => {
                map.lose(from);
            }
            Parsed::Line(file, number) => map.change(from, file, number),
            Parsed::Unreadable => map.lose(from),
        }
    }
    map
}

enum Parsed {
    Line(Option<String>, u32),
    /// A `#line` whose operands are macros.
    Unreadable,
    Other,
}

/// Reads `#line 12 "file"`, and `# 12 "file" flags` as preprocessors write it. Flang writes
/// `#line "file" 12`.
fn parse(text: &[u8], line: &PreprocessorLine) -> Parsed {
    let operands = match line.tokens.first().map(|token| token.kind) {
        Some(TokenKind::Number) => 0,
        _ if word(text, line, 0) == "line" => 1,
        _ => return Parsed::Other,
    };
    let Ok(number) = word(text, line, operands).parse() else {
        return by_flang(text, line).unwrap_or(Parsed::Unreadable);
    };
    match line.tokens.get(operands + 1) {
        None => Parsed::Line(None, number),
        Some(token) if token.kind == TokenKind::Literal => match unquoted(&text[token.range()]) {
            Some(file) => Parsed::Line(Some(file), number),
            None => Parsed::Unreadable,
        },
        Some(_) => Parsed::Unreadable,
    }
}

fn by_flang(text: &[u8], line: &PreprocessorLine) -> Option<Parsed> {
    let number = word(text, line, 2).parse().ok()?;
    let file = unquoted(&text[line.tokens.get(1)?.range()])?;
    Some(Parsed::Line(Some(plain_name(&file).to_owned()), number))
}

/// The contents of a string literal. None if it has other escapes than `\\`, `\"` and the octal
/// ones that GCC writes for bytes outside ASCII.
fn unquoted(literal: &[u8]) -> Option<String> {
    let literal = unspliced_bytes(literal);
    let content = literal.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut plain = Vec::with_capacity(content.len());
    let mut bytes = content.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next()? {
            escaped @ (b'\\' | b'"') => plain.push(escaped),
            first => plain.push(octal([first, bytes.next()?, bytes.next()?])?),
        }
    }
    Some(names::text(&plain))
}

fn octal(digits: [u8; 3]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 8).ok()
}

/// A name without the current directory, which Flang puts in front of relative names.
pub(in crate::find) fn plain_name(name: &str) -> &str {
    name.strip_prefix("./").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::find::front_end;
    use crate::openmp::Language;
    use crate::source::Source;

    #[test]
    fn every_way_to_name_a_line_is_read() {
        for (mark, file, line) in [
            ("#line 7 \"b.F90\"", "b.F90", 7),
            ("#line 7", "a.F90", 7),
            ("# 7 \"b.F90\" 2", "b.F90", 7),
            ("#line \"./b.F90\" 7", "b.F90", 7),
        ] {
            let text = format!("{mark}\n!$omp barrier\nend\n");
            let source = Source {
                name: "a.F90".into(),
                language: Language::Fortran,
                layout: Source::layout_of(Path::new("a.F90")),
                text: text.into_bytes(),
                undefined: crate::source::UndefinedMacros::new(),
            };
            let lines = front_end(source.language).find(&source).lines;
            let place = lines.presumed(mark.len() + 1);
            let place = place.map(|place| (place.file, place.line));
            assert_eq!(place, Some((file.to_owned(), line)), "{mark}");
        }
    }
}
