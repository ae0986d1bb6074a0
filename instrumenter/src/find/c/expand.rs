//! Puts what a macro makes in the place of its use, where it makes a directive or calls a lock routine.
//!
//! `romp run` reads sources without their compiler, so it does not know all macros: those of the
//! command line, and those of the system's headers. It expands a macro only if nothing else can be
//! meant: the macro, and each macro of the user's that it uses, has one definition, and may at most stand
//! for nothing under another condition. Then the preprocessor may have left out what the use makes.
//! A use that makes several directives is left as it is, because nothing in the machine code tells them
//! apart; so are the uses on one line, and uses in the operands of other macros.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::definitions::{Definitions, Expansion, Piece};
use super::lexer::{Lexed, Token, TokenKind};
use super::{HEADS, text_of};
use crate::find::Expanded;
use crate::openmp::api;

/// The text with these macros expanded, each line of it still the same line. None if there is nothing
/// to expand.
pub(super) fn expanded(text: &[u8], lexed: &Lexed, included: &[Vec<u8>]) -> Option<Expanded> {
    let definitions = Definitions::new(text, lexed, included);
    let makers = definitions.makers(makes);
    let uses = uses(text, lexed, &definitions, &makers);
    let mut made = Vec::new();
    let mut optional = BTreeSet::new();
    let mut last = 0;
    let mut line = 1;
    for (
        range,
        Expansion {
            made: pieces,
            is_optional,
            ..
        },
    ) in uses
    {
        line += newlines(&text[last..range.start]).count() as u32;
        if is_optional {
            optional.insert(line);
        }
        line += newlines(&text[range.clone()]).count() as u32;
        made.extend(&text[last..range.start]);
        made.extend(written(&pieces).bytes());
        // What follows keeps its line.
        made.extend(newlines(&text[range.clone()]).map(|_| b'\n'));
        last = range.end;
    }
    made.extend(&text[last..]);
    (last > 0).then_some(Expanded {
        text: made,
        optional,
    })
}

/// Whether a word of a macro makes a directive or calls a lock routine.
fn makes(word: &str) -> bool {
    word == "_Pragma" || api::find(word).is_some()
}

/// The kind of an open bracket around a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenBracket {
    /// The operands of a macro.
    Macro,
    /// The operands of a function, or of a macro that is not known.
    Call,
    /// A block, which may be the body of a lambda.
    Block,
    Other,
}

/// Whether a macro may decide what becomes of a token: it may repeat its operands, or leave them out.
fn is_operand(open: &[OpenBracket]) -> bool {
    let in_block = open.iter().rev();
    let mut in_block = in_block.take_while(|around| **around != OpenBracket::Block);
    open.contains(&OpenBracket::Macro) || in_block.any(|around| *around == OpenBracket::Call)
}

/// The uses of macros that are expanded, and what they become.
fn uses(
    text: &[u8],
    lexed: &Lexed,
    definitions: &Definitions,
    makers: &HashSet<String>,
) -> Vec<(Range<usize>, Expansion)> {
    let code = &lexed.code[..];
    let mut found: Vec<(Range<usize>, Option<Expansion>)> = Vec::new();
    let mut open: Vec<OpenBracket> = Vec::new();
    let mut at = 0;
    while let Some(token) = code.get(at) {
        let word = (token.kind == TokenKind::Identifier).then(|| text_of(text, token));
        let is_operand = is_operand(&open);
        let mut next = at + 1;
        if let Some(word) = word {
            if makers.contains(&word) {
                let (range, expansion, behind) = expansion(text, code, at, definitions);
                let is_whole = !lexed
                    .lines
                    .iter()
                    .any(|line| range.contains(&line.range.start));
                let is_certain =
                    is_whole && !is_operand && definitions.is_before(&word, token.start());
                found.push((range, expansion.filter(|_| is_certain)));
                next = behind;
            } else if makes(&word) {
                found.push((token.range(), None));
            }
        } else if token.is(b'(') {
            let before = at.checked_sub(1).map(|before| &code[before]);
            let name = before.filter(|name| name.kind == TokenKind::Identifier);
            let name = name.map(|name| text_of(text, name));
            open.push(match name {
                Some(name) if definitions.contain(&name) => OpenBracket::Macro,
                Some(name) if !HEADS.contains(&&*name) => OpenBracket::Call,
                _ => OpenBracket::Other,
            });
        } else if token.is(b'{') {
            open.push(OpenBracket::Block);
        } else if token.is(b')') || token.is(b'}') {
            open.pop();
        }
        at = next;
    }
    let is_alone = |number: usize| {
        let range = &found[number].0;
        let before = number
            .checked_sub(1)
            .map(|before| found[before].0.end..range.start);
        let behind = found.get(number + 1).map(|next| range.end..next.0.start);
        let mut gaps = before.into_iter().chain(behind);
        gaps.all(|gap| newlines(&text[gap]).next().is_some())
    };
    let alone: Vec<bool> = (0..found.len()).map(is_alone).collect();
    let found = found.into_iter().zip(alone).filter(|(_, alone)| *alone);
    found
        .filter_map(|((range, expansion), _)| Some((range, expansion?)))
        .collect()
}

