//! Directives as records of their words, however they are written: `#pragma`, `_Pragma` or
//! an attribute.

use std::ops::Range;

use super::lexer::{Token, TokenKind};
use super::text_of;
use crate::find::{InSequence, Placement};
use crate::openmp::directives::DirectiveRow;
use crate::openmp::parse::{DirectiveError, DirectiveToken, parse};
use crate::openmp::{Directive, Language};

/// A directive before it is understood.
#[derive(Debug)]
pub(super) struct RawDirective {
    pub(super) range: Range<usize>,
    /// Behind the semicolon that follows an attribute: where a directive that
    /// stands alone appertains to the empty statement, it ends there.
    pub(super) empty_statement: Option<usize>,
    /// `omp` or `pomp`.
    pub(super) sentinel: &'static str,
    /// The rows that its name may stand for.
    pub(super) table: &'static [DirectiveRow],
    pub(super) words: Vec<DirectiveToken>,
    pub(super) placement: Placement,
    /// Why its text can't be edited, if so.
    pub(super) frozen: Option<&'static str>,
    /// Its place among others in one attribute.
    pub(super) sequence: Option<InSequence>,
}

impl RawDirective {
    /// What it says.
    pub(super) fn parse(&self, language: Language) -> Result<Directive, DirectiveError> {
        parse(&self.words, self.table, language)
    }
}

/// Tokens as the words of a directive.
pub(super) fn words(text: &[u8], tokens: &[Token]) -> Vec<DirectiveToken> {
    let word = |token: &Token| DirectiveToken {
        text: match token.kind {
            // Digraphs: the parser of directives knows the primary spelling.
            TokenKind::Punctuation(mark) if mark.is_ascii() => char::from(mark).to_string(),
            _ => text_of(text, token),
        },
        range: token.range(),
    };
    tokens.iter().map(word).collect()
}
