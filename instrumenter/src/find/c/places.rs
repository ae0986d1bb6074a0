//! Whether a statement may stand in the place of a directive, as far as the tokens in front of
//! it say.

use super::raw_directive::RawDirective;
use super::{Finder, View, extents, is_word};

/// How far a parenthesis is looked for that is still open.
const TOKENS_OF_A_STATEMENT: usize = 1000;

/// Why a directive is left to the compiler in the middle of something.
pub(super) const NO_PLACE: &str = "no statement may stand in its place";

/// Marks behind which an expression goes on. `<`, `>` and `&` also end other things.
const OPERATORS: &[u8] = b"+-*/%=?.|^!~";

/// Keywords behind which a declaration or an expression goes on.
const UNFINISHED: &[&str] = &[
    "auto",
    "case",
    "char",
    "class",
    "const",
    "constexpr",
    "delete",
    "double",
    "enum",
    "explicit",
    "extern",
    "float",
    "friend",
    "goto",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "operator",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "template",
    "throw",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
];

impl Finder<'_> {
    /// Why a directive must not become a statement in its place, if so.
    pub(super) fn why_no_statement(
        &self,
        index: usize,
        view: Option<&View>,
    ) -> Option<&'static str> {
        let is_governed = view.is_some_and(|view| self.is_all_that_is_governed(index, view));
        if is_governed {
            return Some(extents::GOVERNED);
        }
        let between = self.is_between_statements(&self.records[index]);
        (!between).then_some(NO_PLACE)
    }

    /// Whether what ends in front of a directive is unfinished: a compiler that knows the
    /// directive refuses it.
    pub(super) fn is_behind_unfinished(&self, record: &RawDirective) -> bool {
        let code = &self.lexed.code;
        let at = code.partition_point(|token| token.start() < record.range.start);
        let last = at.checked_sub(1).map(|last| &code[last]);
        last.is_some_and(|last| {
            let is_unfinished = |word: &&str| is_word(&self.source.text, last, word);
            OPERATORS.iter().any(|mark| last.is(*mark)) || UNFINISHED.iter().any(is_unfinished)
        })
    }

    /// Whether a statement may stand where a directive is, as far as the tokens in front of
    /// it say: not in an expression, and not in parentheses.
    fn is_between_statements(&self, record: &RawDirective) -> bool {
        let code = &self.lexed.code;
        let at = code.partition_point(|token| token.start() < record.range.start);
        let before = code[..at].iter().rev();
        let last = before.clone().next();
        let may_end = last.is_none_or(|last| {
            let marks = [b';', b'{', b'}', b':', b')'];
            let words = ["else", "do"];
            marks.iter().any(|mark| last.is(*mark))
                || words
                    .iter()
                    .any(|word| is_word(&self.source.text, last, word))
        });
        let mut closed = 0usize;
        for token in before.take(TOKENS_OF_A_STATEMENT) {
            match () {
                () if token.is(b')') => closed += 1,
                () if token.is(b'(') && closed == 0 => return false,
                () if token.is(b'(') => closed -= 1,
                () if closed == 0 && (token.is(b'{') || token.is(b'}')) => break,
                () => {}
            }
        }
        may_end
    }
}