/// The bytes of a use of a macro, what it becomes, and the number of the token behind it.
fn expansion(
    text: &[u8],
    code: &[Token],
    at: usize,
    definitions: &Definitions,
) -> (Range<usize>, Option<Expansion>, usize) {
    let start = code[at].start();
    let pieces = Piece::of(text, &code[at..]);
    match definitions.expand_first(pieces) {
        Some(expansion) => {
            let behind = at + expansion.taken;
            let range = start..code[behind - 1].end();
            let expansion = Some(expansion).filter(|one| is_understood(&one.made));
            (range, expansion, behind)
        }
        None => (start..code[at].end(), None, at + 1),
    }
}

/// Whether an expansion makes at most one directive or call, and its directive is a string.
fn is_understood(made: &[Piece]) -> bool {
    let makers: Vec<usize> = (0..made.len())
        .filter(|at| made[*at].kind == TokenKind::Identifier && makes(&made[*at].text))
        .collect();
    let is_string = |at: usize| {
        let is = |at: usize, word: &str| made.get(at).is_some_and(|piece| piece.text == word);
        let operand = made.get(at + 2);
        made[at].text != "_Pragma"
            || is(at + 1, "(")
                && operand.is_some_and(|piece| piece.text.starts_with('"'))
                && is(at + 3, ")")
    };
    makers.len() <= 1 && makers.iter().all(|at| is_string(*at))
}

/// The text of pieces.
fn written(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (number, piece) in pieces.iter().enumerate() {
        if piece.is_spaced && number > 0 {
            text.push(' ');
        }
        text.push_str(&piece.text);
    }
    text
}

