//! Directive records: which lines and operators are OpenMP's, and their words.

use std::ops::Range;

use super::cursor::unspliced;
use super::groups::word;
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind, lex_part};
use super::text_of;
use crate::find::Placement;
use crate::openmp::parse::Word;

/// A directive before it is understood.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) range: Range<usize>,
    pub(super) words: Vec<Word>,
    pub(super) placement: Placement,
    /// Why its text can't be edited, if so.
    pub(super) frozen: Option<&'static str>,
}

/// All records of a text in source order, and the indices of the code tokens
/// that belong to `_Pragma` operators.
pub(super) fn records(text: &[u8], lexed: &Lexed) -> Vec<Record> {
    let lines = lexed.lines.iter().filter_map(|line| from_line(text, line));
    let operators = (0..lexed.code.len()).filter_map(|at| from_operator(text, &lexed.code, at));
    let mut records: Vec<Record> = lines.chain(operators).collect();
    records.sort_by_key(|record| record.range.start);
    records
}

/// `#pragma omp ...`
fn from_line(text: &[u8], line: &PreprocessorLine) -> Option<Record> {
    if word(text, line, 0) != "pragma" || word(text, line, 1) != "omp" {
        return None;
    }
    let placement =
        Placement::Lines { before: line.range.start, after: (line.range.end + 1).min(text.len()) };
    let frozen = (line.range.end == text.len()).then_some("the file ends with it");
    let words = words(text, &line.tokens[2..]);
    Some(Record { range: line.range.clone(), words, placement, frozen })
}

/// `_Pragma("omp ...")`
fn from_operator(text: &[u8], code: &[Token], at: usize) -> Option<Record> {
    let [name, open, literal, close] = code.get(at..at + 4)? else { return None };
    let is_operator = text_of(text, name) == "_Pragma"
        && open.is(b'(')
        && literal.kind == TokenKind::Literal
        && close.is(b')');
    if !is_operator {
        return None;
    }
    let content = text[literal.range.clone()].strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let start = literal.range.start + 1;
    let tokens = lex_part(text, start..start + content.len());
    if tokens.first().map(|token| text_of(text, token)).as_deref() != Some("omp") {
        return None;
    }
    let frozen = content.contains(&b'\\').then_some("its string has escapes");
    Some(Record {
        range: name.range.start..close.range.end,
        words: words(text, &tokens[1..]),
        placement: Placement::Inline,
        frozen,
    })
}

fn words(text: &[u8], tokens: &[Token]) -> Vec<Word> {
    let word = |token: &Token| Word {
        text: match token.kind {
            // Digraphs: the parser of directives knows the primary spelling.
            TokenKind::Punctuation(mark) if mark.is_ascii() => char::from(mark).to_string(),
            _ => unspliced(&text[token.range.clone()]),
        },
        range: token.range.clone(),
    };
    tokens.iter().map(word).collect()
}
