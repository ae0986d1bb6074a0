//! Fortran: the variable that an `atomic` construct writes.

use std::ops::Range;

use super::configuration::View;
use super::logical::Logical;
use super::tokens::{Token, TokenKind};
use crate::find::Updated;

/// The variable that the `atomic` construct at an offset writes in its block: a name, its
/// components, or an element with constant subscripts.
pub(super) fn updated(view: &View, construct: usize, block: &Range<usize>) -> Option<Updated> {
    let first = statement_from(view, block.start);
    let behind = statement_from(view, block.end);
    let assignments = || (first..behind).filter_map(|number| assignment(view, number));
    let is_update = |it: &Assignment<'_>| it.value.iter().any(|token| it.is_base(token));
    let written = assignments().find(is_update).or_else(|| {
        let mut all = assignments();
        all.next().filter(|_| all.next().is_none())
    })?;
    let line = written.line;
    let base = String::from_utf8_lossy(line.text(&written.object[0])).into_owned();
    let unit = view.unit_at(construct);
    let begin = unit.map_or(0, |unit| view.structure.units[unit].range.start);
    let before = statement_from(view, begin)..statement_from(view, construct);
    let renamed: Vec<usize> = before.filter(|it| associates(view, *it, &base)).collect();
    let names_only = written.object.len() == 1;
    let is_global = names_only && renamed.is_empty() && !is_in_head(view, begin, &base);
    let words = written.object.iter().map(|token| line.text(token));
    let text: Vec<u8> = words.flatten().copied().collect();
    Some(Updated {
        text: String::from_utf8_lossy(&text).into_owned(),
        base,
        renamed: renamed
            .iter()
            .map(|number| view.statements[*number].range.start)
            .collect(),
        is_global,
    })
}

/// `object = value`
struct Assignment<'v> {
    line: &'v Logical,
    object: &'v [Token],
    value: &'v [Token],
}

impl Assignment<'_> {
    fn is_base(&self, token: &Token) -> bool {
        let base = self.line.text(&self.object[0]);
        self.line.text(token).eq_ignore_ascii_case(base)
    }
}

fn assignment(view: &View, number: usize) -> Option<Assignment<'_>> {
    let (line, tokens) = tokens(view, number);
    let equals = tokens.iter().position(|token| line.text(token) == b"=")?;
    let (object, value) = (&tokens[..equals], &tokens[equals + 1..]);
    let is_name = |token: &Token| token.kind == TokenKind::Word;
    let is = |token: &Token, mark: &str| line.text(token) == mark.as_bytes();
    let (_, mut rest) = object.split_first().filter(|(first, _)| is_name(first))?;
    loop {
        rest = match rest {
            [percent, component, rest @ ..] if is(percent, "%") && is_name(component) => rest,
            [open, number, close, rest @ ..]
                if is(open, "(") && number.kind == TokenKind::Number && is(close, ")") =>
            {
                rest
            }
            [] => break,
            _ => return None,
        };
    }
    Some(Assignment {
        line,
        object,
        value,
    })
}

/// Whether a statement associates a name with another variable.
fn associates(view: &View, number: usize, name: &str) -> bool {
    let (line, tokens) = tokens(view, number);
    tokens.windows(2).any(|pair| {
        let is_name = line.text(&pair[0]).eq_ignore_ascii_case(name.as_bytes());
        is_name && line.text(&pair[1]) == b"=>"
    })
}

/// Whether a name is in the first statement of the program unit that begins at an offset. There
/// it may be an argument.
fn is_in_head(view: &View, begin: usize, name: &str) -> bool {
    let number = statement_from(view, begin);
    if number >= view.statements.len() {
        return false;
    }
    let (line, tokens) = tokens(view, number);
    let mut words = tokens.iter().map(|token| line.text(token));
    words.any(|word| word.eq_ignore_ascii_case(name.as_bytes()))
}

fn tokens(view: &View, number: usize) -> (&Logical, &[Token]) {
    let line = &view.lines[view.line_of[number]];
    (line, &line.tokens[view.statements[number].tokens.clone()])
}

/// The index of the first statement that begins at an offset or behind it.
fn statement_from(view: &View, offset: usize) -> usize {
    let before = |statement: &super::statements::Statement| statement.range.start < offset;
    view.statements.partition_point(before)
}
