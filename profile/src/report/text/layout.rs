//! The layout of numbers and lines in the text report.
//!
//! Times are in seconds. A column has as many decimals as its largest time needs to show three
//! digits. That is at least two (as in ompP), at most nine (exact), and at most four more than
//! the neighbouring column with the largest times. So short runs do not show 0.00 everywhere,
//! the times of one column can be compared by eye, and a column of tiny times is not the
//! widest.
//!
//! Lines are built in a buffer by hand, since a report can contain a million numbers and is
//! written while the user waits for the program to end.

use std::io::{self, Write};

use super::place;
use crate::analysis::Report;
use crate::analysis::words::count;
use crate::report::sink::TextSink;

const FEWEST_DECIMALS: u32 = 2;
const MOST_DECIMALS: u32 = 9;
/// The most decimals that a column may have beyond its neighbour with the largest times.
const MORE_DECIMALS: u32 = 4;
/// The width of a column in ompP.
pub(super) const COLUMN_WIDTH: usize = 10;
/// Width of the output of [`Line::percent`].
pub(super) const PERCENT_WIDTH: usize = 8;
const BANNER_WIDTH: usize = 78;

/// The number of decimals of a column with this largest time.
pub(super) fn decimals(largest_ns: u64) -> u32 {
    let mut decimals = FEWEST_DECIMALS;
    while largest_ns > 0 && decimals < MOST_DECIMALS && largest_ns < 10_u64.pow(11 - decimals) {
        decimals += 1;
    }
    decimals
}

/// The format of the numbers in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) width: usize,
    /// None for a column of counts.
    pub(super) decimals: Option<u32>,
}

impl Format {
    /// The format for a column of times (or of counts, if there are no decimals) with this
    /// title and this largest number. It is at least `width` wide.
    pub(super) fn fitting(title: &str, decimals: Option<u32>, largest: u64, width: usize) -> Self {
        let mut probe = Line::default();
        probe.number(largest, Self { width: 0, decimals });
        let needed = probe.text.len().max(title.len()) + 1;
        Self {
            width: needed.max(width),
            decimals,
        }
    }

    /// The format for times up to this one.
    pub(super) fn time(largest_ns: u64, width: usize) -> Self {
        Self::fitting("", Some(decimals(largest_ns)), largest_ns, width)
    }
}

/// The number of decimals of a column next to one with larger times.
pub(super) fn decimals_beside(largest_ns: u64, beside_ns: u64) -> u32 {
    decimals(largest_ns).min(decimals(beside_ns) + MORE_DECIMALS)
}

/// A line under construction.
#[derive(Debug, Default)]
pub(super) struct Line {
    text: Vec<u8>,
}

impl Line {
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.text.extend_from_slice(text.as_bytes());
        self
    }

    pub(super) fn right(&mut self, text: &str, width: usize) -> &mut Self {
        self.spaces(width.saturating_sub(text.chars().count()))
            .text(text)
    }

    pub(super) fn left(&mut self, text: &str, width: usize) -> &mut Self {
        self.text(text)
            .spaces(width.saturating_sub(text.chars().count()))
    }

    pub(super) fn spaces(&mut self, number: usize) -> &mut Self {
        self.text.resize(self.text.len() + number, b' ');
        self
    }

    /// A time in seconds or a count, right-aligned.
    pub(super) fn number(&mut self, value: u64, format: Format) -> &mut Self {
        let mut digits = [0_u8; 24];
        let mut at = digits.len();
        let mut put = |digit: u8| {
            at -= 1;
            digits[at] = digit;
        };
        let decimals = format.decimals.unwrap_or(0);
        let mut rest = match format.decimals {
            Some(decimals) => rounded(value, 10_u64.pow(MOST_DECIMALS - decimals)),
            None => value,
        };
        for place in 0.. {
            if place == decimals && place > 0 {
                put(b'.');
            }
            if place > decimals && rest == 0 {
                break;
            }
            put(b'0' + (rest % 10) as u8);
            rest /= 10;
        }
        let digits = &digits[at..];
        self.spaces(format.width.saturating_sub(digits.len()));
        self.text.extend_from_slice(digits);
        self
    }

    /// ` ( 12.3)`, aligned for numbers up to 100; the title contains `(%)`.
    pub(super) fn percent(&mut self, percent: f64) -> &mut Self {
        let tenths = (percent * 10.0).round() as u64;
        self.text(" (")
            .right(&format!("{}.{}", tenths / 10, tenths % 10), 5)
            .text(")")
    }

    /// Writes the line and empties it. Blanks at its end are removed.
    pub(super) fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let used = self
            .text
            .iter()
            .rposition(|&c| c != b' ')
            .map_or(0, |last| last + 1);
        self.text.truncate(used);
        self.text.push(b'\n');
        let written = out.write_all(&self.text);
        self.text.clear();
        written
    }
}

