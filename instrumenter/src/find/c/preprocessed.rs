//! Preprocessed text: how to recognise it, and which of its parts come from system headers.

use std::collections::HashSet;
use std::ops::Range;

use memchr::memmem;

use super::mentions::mentions_openmp;

/// Why nothing is inserted in a system header.
pub(in crate::find) const SYSTEM_HEADER: &str = "it stands in a system header";

/// Whether a preprocessor wrote the text; then it begins with a line marker.
pub(in crate::find) fn is_preprocessed(text: &[u8]) -> bool {
    marker_end(text, 0).is_some()
}

/// Whether a preprocessor put the text of included files in place and left the macros
/// alone, as Clang does for `-frewrite-includes`.
pub(in crate::find) fn keeps_macros(text: &[u8]) -> bool {
    memmem::find(text, b" by -frewrite-includes */").is_some()
}

/// The first offset at which text can be inserted in front of everything else. It must be
/// behind the markers at the begin: the compilers take the name of the source and its directory
/// from them.
pub(in crate::find) fn begin(text: &[u8]) -> Option<usize> {
    let after_name = marker_end(text, 0)?;
    // GCC marks the working directory with two slashes.
    let after_directory =
        marker_end(text, after_name).filter(|end| text[..*end].ends_with(b"//\"\n"));
    Some(after_directory.unwrap_or(after_name))
}

/// The offset behind the line marker at an offset, if there is one.
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
    /// The offset where its line begins.
    begin: usize,
    /// The offset of the newline that ends it.
    end: usize,
    /// The file's name, in quotes.
    file: &'a [u8],
    /// The flags behind the name: 1 if the file begins here, 2 if it continues after another
    /// one, 3 for a system header, 4 if its text is to be read as C.
    flags: &'a [u8],
}

impl Marker<'_> {
    /// The offset behind the file's name.
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

/// The parts of a text that come from system headers, in order. Text that a system header's
/// macro makes in a user's file has the same mark, but it belongs to the user: that file was
/// never entered as a system header.
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
/// GCC puts this mark on text that macros of system headers make, and gives no warnings about
/// such text. But it warns of the same text in a source: `int *p = EOF;`.
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

/// The parts from system headers that need not be read: those that don't mention OpenMP. The
/// marker that begins such a part is kept.
pub(in crate::find) fn without_openmp(text: &[u8], system: &[Range<usize>]) -> Vec<Range<usize>> {
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
        let silent = without_openmp(text.as_bytes(), &system);
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
