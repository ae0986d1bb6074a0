//! Tokens of a logical line.

use std::ops::Range;

use super::physical::is_blank;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An operator or another mark.
    Mark,
}

/// A token and its bytes in the glued line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
}

/// Marks of two characters.
const PAIRS: [&[u8; 2]; 9] = [
    b"==", b"/=", b"<=", b">=", b"=>", b"::", b"**", b"//", b"..",
];

/// The tokens of a glued line. An unclosed string ends with the line.
pub(super) fn tokenize(line: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        if is_blank(*byte) {
            at += 1;
            continue;
        }
        let (kind, length) = token(&line[at..], *byte);
        tokens.push(Token {
            kind,
            range: at..at + length,
        });
        at += length;
    }
    tokens
}

fn token(rest: &[u8], first: u8) -> (TokenKind, usize) {
    match first {
        _ if is_word_start(first) => (TokenKind::Word, word_length(rest)),
        b'0'..=b'9' => (TokenKind::Number, number_length(rest)),
        b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => {
            (TokenKind::Number, number_length(rest))
        }
        b'\'' | b'"' => (TokenKind::Text, text_length(rest, first)),
        b'.' => (TokenKind::Mark, dotted_length(rest).unwrap_or(1)),
        _ if rest
            .get(..2)
            .is_some_and(|two| PAIRS.iter().any(|pair| *pair == two)) =>
        {
            (TokenKind::Mark, 2)
        }
        _ => (TokenKind::Mark, 1),
    }
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn is_word_part(byte: u8) -> bool {
    is_word_start(byte) || byte.is_ascii_digit()
}

fn word_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| is_word_part(**byte)).count()
}

fn digits(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The length of `.and.` or another operator with dots.
fn dotted_length(rest: &[u8]) -> Option<usize> {
    let letters = rest[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    (letters > 0 && rest.get(1 + letters) == Some(&b'.')).then_some(letters + 2)
}

/// The length of a number: digits, a fraction, an exponent, a kind. The point of `1.eq.2`
/// belongs to the operator.
fn number_length(rest: &[u8]) -> usize {
    let mut length = digits(rest);
    if rest.get(length) == Some(&b'.') && dotted_length(&rest[length..]).is_none() {
        length += 1;
        length += digits(&rest[length..]);
    }
    length += exponent_length(&rest[length..]);
    if rest.get(length) == Some(&b'_') {
        length += word_length(&rest[length..]);
    }
    length
}

fn exponent_length(rest: &[u8]) -> usize {
    if !matches!(rest.first(), Some(b'e' | b'E' | b'd' | b'D' | b'q' | b'Q')) {
        return 0;
    }
    let sign = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
    match digits(&rest[1 + sign..]) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

/// The length of a string. A doubled quote in it stands for a quote.
fn text_length(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        at += 1;
        if *byte == quote {
            if rest.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
    }
    rest.len()
}