/// A division that rounds to the nearest number, and halves up.
fn rounded(value: u64, by: u64) -> u64 {
    value / by + u64::from(value % by >= by.div_ceil(2) && by > 1)
}

/// A section's title, in ompP's form.
pub(super) fn banner(title: &str, out: &mut TextSink<'_>) -> io::Result<()> {
    let width = out.prose_width().min(BANNER_WIDTH);
    let rule = "-".repeat(width);
    let start = format!("----     {title}     ");
    writeln!(out, "\n{rule}")?;
    out.strong(|out| writeln!(out, "{start:-<width$}"))?;
    writeln!(out, "{rule}")
}

/// The number of omitted items, and how to see them.
pub(super) fn more(number: usize, noun: &str, out: &mut TextSink<'_>) -> io::Result<()> {
    match number {
        0 => Ok(()),
        number => {
            let number = count(number as u64, noun);
            writeln!(out, "(and {number}: romp report --all shows all)")
        }
    }
}

/// A region in a column of names.
pub(super) fn region_line(report: &Report<'_>, region: usize) -> String {
    let label = &report.labels[region];
    let kind = label.kind.row().short_name;
    format!("{} {kind:<8} {}", label.id, place(label))
}

/// The width of the column of threads, whose title is TID or SUM.
pub(super) fn thread_width(report: &Report<'_>) -> usize {
    let widths = report.threads.iter().map(String::len);
    widths.max().unwrap_or(0).max(4)
}

/// The width of a column of names next to columns of the given total width.
pub(super) fn room(width: usize, others: usize, out: &TextSink<'_>) -> usize {
    const LEAST: usize = 12;
    let left = out.width().map(|sink| sink.saturating_sub(others));
    left.map_or(width, |left| width.min(left.max(LEAST)))
}

/// A text shortened to the given width: the middle of a longer text is omitted.
pub(super) fn shortened(text: &str, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.to_owned();
    }
    let kept = room.saturating_sub(1);
    let start: String = text.chars().take(kept / 3).collect();
    let end: String = text.chars().skip(length - (kept - kept / 3)).collect();
    format!("{start}…{end}")
}

/// Writes prose, wrapped between words. All lines but the first are indented by `indent`.
pub(crate) fn prose(text: &str, indent: usize, out: &mut TextSink<'_>) -> io::Result<()> {
    fold(text, [0, indent], out)
}

/// Writes prose, wrapped between words. All lines are indented by `indent`.
pub(super) fn paragraph(text: &str, indent: usize, out: &mut TextSink<'_>) -> io::Result<()> {
    fold(text, [indent, indent], out)
}

fn fold(text: &str, [first, later]: [usize; 2], out: &mut TextSink<'_>) -> io::Result<()> {
    let width = out.prose_width();
    let mut line = Line::default();
    line.spaces(first);
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.text.len() + 1 + word.len() > width {
            line.end(out)?;
            line.spaces(later);
        } else if !is_empty {
            line.spaces(1);
        }
        line.text(word);
        is_empty = false;
    }
    line.end(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: u64, format: Format) -> String {
        let mut line = Line::default();
        line.number(value, format);
        String::from_utf8(line.text).unwrap()
    }

    fn time(ns: u64, largest: u64) -> String {
        shown(
            ns,
            Format {
                width: 0,
                decimals: Some(decimals(largest)),
            },
        )
    }

    #[test]
    fn a_column_has_the_decimals_that_its_largest_time_needs() {
        assert_eq!(time(6_324_999_999, 25_290_000_000), "6.32");
        assert_eq!(time(6_325_000_000, 6_325_000_000), "6.33");
        assert_eq!(time(999_999_999, 999_999_999), "1.000");
        assert_eq!(time(45_678, 45_678), "0.0000457");
        assert_eq!(time(7, 7), "0.000000007");
        assert_eq!(time(0, 0), "0.00");
        assert_eq!(time(u64::MAX, u64::MAX), "18446744073.71");
    }

    #[test]
    fn a_column_of_trifles_is_not_the_widest() {
        assert_eq!(decimals_beside(2_000, 6_320_000_000), 6);
        assert_eq!(decimals_beside(2_000, 6_320_000), 8);
    }

    #[test]
    fn counts_are_whole_and_columns_grow_with_them() {
        let format = |largest| Format::fitting("execC", None, largest, COLUMN_WIDTH);
        assert_eq!(shown(1_406_573, format(1_406_573)), "   1406573");
        assert_eq!(format(u64::MAX).width, 21);
        assert_eq!(
            shown(
                0,
                Format {
                    width: 3,
                    decimals: None
                }
            ),
            "  0"
        );
    }
}
