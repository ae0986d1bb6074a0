//! Line markers in the place of lines that the preprocessor has left out.

/// A marker that goes further forward is taken for the user's own `#line`.
const FARTHEST: u32 = 10_000;

/// A preprocessed text in which each line marker that only goes forward in its file is replaced
/// by empty lines. GCC's preprocessor writes such a marker in the place of eight or more lines,
/// even between the lines of a statement. There a marker can't be told from a conditional.
pub fn as_empty_lines(text: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(text.len());
    let mut file: &[u8] = b"";
    let mut next = 1u32;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let Some(marker) = Marker::read(line) else {
            made.extend_from_slice(line);
            next = next.saturating_add(1);
            continue;
        };
        let ahead = marker.line.checked_sub(next);
        match ahead.filter(|ahead| marker.only_moves && marker.file == file && *ahead <= FARTHEST) {
            Some(ahead) => made.extend(std::iter::repeat_n(b'\n', ahead as usize)),
            None => made.extend_from_slice(line),
        }
        (file, next) = (marker.file, marker.line);
    }
    made
}

/// `# 12 "file" flags`.
struct Marker<'t> {
    line: u32,
    /// With its quotes.
    file: &'t [u8],
    /// Whether the marker has no flags for entering or leaving a file.
    only_moves: bool,
}

impl<'t> Marker<'t> {
    fn read(line: &'t [u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"# ")?.trim_ascii_end();
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        let number = std::str::from_utf8(&rest[..digits]).ok()?;
        let file = rest[digits..].strip_prefix(b" ")?;
        let end = file.iter().rposition(|byte| *byte == b'"')? + 1;
        Some(Self {
            line: number.parse().ok()?,
            file: &file[..end],
            only_moves: end == file.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::as_empty_lines;

    #[test]
    fn ways_forward_in_a_file_are_empty_lines() {
        for (text, expected) in [
            (
                "# 1 \"a.F90\"\n!$omp do &\n# 5 \"a.F90\"\n!$omp private(i)\n",
                "# 1 \"a.F90\"\n!$omp do &\n\n\n\n!$omp private(i)\n",
            ),
            (
                "# 1 \"a.F90\"\n# 1 \"b.h\" 1\nx\ny\n# 2 \"a.F90\" 2\nz\n# 4 \"a.F90\"\n",
                "# 1 \"a.F90\"\n# 1 \"b.h\" 1\nx\ny\n# 2 \"a.F90\" 2\nz\n\n",
            ),
            (
                "# 7 \"a.F90\"\nx\n# 7 \"a.F90\"\ny\n# 2000000000 \"a.F90\"\nz\n",
                "# 7 \"a.F90\"\nx\n# 7 \"a.F90\"\ny\n# 2000000000 \"a.F90\"\nz\n",
            ),
        ] {
            let made = as_empty_lines(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&made), expected);
        }
    }
}
