//! Physical lines and their kinds in both source forms (Fortran 2018, section 6.3; OpenMP 5.2,
//! sections 3.1.1 to 3.3.2).

use std::ops::{Range, RangeInclusive};

use super::card::Card;
use crate::source::{Form, Layout};

/// The sentinels of the directives that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sentinel {
    /// `!$omp`
    Omp,
    /// `!$pomp`
    Pomp,
}

/// The spelling of each sentinel.
const SENTINELS: [(&[u8], Sentinel); 2] = [(b"omp", Sentinel::Omp), (b"pomp", Sentinel::Pomp)];

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A comment or an empty line.
    Comment,
    /// A line for the preprocessor, or a line marker that it wrote.
    Preprocessor,
    /// A part of a directive.
    Directive(Sentinel),
    /// A part of the program, `!$` lines included.
    Code,
}

impl Kind {
    /// Whether its text is part of the program or a directive.
    pub(super) fn is_read(self) -> bool {
        !matches!(self, Self::Comment | Self::Preprocessor)
    }
}

/// A physical line; a line of the preprocessor includes its continuations.
#[derive(Clone, Debug)]
pub(super) struct Physical {
    /// Its bytes, without the newline.
    pub(super) range: Range<usize>,
    /// The offset behind its newline.
    pub(super) after: usize,
    pub(super) kind: Kind,
    /// The columns for labels, in fixed form.
    pub(super) label: Range<usize>,
    /// Its text, without the sentinel and without columns of special meaning.
    pub(super) content: Range<usize>,
    /// Whether it is known to continue another line. In fixed form column 6 shows that; in free
    /// form, text directly behind the sentinel.
    pub(super) continues: bool,
    /// Whether its text reaches the last column in fixed form, so that a word may continue in
    /// the next line.
    pub(super) full: bool,
}

impl Physical {
    /// The directive that the next line continues, in free form.
    fn continued(&self, text: &[u8]) -> Option<Sentinel> {
        let Kind::Directive(sentinel) = self.kind else {
            return None;
        };
        let content = &text[self.content.clone()];
        let content = content[..text_end(content, &mut None)].trim_ascii_end();
        content.ends_with(b"&").then_some(sentinel)
    }
}

/// The lines of a text.
pub(super) fn lines(text: &[u8], layout: Layout) -> Vec<Physical> {
    let mut lines = Vec::new();
    let mut start = first_byte(text);
    let mut continued = None;
    while start < text.len() {
        let line = line(text, start, layout, continued);
        start = line.after;
        if line.kind.is_read() && layout.form == Form::Free {
            continued = line.continued(text);
        }
        lines.push(line);
    }
    lines
}

/// The places where the next line would continue inserted text. Each reaches from the end of a
/// line to a continuation line. Only fixed form has such places, since in free form the line in
/// front shows that it is continued.
#[derive(Debug, Default)]
pub(super) struct Continued {
    statements: Gaps,
    directives: Gaps,
}

type Gaps = Vec<RangeInclusive<usize>>;

impl Continued {
    pub(super) fn new(lines: &[Physical], form: Form) -> Self {
        let mut behind = 0;
        let mut continued = Self::default();
        for line in lines.iter().filter(|line| line.kind.is_read()) {
            if form == Form::Fixed && line.continues {
                let gaps = match line.kind {
                    Kind::Code => &mut continued.statements,
                    _ => &mut continued.directives,
                };
                gaps.push(behind..=line.range.start);
            }
            behind = line.after;
        }
        continued
    }

    /// Whether a statement that is inserted there would be continued.
    pub(super) fn statement_at(&self, offset: usize) -> bool {
        has_gap(&self.statements, offset)
    }

    /// Whether a directive that is inserted there would be continued. If there is a statement
    /// in front instead, compilers take the continuation line for a comment.
    pub(super) fn directive_at(&self, offset: usize) -> bool {
        has_gap(&self.directives, offset)
    }
}

