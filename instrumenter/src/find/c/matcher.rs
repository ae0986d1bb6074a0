//! The token-level matcher: where a statement ends, from braces, parentheses,
//! keywords and semicolons alone. It checks the syntax tree and stands in for
//! it where the grammar does not understand the code. Where nothing but these
//! decides, the tree could only say the same, and is not asked.

use std::cell::Cell;

use super::brackets::Brackets;
use super::lexer::{Token, TokenKind};
use super::macros::Macros;

/// Statements nested deeper than this are not followed (`else if` chains count).
const MAX_DEPTH: usize = 2_000;

/// Looks at the visible tokens of one configuration.
pub(super) struct Matcher<'a> {
    pub(super) text: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) brackets: &'a Brackets,
    /// Indices and begins of the visible directives, sorted.
    pub(super) directives: &'a [(usize, usize)],
    /// Macros that are defined in the file.
    pub(super) macros: &'a Macros,
    /// Whether a directive, by its index, stands alone.
    pub(super) stands_alone: &'a dyn Fn(usize) -> bool,
    /// Whether the statement must be a loop.
    pub(super) loop_nest: bool,
    /// Whether a shape was met that is not C's own: a macro may be behind it.
    pub(super) odd: Cell<bool>,
}

/// A statement that was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matched {
    /// The index behind its last token.
    pub(super) behind: usize,
    /// Whether blocks, heads of loops and conditions, and semicolons alone say
    /// where it ends.
    pub(super) plain: bool,
}

