//! Statements: the parts of a line between semicolons.

use std::ops::Range;

use super::classify::{StatementKind, classify};
use super::logical::Logical;
use super::squeezed::Squeezed;
use super::tokens::{Token, TokenKind};
use crate::source::Form;

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) label: Option<u64>,
    /// From its first to its last byte, including label and construct name.
    pub(super) range: Range<usize>,
    /// The offset of its keyword, behind label and construct name.
    pub(super) keyword: usize,
    /// Its tokens in its logical line, behind label and construct name.
    pub(super) tokens: Range<usize>,
    /// The offset of the next statement in the same line.
    pub(super) next_in_line: Option<usize>,
}

impl Statement {
    /// Its text behind label and construct name, from the line that contains it.
    pub(super) fn squeezed(&self, line: &Logical, form: Form) -> Squeezed {
        Squeezed::new(line, &line.tokens[self.tokens.clone()], form)
    }
}

/// The statements of a logical line.
pub(super) fn statements(line: &Logical, form: Form) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut from = 0;
    for at in 0..=line.tokens.len() {
        let ends = line
            .tokens
            .get(at)
            .is_none_or(|token| line.text(token) == b";");
        if !ends {
            continue;
        }
        if at > from {
            let statement = statement(line, from..at, form);
            if let Some(before) = statements.last_mut() {
                before.next_in_line = Some(statement.range.start);
            }
            statements.push(statement);
        }
        from = at + 1;
    }
    statements
}

fn statement(line: &Logical, tokens: Range<usize>, form: Form) -> Statement {
    let (label, behind_label) = label(line, tokens.clone(), form);
    let named = is_named(line, &line.tokens[behind_label..tokens.end]);
    let first = behind_label + if named { 2 } else { 0 };
    let own = &line.tokens[first..tokens.end];
    let kind = classify(&mut Squeezed::new(line, own, form));
    let start = line.source(&line.tokens[tokens.start]).start;
    let end = line.source(&line.tokens[tokens.end - 1]).end;
    Statement {
        kind,
        label,
        range: start..end,
        keyword: own.first().map_or(end, |token| line.source(token).start),
        tokens: first..tokens.end,
        next_in_line: None,
    }
}

/// The label of a statement and the index of the token behind it.
fn label(line: &Logical, tokens: Range<usize>, form: Form) -> (Option<u64>, usize) {
    let in_field = |token: &&Token| match form {
        Form::Fixed => line.label.contains(&line.source(token).start),
        Form::Free => token.range.start == line.tokens[0].range.start,
    };
    let digits = line.tokens[tokens.clone()]
        .iter()
        .take_while(in_field)
        .take_while(|token| line.text(token).iter().all(u8::is_ascii_digit));
    let mut label = String::new();
    let mut count = 0;
    for token in digits {
        label.push_str(&String::from_utf8_lossy(line.text(token)));
        count += 1;
    }
    (label.parse().ok(), tokens.start + count)
}

/// Whether a construct name is in front.
fn is_named(line: &Logical, tokens: &[Token]) -> bool {
    match tokens {
        [name, colon, _, ..] => name.kind == TokenKind::Word && line.text(colon) == b":",
        _ => false,
    }
}
