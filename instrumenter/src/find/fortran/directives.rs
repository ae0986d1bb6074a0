//! Directive records: the directives of a text, their words, and their meanings.

use std::ops::Range;

use super::STRAY;
use super::logical::Logical;
use super::physical::{Continued, Sentinel};
use super::words::words;
use crate::openmp::directives::DIRECTIVES;
use crate::openmp::parse::{DirectiveToken, parse};
use crate::openmp::pomp::POMP_DIRECTIVES;
use crate::openmp::{Directive, Language};
use crate::source::Form;

/// A directive.
#[derive(Clone, Debug)]
pub(super) struct DirectiveLines {
    /// Its lines, without the last newline.
    pub(super) range: Range<usize>,
    /// The offset behind its last newline.
    pub(super) after: usize,
    pub(super) sentinel: Sentinel,
    pub(super) words: Vec<DirectiveToken>,
    pub(super) meaning: Meaning,
    /// Why the directive can't be used in its place, if so.
    pub(super) unusable: Option<&'static str>,
}

/// The meaning of a directive.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// It stands alone or begins a construct.
    Begin(Directive),
    /// It ends the construct with the directive of this name.
    End(Directive),
    /// It is not understood, for this reason.
    Unknown(String),
}

impl DirectiveLines {
    /// The record of a directive's logical line.
    pub(super) fn new(
        text: &[u8],
        line: &Logical,
        sentinel: Sentinel,
        form: Form,
        continued: &Continued,
    ) -> Self {
        let words = words(line, form);
        Self {
            range: line.range.clone(),
            after: line.after,
            sentinel,
            meaning: match line.inside_statement {
                true => Meaning::Unknown("it stands between the lines of a statement".into()),
                false => meaning(&words, sentinel),
            },
            words,
            unusable: unusable(text, line, continued),
        }
    }

    /// The sentinel as written in free form.
    pub(super) fn sentinel_text(&self) -> &'static str {
        match self.sentinel {
            Sentinel::Omp => "!$omp",
            Sentinel::Pomp => "!$pomp",
        }
    }
}

/// Why a directive can't be used in its place.
fn unusable(text: &[u8], line: &Logical, continued: &Continued) -> Option<&'static str> {
    if line.broken {
        return Some("preprocessor lines stand inside of it");
    }
    if continued.statement_at(line.after) {
        return Some(STRAY);
    }
    let ends_file = line.after == text.len() && !text.ends_with(b"\n");
    ends_file.then_some("the file ends with it")
}

fn meaning(words: &[DirectiveToken], sentinel: Sentinel) -> Meaning {
    let table = match sentinel {
        Sentinel::Omp => DIRECTIVES,
        Sentinel::Pomp => POMP_DIRECTIVES,
    };
    let is_end = |word: &DirectiveToken| word.text.eq_ignore_ascii_case("end");
    let own_row = parse(words, table, Language::Fortran);
    match (own_row, words.split_first()) {
        (Ok(directive), _) => Meaning::Begin(directive),
        (Err(_), Some((first, rest))) if is_end(first) && !rest.is_empty() => {
            match parse(rest, table, Language::Fortran) {
                Ok(directive) => Meaning::End(directive),
                Err(error) => Meaning::Unknown(error.to_string()),
            }
        }
        (Err(error), _) => Meaning::Unknown(error.to_string()),
    }
}
