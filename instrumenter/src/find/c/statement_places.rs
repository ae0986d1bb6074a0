//! Whether a statement may be put in the place of a directive, according to the tokens in front
//! of it.

use super::lexer::Token;
use super::raw_directive::RawDirective;
use super::{Finder, View, extents, is_word};
use crate::find::NO_PLACE;

/// The number of tokens in which an open parenthesis is looked for.
const TOKENS_OF_A_STATEMENT: usize = 1000;

/// Marks after which an expression continues. `<`, `>` and `&` are left out, since they also
/// end other constructs.
const OPERATORS: &[u8] = b"+-*/%=?.|^!~";

/// Keywords after which a declaration or an expression continues.
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
    /// Returns why a directive must not become a statement, if that is so.
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

    /// Whether the token in front of a directive leaves a declaration or an expression
    /// unfinished. A compiler that knows the directive rejects it there.
    pub(super) fn follows_unfinished_code(&self, record: &RawDirective) -> bool {
        let last = self.tokens_in_front(record).last();
        last.is_some_and(|last| self.is_one_of(last, OPERATORS, UNFINISHED))
    }

    /// The tokens in front of a directive.
    fn tokens_in_front(&self, record: &RawDirective) -> &[Token] {
        let code = &self.lexed.code;
        &code[..code.partition_point(|token| token.start() < record.range.start)]
    }

    /// Whether a token is one of these marks or words.
    fn is_one_of(&self, token: &Token, marks: &[u8], words: &[&str]) -> bool {
        let is_it = |word: &&str| is_word(&self.source.text, token, word);
        marks.iter().any(|mark| token.is(*mark)) || words.iter().any(is_it)
    }

    /// Whether a statement may stand in the place of a directive, according to the tokens in
    /// front of it: the place is not in an expression and not in parentheses.
    fn is_between_statements(&self, record: &RawDirective) -> bool {
        let before = self.tokens_in_front(record);
        let last = before.last();
        let may_end = last.is_none_or(|last| self.is_one_of(last, b";{}:)", &["else", "do"]));
        let mut closed = 0usize;
        for token in before.iter().rev().take(TOKENS_OF_A_STATEMENT) {
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
