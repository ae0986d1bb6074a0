//! Preprocessed text: how it is told from a source, and which of its parts come
//! from system headers.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memmem;

use super::mentions::mentions_openmp;

/// Why nothing is inserted in a system header.
pub(in crate::find) const SYSTEM_HEADER: &str = "it stands in a system header";

/// Whether a preprocessor wrote the text: it then begins with a line marker.
pub(in crate::find) fn is_preprocessed(text: &[u8]) -> bool {
    marker_end(text, 0).is_some()
}

/// Whether a preprocessor put the text of included files in place and left the macros
/// alone, as Clang does for `-frewrite-includes`.
pub(in crate::find) fn keeps_macros(text: &[u8]) -> bool {
    memmem::find(text, b" by -frewrite-includes */").is_some()
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

/// A line marker of preprocessed text: `# 12 "file" flags`.
#[derive(Clone, Copy, Debug)]
struct Marker<'a> {
    /// Where its line begins.
    begin: usize,
    /// Before the newline that ends it.
    end: usize,
    /// The file's name, in quotes.
    file: &'a [u8],
    /// What stands behind it: 1 where the file begins, 2 where it goes on after
    /// another one, 3 if it is the system's, 4 if that is C in any case.
    flags: &'a [u8],
}

impl Marker<'_> {
    /// Behind the file's name.
    fn flags_begin(&self) -> usize {
        self.end - self.flags.len()
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.contains(&flag)
    }
}

/// The line markers of a text.
fn markers(text: &[u8]) -> impl Iterator<Item = Marker<'_>> {
    let first = text.starts_with(b"# ").then_some(0);
    let others = memmem::find_iter(text, b"\n# ").map(|newline| newline + 1);
    first.into_iter().chain(others).filter_map(|begin| {
        let line = text[begin..].split(|byte| *byte == b'\n').next()?;
        let number = line.get(2).filter(|byte| byte.is_ascii_digit());
        let open = number.and_then(|_| memchr::memchr(b'"', line))?;
        let close = memchr::memrchr(b'"', line).filter(|close| *close > open)?;
        Some(Marker {
            begin,
            end: begin + line.len(),
            file: &line[open..=close],
            flags: &line[close + 1..],
        })
    })
}

/// The parts of a text that come from system headers, in order. What a macro of
/// a system header makes in the user's file is marked like them, but it is the
/// user's: the file was not entered as a system header.
pub(in crate::find) fn system_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut system_files = HashSet::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut begin = None;
    for marker in markers(text) {
        let marked = marker.has(b'3');
        if marked && marker.has(b'1') {
            system_files.insert(marker.file);
        }
        if marked && system_files.contains(marker.file) {
            begin = begin.or(Some(marker.begin));
        } else if let Some(begin) = begin.take() {
            ranges.push(begin..marker.begin);
        }
    }
    ranges.extend(begin.map(|begin| begin..text.len()));
    ranges
}

/// A text without the marks of system headers on parts of the user's files.
///
/// GCC marks what the macros of system headers make there, and says nothing of it, while
/// it warns of the same in a source: `int *p = EOF;`.
pub(crate) fn without_system_marks(text: Vec<u8>) -> Vec<u8> {
    let mut systems = HashSet::new();
    let mut new = Vec::new();
    let mut copied = 0;
    for marker in markers(&text).filter(|marker| marker.has(b'3')) {
        if marker.has(b'1') || marker.has(b'2') {
            systems.insert(marker.file);
        } else if !systems.contains(marker.file) {
            new.extend(&text[copied..marker.flags_begin()]);
            copied = marker.end;
        }
    }
    if new.is_empty() {
        return text;
    }
    new.extend(&text[copied..]);
    new
}

/// What need not be read of the parts that come from system headers: those that do
/// not mention OpenMP, but for the marker that begins them.
pub(in crate::find) fn silent(text: &[u8], system: &[Range<usize>]) -> Vec<Range<usize>> {
    let silent = system
        .iter()
        .filter(|part| !mentions_openmp(&text[(*part).clone()]));
    let behind_marker = silent.filter_map(|part| {
        let newline = memchr::memchr(b'\n', &text[part.clone()])?;
        Some(part.start + newline + 1..part.end)
    });
    behind_marker.collect()
}

#[cfg(test)]
mod tests {
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
        let ranges = system_ranges(text.as_bytes());
        for (at, letter) in text.match_indices(['S', 'U']) {
            let system = ranges.iter().any(|range| range.contains(&at));
            assert_eq!(system, letter == "S", "at {at}");
        }
    }

    #[test]
    fn what_does_not_mention_openmp_is_not_read() {
        let text = "# 1 \"a.c\"\n# 1 \"/s.h\" 1 3 4\ncompare(x_omp);\n# 2 \"a.c\" 2\nU\n\
                    # 1 \"omp.h\" 1 3 4\nvoid omp_f();\n# 2 \"a.c\" 2\nU\n\
                    # 1 \"t.h\" 1 3 4\n#pragma pomp inst init\n";
        let system = system_ranges(text.as_bytes());
        assert_eq!(system.len(), 3);
        let silent = silent(text.as_bytes(), &system);
        let parts: Vec<&str> = silent.into_iter().map(|part| &text[part]).collect();
        assert_eq!(parts, ["compare(x_omp);\n"]);
    }

    #[test]
    fn parts_of_the_user_s_files_are_the_user_s() {
        let text = "\
# 0 \"a.c\"
# 1 \"/usr/include/stdio.h\" 1 3 4
# 28 \"/usr/include/stdio.h\" 3 4
extern int a;
# 1 \"/usr/include/deep.h\" 1 3 4
# 9 \"/usr/include/stdio.h\" 2 3 4
# 2 \"a.c\" 2
int *p =
# 3 \"a.c\" 3 4
        (-1)
# 3 \"a.c\"
        ; // # 3 \"a.c\" 3 4
# 30 \"/usr/include/stdio.h\" 3
";
        let new = String::from_utf8(without_system_marks(text.into())).unwrap();
        assert_eq!(new, text.replace("# 3 \"a.c\" 3 4\n  ", "# 3 \"a.c\"\n  "));
        assert_eq!(without_system_marks(b"int a;\n".into()), b"int a;\n");
    }
}
