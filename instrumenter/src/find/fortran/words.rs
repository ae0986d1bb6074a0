//! The words of a directive. A name may be written without blanks between its
//! words, and in fixed form with blanks inside of them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::logical::Logical;
use super::tokens::TokenKind;
use crate::openmp::Language;
use crate::openmp::clauses::{CLAUSES, OF_WHOLE};
use crate::openmp::directives::DIRECTIVES;
use crate::openmp::parse::DirectiveToken;
use crate::openmp::pomp::POMP_DIRECTIVES;
use crate::source::Form;

/// The longest run of keywords that is split, and the longest keyword, in bytes. Real ones are
/// shorter.
const MAX_NAME: usize = 48;
const MAX_KEYWORD: usize = 16;

/// The words in names of directives and clauses.
static KEYWORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let rows = DIRECTIVES.iter().chain(POMP_DIRECTIVES);
    let rows = rows.filter(|row| row.languages.contain(Language::Fortran));
    let names = rows.flat_map(|row| row.name.split(' '));
    let clauses = CLAUSES.iter().map(|row| row.name);
    let others = OF_WHOLE.iter().copied();
    names.chain(clauses).chain(others).chain(["end"]).collect()
});

/// The words of a directive's logical line.
pub(super) fn words(line: &Logical, form: Form) -> Vec<DirectiveToken> {
    let mut words = Vec::new();
    let mut depth = 0i32;
    let mut at = 0;
    while let Some(token) = line.tokens.get(at) {
        match line.text(token) {
            b"(" => depth += 1,
            b")" => depth -= 1,
            _ => {}
        }
        let taken = match token.kind {
            TokenKind::Word if depth == 0 => keywords(line, at, form, &mut words),
            _ => other(line, at, &mut words),
        };
        at += taken;
    }
    words
}

/// Appends the word that begins with a token that is not a keyword, and returns its number of
/// tokens. The name of a common block in slashes is one word.
fn other(line: &Logical, at: usize, words: &mut Vec<DirectiveToken>) -> usize {
    let text = |index: usize| line.tokens.get(index).map(|token| line.text(token));
    let begins_item = at > 0 && matches!(text(at - 1), Some(b"(" | b"," | b":"));
    let slashes = text(at) == Some(b"/") && text(at + 2) == Some(b"/");
    let named = line
        .tokens
        .get(at + 1)
        .is_some_and(|token| token.kind == TokenKind::Word);
    let taken = if begins_item && slashes && named {
        3
    } else {
        1
    };
    let tokens = &line.tokens[at..at + taken];
    let text: Vec<u8> = tokens
        .iter()
        .flat_map(|token| line.text(token))
        .copied()
        .collect();
    words.push(DirectiveToken {
        text: String::from_utf8_lossy(&text).into_owned(),
        range: line.source(&tokens[0]).start..line.source(&tokens[taken - 1]).end,
    });
    taken
}

/// Appends the keywords that begin with a token, and returns their number of tokens. It takes
/// as many tokens as possible, since blanks have no meaning in fixed form.
fn keywords(line: &Logical, at: usize, form: Form, words: &mut Vec<DirectiveToken>) -> usize {
    // The bytes of these tokens, each with its place in the glued line.
    let mut bytes: Vec<(u8, usize)> = Vec::new();
    let most = match form {
        Form::Fixed => line.tokens.len(),
        Form::Free => at + 1,
    };
    let mut best = None;
    for index in at..most {
        let token = &line.tokens[index];
        if token.kind != TokenKind::Word || bytes.len() + token.range.len() > MAX_NAME {
            break;
        }
        bytes.extend(line.text(token).iter().copied().zip(token.range.clone()));
        best = pieces(&bytes)
            .map(|pieces| (pieces, index + 1 - at))
            .or(best);
    }
    let Some((pieces, taken)) = best else {
        return other(line, at, words);
    };
    words.extend(
        pieces
            .into_iter()
            .map(|piece| piece_of(line, &bytes[piece])),
    );
    taken
}

fn piece_of(line: &Logical, bytes: &[(u8, usize)]) -> DirectiveToken {
    let text: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    let place = |byte: Option<&(u8, usize)>| byte.map_or(0, |(_, at)| line.glued.source(*at));
    DirectiveToken {
        text: String::from_utf8_lossy(&text).into_owned(),
        range: place(bytes.first())..place(bytes.last()) + 1,
    }
}

/// Splits a name into keywords, if it consists of keywords. The longer keyword is preferred.
fn pieces(name: &[(u8, usize)]) -> Option<Vec<Range<usize>>> {
    let lower: Vec<u8> = name
        .iter()
        .map(|(byte, _)| byte.to_ascii_lowercase())
        .collect();
    let lower = std::str::from_utf8(&lower)
        .ok()
        .filter(|name| name.is_ascii())?;
    // For each place, the end of the keyword that begins there, if the rest consists of
    // keywords.
    let mut ends: Vec<Option<usize>> = vec![None; lower.len()];
    for start in (0..lower.len()).rev() {
        ends[start] = (start + 1..=lower.len().min(start + MAX_KEYWORD))
            .rev()
            .find(|end| {
                let rest_fits = *end == lower.len() || ends[*end].is_some();
                rest_fits && KEYWORDS.contains(&lower[start..*end])
            });
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < lower.len() {
        let end = ends[start]?;
        pieces.push(start..end);
        start = end;
    }
    Some(pieces)
}
