//! C and C++: the variable that an `atomic` construct writes.
//!
//! Only names, their members, and elements with constant subscripts are told. Which variable
//! another expression denotes can change from one execution to the next.

use std::ops::Range;

use super::configuration::View;
use super::lexer::{Token, TokenKind};
use super::{Finder, is_word, text_of};
use crate::find::Updated;

/// Words in front of a name that do not declare it.
const NOT_TYPES: &[&str] = &[
    "return", "else", "do", "case", "goto", "sizeof", "throw", "delete", "new", "and", "or", "not",
];

impl View {
    /// The variable that the `atomic` construct at an offset writes in its block.
    pub(super) fn updated(
        &self,
        finder: &Finder<'_>,
        construct: usize,
        block: &Range<usize>,
    ) -> Option<Updated> {
        let text = &finder.source.text;
        let block = &self.tokens[self.token_from(block.start)..self.token_from(block.end)];
        let ends = |token: &Token| token.is(b';') || token.is(b'{') || token.is(b'}');
        let statements = || block.split(ends).filter(|part| !part.is_empty());
        let reading = Reading { text };
        let object = statements()
            .find_map(|statement| reading.updated(statement))
            .or_else(|| {
                let mut written = statements().filter_map(|statement| reading.written(statement));
                written.next().filter(|_| written.next().is_none())
            })?;
        let name = object.name;
        let item = self.items(finder).around(construct);
        let from = self.token_from(item.map_or(0, |item| item.start));
        let before = from..self.token_from(construct);
        let may_declare = before.filter(|at| reading.may_declare(&self.tokens, *at, name));
        let renamed: Vec<usize> = may_declare.map(|at| self.tokens[at].start()).collect();
        let is_outside = || renamed.is_empty() && self.declares_outside(reading, name);
        let is_global = !object.is_indirect && (object.is_qualified || is_outside());
        Some(Updated {
            text: reading.joined(object.tokens),
            base: text_of(text, name),
            renamed,
            is_global,
        })
    }

    /// Whether a name is declared outside of all brackets.
    fn declares_outside(&self, reading: Reading<'_>, name: &Token) -> bool {
        let mut at = 0;
        while at < self.tokens.len() {
            if reading.may_declare(&self.tokens, at, name) {
                return true;
            }
            at = self.brackets.closing(at).unwrap_or(at) + 1;
        }
        false
    }
}

/// A part of a statement that denotes a variable.
#[derive(Clone, Copy)]
struct Object<'t> {
    tokens: &'t [Token],
    /// The name that decides which variable it is.
    name: &'t Token,
    /// Whether that is the last part of a qualified name.
    is_qualified: bool,
    /// Whether the value of a pointer decides it, too.
    is_indirect: bool,
}

/// Reads statements of a text.
#[derive(Clone, Copy)]
struct Reading<'s> {
    text: &'s [u8],
}

