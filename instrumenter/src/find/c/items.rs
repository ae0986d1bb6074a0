//! The items at the top level of a file, from tokens alone. They tell which function an offset
//! is in. They also tell which part of the file the grammar has to read, where the tokens don't
//! suffice.
//!
//! A function is recognised by its head: specifiers, a name, one pair of parentheses, and a
//! brace. Blocks with other heads that might hold functions are left to the syntax tree.

use std::ops::Range;

use super::brackets::Brackets;
use super::lexer::{Token, TokenKind};
use super::tree::{maybe_extern_inline, on_one_line};
use super::{HEADS, is_word};
use crate::find::Function;
use crate::openmp::Language;

/// The items of one configuration, in order and disjoint.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    /// The item's bytes.
    range: Range<usize>,
    /// The part that the grammar must read to understand the item.
    whole: Range<usize>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A function: the bytes of its specifiers and of its name.
    Function(Range<usize>, Range<usize>),
    /// Only the tree can tell.
    Unclear,
}

/// Knowledge of the function around an offset.
#[derive(Debug)]
pub(super) enum EnclosingFunction {
    /// There is no function, or this one.
    Known(Option<Function>),
    /// Only the tree can tell.
    Unclear,
}

impl Items {
    /// Looks through the visible tokens of a text.
    pub(super) fn new(text: &[u8], tokens: &[Token], brackets: &Brackets, lang: Language) -> Self {
        let mut scan = Scan {
            text,
            tokens,
            brackets,
            cxx: lang == Language::Cxx,
            items: Vec::new(),
            whole: None,
        };
        scan.run();
        Self { items: scan.items }
    }

    /// The function around an offset.
    pub(super) fn function_at(&self, text: &[u8], offset: usize) -> EnclosingFunction {
        EnclosingFunction::Known(match self.at(offset).map(|item| &item.kind) {
            None => None,
            Some(Kind::Unclear) => return EnclosingFunction::Unclear,
            Some(Kind::Function(specifiers, name)) => Some(Function {
                name: on_one_line(&text[name.clone()]),
                maybe_extern_inline: maybe_extern_inline(text, specifiers.clone()),
            }),
        })
    }

    /// The part that the grammar must read to understand an offset; none if that is unknown, so
    /// that all must be read.
    pub(super) fn around(&self, offset: usize) -> Option<Range<usize>> {
        self.at(offset).map(|item| item.whole.clone())
    }

    fn at(&self, offset: usize) -> Option<&Item> {
        let behind = self
            .items
            .partition_point(|item| item.range.start <= offset);
        let item = self.items.get(behind.checked_sub(1)?)?;
        item.range.contains(&offset).then_some(item)
    }
}

/// The kind of a block, according to its head.
enum Head {
    /// A function: the index of the first token of its specifiers, and those of the first and
    /// last token of its name.
    Function(usize, usize, usize),
    /// A namespace or linkage specification: its contents are at top level.
    Transparent,
    /// A class: its contents are treated like those of the top level.
    Class,
    /// It holds no function.
    Data,
    Unclear,
}

