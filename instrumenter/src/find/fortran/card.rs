//! A line of fixed form, split into its columns (Fortran 2018, section 6.3.3).

use std::ops::Range;

/// The columns of a line.
pub(super) struct Card {
    /// Columns 1 to 6, padded with blanks.
    pub(super) head: [u8; 6],
    /// The offset of each of these columns.
    at: [usize; 6],
    /// From column 7 to the last significant column.
    pub(super) body: Range<usize>,
}

impl Card {
    /// Reads a line. A tab in the first six columns leads to column 7. If a digit except 0
    /// follows the tab, it leads to column 6, as in DEC's compilers.
    pub(super) fn new(text: &[u8], line: Range<usize>, line_length: Option<usize>) -> Self {
        let mut card = Self {
            head: [b' '; 6],
            at: [line.end; 6],
            body: line.end..line.end,
        };
        let mut at = line.start;
        let mut column = 0;
        while column < 6 && at < line.end {
            if text[at] == b'\t' {
                at += 1;
                if at < line.end && matches!(text[at], b'1'..=b'9') {
                    (card.head[5], card.at[5]) = (text[at], at);
                    at += 1;
                }
                break;
            }
            (card.head[column], card.at[column]) = (text[at], at);
            (at, column) = (at + 1, column + 1);
        }
        let end = match line_length {
            Some(length) => line.end.min(at.saturating_add(length.saturating_sub(6))),
            None => line.end,
        };
        card.body = at.min(end)..end;
        card
    }

    /// The columns of the label, from `first` on, without blanks around it. Other text in these
    /// columns is not valid Fortran.
    pub(super) fn label(&self, first: usize) -> Range<usize> {
        let mut columns = self.head[first..5].iter();
        if !columns.all(|byte| *byte == b' ' || byte.is_ascii_digit()) {
            return self.body.start..self.body.start;
        }
        let filled = |column: &usize| self.head[*column] != b' ';
        let mut columns = (first..5).filter(filled);
        match (columns.next(), (first..5).rfind(filled)) {
            (Some(first), Some(last)) => self.at[first]..self.at[last] + 1,
            _ => self.body.start..self.body.start,
        }
    }
}