impl Reading<'_> {
    /// The variable that a statement changes depending on its old value.
    fn updated<'t>(self, statement: &'t [Token]) -> Option<Object<'t>> {
        let statement = self.behind_condition(statement);
        if let Some(stepped) = behind_step(statement) {
            return self.object(stepped).map(|(object, _)| object);
        }
        let object = self.object(statement);
        if let Some((object, rest)) = object
            && behind_step(rest).is_some()
        {
            return Some(object);
        }
        let assigned = object.and_then(|(object, rest)| Some((object, assigned(rest)?)));
        let Some((object, (is_compound, value))) = assigned else {
            return self.updated(captured(statement)?);
        };
        let same = |token: &Token| self.same(token, object.name);
        match is_compound || value.iter().any(same) {
            true => Some(object),
            false => self.updated(value),
        }
    }

    /// The variable that a statement assigns to.
    fn written<'t>(self, statement: &'t [Token]) -> Option<Object<'t>> {
        let (object, rest) = self.object(self.behind_condition(statement))?;
        assigned(rest).map(|_| object)
    }

    /// The variable at the begin, and the tokens behind it.
    fn object<'t>(self, tokens: &'t [Token]) -> Option<(Object<'t>, &'t [Token])> {
        let is = |at: usize, mark: u8| tokens.get(at).is_some_and(|token| token.is(mark));
        let is_name = |at: usize| {
            let token = tokens.get(at);
            token.is_some_and(|token| token.kind == TokenKind::Identifier)
        };
        if is(0, b'(') {
            let close = tokens.iter().position(|token| token.is(b')'))?;
            let (object, rest) = self.object(&tokens[1..close])?;
            return rest.is_empty().then(|| (object, &tokens[close + 1..]));
        }
        let joins = |at: usize| {
            let token = tokens.get(at);
            token.is_some_and(|token| token.kind == TokenKind::DoubleColon)
        };
        let first = usize::from(is(0, b'*'));
        let mut last = first + usize::from(joins(first));
        while is_name(last) && joins(last + 1) {
            last += 2;
        }
        let is_qualified = last > first;
        let name = tokens.get(last).filter(|_| is_name(last))?;
        let mut is_indirect = first > 0 || is_word(self.text, name, "this");
        let mut behind = last + 1;
        loop {
            let has_number = || {
                let number = tokens.get(behind + 1);
                number.is_some_and(|number| number.kind == TokenKind::Number)
            };
            behind += match () {
                () if is(behind, b'.') && is_name(behind + 1) => 2,
                () if is(behind, b'[') && has_number() && is(behind + 2, b']') => 3,
                () if is(behind, b'-') && is(behind + 1, b'>') && is_name(behind + 2) => {
                    is_indirect = true;
                    3
                }
                () => break,
            };
        }
        let object = Object {
            tokens: &tokens[..behind],
            name,
            is_qualified,
            is_indirect,
        };
        Some((object, &tokens[behind..]))
    }

    /// The statement behind `if (...)`.
    fn behind_condition(self, statement: &[Token]) -> &[Token] {
        if !statement
            .first()
            .is_some_and(|token| is_word(self.text, token, "if"))
        {
            return statement;
        }
        let mut depth = 0;
        let close = statement.iter().position(|token| {
            depth += i32::from(token.is(b'(')) - i32::from(token.is(b')'));
            token.is(b')') && depth == 0
        });
        close.map_or(statement, |close| &statement[close + 1..])
    }

    /// Whether a token is this name and may be a declarator: a type, `*` or `&` stands in front.
    fn may_declare(self, tokens: &[Token], at: usize, name: &Token) -> bool {
        let ends_type = |token: &Token| match token.kind {
            TokenKind::Identifier => !NOT_TYPES.iter().any(|w| is_word(self.text, token, w)),
            _ => token.is(b'>'),
        };
        let declares = |behind: &Token| b"=;,[{():".iter().any(|mark| behind.is(*mark));
        let is_behind_type = match &tokens[..at] {
            [.., before, mark] if mark.is(b'*') || mark.is(b'&') => {
                ends_type(before) || b"*&,".iter().any(|mark| before.is(*mark))
            }
            [.., before] => ends_type(before),
            [] => false,
        };
        self.same(&tokens[at], name) && is_behind_type && tokens.get(at + 1).is_some_and(declares)
    }

    fn same(self, token: &Token, name: &Token) -> bool {
        let name = &self.text[name.range()];
        token.kind == TokenKind::Identifier && &self.text[token.range()] == name
    }

    fn joined(self, tokens: &[Token]) -> String {
        tokens
            .iter()
            .map(|token| text_of(self.text, token))
            .collect()
    }
}

/// The tokens behind `++` or `--`.
fn behind_step(tokens: &[Token]) -> Option<&[Token]> {
    match tokens {
        [one, other, rest @ ..] if one.kind == other.kind && (one.is(b'+') || one.is(b'-')) => {
            Some(rest)
        }
        _ => None,
    }
}

/// The value that a statement assigns to an object of any form, without an operation.
fn captured(statement: &[Token]) -> Option<&[Token]> {
    const OPERATORS: &[u8] = b"+-*/%&|^<>=!";
    let is_one_of = |at: usize, marks: &[u8]| marks.iter().any(|mark| statement[at].is(*mark));
    let mut depth = 0;
    let equals = (0..statement.len()).find(|&at| {
        let (opens, closes) = (is_one_of(at, b"(["), is_one_of(at, b")]"));
        depth += i32::from(opens) - i32::from(closes);
        let is_alone = at > 0
            && !is_one_of(at - 1, OPERATORS)
            && statement.get(at + 1).is_some_and(|behind| !behind.is(b'='));
        depth == 0 && is_alone && statement[at].is(b'=')
    });
    equals.map(|equals| &statement[equals + 1..])
}

/// The value that the assignment operator at the begin assigns, and whether the operator is a
/// compound one.
fn assigned(tokens: &[Token]) -> Option<(bool, &[Token])> {
    let equals = tokens.iter().position(|token| token.is(b'='))?;
    let operator = |token: &Token| b"+-*/%&|^<>".iter().any(|mark| token.is(*mark));
    let value = &tokens[equals + 1..];
    let is_compound = equals > 0;
    let compares = value.first().is_some_and(|token| token.is(b'='))
        || equals == 1 && (tokens[0].is(b'<') || tokens[0].is(b'>'));
    (tokens[..equals].iter().all(operator) && !compares).then_some((is_compound, value))
}