fn newlines(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    memchr::memchr_iter(b'\n', text)
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    fn expand(text: &str, included: &[&str]) -> Option<String> {
        let included: Vec<_> = included
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect();
        let made = expanded(text.as_bytes(), &lex(text.as_bytes()), &included)?;
        Some(String::from_utf8(made.text).unwrap())
    }

    /// The last line of a text, with the macros of the lines before it expanded.
    fn last(text: &str) -> Option<String> {
        expand(text, &[])?.lines().last().map(str::to_owned)
    }

    const OMP: &str = "#define TEXT(x) #x\n#define OMP(x) _Pragma(TEXT(omp x))\n";

    #[test]
    fn directives_are_written_out() {
        let made = |text: &str| last(&format!("{OMP}#define N 4\n{text}"));
        assert_eq!(
            made("{ OMP(parallel  if(a > \"b\")) f(); }").unwrap(),
            "{ _Pragma(\"omp parallel if(a > \\\"b\\\")\") f(); }"
        );
        assert_eq!(
            made("#define TEAM(x) OMP(for reduction(+ : x) schedule(static,N))\nTEAM(a) LOOP")
                .unwrap(),
            "_Pragma(\"omp for reduction(+ : a) schedule(static,4)\") LOOP"
        );
        assert_eq!(
            made("#define ADD(to, what) { _Pragma(\"omp critical (c)\") to += what; }\nADD(a, N);")
                .unwrap(),
            "{ _Pragma(\"omp critical (c)\") a += 4; };"
        );
        assert_eq!(
            made("#define ALL(...) _Pragma(#__VA_ARGS__)\nALL(omp for private(a, b))").unwrap(),
            "_Pragma(\"omp for private(a, b)\")"
        );
        assert_eq!(
            made("#define SET omp_set_lock(&lock)\nSET;").unwrap(),
            "omp_set_lock(&lock);"
        );
    }

    #[test]
    fn each_line_keeps_its_number() {
        let text = format!("{OMP}OMP(parallel \\\n private(a,\nb))\nf();\n");
        let expected = format!("{OMP}_Pragma(\"omp parallel private(a, b)\")\n\n\nf();\n");
        assert_eq!(expand(&text, &[]).unwrap(), expected);
    }

    #[test]
    fn macros_of_headers_are_expanded() {
        let header = format!("#ifndef H\n#define H\n{OMP}#endif\n");
        assert_eq!(
            expand("OMP(barrier)\n", &[&header]).unwrap(),
            "_Pragma(\"omp barrier\")\n"
        );
        assert_eq!(expand("OMP(barrier)\n", &[]), None);
    }

    /// The line of a use is optional if the macro may stand for nothing.
    #[test]
    fn macros_that_may_stand_for_nothing_are_expanded() {
        for (macros, is_optional) in [
            ("#define B OMP(barrier)\n", false),
            ("#define B OMP(barrier)\n#define B OMP(barrier)\n", false),
            ("#if A\n#define B OMP(barrier)\n#endif\n", true),
            (
                "#if A\n#define B OMP(barrier)\n#else\n#define B\n#endif\n",
                true,
            ),
            (
                "#if A\n#define B ((void)0);\n#else\n#define B OMP(barrier)\n#endif\n",
                true,
            ),
            (
                "#if A\n#define C barrier\n#else\n#define C barrier\n#endif\n#define B OMP(C)\n",
                true,
            ),
        ] {
            let text = format!("{OMP}{macros}B\n");
            let made = expanded(text.as_bytes(), &lex(text.as_bytes()), &[]).unwrap();
            let text = String::from_utf8(made.text).unwrap();
            assert_eq!(
                text.lines().last(),
                Some("_Pragma(\"omp barrier\")"),
                "{macros}"
            );
            let line = text.lines().count() as u32;
            let optional: Vec<u32> = made.optional.into_iter().collect();
            assert_eq!(
                optional,
                if is_optional { vec![line] } else { vec![] },
                "{macros}"
            );
        }
    }

    /// What a macro makes is not known, or the compiler does not tell its parts apart.
    #[test]
    fn macros_with_several_meanings_are_left() {
        for text in [
            "#define OMP(x) again\nOMP(barrier)",
            "#undef TEXT\nOMP(barrier)",
            "#if A\n#define B OMP(barrier)\n#else\n#define B OMP(taskwait)\n#endif\nB",
            "#if A\n#define N 2\n#else\n#define N 3\n#endif\nOMP(for collapse(N))",
            "OMP(for) OMP(barrier)",
            "OMP(for) _Pragma(\"omp barrier\")",
            "#define BOTH OMP(parallel) OMP(for)\nBOTH",
            "#define BOTH OMP(barrier) omp_set_lock(&lock);\nBOTH",
            "#define JOIN(a, b) OMP(a ## b)\nJOIN(bar, rier)",
            "#define TWICE(x) x x\nTWICE(OMP(barrier))",
            "#define TWICE(x) x x\nTWICE({ OMP(barrier) })",
            "DEFINE(h, OMP(barrier))",
            "#define P(x) _Pragma(x)\nP(name)",
            "#define SELF OMP(barrier) SELF\n#define TWO(a, b) OMP(a)\nTWO(barrier)",
            "OMP",
            "OMP(barrier",
        ] {
            assert_eq!(last(&format!("{OMP}{text}")), None, "{text}");
        }
        assert_eq!(last("OMP(barrier)\n#define OMP(x) _Pragma(#x)\n"), None);
        assert_eq!(
            last("#define OMP(x) _Pragma(#x)\nOMP(omp for\n#if A\n)\n"),
            None
        );
    }

    /// Each macro uses the one before twice, and nothing is left of them all; or operands are macros
    /// whose operands are.
    #[test]
    fn what_takes_too_long_is_left_as_it_is() {
        let doubled = (1..100).map(|n| format!("#define A{n} A{} A{}\n", n - 1, n - 1));
        let doubled: String = doubled.collect();
        let text = format!("{OMP}#define A0\n{doubled}#define ALL A99 OMP(barrier)\nALL\n");
        assert_eq!(expand(&text, &[]), None);
        let deep = "OMP(".repeat(3000) + "barrier" + &")".repeat(3000);
        assert_eq!(expand(&format!("{OMP}{deep}\n"), &[]), None);
        let chain: String = (1..5000)
            .map(|n| format!("#define A{n} A{}\n", n - 1))
            .collect();
        let text = format!("{OMP}#define A0 OMP(barrier)\n{chain}A4999\n");
        assert_eq!(expand(&text, &[]), None);
    }
}
