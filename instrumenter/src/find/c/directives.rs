//! Makes directive records: finds the lines and operators that are OpenMP's, and their words.

use super::attributes::from_attributes;
use super::conditionals::word;
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind, lex_part};
use super::raw_directive::{RawDirective, words};
use super::{is_word, text_of};
use crate::find::Placement;
use crate::openmp::directives::{DIRECTIVES, DirectiveRow};
use crate::openmp::pomp::POMP_DIRECTIVES;

/// All records of a text in source order, and the indices of the code tokens
/// that belong to `_Pragma` operators.
pub(super) fn records(text: &[u8], lexed: &Lexed) -> Vec<RawDirective> {
    let lines = lexed.lines.iter().filter_map(|line| from_line(text, line));
    let may_begin = |at: &usize| text[lexed.code[*at].start()] == b'_';
    let names = (0..lexed.code.len()).filter(may_begin);
    let operators = names.filter_map(|at| from_operator(text, &lexed.code, at));
    let attributes = from_attributes(text, &lexed.code);
    let mut records: Vec<RawDirective> = lines.chain(operators).chain(attributes).collect();
    records.sort_by_key(|record| record.range.start);
    records
}

/// The sentinels that are recognised.
const SENTINELS: [(&str, &[DirectiveRow]); 2] = [("omp", DIRECTIVES), ("pomp", POMP_DIRECTIVES)];

/// `#pragma omp ...`
fn from_line(text: &[u8], line: &PreprocessorLine) -> Option<RawDirective> {
    if word(text, line, 0) != "pragma" {
        return None;
    }
    let given = word(text, line, 1);
    let (sentinel, table) = SENTINELS.into_iter().find(|(name, _)| *name == given)?;
    let placement = Placement::Lines {
        before: line.range.start,
        after: (line.range.end + 1).min(text.len()),
    };
    let frozen = (line.range.end == text.len()).then_some("the file ends with it");
    let words = words(text, &line.tokens[2..]);
    Some(RawDirective {
        range: line.range.clone(),
        empty_statement: None,
        sentinel,
        table,
        words,
        placement,
        frozen,
        sequence: None,
    })
}

/// `_Pragma("omp ...")`
fn from_operator(text: &[u8], code: &[Token], at: usize) -> Option<RawDirective> {
    let [name, open, literal, close] = code.get(at..at + 4)? else {
        return None;
    };
    let is_operator = is_word(text, name, "_Pragma")
        && open.is(b'(')
        && literal.kind == TokenKind::Literal
        && close.is(b')');
    if !is_operator {
        return None;
    }
    let content = text[literal.range()]
        .strip_prefix(b"\"")?
        .strip_suffix(b"\"")?;
    let start = literal.start() + 1;
    let tokens = lex_part(text, start..start + content.len());
    if tokens.first().map(|token| text_of(text, token)).as_deref() != Some("omp") {
        return None;
    }
    let frozen = content.contains(&b'\\').then_some("its string has escapes");
    Some(RawDirective {
        range: name.start()..close.end(),
        empty_statement: None,
        sentinel: "omp",
        table: DIRECTIVES,
        words: words(text, &tokens[1..]),
        placement: Placement::Inline,
        frozen,
        sequence: None,
    })
}
