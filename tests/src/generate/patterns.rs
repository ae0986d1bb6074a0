//! A table of constructs with their clauses: each a pattern that a seed fills in.
//!
//! In a pattern, `<[a¦b]>` is one of its alternatives, `%n` and `%m` are new numbers,
//! `{S}` is a statement and `{B}` a block to which every member of the team comes, `{T}`
//! is a tick. A line that begins with `@` is a directive in one of its spellings.

mod anywhere;
mod only_cxx;
mod tasks;
mod teams;
mod worksharing;

use super::words::Writer;
use super::{Allowed, Dialect};

/// Where a pattern may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In serial code: it makes a team, the only one that exists then.
    Serial,
    /// Where all members of the only team come by.
    Team,
    /// Where tasks may be made, inside of a team.
    Tasks,
    /// Anywhere, in a critical section, too.
    Anywhere,
}

/// One construct.
struct Pattern {
    at: At,
    /// The languages that have it.
    dialects: &'static [Dialect],
    /// The text in front of `main`.
    top: &'static str,
    text: &'static str,
}

const BOTH: &[Dialect] = &[Dialect::C, Dialect::Cxx];

/// A pattern of both languages without anything in front of `main`.
const fn plain(at: At, text: &'static str) -> Pattern {
    with_top(at, "", text)
}

const fn with_top(at: At, top: &'static str, text: &'static str) -> Pattern {
    Pattern {
        at,
        dialects: BOTH,
        top,
        text,
    }
}

const fn c(at: At, text: &'static str) -> Pattern {
    Pattern {
        at,
        dialects: &[Dialect::C],
        top: "",
        text,
    }
}

const fn cxx(at: At, top: &'static str, text: &'static str) -> Pattern {
    Pattern {
        at,
        dialects: &[Dialect::Cxx],
        top,
        text,
    }
}

/// The table, by what constructs need and do.
const PATTERNS: [&[Pattern]; 5] = [
    worksharing::PATTERNS,
    teams::PATTERNS,
    tasks::PATTERNS,
    anywhere::PATTERNS,
    only_cxx::PATTERNS,
];

impl Writer {
    /// A construct of the table that may stand here.
    pub(super) fn pattern(&mut self, place: Allowed) -> String {
        let alone = place.shared && place.parallel == 1;
        let fitting: Vec<&Pattern> = PATTERNS
            .into_iter()
            .flatten()
            .filter(|pattern| pattern.dialects.contains(&self.dialect))
            .filter(|pattern| match pattern.at {
                At::Serial => place.free && place.parallel == 0,
                At::Team => alone,
                // After such a group in serial code, gcc 12 frees the next region's team too early.
                At::Tasks => place.free && place.parallel > 0,
                At::Anywhere => true,
            })
            .collect();
        let number = self.below(fitting.len() as u64) as usize;
        self.filled_in(fitting[number], place)
    }

    fn filled_in(&mut self, pattern: &Pattern, place: Allowed) -> String {
        let inside = match pattern.at {
            At::Serial => Allowed {
                parallel: place.parallel + 1,
                shared: true,
                ..place
            },
            _ => place,
        };
        let (n, m) = (self.number().to_string(), self.number().to_string());
        let numbered = |text: String| text.replace("%n", &n).replace("%m", &m);
        let top = numbered(self.chosen(pattern.top));
        self.declare(&top);
        let text = numbered(self.chosen(pattern.text));
        let mut lines = String::new();
        for line in text.split_inclusive('\n') {
            match line.strip_prefix('@') {
                Some(words) => lines += &self.directive(words.trim_end()),
                None => lines += line,
            }
        }
        self.nested(lines, inside)
    }

    /// Adds text in front of `main`; a variable has a line of its own.
    pub(super) fn declare(&mut self, top: &str) {
        for line in top.lines() {
            let variable = line
                .strip_prefix("static ")
                .filter(|line| line.ends_with(';') && !line.contains('('))
                .and_then(|line| {
                    line.split([';', '[', '='])
                        .next()?
                        .trim_end()
                        .rsplit_once(' ')
                });
            if let Some((kind, name)) = variable {
                self.declared(kind, name);
            }
        }
        self.functions.push(top.to_owned());
    }

    /// A text with one of the alternatives in place of each of their lists.
    fn chosen(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        while let Some(end) = text.find("]>") {
            let Some(begin) = text[..end].rfind("<[") else {
                return text;
            };
            let alternatives: Vec<&str> = text[begin + 2..end].split('¦').collect();
            let one = self.one_of(&alternatives).to_owned();
            text.replace_range(begin..end + 2, &one);
        }
        text
    }

    /// A text with statements in the places for them.
    fn nested(&mut self, text: String, place: Allowed) -> String {
        let place = Allowed {
            cancel: None,
            ..place
        };
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find('{') {
            let (before, behind) = rest.split_at(at);
            done += before;
            let (inner, length) = match behind.get(..3) {
                Some("{S}") => (self.statement(place.apart()), 3),
                Some("{B}") => (self.block(place), 3),
                Some("{T}") => (self.tick(), 3),
                _ => ("{".into(), 1),
            };
            done += &inner;
            rest = &behind[length..];
        }
        done + rest
    }
}
