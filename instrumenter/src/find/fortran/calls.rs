//! Calls of routines that have a wrapper.

use std::cell::OnceCell;

use super::Finder;
use super::classify::{Compound, StatementKind};
use super::configuration::View;
use super::logical::{Logical, logical_lines};
use super::statements::{Statement, statements};
use super::tokens::{Token, TokenKind};
use crate::find::{FoundCall, Position, first_argument};
use crate::openmp::api::{self, RoutineRow};
use crate::source::Form;

/// Whether a text may call one of the routines; a quick test.
pub(super) fn may_have_some(text: &[u8]) -> bool {
    text.windows(5)
        .any(|window| window.eq_ignore_ascii_case(b"_lock"))
}

impl Finder<'_> {
    /// The calls of a source, in any branch of a conditional.
    pub(super) fn calls(&self) -> Vec<FoundCall> {
        let text = &self.source.text;
        if !may_have_some(text) {
            return Vec::new();
        }
        let lines = logical_lines(text, self.lines.iter(), self.form);
        let code = lines.iter().filter(|line| line.sentinel.is_none());
        code.flat_map(|line| self.calls_in(line)).collect()
    }

    fn calls_in(&self, line: &Logical) -> Vec<FoundCall> {
        let mut calls = Vec::new();
        for statement in statements(line, self.form) {
            if may_call(&statement.kind) {
                let tokens = &line.tokens[statement.tokens.clone()];
                let place = OnceCell::new();
                let call = |at| {
                    let routine = routine_at(line, tokens, at)?;
                    let place = place.get_or_init(|| CallPlace::of(line, &statement, self.form));
                    self.call(line, &statement, routine, at, *place)
                };
                calls.extend((0..tokens.len()).filter_map(call));
            }
        }
        calls
    }

    /// The call of a routine whose name is a token of a statement.
    fn call(
        &self,
        line: &Logical,
        statement: &Statement,
        routine: &'static RoutineRow,
        at: usize,
        place: CallPlace,
    ) -> Option<FoundCall> {
        let tokens = &line.tokens[statement.tokens.clone()];
        let name = line.source(&tokens[at]);
        let view = self.view_at(name.start).ok()?;
        let arguments = line.source(tokens.get(at + 2)?).start;
        (!view.defines(routine.name)).then(|| FoundCall {
            routine,
            arguments,
            lock: first_argument(tokens[at + 2..].iter().map(|token| line.text(token))),
            before: view.before(self, statement, place),
            function: view.function_at(name.start),
            branches: self.groups.branches_at(name.start),
            name,
        })
    }
}

/// The place of a call in its statement.
#[derive(Clone, Copy, Debug)]
enum CallPlace {
    /// In the head of a loop. Nothing may stand between a directive and the loop that it
    /// governs.
    InLoopHead,
    /// In the condition of an `else if`.
    InElseIf,
    /// Anywhere else.
    Elsewhere,
}

impl CallPlace {
    fn of(line: &Logical, statement: &Statement, form: Form) -> Self {
        let mut text = statement.squeezed(line, form);
        match statement.kind {
            StatementKind::Do { .. } if !text.is_while() => Self::InLoopHead,
            StatementKind::Other if text.eat("elseif(") => Self::InElseIf,
            _ => Self::Elsewhere,
        }
    }
}

/// Whether a statement of that kind may call something.
fn may_call(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Other
            | StatementKind::Do { .. }
            | StatementKind::Open(Compound::If | Compound::Select | Compound::Associate)
    )
}

/// The routine that a token calls, if it is one with a wrapper.
fn routine_at(line: &Logical, tokens: &[Token], at: usize) -> Option<&'static RoutineRow> {
    let name = &tokens[at];
    if name.kind != TokenKind::Word || line.text(tokens.get(at + 1)?) != b"(" {
        return None;
    }
    let name = line.text(name).to_ascii_lowercase();
    let routine = api::find(std::str::from_utf8(&name).ok()?)?;
    let before = at.checked_sub(1).map(|before| line.text(&tokens[before]));
    let called = before.is_some_and(|word| word.eq_ignore_ascii_case(b"call"));
    let is_subroutine = routine.result == "void";
    let in_expression = before.is_some_and(|word| !word[0].is_ascii_alphabetic() && word != b"%");
    (if is_subroutine { called } else { in_expression }).then_some(routine)
}

impl View {
    /// The place for a statement to be executed before the given one, on every path that leads
    /// there in the order of the text.
    fn before(
        &self,
        finder: &Finder<'_>,
        statement: &Statement,
        place: CallPlace,
    ) -> Option<Position> {
        let this = self.statement_at(statement.range.start)?;
        let before = match place {
            CallPlace::InLoopHead => None,
            CallPlace::InElseIf => self.in_front(self.if_of(this)?),
            CallPlace::Elsewhere => self.in_front(this),
        };
        before.filter(|before| !finder.continued.statement_at(before.at))
    }

    fn statement_at(&self, start: usize) -> Option<usize> {
        let statements = &self.statements;
        let found = statements.binary_search_by_key(&start, |statement| statement.range.start);
        found.ok()
    }

    fn in_front(&self, statement: usize) -> Option<Position> {
        let line = self.line_of[statement];
        let is_first = statement == 0 || self.line_of[statement - 1] != line;
        Some(match is_first {
            true => Position {
                at: self.lines[line].range.start,
                line_start: true,
            },
            false => Position {
                at: self.statements[statement].range.start,
                line_start: false,
            },
        })
    }
}
