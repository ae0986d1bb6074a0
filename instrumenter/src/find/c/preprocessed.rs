//! Preprocessed text: how it is told from a source, and which of its parts come
//! from system headers.

use std::collections::HashSet;
use std::ops::Range;

use super::groups::word;
use super::lexer::{PreprocessorLine, TokenKind};

/// Why nothing is inserted in a system header.
pub(in crate::find) const SYSTEM_HEADER: &str = "it stands in a system header";

/// Whether a preprocessor wrote the text: it then begins with a line marker.
pub(in crate::find) fn is_preprocessed(text: &[u8]) -> bool {
    marker_end(text, 0).is_some()
}

/// The first offset at which something can stand in front of everything: the
/// compilers take the name of the source and its directory from the markers
/// that begin the text.
pub(in crate::find) fn begin(text: &[u8]) -> Option<usize> {
    let after_name = marker_end(text, 0)?;
    // GCC marks the working directory with two slashes.
    let after_directory =
        marker_end(text, after_name).filter(|end| text[..*end].ends_with(b"//\"\n"));
    Some(after_directory.unwrap_or(after_name))
}

/// Behind the line marker at an offset, if one stands there.
fn marker_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let number = rest.strip_prefix(b"# ")?;
    let digits = number.iter().take_while(|b| b.is_ascii_digit()).count();
    let named = digits > 0 && number[digits..].starts_with(b" \"");
    let newline = rest.iter().position(|byte| *byte == b'\n')?;
    named.then_some(at + newline + 1)
}

/// The parts of a text that come from system headers, in order. What a macro of
/// a system header makes in the user's file is marked like them, but it is the
/// user's: the file was not entered as a system header.
pub(in crate::find) fn system_ranges(text: &[u8], lines: &[PreprocessorLine]) -> Vec<Range<usize>> {
    let mut system_files = HashSet::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut begin = None;
    for line in lines {
        let Some((file, flags)) = marker(text, line) else {
            continue;
        };
        let marked = flags.iter().any(|flag| flag == "3");
        if marked && flags.iter().any(|flag| flag == "1") {
            system_files.insert(file.clone());
        }
        if marked && system_files.contains(&file) {
            begin = begin.or(Some(line.range.start));
        } else if let Some(begin) = begin.take() {
            ranges.push(begin..line.range.start);
        }
    }
    ranges.extend(begin.map(|begin| begin..text.len()));
    ranges
}

/// The file and the flags of a line marker.
fn marker(text: &[u8], line: &PreprocessorLine) -> Option<(String, Vec<String>)> {
    let is = |at: usize, kind| line.tokens.get(at).is_some_and(|token| token.kind == kind);
    if !is(0, TokenKind::Number) || !is(1, TokenKind::Literal) {
        return None;
    }
    let flags = (2..line.tokens.len()).map(|at| word(text, line, at));
    Some((word(text, line, 1), flags.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    #[test]
    fn a_line_marker_begins_preprocessed_text() {
        assert!(is_preprocessed(b"# 0 \"a.c\"\n"));
        for source in [
            "",
            "#",
            "# 1",
            "#define x\n",
            "# include \"x\"\n",
            "# 1 x\n",
        ] {
            assert!(!is_preprocessed(source.as_bytes()), "{source}");
        }
        assert_eq!(begin(b"# 0 \"a.c\"\n# 1 \"/d//\"\nint"), Some(21));
        assert_eq!(begin(b"# 0 \"a.c\"\n# 0 \"<built-in>\"\n"), Some(10));
    }

    #[test]
    fn only_files_entered_as_system_headers_are() {
        let text = "# 1 \"a.c\"\n# 1 \"/s.h\" 1 3 4\nS\n# 1 \"/t.h\" 1 3\nS\n# 3 \"/s.h\" 2 3 4\n\
                    S\n# 2 \"a.c\" 2\nU\n# 2 \"a.c\" 3 4\nU\n# 1 \"u.h\" 1\nU\n";
        let lexed = lex(text.as_bytes());
        let ranges = system_ranges(text.as_bytes(), &lexed.lines);
        for (at, letter) in text.match_indices(['S', 'U']) {
            let system = ranges.iter().any(|range| range.contains(&at));
            assert_eq!(system, letter == "S", "at {at}");
        }
    }
}
