//! Logical lines and how they are written in either form.

use super::super::Dialect;
use super::super::words::Writer;

/// How a program is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether it is in fixed form.
    pub fixed: bool,
    /// Whether a preprocessor reads it first.
    pub preprocessed: bool,
}

impl Layout {
    /// All there are.
    pub const ALL: [Self; 4] = [
        Self::new(false, true),
        Self::new(false, false),
        Self::new(true, true),
        Self::new(true, false),
    ];

    const fn new(fixed: bool, preprocessed: bool) -> Self {
        Self {
            fixed,
            preprocessed,
        }
    }

    /// The extension of a file's name.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match (self.fixed, self.preprocessed) {
            (false, false) => "f90",
            (false, true) => "F90",
            (true, false) => "f",
            (true, true) => "F",
        }
    }
}

/// A logical line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    kind: Kind,
    label: Option<u32>,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Code,
    /// Code that only compilers with OpenMP read.
    Conditional,
    Directive,
    Preprocessor,
}

fn line(kind: Kind, text: impl Into<String>) -> Line {
    Line {
        kind,
        label: None,
        text: text.into(),
    }
}

/// A statement.
pub(super) fn code(text: impl Into<String>) -> Line {
    line(Kind::Code, text)
}

/// A statement with a label.
pub(super) fn labelled(label: u32, text: impl Into<String>) -> Line {
    Line {
        label: Some(label),
        ..code(text)
    }
}

/// A statement behind `!$`.
pub(super) fn conditional(text: impl Into<String>) -> Line {
    line(Kind::Conditional, text)
}

/// A directive of the given words.
pub(super) fn directive(words: impl Into<String>) -> Line {
    line(Kind::Directive, words)
}

/// A line of the preprocessor.
pub(super) fn preprocessor(text: impl Into<String>) -> Line {
    line(Kind::Preprocessor, text)
}

/// The text of some lines; how each is spelled follows from the seed.
pub(super) fn text(lines: &[Line], layout: Layout, seed: u64) -> String {
    let mut speller = Speller {
        random: Writer::new(!seed, Dialect::C),
        layout,
        text: String::new(),
    };
    for line in lines {
        speller.line(line);
    }
    speller.text
}

struct Speller {
    random: Writer,
    layout: Layout,
    text: String,
}

impl Speller {
    fn line(&mut self, line: &Line) {
        if self.random.once_in(25) {
            let comment = self
                .random
                .one_of(&["! it's", "", "!omp barrier", "!$acc loop"]);
            self.push(comment);
        }
        match (line.kind, self.layout.fixed) {
            (Kind::Preprocessor, _) => self.push(&line.text),
            (Kind::Directive, _) => self.directive(&line.text),
            (kind, fixed) => {
                let label = line.label.map_or(String::new(), |label| label.to_string());
                let head = match (kind, fixed) {
                    (Kind::Conditional, false) => format!("!$ {label}"),
                    (Kind::Conditional, true) => format!("c${label:>3} "),
                    (_, false) => format!("{label} "),
                    (_, true) => format!("{label:>5} "),
                };
                self.code(&head, &line.text);
            }
        }
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A directive in one of its spellings, in one line or several.
    fn directive(&mut self, words: &str) {
        let mut words = words.to_owned();
        for (two, one) in [
            ("parallel do", "paralleldo"),
            ("end parallel", "endparallel"),
            ("end do", "enddo"),
            ("end single", "endsingle"),
        ] {
            if words.starts_with(two) && self.random.once_in(6) {
                words = words.replacen(two, one, 1);
            }
        }
        if self.random.once_in(6) {
            words = words.to_uppercase();
        }
        let sentinel = match self.layout.fixed {
            true => self.random.one_of(&["!$omp", "c$omp", "C$OMP", "*$omp"]),
            false => self.random.one_of(&["!$omp", "!$OMP", "  !$omp"]),
        };
        let often = if self.random.once_in(5) { 20 } else { 60 };
        let mut rows = vec![String::new()];
        for word in words.split(' ') {
            let last = rows.len() - 1;
            if rows[last].len() + word.len() > often && !rows[last].is_empty() {
                rows.push(word.to_owned());
                continue;
            }
            if !rows[last].is_empty() {
                rows[last].push(' ');
            }
            rows[last].push_str(word);
        }
        let count = rows.len();
        for (number, row) in rows.into_iter().enumerate() {
            let goes_on = number + 1 < count;
            let line = match (self.layout.fixed, number) {
                (true, 0) => format!("{sentinel} {row}"),
                (true, _) => format!("{sentinel}& {row}"),
                (false, 0) if goes_on => format!("{sentinel} {row} &"),
                (false, 0) => format!("{sentinel} {row}"),
                (false, _) => {
                    let mark = self.random.one_of(&["", " &"]);
                    let end = if goes_on { " &" } else { "" };
                    format!("{sentinel}{mark} {row}{end}")
                }
            };
            self.push(&line);
            if goes_on && self.random.once_in(6) {
                self.push("! between");
            }
        }
    }

    /// Code, continued where it would not fit.
    fn code(&mut self, head: &str, text: &str) {
        let indent = match self.layout.fixed {
            true => String::new(),
            false => " ".repeat(self.random.below(5) as usize),
        };
        let mut line = format!("{head}{indent}");
        for (number, word) in text.split(' ').enumerate() {
            let blank = usize::from(number > 0);
            if line.len() + blank + word.len() > 66 {
                let conditional = head.starts_with("!$") || head.starts_with("c$");
                if !self.layout.fixed {
                    line.push_str(" &");
                }
                self.push(&line);
                line = match (self.layout.fixed, conditional) {
                    (true, true) => format!("c$   & {word}"),
                    (true, false) => format!("     & {word}"),
                    (false, true) => format!("!$ & {word}"),
                    (false, false) => format!("    {word}"),
                };
                continue;
            }
            if number > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.push(&line);
    }
}