impl Matcher<'_> {
    /// The statement that begins at `at`.
    pub(super) fn statement(&self, at: usize) -> Option<Matched> {
        self.odd.set(false);
        let behind = self.nested_statement(at, 0)?;
        Some(Matched {
            behind,
            plain: !self.odd.get(),
        })
    }

    /// Marks what was met as no shape of C's own.
    fn oddly<T>(&self, result: T) -> T {
        self.odd.set(true);
        result
    }

    fn nested_statement(&self, at: usize, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let at = self.skip_attributes(at)?;
        let inner = |from: usize| self.nested_statement(from, depth + 1);
        match self.word(at) {
            b"{" => self.closing(at).map(|close| close + 1),
            b"if" => {
                let condition = self.condition(at + 1)?;
                let then = inner(condition)?;
                if self.word(then) == b"else" {
                    inner(then + 1)
                } else {
                    Some(then)
                }
            }
            b"for" | b"while" | b"switch" => inner(self.condition(at + 1)?),
            b"do" => {
                let body = inner(at + 1)?;
                if self.word(body) != b"while" {
                    return None;
                }
                self.expect(self.condition(body + 1)?, b';')
            }
            b"try" => self.oddly(self.try_block(at)),
            b"case" => self.oddly(inner(self.label_end(at + 1)?)),
            b"default" if self.is(at + 1, b':') => self.oddly(inner(at + 2)),
            b"else" | b"}" | b"" => None,
            _ if self.is_label(at) => self.oddly(inner(at + 2)),
            _ => self.simple(at, depth),
        }
    }

    /// `try { } catch (...) { }`
    fn try_block(&self, at: usize) -> Option<usize> {
        let mut end = self.closing(at + 1)? + 1;
        while self.word(end) == b"catch" {
            end = self.closing(self.condition(end + 1)?)? + 1;
        }
        Some(end)
    }

    /// An expression or declaration, up to its semicolon. Macros make two other
    /// shapes: the head of a statement, as in `FOREACH(...) {...}`, and a call
    /// without a semicolon.
    fn simple(&self, at: usize, depth: usize) -> Option<usize> {
        if self.tokens[at].kind == TokenKind::Identifier && self.is(at + 1, b'(') {
            let behind = self.closing(at + 1)? + 1;
            if self.is_head(at, behind, depth) {
                let end = self.oddly(self.nested_statement(behind, depth + 1))?;
                let own_else = self.is_among(&self.macros.conditions, at);
                return match own_else && self.word(end) == b"else" {
                    true => self.nested_statement(end + 1, depth + 1),
                    false => Some(end),
                };
            }
            if self.word(behind) == b"else" {
                return self.oddly(Some(behind));
            }
        }
        let mut index = at;
        while index < self.tokens.len() {
            match self.tokens[index].kind {
                TokenKind::Punctuation(b';') => return Some(index + 1),
                TokenKind::Punctuation(b'(' | b'[' | b'{') => index = self.closing(index)?,
                TokenKind::Punctuation(b'}' | b')' | b']') => return None,
                // A directive of the preprocessor that does not begin its line is none.
                TokenKind::Punctuation(b'#') => self.oddly(()),
                _ => {}
            }
            index += 1;
            if self.is(index - 1, b')') && self.ends_without_semicolon(index) {
                let ends = self.is_statement_macro(at, index);
                return self.oddly(ends.then_some(index));
            }
        }
        None
    }

    fn is_among(&self, names: &[String], at: usize) -> bool {
        names.iter().any(|name| name.as_bytes() == self.word(at))
    }

    /// Whether a macro without a semicolon is a whole statement: a directive
    /// behind it could also begin what it is the head of, if nothing is known of
    /// it.
    fn is_statement_macro(&self, name: usize, next: usize) -> bool {
        self.is_among(&self.macros.statements, name)
            || match self.directive_before(next) {
                Some(directive) => (self.stands_alone)(directive),
                None => true,
            }
    }

    /// Whether a macro and its arguments are the head of what follows: its
    /// definition says so, a loop is wanted here, or no operator follows.
    fn is_head(&self, name: usize, behind: usize, depth: usize) -> bool {
        let macros = self.macros;
        let known = self.is_among(&macros.heads, name) || self.is_among(&macros.conditions, name);
        if known || (depth == 0 && self.loop_nest) {
            return true;
        }
        let next = self.tokens.get(behind).map(|token| token.kind);
        let goes_on = matches!(next, None | Some(TokenKind::Punctuation(_)));
        let ends = || self.word(behind) == b"else" || self.ends_without_semicolon(behind);
        self.is(behind, b'{') || !(goes_on || ends())
    }

    /// Whether a statement macro must end here: a directive or the end of the
    /// block follows its closing parenthesis.
    fn ends_without_semicolon(&self, next: usize) -> bool {
        next >= self.tokens.len() || self.is(next, b'}') || self.directive_before(next).is_some()
    }

    /// The directive between a token and the one in front of it.
    fn directive_before(&self, next: usize) -> Option<usize> {
        let end = self.tokens[next.checked_sub(1)?].end();
        let from = self.directives.partition_point(|(_, start)| *start < end);
        let (directive, start) = self.directives.get(from)?;
        let next = self.tokens.get(next);
        next.is_none_or(|next| *start < next.start())
            .then_some(*directive)
    }

    /// Behind the parenthesised head of `if`, `for`, ...; C++ allows
    /// `constexpr`, `consteval` and `!` in front of it.
    fn condition(&self, mut at: usize) -> Option<usize> {
        while matches!(self.word(at), b"constexpr" | b"consteval" | b"!") {
            at += 1;
        }
        if !self.is(at, b'(') {
            // `if consteval {`: there is no head.
            return self.is(at, b'{').then_some(at);
        }
        self.closing(at).map(|close| close + 1)
    }

    /// Behind the colon of `case a ? b : c:`.
    fn label_end(&self, mut at: usize) -> Option<usize> {
        let mut questions = 0usize;
        loop {
            let token = self.tokens.get(at)?;
            match token.kind {
                TokenKind::Punctuation(b'(' | b'[' | b'{') => at = self.closing(at)?,
                TokenKind::Punctuation(b'?') => questions += 1,
                TokenKind::Punctuation(b':') if questions == 0 => return Some(at + 1),
                TokenKind::Punctuation(b':') => questions -= 1,
                TokenKind::Punctuation(b';' | b'}') => return None,
                _ => {}
            }
            at += 1;
        }
    }

    fn is_label(&self, at: usize) -> bool {
        self.tokens[at].kind == TokenKind::Identifier && self.is(at + 1, b':')
    }

    /// Past `[[...]]` and `__attribute__((...))` in front of a statement.
    fn skip_attributes(&self, mut at: usize) -> Option<usize> {
        loop {
            if self.is(at, b'[') && self.is(at + 1, b'[') {
                at = self.oddly(self.closing(at)? + 1);
            } else if matches!(self.word(at), b"__attribute__" | b"__extension__") {
                at = self.oddly(at + 1);
                if self.is(at, b'(') {
                    at = self.closing(at)? + 1;
                }
            } else {
                return Some(at);
            }
        }
    }

    fn closing(&self, at: usize) -> Option<usize> {
        self.brackets.closing(at)
    }

    fn expect(&self, at: usize, mark: u8) -> Option<usize> {
        self.is(at, mark).then_some(at + 1)
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    /// The text of an identifier, keyword or mark. Spliced keywords are not
    /// recognised; nobody writes them.
    fn word(&self, at: usize) -> &[u8] {
        match self.tokens.get(at) {
            Some(token) if token.is(b'{') => b"{",
            Some(token) if token.is(b'}') => b"}",
            Some(token) => &self.text[token.range()],
            None => b"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    /// The source up to where its first statement ends, and whether it is plain.
    fn matched(source: &str) -> Option<(&str, bool)> {
        let lexed = lex(source.as_bytes());
        let tokens = &lexed.code;
        let begins = lexed.lines.iter().map(|line| line.range.start);
        let directives: Vec<_> = begins.enumerate().collect();
        let matcher = Matcher {
            text: source.as_bytes(),
            tokens,
            brackets: &Brackets::new(tokens),
            directives: &directives,
            macros: &Macros {
                heads: vec!["HEAD".into()],
                conditions: vec!["IF".into()],
                statements: vec!["STATEMENT".into()],
            },
            stands_alone: &|_| source.contains("barrier"),
            loop_nest: false,
            odd: Cell::new(false),
        };
        let Matched { behind, plain } = matcher.statement(0)?;
        Some((&source[..tokens[behind - 1].end()], plain))
    }

    fn first_statement(source: &str) -> Option<&str> {
        Some(matched(source)?.0)
    }

    #[test]
    fn only_shapes_of_the_language_are_plain() {
        for (source, plain) in [
            ("{ FOREACH(i) { } } c;", true),
            ("for (;;) if (a) b[0] = f(c); else { d; } e;", true),
            ("do a(); while (b); c;", true),
            ("a = (double) b; c;", true),
            ("f(a)->b = c;", true),
            ("FOREACH(i, n) { a; } b;", false),
            ("if (x) FOREACH(i, n) { a; } b;", false),
            ("MACRO(a)\n#pragma omp barrier\nb;", false),
            ("MACRO(a) b = c; d;", false),
            ("case 1: b; c;", false),
            ("[[x]] b; c;", false),
            ("if (a) b; else # pragma c;", false),
        ] {
            assert_eq!(
                matched(source).map(|found| found.1),
                Some(plain),
                "{source}"
            );
        }
    }

    #[test]
    fn statements_end_where_the_language_says() {
        for (source, end) in [
            ("a = b; c;", "a = b;"),
            ("{ a; { b; } } c;", "{ a; { b; } }"),
            ("if (a) b; else c; d;", "if (a) b; else c;"),
            ("if (a) if (b) c; else d; e;", "if (a) if (b) c; else d;"),
            ("if (a) b; c;", "if (a) b;"),
            (
                "for (i = 0; i < n; i++) a[i] = 0; b;",
                "for (i = 0; i < n; i++) a[i] = 0;",
            ),
            ("do a(); while (b); c;", "do a(); while (b);"),
            ("do { a(); } while (b); c;", "do { a(); } while (b);"),
            (
                "while (a) while (b) { c; } d;",
                "while (a) while (b) { c; }",
            ),
            ("switch (a) { case 1: b; } c;", "switch (a) { case 1: b; }"),
            ("lab: for (;;) a; b;", "lab: for (;;) a;"),
            ("case a ? b : c: d; e;", "case a ? b : c: d;"),
            ("default: a; b;", "default: a;"),
            ("int a[] = {1, 2}, b; c;", "int a[] = {1, 2}, b;"),
            ("x = ({ a; b; }); c;", "x = ({ a; b; });"),
            ("FOREACH(i, n) { a; } b;", "FOREACH(i, n) { a; }"),
            ("MACRO(a)\n#pragma omp barrier\nb;", "MACRO(a)"),
            ("if (a) IF(b) c; else d; e;", "if (a) IF(b) c; else d;"),
            (
                "HEAD(a)\n#pragma omp task\nb; c;",
                "HEAD(a)\n#pragma omp task\nb;",
            ),
            (
                "LOOP(i, 2) LOOP(j, 3) { a; } b;",
                "LOOP(i, 2) LOOP(j, 3) { a; }",
            ),
            (
                "do LOOP(i, 2) LOOP(j, 3) { a; } while (b); c;",
                "do LOOP(i, 2) LOOP(j, 3) { a; } while (b);",
            ),
            ("if (a) MACRO(b) else c; d;", "if (a) MACRO(b) else c;"),
            (
                "__attribute__((unused)) int a; b;",
                "__attribute__((unused)) int a;",
            ),
            (
                "try { a; } catch (int) { b; } catch (...) { } c;",
                "try { a; } catch (int) { b; } catch (...) { }",
            ),
            (";a", ";"),
        ] {
            assert_eq!(first_statement(source), Some(end));
        }
    }

    #[test]
    fn what_has_no_end_has_none() {
        for source in [
            "MACRO(a)\n#pragma omp single\nb;",
            "a",
            "{ a;",
            "if (a",
            "else b;",
            "}",
            "do a; b;",
            "a = (1;",
            "( }",
        ] {
            assert_eq!(first_statement(source), None, "{source}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "if (a) ".repeat(100_000) + ";";
        assert_eq!(first_statement(&deep), None);
    }
}