struct Scan<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    brackets: &'a Brackets,
    cxx: bool,
    items: Vec<Item>,
    /// The bytes and the last token of the outermost class that is open.
    whole: Option<(Range<usize>, usize)>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let (mut at, mut start) = (0, 0);
        while at < self.tokens.len() {
            if self.whole.as_ref().is_some_and(|(_, last)| *last < at) {
                self.whole = None;
            }
            match self.tokens[at].kind {
                TokenKind::Punctuation(b';' | b'}') => start = at + 1,
                TokenKind::Punctuation(b'(' | b'[') => match self.brackets.closing(at) {
                    Some(close) => at = close,
                    None => return self.give_up(start),
                },
                TokenKind::Punctuation(b'{') => {
                    let Some(close) = self.brackets.closing(at) else {
                        return self.give_up(start);
                    };
                    let opaque = self.block(start, at, close);
                    if opaque {
                        at = close;
                    }
                    // Tokens behind a block of data still belong to its declaration.
                    if !opaque || self.ends_item(close) {
                        start = at + 1;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether the last item ends with this closing bracket.
    fn ends_item(&self, close: usize) -> bool {
        let end = self.tokens[close].end();
        self.items.last().is_some_and(|item| item.range.end == end)
    }

    /// Records that nothing is known from a token on.
    fn give_up(&mut self, start: usize) {
        let from = self.tokens[start].start();
        self.items.push(Item {
            range: from..self.text.len(),
            whole: 0..self.text.len(),
            kind: Kind::Unclear,
        });
    }

    /// Records the kind of a block. Returns whether its contents are to be skipped.
    fn block(&mut self, start: usize, open: usize, close: usize) -> bool {
        let end = self.tokens[close].end();
        let range = self.tokens[start].start()..end;
        let kind = match self.head(start..open) {
            Head::Transparent => return false,
            Head::Class => {
                self.whole.get_or_insert((range, close));
                return false;
            }
            Head::Data => return true,
            Head::Function(specifiers, first, last) if !self.holds_functions(open..close) => {
                let (first, last) = (self.tokens[first].start(), self.tokens[last].end());
                Kind::Function(self.tokens[specifiers].start()..first, first..last)
            }
            Head::Function(..) | Head::Unclear => Kind::Unclear,
        };
        let whole = match &self.whole {
            Some((whole, _)) => whole.clone(),
            // The declarations of an old-style function's parameters end with semicolons, so
            // its head begins further in front.
            None if start == open => 0..self.text.len(),
            None => range.clone(),
        };
        self.items.push(Item { range, whole, kind });
        true
    }

    fn head(&self, head: Range<usize>) -> Head {
        let from = self.behind_template(head.start);
        let Some(first) = from.filter(|from| *from < head.end) else {
            return Head::Unclear;
        };
        let mut groups = Vec::new();
        let mut at = first;
        while at < head.end {
            match self.tokens[at].kind {
                TokenKind::Punctuation(b'=') if !self.says(first..at, &["operator"]) => {
                    return Head::Data;
                }
                TokenKind::Punctuation(b'(') => {
                    let Some(close) = self.brackets.closing(at) else {
                        return Head::Unclear;
                    };
                    let attribute = at > 0 && self.is(at - 1, "__attribute__");
                    groups.extend((!attribute).then_some((at, close)));
                    at = close;
                }
                TokenKind::Punctuation(b'[') => match self.brackets.closing(at) {
                    Some(close) => at = close,
                    None => return Head::Unclear,
                },
                _ => {}
            }
            at += 1;
        }
        match groups.as_slice() {
            [] => self.head_without_parameters(first..head.end),
            [(open, close)] => self.function_head(first, *open, *close, head.end),
            _ => Head::Unclear,
        }
    }

    fn head_without_parameters(&self, head: Range<usize>) -> Head {
        let linkage = self.is(head.start, "extern")
            && head.len() == 2
            && self.tokens[head.start + 1].kind == TokenKind::Literal;
        let class = ["class", "struct", "union"];
        match () {
            () if linkage => Head::Transparent,
            () if self.cxx && self.says(head.clone(), &["namespace"]) => Head::Transparent,
            () if self.says(head.clone(), &["enum"]) => Head::Data,
            () if self.cxx && self.says(head.clone(), &class) => Head::Class,
            () if self.says(head, &class) => Head::Data,
            () => Head::Unclear,
        }
    }

    /// `specifiers name (parameters)`
    fn function_head(&self, first: usize, open: usize, close: usize, end: usize) -> Head {
        let named = open > first && self.tokens[open - 1].kind == TokenKind::Identifier;
        if !self.is_plain_end(close + 1, end)
            || !named
            || self.says(first..open, &["operator", "requires", "decltype"])
        {
            return Head::Unclear;
        }
        let last = open - 1;
        let mut name = last;
        while self.cxx && name >= first + 2 && self.tokens[name - 1].kind == TokenKind::DoubleColon
        {
            if self.tokens[name - 2].kind != TokenKind::Identifier {
                return Head::Unclear;
            }
            name -= 2;
        }
        let plain = (first..name).all(|at| match self.tokens[at].kind {
            TokenKind::Identifier | TokenKind::Punctuation(b'*') => true,
            TokenKind::DoubleColon | TokenKind::Number => self.cxx,
            TokenKind::Punctuation(mark) => self.cxx && matches!(mark, b'&' | b'<' | b'>' | b','),
            TokenKind::Literal => false,
        });
        match plain {
            true => Head::Function(first, name, last),
            false => Head::Unclear,
        }
    }

    /// Whether only plain words and attributes are between the parameters and the body.
    fn is_plain_end(&self, mut at: usize, end: usize) -> bool {
        const WORDS: &[&str] = &["const", "volatile", "noexcept", "override", "final"];
        while at < end {
            let attribute = self.is(at, "__attribute__");
            if !(attribute || self.cxx && WORDS.iter().any(|word| self.is(at, word))) {
                return false;
            }
            at = match self.brackets.closing(at + 1).filter(|_| attribute) {
                Some(close) => close + 1,
                None => at + 1,
            };
        }
        true
    }

    /// The index behind `template <...>`; none if its end can't be told.
    fn behind_template(&self, mut at: usize) -> Option<usize> {
        while self.cxx && self.is(at, "template") {
            let mut depth = 0usize;
            loop {
                at += 1;
                match self.tokens.get(at)?.kind {
                    TokenKind::Punctuation(b'<') => depth += 1,
                    TokenKind::Punctuation(b'>') => depth = depth.checked_sub(1)?,
                    TokenKind::Identifier | TokenKind::DoubleColon | TokenKind::Number => {}
                    TokenKind::Punctuation(b',' | b'.' | b'*' | b'&' | b'=') => {}
                    _ => return None,
                }
                if depth == 0 {
                    break;
                }
            }
            at += 1;
        }
        Some(at)
    }

    /// Whether a function's body may define functions: GNU C has nested functions, and C++ has
    /// local classes.
    fn holds_functions(&self, body: Range<usize>) -> bool {
        body.clone().any(|at| match self.tokens[at].kind {
            TokenKind::Identifier if self.cxx => self.opens_class(at, body.end),
            TokenKind::Punctuation(b'(') if !self.cxx => self.opens_function(at),
            _ => false,
        })
    }

    /// `struct name : base {`
    fn opens_class(&self, at: usize, end: usize) -> bool {
        let keyword = ["class", "struct", "union"]
            .iter()
            .any(|word| self.is(at, word));
        let name = |at: &usize| {
            matches!(
                self.tokens[*at].kind,
                TokenKind::Identifier | TokenKind::DoubleColon
            )
        };
        keyword
            && (at + 1..end)
                .find(|at| !name(at))
                .is_some_and(|at| self.tokens[at].is(b'{') || self.tokens[at].is(b':'))
    }

    /// `type name (parameters) {`
    fn opens_function(&self, open: usize) -> bool {
        let close = self.brackets.closing(open);
        let block = close.and_then(|close| self.tokens.get(close + 1));
        let Some((name, before)) = open.checked_sub(1).zip(open.checked_sub(2)) else {
            return false;
        };
        block.is_some_and(|token| token.is(b'{'))
            && self.tokens[name].kind == TokenKind::Identifier
            && !HEADS.iter().any(|word| self.is(name, word))
            && (self.tokens[before].is(b'*') || self.tokens[before].kind == TokenKind::Identifier)
    }

    fn is(&self, at: usize, word: &str) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| is_word(self.text, token, word))
    }

    fn says(&self, tokens: Range<usize>, words: &[&str]) -> bool {
        tokens
            .into_iter()
            .any(|at| words.iter().any(|word| self.is(at, word)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    /// The function around the `@` in a text; `?` if that is unclear.
    fn around(source: &str, language: Language) -> String {
        let text = source.as_bytes();
        let tokens = lex(text).code;
        let brackets = Brackets::new(&tokens);
        let items = Items::new(text, &tokens, &brackets, language);
        let at = source.find('@').unwrap();
        match items.function_at(text, at) {
            EnclosingFunction::Unclear => "?".into(),
            EnclosingFunction::Known(None) => "-".into(),
            EnclosingFunction::Known(Some(function)) => match function.maybe_extern_inline {
                true => format!("{} inline", function.name),
                false => function.name,
            },
        }
    }

    #[test]
    fn functions_of_c() {
        for (source, name) in [
            ("int f(void) { @ }", "f"),
            (
                "int a; static inline struct s *f(int (*g)(int)) { { @ } }",
                "f",
            ),
            ("inline int f(void) { @ }", "f inline"),
            ("API T f(void) { @ }", "f inline"),
            ("int f(void) { } int @ b;", "-"),
            ("struct s { int a; } f(void) { @ }", "?"),
            ("int a[] = { 1 }; int f(void) { @ }", "f"),
            ("enum e { a }; extern \"C\" { int f(void) { @ } }", "f"),
            ("int f(void) __attribute__((noinline)) { @ }", "f"),
            ("int f(a) int a; { @ }", "?"),
            ("int (f)(void) { @ }", "?"),
            ("MACRO(x) int f(void) { @ }", "?"),
            ("int f(void) { int g(int a) { @ } }", "?"),
            ("int f(void) { else if (a) { FOREACH(x) { @ } } }", "f"),
            ("int f(void) { @ ", "?"),
        ] {
            assert_eq!(around(source, Language::C), name, "{source}");
        }
    }

    #[test]
    fn functions_of_cxx() {
        for (source, name) in [
            ("namespace a { void f() { @ } }", "f"),
            (
                "template <typename T, int n = 2> T A::f(T x) const { @ }",
                "A::f",
            ),
            ("class A : public B { public: int f() { @ } };", "?"),
            ("class A : B { int a; int f() const { @ } };", "f"),
            ("class A { A() : x{1} { @ } };", "?"),
            ("struct A { int f() { } }; @", "-"),
            ("void f() { struct A { void g() { @ } }; }", "?"),
            ("void f() { struct A a; auto b = [&](int c) { @ }; }", "f"),
            ("bool A::operator==(A b) { @ }", "?"),
            ("void A::\n  f () { @ }", "A::f"),
            ("A::operator\nbool () { @ }", "?"),
            ("int *&f(int a = 3) noexcept { @ }", "f"),
            ("auto f() -> int { @ }", "?"),
            ("template <bool b = (1 > 2)> void f() { @ }", "?"),
        ] {
            assert_eq!(around(source, Language::Cxx), name, "{source}");
        }
    }
}
