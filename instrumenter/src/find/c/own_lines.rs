//! Turns directives that have a line of their own, below a conditional, into the form of a `#pragma`.
//!
//! A `_Pragma` or an attribute is a part of the code: if the conditional around it ends before its block,
//! no tree of the code holds both. A `#pragma` may stand there.

use std::ops::Range;

use super::conditionals::word;
use super::lexer::{Token, TokenKind, lex};
use super::text_of;

/// The text with these directives turned. None if there are none.
pub(super) fn as_pragmas(text: &[u8]) -> Option<Vec<u8>> {
    let lexed = lex(text);
    let code = &lexed.code[..];
    let conditional = |offset: usize| {
        let before = lexed.lines.iter();
        let before = before.take_while(|line| line.range.start < offset);
        let depth = before.fold(0_i32, |depth, line| match &*word(text, line, 0) {
            "if" | "ifdef" | "ifndef" => depth + 1,
            "endif" => depth - 1,
            _ => depth,
        });
        depth > 0
    };
    let mut made = Vec::new();
    let mut last = 0;
    for (at, token) in code.iter().enumerate() {
        if !is_first(text, code, at) || !(is_word(text, token, "_Pragma") || token.is(b'[')) {
            continue;
        }
        let found = pragma(text, &code[at..]).or_else(|| attribute(text, &code[at..]));
        let Some((words, length)) = found else {
            continue;
        };
        let range = token.start()..code[at + length - 1].end();
        let is_alone = code.get(at + length).is_none() || is_first(text, code, at + length);
        if is_alone && !text[range.clone()].contains(&b'\n') && conditional(range.start) {
            made.extend(&text[last..range.start]);
            made.extend(b"#pragma ");
            made.extend(words.bytes());
            last = range.end;
        }
    }
    made.extend(&text[last..]);
    (last > 0).then_some(made)
}

/// Whether a token is the first of its line, and no comment is in front of it.
fn is_first(text: &[u8], code: &[Token], at: usize) -> bool {
    let line = text[..code[at].start()].rsplit(|byte| *byte == b'\n');
    let mut line = line.take(1).flatten();
    line.all(u8::is_ascii_whitespace)
}

fn is_word(text: &[u8], token: &Token, word: &str) -> bool {
    token.kind == TokenKind::Identifier && text_of(text, token) == word
}

/// The directive of `_Pragma("omp ...")`, and the number of its tokens.
fn pragma(text: &[u8], code: &[Token]) -> Option<(String, usize)> {
    let [name, open, string, close, ..] = code else {
        return None;
    };
    if !is_word(text, name, "_Pragma") || !open.is(b'(') || !close.is(b')') {
        return None;
    }
    let string = text_of(text, string);
    let words = string.strip_prefix('"')?.strip_suffix('"')?;
    let words = words.replace("\\\"", "\"").replace("\\\\", "\\");
    words.starts_with("omp ").then_some((words, 4))
}

/// The directive of `[[omp::directive(...)]]` or `[[using omp : directive(...)]]`, and the number of its
/// tokens.
fn attribute(text: &[u8], code: &[Token]) -> Option<(String, usize)> {
    let begins: [&[&str]; 2] = [
        &["[", "[", "omp", "::", "directive", "("],
        &["[", "[", "using", "omp", ":", "directive", "("],
    ];
    let is_begin = |begin: &&&[&str]| {
        let mut pairs = begin.iter().zip(code);
        code.len() > begin.len() && pairs.all(|(word, token)| text_of(text, token) == **word)
    };
    let begin = begins.iter().find(is_begin)?.len();
    let mut depth = 1_u32;
    let close = code[begin..].iter().position(|token| {
        depth += u32::from(token.is(b'('));
        depth -= u32::from(token.is(b')'));
        depth == 0
    })?;
    let end = begin + close;
    let [first, second] = [code.get(end + 1)?, code.get(end + 2)?];
    if !first.is(b']') || !second.is(b']') {
        return None;
    }
    let words: Range<usize> = code[begin - 1].end()..code[end].start();
    let words = String::from_utf8_lossy(&text[words]);
    Some((format!("omp {}", words.trim()), end + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(line: &str) -> Option<String> {
        let text = format!("#if A\n{line}\n#endif\nx;\n");
        let made = String::from_utf8(as_pragmas(text.as_bytes())?).unwrap();
        let middle = made.strip_prefix("#if A\n").unwrap();
        Some(middle.strip_suffix("\n#endif\nx;\n").unwrap().to_owned())
    }

    #[test]
    fn directives_on_lines_of_their_own_become_pragmas() {
        for (line, made) in [
            (
                "_Pragma(\"omp parallel if(a > \\\"b\\\")\")",
                "#pragma omp parallel if(a > \"b\")",
            ),
            (
                " [[omp::directive(parallel for)]] // x",
                " #pragma omp parallel for // x",
            ),
            (
                "[[using omp : directive(for schedule(static))]]",
                "#pragma omp for schedule(static)",
            ),
        ] {
            assert_eq!(turned(line).as_deref(), Some(made));
        }
        for line in [
            "_Pragma(\"omp for\") for (;;)",
            "{ _Pragma(\"omp for\")",
            "_Pragma(\"GCC push\")",
            "_Pragma(NAME)",
            "_Pragma(\"omp for\" \n)",
            "[[omp::sequence(directive(parallel), directive(for))]]",
            "[[omp::directive(for)]] x;",
            "[[omp::directive(for), likely]]",
            "[1];",
        ] {
            assert_eq!(turned(line), None, "{line}");
        }
        // Elsewhere nothing is to be won.
        assert_eq!(
            as_pragmas(b"#if A\n#endif\n_Pragma(\"omp for\")\nx;\n"),
            None
        );
    }
}
