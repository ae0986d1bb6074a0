//! Which bracket closes which.

use super::lexer::{Token, TokenKind};

/// No partner. A text that tokens can describe has fewer of them.
const NONE: u32 = u32::MAX;

/// The partners of all brackets in a row of tokens.
#[derive(Debug)]
pub(super) struct Brackets {
    closing: Vec<u32>,
}

impl Brackets {
    /// Pairs brackets. What is open where two don't pair has no partner: what
    /// follows there can't be told.
    pub(super) fn new(tokens: &[Token]) -> Self {
        let mut closing = vec![NONE; tokens.len()];
        let mut open: Vec<(u8, usize)> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Punctuation(b'(') => open.push((b')', index)),
                TokenKind::Punctuation(b'[') => open.push((b']', index)),
                TokenKind::Punctuation(b'{') => open.push((b'}', index)),
                TokenKind::Punctuation(close @ (b')' | b']' | b'}')) => match open.pop() {
                    Some((expected, at)) if expected == close => {
                        closing[at] = u32::try_from(index).unwrap_or(NONE);
                    }
                    _ => open.clear(),
                },
                _ => {}
            }
        }
        Self { closing }
    }

    /// The index of the bracket that closes the one at `at`.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
        let partner = self.closing.get(at).filter(|index| **index != NONE)?;
        Some(*partner as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    #[test]
    fn brackets_are_paired_up_to_where_they_do_not_pair() {
        let tokens = lex(b"( [ a ] { } ) { ( ] } { }").code;
        let brackets = Brackets::new(&tokens);
        let partners: Vec<_> = (0..tokens.len())
            .filter_map(|at| brackets.closing(at))
            .collect();
        assert_eq!(partners, [6, 3, 5, 12]);
        assert_eq!(brackets.closing(7), None);
        assert_eq!(brackets.closing(99), None);
    }
}