fn has_gap(gaps: &Gaps, offset: usize) -> bool {
    let next = gaps.partition_point(|gap| *gap.end() < offset);
    gaps.get(next).is_some_and(|gap| gap.contains(&offset))
}

/// The offset behind a byte-order mark, if there is one.
pub(super) fn first_byte(text: &[u8]) -> usize {
    match text.starts_with(b"\xef\xbb\xbf") {
        true => 3,
        false => 0,
    }
}

fn line(text: &[u8], start: usize, layout: Layout, continued: Option<Sentinel>) -> Physical {
    let (mut end, mut after) = bounds(text, start);
    let comment = |range: Range<usize>, after: usize, kind: Kind| Physical {
        label: range.start..range.start,
        content: range.end..range.end,
        range,
        after,
        kind,
        continues: false,
        full: false,
    };
    if text.get(start) == Some(&b'#') {
        while layout.preprocessed_by_compiler && text[start..end].ends_with(b"\\") && after > end {
            (end, after) = bounds(text, after);
        }
        return comment(start..end, after, Kind::Preprocessor);
    }
    if layout.preprocessed_by_compiler && text[start..end].trim_ascii_start().starts_with(b"/*") {
        // The preprocessor removes a C comment, however many lines it has.
        let close = find(&text[start..], b"*/").map_or(text.len(), |at| start + at);
        (end, after) = bounds(text, close);
        return comment(start..end, after, Kind::Comment);
    }
    let read = match layout.form {
        Form::Free => free(text, start..end, continued),
        Form::Fixed => fixed(text, start..end, layout.line_length),
    };
    let Some(read) = read else {
        return comment(start..end, after, Kind::Comment);
    };
    Physical {
        range: start..end,
        after,
        kind: read.kind,
        label: read.label,
        content: read.content,
        continues: read.continues,
        full: read.full,
    }
}

