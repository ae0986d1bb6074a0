//! Calls of routines that have a wrapper.

use std::collections::HashSet;
use std::ops::Range;

use super::conditionals::word;
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind};
use super::text_of;
use crate::find::{Branch, FoundCall, Function, first_argument};
use crate::openmp::api::{self, RoutineRow};

/// A call whose function is not known yet.
pub(super) struct Call {
    routine: &'static RoutineRow,
    pub(super) name: Range<usize>,
    arguments: usize,
    lock: String,
}

impl Call {
    pub(super) fn found(self, function: Option<Function>, branches: Vec<Branch>) -> FoundCall {
        FoundCall {
            routine: self.routine,
            name: self.name,
            arguments: self.arguments,
            lock: self.lock,
            // In C and C++, the redirected call itself gives the place.
            before: None,
            function,
            branches,
        }
    }
}

/// The calls of routines with a wrapper in a text.
pub(super) fn positions(text: &[u8], lexed: &Lexed) -> Vec<Call> {
    let mut depth = 0i32;
    let mut calls = Vec::new();
    for (index, token) in lexed.code.iter().enumerate() {
        match token.kind {
            TokenKind::Punctuation(b'{') => depth += 1,
            TokenKind::Punctuation(b'}') => depth -= 1,
            TokenKind::Identifier if depth > 0 && text[token.range()].starts_with(b"omp_") => {
                calls.extend(call(text, &lexed.code, index));
            }
            _ => {}
        }
    }
    calls
}

/// Drops calls of routines that the text defines as macros.
pub(super) fn drop_macros(calls: &mut Vec<Call>, text: &[u8], lexed: &Lexed) {
    if calls.is_empty() {
        return;
    }
    let is_definition = |line: &&PreprocessorLine| word(text, line, 0) == "define";
    let lines = lexed.lines.iter();
    let defined: HashSet<_> = lines
        .filter(is_definition)
        .map(|line| word(text, line, 1))
        .collect();
    calls.retain(|call| !defined.contains(call.routine.name));
}

fn call(text: &[u8], code: &[Token], index: usize) -> Option<Call> {
    let token = &code[index];
    let routine = api::find(&text_of(text, token))?;
    let open = code.get(index + 1).filter(|next| next.is(b'('))?;
    let before = index.checked_sub(1).map(|before| &code[before]);
    let called = before.is_none_or(|before| can_precede_a_call(text, before, code, index));
    called.then(|| Call {
        routine,
        name: token.range(),
        arguments: open.end(),
        lock: first_argument(code[index + 2..].iter().map(|token| &text[token.range()])),
    })
}

/// Behind a type name it is a declaration, behind `.` or `->` a member.
fn can_precede_a_call(text: &[u8], before: &Token, code: &[Token], index: usize) -> bool {
    match before.kind {
        TokenKind::Identifier => is_keyword(text, before),
        TokenKind::Punctuation(b'.') => false,
        // `::omp_set_lock` is the routine, `mine::omp_set_lock` is not.
        TokenKind::DoubleColon => index.checked_sub(2).is_none_or(|at| {
            let qualifier = &code[at];
            let names = qualifier.kind == TokenKind::Identifier && !is_keyword(text, qualifier);
            !names && !qualifier.is(b'>')
        }),
        TokenKind::Punctuation(b'>') => !index
            .checked_sub(2)
            .is_some_and(|at| code[at].is(b'-') && code[at].end() == before.start()),
        _ => true,
    }
}

/// Keywords that may stand in front of an expression.
fn is_keyword(text: &[u8], token: &Token) -> bool {
    matches!(
        text_of(text, token).as_str(),
        "return" | "else" | "do" | "case" | "sizeof"
    )
}
