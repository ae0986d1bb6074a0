//! Bounds of collapsed loops that depend on a loop around them (triangles).
//!
//! OpenMP wants them to be linear: `a * variable + b`. They are evaluated in front of the loops,
//! with the first and the second value in the place of the variable. So only expressions are
//! accepted that are linear by their form.

use super::lexer::{Token, TokenKind};
use super::text_of;
use crate::find::Level;

/// The loops of these whose variables are named, by their indexes, once for each mention.
pub(super) fn named<'a>(
    text: &'a [u8],
    tokens: &'a [Token],
    outer: &'a [Level],
) -> impl Iterator<Item = usize> + 'a {
    tokens.iter().filter_map(move |token| {
        let word = text_of(text, token);
        outer.iter().position(|level| level.variable == word)
    })
}

/// The loop on whose variable these bounds depend, if any. The language allows one.
pub(super) fn outer(
    text: &[u8],
    bounds: [&[Token]; 2],
    outer: &[Level],
) -> Result<Option<usize>, String> {
    let mut found = None;
    for bound in bounds {
        let mut named = named(text, bound, outer);
        let Some(index) = named.next() else { continue };
        let is_clear = named.next().is_none()
            && outer[index].range.is_none()
            && found.is_none_or(|found| found == index)
            && is_linear(text, bound, &outer[index].variable);
        if !is_clear {
            return Err(
                "the bounds of an inner loop depend on an outer one in a way that is not \
                        understood"
                    .to_owned(),
            );
        }
        found = Some(index);
    }
    Ok(found)
}

/// Whether an expression that names a variable once is linear in it. Sums, differences and
/// products are, where the name is no index, member or pointer.
fn is_linear(text: &[u8], tokens: &[Token], name: &str) -> bool {
    let is_name = |token: &Token| text_of(text, token) == name;
    let Some(at) = tokens.iter().position(is_name) else {
        return true;
    };
    let mark = |at: Option<usize>| match at.and_then(|at| tokens.get(at))?.kind {
        TokenKind::Punctuation(mark) => Some(mark),
        _ => None,
    };
    let before = at.checked_sub(1);
    let is_operand = matches!(mark(before), None | Some(b'+' | b'-' | b'*' | b'('))
        && (before.is_none() || mark(before).is_some())
        && matches!(mark(Some(at + 1)), None | Some(b'+' | b'-' | b'*' | b')'));
    // A `*` behind an operand multiplies; others read through a pointer.
    let multiplies = |star: usize| match star.checked_sub(1).and_then(|at| tokens.get(at)) {
        Some(operand) => matches!(
            operand.kind,
            TokenKind::Identifier | TokenKind::Number | TokenKind::Punctuation(b')')
        ),
        None => false,
    };
    let allowed = tokens
        .iter()
        .enumerate()
        .all(|(at, token)| match token.kind {
            TokenKind::Identifier | TokenKind::Number => true,
            TokenKind::Punctuation(b'*') => multiplies(at),
            TokenKind::Punctuation(b'>') => mark(at.checked_sub(1)) == Some(b'-'),
            TokenKind::Punctuation(mark) => matches!(mark, b'+' | b'-' | b'(' | b')' | b'.' | b':'),
            _ => false,
        });
    // An argument of a call may be the name.
    let has_argument = tokens.windows(3).any(|three| {
        three[0].kind == TokenKind::Identifier
            && three[1].kind == TokenKind::Punctuation(b'(')
            && three[2].kind != TokenKind::Punctuation(b')')
    });
    is_operand && allowed && !has_argument
}

/// The first value of a loop's variable.
pub(super) fn first(level: &Level) -> String {
    format!("({})", level.lower)
}

/// The value that would come second.
pub(super) fn second(level: &Level) -> String {
    let sign = if level.is_down { '-' } else { '+' };
    format!("(({}) {sign} ({}))", level.lower, level.step)
}
