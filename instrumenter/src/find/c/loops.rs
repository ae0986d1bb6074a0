//! The heads of canonical loops in C and C++, from the tokens.
//!
//! The expressions of a head are copied into inserted text. So only expressions without side
//! effects are accepted: names, numbers, members, elements and arithmetic.

use std::ops::Range;
use std::rc::Rc;

use super::brackets::Brackets;
use super::lexer::{Lexed, PreprocessorLine, Token, TokenKind};
use super::rows;
use super::{is_word, lexer, text_of};
use crate::find::{Level, LoopNest, LoopReader, Relation, Row};
use crate::openmp::Language;
use crate::source::Source;

/// Integer types: a C++ loop variable of one of them is certainly a number.
const INTEGERS: &[&str] = &[
    "int",
    "long",
    "short",
    "char",
    "unsigned",
    "signed",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "intptr_t",
    "uintptr_t",
];

/// Functions that return the size, begin or end of a container.
const OBSERVERS: &[&str] = &[
    "size", "length", "data", "begin", "end", "cbegin", "cend", "rbegin", "rend", "crbegin",
    "crend",
];

/// The loops of a source.
pub(in crate::find) struct Loops<'s> {
    text: &'s [u8],
    is_cxx: bool,
    tokens: Rc<Vec<Token>>,
    brackets: Brackets,
    lines: Vec<PreprocessorLine>,
}

impl<'s> Loops<'s> {
    pub(in crate::find) fn new(source: &'s Source) -> Self {
        let Lexed { code, lines } = lexer::lex(&source.text);
        Self {
            text: &source.text,
            is_cxx: source.language == Language::Cxx,
            brackets: Brackets::new(&code),
            tokens: code,
            lines,
        }
    }
}

/// The variables of up to `levels` nested loops, the first of which begins with the first
/// token. The rest of the heads may have any form.
pub(super) fn variables(text: &[u8], tokens: &[Token], levels: usize) -> Vec<String> {
    let is = |at: usize, mark: u8| tokens.get(at).is_some_and(|token| token.is(mark));
    let mut variables = Vec::new();
    let mut at = 0;
    while variables.len() < levels && tokens.get(at).is_some_and(|t| is_word(text, t, "for")) {
        let Some(end) = closing(tokens, at + 1) else {
            break;
        };
        let sets = |at: &usize| is(*at, b'=') || is(*at, b':');
        let name = (at + 2..end).find(sets).map(|at| &tokens[at - 1]);
        let Some(name) = name.filter(|name| name.kind == TokenKind::Identifier) else {
            break;
        };
        variables.push(text_of(text, name));
        at = end + 1;
        while is(at, b'{') {
            at += 1;
        }
    }
    variables
}

impl LoopReader for Loops<'_> {
    fn expression(&self, range: Range<usize>) -> Option<String> {
        let text = &self.text[range];
        let tokens = lexer::lex(text).code;
        let part = Loops {
            text,
            is_cxx: self.is_cxx,
            brackets: Brackets::new(&tokens),
            tokens: Rc::clone(&tokens),
            lines: Vec::new(),
        };
        (!tokens.is_empty() && part.plain(&tokens).is_ok()).then(|| part.join(&tokens))
    }

    fn nest(&self, begin: usize, levels: usize) -> Result<LoopNest, String> {
        let mut at = self.tokens.partition_point(|token| token.start() < begin);
        let first = self.tokens.get(at).map_or(begin, Token::start);
        let mut nest = LoopNest::default();
        let mut has_braces = false;
        let mut head_end = begin;
        for depth in 0..levels {
            let (level, behind) = self.head(at, &nest.levels)?;
            nest.levels.push(level);
            at = behind;
            head_end = self.tokens[behind - 1].end();
            // Between the loops of a nest there may be braces.
            while depth + 1 < levels && self.is(at, b'{') {
                has_braces = true;
                at += 1;
            }
        }
        nest.body.at = head_end;
        if has_braces {
            let end = self.is(at, b'{').then(|| self.closing(at)).flatten();
            let end = end.ok_or("its body has no braces of its own")?;
            nest.body_end = Some(self.tokens[end].end());
        }
        // An `#endif` in front of the loop ends the conditional around its directive.
        let from = self.lines.partition_point(|line| line.range.start < begin);
        let within = |line: &&PreprocessorLine| line.range.start < head_end;
        let ends = |line: &PreprocessorLine| {
            let word = line.tokens.first();
            line.range.start < first && word.is_some_and(|t| is_word(self.text, t, "endif"))
        };
        match self.lines[from..].iter().take_while(within).all(ends) {
            true => Ok(nest),
            false => Err(
                "a directive or another preprocessing line stands in front of its body".to_owned(),
            ),
        }
    }
}

