//! A statement in lower case without blanks, as fixed form reads it. In free form it also
//! records where blanks end a keyword.

use super::logical::Logical;
use super::tokens::{Token, TokenKind};
use crate::source::Form;

/// A statement without its label and construct name, and a position in it.
pub(super) struct Squeezed {
    bytes: Vec<u8>,
    /// For each byte, whether a token begins there.
    starts: Vec<bool>,
    form: Form,
    at: usize,
}

impl Squeezed {
    pub(super) fn new(line: &Logical, tokens: &[Token], form: Form) -> Self {
        let (mut bytes, mut starts) = (Vec::new(), Vec::new());
        for token in tokens {
            let text: &[u8] = match token.kind {
                TokenKind::Text => b"''",
                _ => line.text(token),
            };
            starts.push(true);
            starts.resize(starts.len() + text.len() - 1, false);
            bytes.extend(text.iter().map(u8::to_ascii_lowercase));
        }
        Self {
            bytes,
            starts,
            form,
            at: 0,
        }
    }

    /// The text behind the position.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The position.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes back to a position.
    pub(super) fn back_to(&mut self, position: usize) {
        self.at = position;
    }

    /// Whether it is a `do while`.
    pub(super) fn is_while(&mut self) -> bool {
        self.eat("do") && {
            self.digits();
            self.eat(",");
            self.eat("while(")
        }
    }

    /// Steps over `text`, regardless of where its tokens end.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text.as_bytes());
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Steps over a keyword. In free form it must end where a token ends.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let before = self.at;
        let ends = self.eat(word) && self.is_boundary();
        if !ends {
            self.at = before;
        }
        ends
    }

    /// Steps over the first of the keywords that fits.
    pub(super) fn any_keyword(&mut self, words: &[&str]) -> bool {
        words.iter().any(|word| self.keyword(word))
    }

    fn is_boundary(&self) -> bool {
        match (self.rest().first(), self.form) {
            (None, _) => true,
            (Some(_), Form::Free) => self.starts[self.at],
            (Some(next), Form::Fixed) => self.starts[self.at] || *next != b'_',
        }
    }

    /// Steps over digits.
    pub(super) fn digits(&mut self) -> Option<u64> {
        let count = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let digits = std::str::from_utf8(&self.rest()[..count]).ok()?;
        let number = digits.parse().ok()?;
        self.at += count;
        Some(number)
    }

    /// Steps over a name.
    pub(super) fn name(&mut self) -> Option<String> {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'$');
        let count = self.rest().iter().take_while(is_part).count();
        let name = String::from_utf8_lossy(&self.rest()[..count]).into_owned();
        self.at += count;
        (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }

    /// Steps over a part in parentheses.
    pub(super) fn parenthesised(&mut self) -> bool {
        let mut depth = 0usize;
        for (index, byte) in self.rest().iter().enumerate() {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                self.at += if index > 0 { index + 1 } else { 0 };
                return index > 0;
            }
        }
        false
    }

    /// Whether a parenthesised part is all that follows.
    pub(super) fn only_parenthesised(&mut self) -> bool {
        self.parenthesised() && self.at_end()
    }
}