/// The end of a line, without and with its newline.
fn bounds(text: &[u8], start: usize) -> (usize, usize) {
    let newline = text[start..].iter().position(|byte| *byte == b'\n');
    let Some(newline) = newline.map(|at| start + at) else {
        return (text.len(), text.len());
    };
    let carriage_return = newline > start && text[newline - 1] == b'\r';
    (newline - usize::from(carriage_return), newline + 1)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// A line that is not a comment.
struct Read {
    kind: Kind,
    label: Range<usize>,
    content: Range<usize>,
    continues: bool,
    full: bool,
}

/// Reads a line of free form, where columns have no meaning. Text behind the last column is
/// read, too: compilers reject a line that is too long.
fn free(text: &[u8], line: Range<usize>, continued: Option<Sentinel>) -> Option<Read> {
    let blanks = text[line.clone()]
        .iter()
        .take_while(|byte| is_blank(**byte))
        .count();
    let first = line.start + blanks;
    let rest = &text[first..line.end];
    let read = |kind, skipped: usize| {
        Some(Read {
            kind,
            label: first..first,
            content: first + skipped..line.end,
            continues: skipped > 0 && !ends_sentinel(&rest[skipped..]),
            full: false,
        })
    };
    match rest.first()? {
        b'!' => {
            let (sentinel, length) = free_sentinel(rest, continued)?;
            read(sentinel.map_or(Kind::Code, Kind::Directive), length)
        }
        _ => read(Kind::Code, 0),
    }
}

/// The sentinel that a line begins with, and its length. `None` for the sentinel means
/// conditional compilation. A blank must follow, except in a line that continues a directive.
fn free_sentinel(rest: &[u8], continued: Option<Sentinel>) -> Option<(Option<Sentinel>, usize)> {
    let behind = rest.strip_prefix(b"!$")?;
    if ends_sentinel(behind) {
        return Some((None, 2));
    }
    let name = |(name, sentinel): (&[u8], Sentinel)| {
        let same = behind.get(..name.len())?.eq_ignore_ascii_case(name);
        let ends = continued == Some(sentinel) || ends_sentinel(&behind[name.len()..]);
        let whole = same && ends;
        whole.then_some((Some(sentinel), 2 + name.len()))
    };
    SENTINELS.into_iter().find_map(name)
}

fn ends_sentinel(rest: &[u8]) -> bool {
    rest.first()
        .is_none_or(|byte| is_blank(*byte) || *byte == b'&')
}

fn fixed(text: &[u8], line: Range<usize>, line_length: Option<usize>) -> Option<Read> {
    let card = Card::new(text, line, line_length);
    let comment_mark = matches!(card.head[0], b'c' | b'C' | b'*' | b'!');
    let kind = match comment_mark && card.head[1] == b'$' {
        true => fixed_sentinel(&card)?,
        false => {
            let is_comment = comment_mark || matches!(card.head[0], b'd' | b'D');
            (!is_comment && !is_comment_behind_blanks(text, &card)).then_some(Kind::Code)?
        }
    };
    let labelled = match kind {
        Kind::Code if comment_mark => 2,
        _ => 0,
    };
    let mark = card.head[5];
    let may_continue = match kind {
        Kind::Code => card.head[labelled..5].iter().all(|byte| *byte == b' '),
        _ => kind == Kind::Directive(Sentinel::Omp),
    };
    let label = match kind {
        Kind::Code => card.label(labelled),
        _ => card.body.start..card.body.start,
    };
    Some(Read {
        kind,
        label,
        full: line_length.is_some_and(|length| card.body.len() + 6 >= length),
        content: card.body,
        continues: mark != b' ' && mark != b'0' && may_continue,
    })
}

/// The kind of a line with `!$`, `c$` or `*$` in its first columns.
fn fixed_sentinel(card: &Card) -> Option<Kind> {
    let name = card.head[2..5].to_ascii_lowercase();
    if name
        .iter()
        .all(|byte| *byte == b' ' || byte.is_ascii_digit())
    {
        return Some(Kind::Code);
    }
    match name.as_slice() {
        b"omp" => Some(Kind::Directive(Sentinel::Omp)),
        // This sentinel is one column longer than the label field, so it leaves no column for
        // continuation marks.
        b"pom" if card.head[5].eq_ignore_ascii_case(&b'p') => Some(Kind::Directive(Sentinel::Pomp)),
        _ => None,
    }
}

/// Whether the line is blank, or begins with a `!` that is not in column 6.
fn is_comment_behind_blanks(text: &[u8], card: &Card) -> bool {
    match card.head.iter().position(|byte| *byte != b' ') {
        Some(5) => false,
        Some(column) => card.head[column] == b'!',
        None => {
            let mut body = text[card.body.clone()].iter();
            let first = body.find(|byte| !is_blank(**byte));
            first.is_none_or(|first| *first == b'!')
        }
    }
}

/// The bytes of a directive line's sentinel.
pub(super) fn sentinel(text: &[u8], line: &Physical) -> Option<Range<usize>> {
    let length = match line.kind {
        Kind::Directive(Sentinel::Omp) => 5,
        Kind::Directive(Sentinel::Pomp) => 6,
        _ => return None,
    };
    let first = text[line.range.clone()]
        .iter()
        .position(|byte| !is_blank(*byte))?;
    let start = line.range.start + first;
    Some(start..(start + length).min(line.range.end))
}

/// Whether a byte is a blank within a line.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The offset where a line's comment begins, or the end of the line. `quote` is the quote of
/// the string that is open before and after.
pub(super) fn text_end(text: &[u8], quote: &mut Option<u8>) -> usize {
    for (at, byte) in text.iter().enumerate() {
        match *quote {
            Some(open) if open == *byte => *quote = None,
            Some(_) => {}
            None => match byte {
                b'\'' | b'"' => *quote = Some(*byte),
                b'!' => return at,
                _ => {}
            },
        }
    }
    text.len()
}
