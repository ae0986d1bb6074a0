//! Directives as records of their words. A directive may be written as `#pragma`, as `_Pragma`
//! or as an attribute.

use std::ops::Range;

use super::lexer::{Token, TokenKind};
use super::text_of;
use crate::find::{InSequence, Placement};
use crate::openmp::directives::DirectiveRow;
use crate::openmp::parse::{DirectiveError, DirectiveToken, parse};
use crate::openmp::{Directive, Language};

/// A directive that is not yet parsed.
#[derive(Debug)]
pub(super) struct RawDirective {
    pub(super) range: Range<usize>,
    /// The offset behind the semicolon that follows an attribute. A directive that stands alone
    /// belongs to this empty statement and ends there.
    pub(super) empty_statement: Option<usize>,
    /// `omp` or `pomp`.
    pub(super) sentinel: &'static str,
    /// The rows that its name may stand for.
    pub(super) table: &'static [DirectiveRow],
    pub(super) words: Vec<DirectiveToken>,
    pub(super) placement: Placement,
    /// The reason if the directive's text can't be edited.
    pub(super) frozen: Option<&'static str>,
    /// Its place in the sequence of one attribute.
    pub(super) sequence: Option<InSequence>,
}

impl RawDirective {
    /// Parses the directive.
    pub(super) fn parse(&self, language: Language) -> Result<Directive, DirectiveError> {
        parse(&self.words, self.table, language)
    }
}

/// Tokens as the words of a directive.
pub(super) fn words(text: &[u8], tokens: &[Token]) -> Vec<DirectiveToken> {
    let word = |token: &Token| DirectiveToken {
        text: match token.kind {
            // The parser of directives knows no digraphs, only the primary spelling.
            TokenKind::Punctuation(mark) if mark.is_ascii() => char::from(mark).to_string(),
            _ => text_of(text, token),
        },
        range: token.range(),
    };
    tokens.iter().map(word).collect()
}
