//! Maps offsets to the file and line that the compiler counts. `#line` and line markers in the
//! text may change these.

use std::rc::Rc;

use crate::source::LineIndex;

/// A `#line` in effect from some offset on.
#[derive(Clone, Debug)]
struct Change {
    /// First offset that it holds for, the begin of a physical line.
    from: usize,
    /// The file and line that it sets; `None` if these are unknown.
    to: Option<(Rc<str>, u32)>,
}

/// A line as the compiler counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presumed {
    /// File name, as it would stand in `__FILE__`.
    pub file: String,
    /// Line number.
    pub line: u32,
}

/// The map of a whole text.
#[derive(Clone, Debug)]
pub struct LineMap {
    index: LineIndex,
    changes: Vec<Change>,
}

/// The numbers that a `#line` may give (C11 6.10.4).
const LINES: std::ops::RangeInclusive<u32> = 1..=2_147_483_647;

impl LineMap {
    /// A map without any `#line`.
    #[must_use]
    pub fn new(name: &str, text: &[u8]) -> Self {
        let start = Change {
            from: 0,
            to: Some((name.into(), 1)),
        };
        Self {
            index: LineIndex::new(text),
            changes: vec![start],
        }
    }

    /// Records that the line that begins at `from` is `line` of `file`. Without a file name the
    /// file stays the same.
    pub fn change(&mut self, from: usize, file: Option<String>, line: u32) {
        let before = self.changes.last().and_then(|change| change.to.clone());
        let to = file
            .map(Rc::from)
            .or_else(|| before.map(|(file, _)| file))
            .map(|file| (file, line));
        self.changes.push(Change { from, to });
    }

    /// Records that lines are unknown from `from` on.
    pub fn lose(&mut self, from: usize) {
        self.changes.push(Change { from, to: None });
    }

    /// The line of an offset as the compiler counts it, if it is known.
    #[must_use]
    pub fn presumed(&self, offset: usize) -> Option<Presumed> {
        let at = self.changes.partition_point(|change| change.from <= offset);
        let change = self.changes.get(at.checked_sub(1)?)?;
        let (file, first) = change.to.as_ref()?;
        let behind = self.index.line(offset) - self.index.line(change.from);
        let line = first
            .checked_add(behind)
            .filter(|line| LINES.contains(line))?;
        Some(Presumed {
            file: file.to_string(),
            line,
        })
    }

    /// The physical line of an offset.
    #[must_use]
    pub fn physical(&self, offset: usize) -> u32 {
        self.index.line(offset)
    }

    /// The column of an offset.
    #[must_use]
    pub fn column(&self, offset: usize) -> u32 {
        self.index.column(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_hold_until_the_next() {
        let text = b"a\n#line 10 \"x\"\nb\nc\n#line 3\nd\n";
        let mut map = LineMap::new("f", text);
        map.change(16, Some("x".into()), 10);
        map.change(28, None, 3);
        let at = |offset| {
            map.presumed(offset)
                .map(|p| format!("{}:{}", p.file, p.line))
        };
        assert_eq!(at(0).as_deref(), Some("f:1"));
        assert_eq!(at(18).as_deref(), Some("x:11"));
        assert_eq!(at(28).as_deref(), Some("x:3"));
    }

    #[test]
    fn a_line_that_no_line_can_be_told_by_is_lost() {
        for (first, told) in [
            (0, [None, Some(1)]),
            (2_147_483_647, [Some(2_147_483_647), None]),
            (u32::MAX, [None, None]),
        ] {
            let mut map = LineMap::new("f", b"a\nb\nc\n");
            map.change(2, None, first);
            let line = |offset| map.presumed(offset).map(|presumed| presumed.line);
            assert_eq!([line(2), line(4)], told, "{first}");
        }
    }

    #[test]
    fn what_is_lost_stays_lost_until_a_change_names_a_file() {
        let mut map = LineMap::new("f", b"a\nb\nc\n");
        map.lose(2);
        assert_eq!(map.presumed(2), None);
        map.change(4, None, 7);
        assert_eq!(map.presumed(4), None);
    }
}
