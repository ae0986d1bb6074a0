//! Which bracket closes which.

use super::lexer::{Token, TokenKind};

/// Marks a bracket without a partner. A text has fewer tokens than this number.
const NONE: u32 = u32::MAX;

/// The partners of all brackets in a row of tokens.
#[derive(Debug)]
pub(super) struct Brackets {
    closing: Vec<u32>,
    /// For each token the opening bracket of the innermost pair around it. A closing bracket
    /// counts as inside its own pair.
    around: Vec<u32>,
}

impl Brackets {
    /// Pairs brackets. Where two brackets don't pair, all brackets open at that point get no
    /// partner, since the text behind them can't be judged.
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
        let around = around(&closing);
        Self { closing, around }
    }

    /// The innermost pair around a token, by the index of its opening bracket. Behind the last
    /// token there is none.
    pub(super) fn around(&self, at: usize) -> Option<usize> {
        let opening = self.around.get(at).filter(|index| **index != NONE)?;
        Some(*opening as usize)
    }

    /// The pairs around a token, innermost first.
    pub(super) fn all_around(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.around(at), |opening| self.around(*opening))
    }

    /// The index of the bracket that closes the one at `at`.
    pub(super) fn closing(&self, at: usize) -> Option<usize> {
        let partner = self.closing.get(at).filter(|index| **index != NONE)?;
        Some(*partner as usize)
    }
}

/// The innermost pair around each token.
fn around(closing: &[u32]) -> Vec<u32> {
    let mut open: Vec<(u32, u32)> = Vec::new();
    let innermost = |(at, close): (usize, &u32)| {
        let at = u32::try_from(at).unwrap_or(NONE);
        while open.last().is_some_and(|(_, close)| *close < at) {
            open.pop();
        }
        let around = open.last().map_or(NONE, |(opening, _)| *opening);
        if *close != NONE {
            open.push((at, *close));
        }
        around
    };
    closing.iter().enumerate().map(innermost).collect()
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
    #[test]
    fn the_pair_around_a_token_is_the_innermost() {
        let tokens = lex(b"a ( [ b ] c ) d { ( }").code;
        let brackets = Brackets::new(&tokens);
        let around: Vec<_> = (0..tokens.len()).map(|at| brackets.around(at)).collect();
        let (outer, inner) = (Some(1), Some(2));
        assert_eq!(
            around[..8],
            [None, None, outer, inner, inner, outer, outer, None]
        );
        assert_eq!(
            around[8..],
            [None; 3],
            "what does not pair is around nothing"
        );
        assert_eq!(brackets.all_around(3).collect::<Vec<_>>(), [2, 1]);
    }
}
