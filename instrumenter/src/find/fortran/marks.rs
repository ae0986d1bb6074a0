//! Flang's notation for the origin of the lines of preprocessed text.
//!
//! | Flang | everyone else |
//! | --- | --- |
//! | `#line "./a.F90" 12` | `# 12 "a.F90"` |
//! | `#line 14`, in the same file | `# 14 "a.F90"` |
//!
//! Quotes in names are not escaped. Flang reads both notations.

use super::scan;
use crate::find::c::line_directives::plain_name;
use crate::names;

/// Flang's text with the usual line markers; any other text unchanged.
#[must_use]
pub fn as_usual(text: Vec<u8>) -> Vec<u8> {
    if Mark::read(&text).is_none() {
        return text;
    }
    let mut made = Vec::with_capacity(text.len());
    let mut file = String::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(mark) = Mark::read(line) else {
            made.extend_from_slice(line);
            continue;
        };
        file = mark.file.unwrap_or(file);
        scan::marker(&file, mark.line, &mut made);
    }
    made
}

struct Mark {
    file: Option<String>,
    line: u32,
}

impl Mark {
    /// The mark that a text begins with.
    fn read(text: &[u8]) -> Option<Self> {
        let rest = text.strip_prefix(b"#line ")?;
        let line = rest.split(|byte| *byte == b'\n').next()?;
        let line = names::text(line);
        let (file, number) = match line.strip_prefix('"') {
            Some(named) => named
                .rsplit_once("\" ")
                .map(|(file, number)| (Some(plain_name(file).to_owned()), number))?,
            None => (None, line.as_str()),
        };
        let line = number.parse().ok()?;
        Some(Self { file, line })
    }
}

#[cfg(test)]
mod tests {
    use super::as_usual;

    #[test]
    fn flang_s_marks_become_everyone_s() {
        for (text, expected) in [
            (
                "#line \"./a.F90\" 3\n      x\n#line \"/i/b \"c\".h\" 1\n      y\n#line 14\n      z\n",
                "# 3 \"a.F90\"\n      x\n# 1 \"/i/b \\\"c\\\".h\"\n      y\n# 14 \"/i/b \\\"c\\\".h\"\n      z\n",
            ),
            // A user's own `#line`, and text from another preprocessor.
            ("#line 3 \"a.F90\"\nx\n", "#line 3 \"a.F90\"\nx\n"),
            ("# 1 \"a.F90\"\n#line 3\n", "# 1 \"a.F90\"\n#line 3\n"),
            ("", ""),
        ] {
            let made = as_usual(text.as_bytes().to_vec());
            assert_eq!(String::from_utf8_lossy(&made), expected);
        }
    }
}