impl Loops<'_> {
    /// A head, and the index behind it.
    fn head(&self, at: usize, outer: &[Level]) -> Result<(Level, usize), String> {
        if !self.word(at, "for") || !self.is(at + 1, b'(') {
            return Err("its loop is not a plain for".to_owned());
        }
        let close = self.closing(at + 1).ok_or("its head is not understood")?;
        let parts = self.parts(at + 2, close);
        let [init, test, change] = parts.as_slice() else {
            let colon = self
                .colon(at + 2, close)
                .filter(|_| self.is_cxx && parts.len() == 1);
            let colon = colon.ok_or("its loop has no first value, test and step")?;
            return Ok((self.over_range(colon, close, outer)?, close + 1));
        };
        let (variable, lower, may_be_object) = self.init(init)?;
        let (relation, upper) = self.test(test, &variable)?;
        let (step, is_down) = self.change(change, &variable)?;
        for expression in [lower, &upper, &step] {
            self.plain(expression)?;
        }
        if rows::named(self.text, &step, outer).next().is_some() {
            return Err("the step of an inner loop depends on an outer one".to_owned());
        }
        let row = rows::outer(self.text, [lower, &upper], outer)?;
        // The expression where the loop around it has this value.
        let at_value = |tokens: &[Token], value: fn(&Level) -> String| match row {
            Some(index) => self.join_with(tokens, &outer[index].variable, &value(&outer[index])),
            None => self.join(tokens),
        };
        let level = Level {
            lower: at_value(lower, rows::first),
            upper: at_value(&upper, rows::first),
            row: row.map(|index| Row {
                outer: index,
                lower: at_value(lower, rows::second),
                upper: at_value(&upper, rows::second),
            }),
            range: None,
            relation,
            step: if step.is_empty() {
                "1".to_owned()
            } else {
                self.join(&step)
            },
            is_down,
            may_be_object,
            variable,
        };
        Ok((level, close + 1))
    }

    /// The head of a loop over a range. The range is an object that stays, so that it can be
    /// looked at once more.
    fn over_range(&self, colon: usize, close: usize, outer: &[Level]) -> Result<Level, String> {
        let range = &self.tokens[colon + 1..close];
        let (first, last) = (range.first(), range.last());
        let (first, last) = first.zip(last).ok_or("its head is not understood")?;
        let is_call = |pair: &[Token]| {
            pair[0].kind == TokenKind::Identifier && pair[1].kind == TokenKind::Punctuation(b'(')
        };
        if self.plain(range).is_err() || range.windows(2).any(is_call) {
            return Err("its loop goes over a range that may have side effects".to_owned());
        }
        if rows::named(self.text, range, outer).next().is_some() {
            return Err("the range of an inner loop depends on an outer one".to_owned());
        }
        Ok(Level {
            variable: text_of(self.text, &self.tokens[colon - 1]),
            lower: "0".to_owned(),
            upper: self.join(range),
            relation: Relation::Less,
            step: "1".to_owned(),
            is_down: false,
            may_be_object: false,
            row: None,
            range: Some(first.start()..last.end()),
        })
    }

    /// The single colon in the head of a loop over a range.
    fn colon(&self, from: usize, close: usize) -> Option<usize> {
        let colon = |at: usize| self.is(at, b':');
        (from + 1..close).find(|at| colon(*at) && !colon(at + 1) && !colon(at - 1))
    }

    /// The parts of a head between semicolons.
    fn parts(&self, from: usize, close: usize) -> Vec<&[Token]> {
        let inside = self.tokens.get(from..close).unwrap_or_default();
        inside
            .split(|token| token.kind == TokenKind::Punctuation(b';'))
            .collect()
    }

    /// Reads `type variable = lower` or `variable = lower`. Returns the variable, its first
    /// value, and whether the variable may be an object.
    fn init<'t>(&self, part: &'t [Token]) -> Result<(String, &'t [Token], bool), String> {
        let unclear = || "the first value of its loop is not understood".to_owned();
        let equals = part
            .iter()
            .position(|token| token.kind == TokenKind::Punctuation(b'='))
            .ok_or_else(unclear)?;
        let (declared, lower) = (&part[..equals], &part[equals + 1..]);
        let (name, types) = declared.split_last().ok_or_else(unclear)?;
        if name.kind != TokenKind::Identifier || lower.is_empty() {
            return Err(unclear());
        }
        let may_be_object = self.is_cxx && !self.is_number(types, lower);
        Ok((text_of(self.text, name), lower, may_be_object))
    }

    /// Whether a loop variable in C++ is certainly a number or a pointer.
    fn is_number(&self, types: &[Token], lower: &[Token]) -> bool {
        let last = types.last();
        let is_pointer = last.is_some_and(|token| token.kind == TokenKind::Punctuation(b'*'));
        let is_integer = !types.is_empty()
            && last
                .is_some_and(|token| INTEGERS.iter().any(|word| is_word(self.text, token, word)));
        let begins_with_number = lower.len() == 1 && lower[0].kind == TokenKind::Number;
        is_pointer || is_integer || begins_with_number
    }

    /// Reads `variable < upper`, or the reverse.
    fn test(&self, part: &[Token], variable: &str) -> Result<(Relation, Vec<Token>), String> {
        let unclear = || "the test of its loop is not understood".to_owned();
        let is_variable = |token: &Token| is_word(self.text, token, variable);
        let mark = |token: &Token| match token.kind {
            TokenKind::Punctuation(mark @ (b'<' | b'>' | b'!' | b'=')) => Some(mark),
            _ => None,
        };
        let first = part.first().ok_or_else(unclear)?;
        let last = part.last().ok_or_else(unclear)?;
        let (at, is_left) = match (is_variable(first), is_variable(last)) {
            (true, _) => (1, true),
            (false, true) => {
                let at = part.iter().position(|token| mark(token).is_some());
                (at.ok_or_else(unclear)?, false)
            }
            _ => return Err(unclear()),
        };
        let operator = part.get(at).and_then(mark).ok_or_else(unclear)?;
        let or_equal = part.get(at + 1).and_then(mark) == Some(b'=');
        let behind = at + 1 + usize::from(or_equal);
        let upper = match is_left {
            true => part.get(behind..),
            false => part.get(..at),
        };
        let upper = upper
            .filter(|upper| !upper.is_empty())
            .ok_or_else(unclear)?;
        let relation = match (operator, or_equal, is_left) {
            (b'<', false, true) | (b'>', false, false) => Relation::Less,
            (b'<', true, true) | (b'>', true, false) => Relation::LessOrEqual,
            (b'>', false, true) | (b'<', false, false) => Relation::Greater,
            (b'>', true, true) | (b'<', true, false) => Relation::GreaterOrEqual,
            (b'!', true, _) => Relation::NotEqual,
            _ => return Err(unclear()),
        };
        Ok((relation, upper.to_vec()))
    }

    /// Returns the amount by which the variable changes (empty for one), and whether it counts
    /// down.
    fn change(&self, part: &[Token], variable: &str) -> Result<(Vec<Token>, bool), String> {
        let words: Vec<String> = part.iter().map(|token| text_of(self.text, token)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let rest = |from: usize| part.get(from..).unwrap_or_default().to_vec();
        match words.as_slice() {
            ["+", "+", name] | [name, "+", "+"] if *name == variable => Ok((Vec::new(), false)),
            ["-", "-", name] | [name, "-", "-"] if *name == variable => Ok((Vec::new(), true)),
            [name, "+", "=", _, ..] if *name == variable => Ok((rest(3), false)),
            [name, "-", "=", _, ..] if *name == variable => Ok((rest(3), true)),
            [name, "=", from, "+", _, ..] if *name == variable && *from == variable => {
                Ok((rest(4), false))
            }
            [name, "=", from, "-", _, ..] if *name == variable && *from == variable => {
                self.single(&rest(4))?;
                Ok((rest(4), true))
            }
            _ => Err("the step of its loop is not understood".to_owned()),
        }
    }

    /// Accepts a single operand only: `i = i - a + b` counts down by `a - b`, not by `a + b`.
    fn single(&self, tokens: &[Token]) -> Result<(), String> {
        match tokens {
            [_] => Ok(()),
            _ => Err("the step of its loop is not understood".to_owned()),
        }
    }

    /// Fails if an expression may have side effects.
    fn plain(&self, tokens: &[Token]) -> Result<(), String> {
        let has_effects = || Err("a bound of its loop may have side effects".to_owned());
        for (index, token) in tokens.iter().enumerate() {
            let next = tokens.get(index + 1);
            let is_next = |mark: u8| {
                next.is_some_and(|next| {
                    next.kind == TokenKind::Punctuation(mark) && next.start() == token.end()
                })
            };
            let calls = next.is_some_and(|next| next.kind == TokenKind::Punctuation(b'('));
            match token.kind {
                TokenKind::Identifier if calls && !self.only_looks(tokens, index) => {
                    return has_effects();
                }
                TokenKind::Punctuation(b'+') if is_next(b'+') => return has_effects(),
                TokenKind::Punctuation(b'-') if is_next(b'-') => return has_effects(),
                TokenKind::Punctuation(b'=' | b'{' | b',' | b'?') => return has_effects(),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a call has no side effects: `sizeof`, or a C++ function that returns the size or
    /// the ends of a container.
    fn only_looks(&self, tokens: &[Token], at: usize) -> bool {
        let is = |at: usize, mark: u8| {
            let token = tokens.get(at);
            token.is_some_and(|token| token.kind == TokenKind::Punctuation(mark))
        };
        let word = |at: usize, word: &str| is_word(self.text, &tokens[at], word);
        if word(at, "sizeof") {
            return true;
        }
        if !self.is_cxx || at < 1 || !OBSERVERS.iter().any(|name| word(at, name)) {
            return false;
        }
        let of_member = is(at - 1, b'.') || at >= 2 && is(at - 1, b'>') && is(at - 2, b'-');
        let of_std = at >= 3 && is(at - 1, b':') && is(at - 2, b':') && word(at - 3, "std");
        of_member && is(at + 2, b')') || of_std
    }

    fn join(&self, tokens: &[Token]) -> String {
        self.join_with(tokens, "", "")
    }

    /// The text, with a value in the place of a name.
    fn join_with(&self, tokens: &[Token], name: &str, value: &str) -> String {
        let mut text = String::new();
        let mut end = None;
        for token in tokens {
            if end.is_some_and(|end| end != token.start()) {
                text.push(' ');
            }
            let word = text_of(self.text, token);
            text.push_str(if word == name { value } else { &word });
            end = Some(token.end());
        }
        text
    }

    fn word(&self, at: usize, word: &str) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| is_word(self.text, token, word))
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| token.kind == TokenKind::Punctuation(mark))
    }

    fn closing(&self, open: usize) -> Option<usize> {
        self.brackets.closing(open)
    }
}

/// The index of the bracket that closes the one at an index.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Punctuation(b'(' | b'{') => depth += 1,
            TokenKind::Punctuation(b')' | b'}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}
