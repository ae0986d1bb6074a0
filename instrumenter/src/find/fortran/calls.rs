//! Calls of routines that have a wrapper.

use super::Finder;
use super::classify::StatementKind;
use super::logical::{Logical, logical_lines};
use super::statements::statements;
use super::tokens::{Token, TokenKind};
use super::view::View;
use crate::find::FoundCall;
use crate::openmp::api::{self, RoutineRow};

/// Whether a text may call one of the routines at all.
pub(super) fn may_have_some(text: &[u8]) -> bool {
    text.windows(5)
        .any(|window| window.eq_ignore_ascii_case(b"_lock"))
}

impl Finder<'_> {
    /// The calls of a source, in whatever branch of a conditional.
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
            if statement.kind == StatementKind::Other {
                let tokens = &line.tokens[statement.tokens];
                calls.extend((0..tokens.len()).filter_map(|at| self.call(line, tokens, at)));
            }
        }
        calls
    }

    /// The call with a token as its name.
    fn call(&self, line: &Logical, tokens: &[Token], at: usize) -> Option<FoundCall> {
        let routine = routine_at(line, tokens, at)?;
        let name = line.source(&tokens[at]);
        let view = self.view_at(name.start);
        let arguments = line.source(tokens.get(at + 2)?).start;
        (!view.defines(routine)).then(|| FoundCall {
            routine,
            arguments,
            function: view.function_at(name.start),
            branches: self.groups.branches_at(name.start),
            name,
        })
    }
}

/// The routine that is called with a token.
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
    /// Whether the text has a procedure of its own by this name, and not only an
    /// interface of one.
    fn defines(&self, routine: &RoutineRow) -> bool {
        let in_interface = |at: usize| {
            let mut interfaces = self.structure.interfaces.iter();
            interfaces.any(|range| range.contains(&at))
        };
        self.structure.units.iter().any(|unit| {
            unit.head.name.as_deref() == Some(routine.name) && !in_interface(unit.range.start)
        })
    }
}
