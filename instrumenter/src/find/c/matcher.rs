//! The token-level matcher. It finds the end of a statement from braces, parentheses, keywords
//! and semicolons alone. It checks the syntax tree, and replaces it where the grammar does not
//! understand the code. A statement that these marks determine fully needs no tree, since the
//! tree could only give the same end.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use super::brackets::Brackets;
use super::lexer::{Token, TokenKind};
use super::macros::Macros;

/// Finds the ends of statements among the visible tokens of one configuration.
pub(super) struct Matcher<'a> {
    pub(super) text: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) brackets: &'a Brackets,
    /// Indices and begins of the visible directives, sorted.
    pub(super) directives: &'a [(usize, usize)],
    /// Macros that are defined in the file.
    pub(super) macros: &'a Macros,
    /// Whether the directive with this index stands alone.
    pub(super) stands_alone: &'a dyn Fn(usize) -> bool,
    /// Whether the statement must be a loop.
    pub(super) loop_nest: bool,
    /// Results so far for these tokens.
    pub(super) known: &'a MacroKnowledge,
}

/// A statement that was matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matched {
    /// The index behind its last token.
    pub(super) behind: usize,
    /// Whether the end follows from blocks, heads of loops and conditions, and semicolons
    /// alone. If not, the statement has a shape that may come from a macro.
    pub(super) plain: bool,
}

/// Results for the tokens of one configuration, so that nested statements are examined only
/// once.
#[derive(Debug, Default)]
pub(super) struct MacroKnowledge {
    statements: RefCell<HashMap<usize, Option<Matched>>>,
    stops: OnceCell<Vec<Stop>>,
}

/// The end of a statement without a head that continues at a token.
#[derive(Clone, Copy, Debug)]
struct Stop {
    /// The index behind its last token.
    behind: u32,
    kind: StopKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopKind {
    /// At a semicolon.
    Semicolon,
    /// At parentheses after which it can't continue.
    Parentheses,
    /// It does not end.
    Nowhere,
}

/// The result of examining a statement: its end, if it has one; or the index of a nested
/// statement that has to be examined first.
type Looked = Result<Option<Matched>, usize>;

fn plainly(behind: usize) -> Option<Matched> {
    Some(Matched {
        behind,
        plain: true,
    })
}

fn oddly(matched: Option<Matched>) -> Option<Matched> {
    let odd = |matched| Matched {
        plain: false,
        ..matched
    };
    matched.map(odd)
}

impl Matcher<'_> {
    /// The statement that begins at `at`.
    pub(super) fn statement(&self, at: usize) -> Option<Matched> {
        // The statements that wait for a nested one. A stack is used instead of recursion, so
        // that any depth is possible.
        let mut waiting: Vec<usize> = Vec::new();
        loop {
            let looked = match waiting.last() {
                None => self.look_at(at, self.loop_nest),
                Some(inner) => self.look_at(*inner, false),
            };
            match (looked, waiting.last()) {
                (Err(inner), _) => waiting.push(inner),
                (Ok(matched), None) => return matched,
                (Ok(matched), Some(inner)) => {
                    self.known.statements.borrow_mut().insert(*inner, matched);
                    waiting.pop();
                }
            }
        }
    }

    /// The result for a nested statement, or its index if there is none yet.
    fn inner(&self, at: usize) -> Looked {
        let known = self.known.statements.borrow();
        known.get(&at).copied().ok_or(at)
    }

    /// The same, with the end moved to what `end` returns for it.
    fn inner_and(&self, at: usize, end: impl Fn(usize) -> Option<usize>) -> Looked {
        let extended = |inner: Matched| {
            let behind = end(inner.behind)?;
            Some(Matched { behind, ..inner })
        };
        Ok(self.inner(at)?.and_then(extended))
    }

    fn look_at(&self, at: usize, wants_loop: bool) -> Looked {
        match self.skip_attributes(at) {
            None => Ok(None),
            Some(first) => self.look_behind_attributes(first, wants_loop),
        }
    }

    fn look_behind_attributes(&self, at: usize, wants_loop: bool) -> Looked {
        let behind_head = |at: usize| match self.condition(at + 1) {
            Some(behind) => self.inner(behind),
            None => Ok(None),
        };
        match self.word(at) {
            b"{" => Ok(self.closing(at).and_then(|close| plainly(close + 1))),
            b"if" => {
                let then = behind_head(at)?;
                let Some(then) = then.filter(|then| self.word(then.behind) == b"else") else {
                    return Ok(then);
                };
                let otherwise = self.inner(then.behind + 1)?;
                Ok(if then.plain {
                    otherwise
                } else {
                    oddly(otherwise)
                })
            }
            b"for" | b"while" | b"switch" => behind_head(at),
            b"do" => self.inner_and(at + 1, |body| {
                let condition = (self.word(body) == b"while").then_some(body + 1)?;
                self.expect(self.condition(condition)?, b';')
            }),
            b"try" => Ok(oddly(self.try_block(at).and_then(plainly))),
            b"case" => match self.label_end(at + 1) {
                Some(behind) => Ok(oddly(self.inner(behind)?)),
                None => Ok(None),
            },
            b"default" if self.is(at + 1, b':') => Ok(oddly(self.inner(at + 2)?)),
            b"else" | b"}" | b"" => Ok(None),
            _ if self.is_label(at) => Ok(oddly(self.inner(at + 2)?)),
            _ => self.simple(at, wants_loop),
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
    fn simple(&self, at: usize, wants_loop: bool) -> Looked {
        if self.tokens[at].kind == TokenKind::Identifier && self.is(at + 1, b'(') {
            let Some(behind) = self.closing(at + 1).map(|close| close + 1) else {
                return Ok(None);
            };
            if self.is_head(at, behind, wants_loop) {
                return self.headed_by_macro(at, behind);
            }
            if self.word(behind) == b"else" {
                return Ok(oddly(plainly(behind)));
            }
        }
        let stop = self.stop(at);
        let behind = stop.behind as usize;
        Ok(match stop.kind {
            StopKind::Semicolon => plainly(behind),
            StopKind::Parentheses if self.is_statement_macro(at, behind) => oddly(plainly(behind)),
            _ => None,
        })
    }

    fn headed_by_macro(&self, name: usize, behind: usize) -> Looked {
        let Some(end) = self.inner(behind)?.map(|body| body.behind) else {
            return Ok(None);
        };
        let own_else = self.is_among(&self.macros.conditions, name);
        Ok(oddly(match own_else && self.word(end) == b"else" {
            true => self.inner(end + 1)?,
            false => plainly(end),
        }))
    }

    /// The end of a statement without a head that continues at a token.
    fn stop(&self, at: usize) -> Stop {
        let stops = self.known.stops.get_or_init(|| self.stops());
        stops[at.min(self.tokens.len())]
    }

    /// The ends for every token, and for the place behind the last. The contents of brackets
    /// are skipped.
    fn stops(&self) -> Vec<Stop> {
        let nowhere = Stop {
            behind: 0,
            kind: StopKind::Nowhere,
        };
        let stop = |kind, behind: usize| Stop {
            behind: behind as u32,
            kind,
        };
        let mut stops = vec![nowhere; self.tokens.len() + 1];
        for (at, token) in self.tokens.iter().enumerate().rev() {
            stops[at] = match token.kind {
                TokenKind::Punctuation(b';') => stop(StopKind::Semicolon, at + 1),
                TokenKind::Punctuation(bracket @ (b'(' | b'[' | b'{')) => {
                    match self.closing(at).map(|close| close + 1) {
                        None => nowhere,
                        Some(behind) if bracket == b'(' && self.ends_without_semicolon(behind) => {
                            stop(StopKind::Parentheses, behind)
                        }
                        Some(behind) => stops[behind],
                    }
                }
                TokenKind::Punctuation(b'}' | b')' | b']') => nowhere,
                _ => stops[at + 1],
            };
        }
        stops
    }

    fn is_among(&self, names: &HashSet<String>, at: usize) -> bool {
        let word = std::str::from_utf8(self.word(at));
        !names.is_empty() && word.is_ok_and(|word| names.contains(word))
    }

    /// Whether a macro call without a semicolon is a whole statement. An unknown macro may also be
    /// the head of a statement whose body begins with the next directive. So the answer is yes only
    /// if that directive is a stand-alone one.
    fn is_statement_macro(&self, name: usize, next: usize) -> bool {
        self.is_among(&self.macros.statements, name)
            || match self.directive_before(next) {
                Some(directive) => (self.stands_alone)(directive),
                None => true,
            }
    }

    /// Whether a macro and its arguments are the head of the following statement: its
    /// definition says so, a loop is required here, or neither an operator nor the end of the
    /// statement follows.
    fn is_head(&self, name: usize, behind: usize, wants_loop: bool) -> bool {
        let macros = self.macros;
        let known = self.is_among(&macros.heads, name) || self.is_among(&macros.conditions, name);
        if known || wants_loop {
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

    /// The index behind the parenthesised head of `if`, `for`, and so on. C++ allows
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

    /// The index behind the colon of `case a ? b : c:`.
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

    /// The index behind `[[...]]` and `__attribute__((...))` in front of a statement.
    fn skip_attributes(&self, mut at: usize) -> Option<usize> {
        loop {
            if self.is(at, b'[') && self.is(at + 1, b'[') {
                at = self.closing(at)? + 1;
            } else if matches!(self.word(at), b"__attribute__" | b"__extension__") {
                at += 1;
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

    /// The text of an identifier, keyword or mark. Keywords with line splices in them are not
    /// recognised; they don't occur in practice.
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
                heads: HashSet::from(["HEAD".into()]),
                conditions: HashSet::from(["IF".into()]),
                statements: HashSet::from(["STATEMENT".into()]),
            },
            stands_alone: &|_| source.contains("barrier"),
            loop_nest: false,
            known: &MacroKnowledge::default(),
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
            ("[[x]] b; c;", true),
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

    /// Each nested statement is examined once, and no depth overflows the stack.
    #[test]
    fn nested_statements_are_followed_however_deep() {
        for (head, tail) in [
            ("if (a) ", ";"),
            ("if (a) ; else ", ";"),
            ("l: ", ";"),
            ("F(a) b ", ";"),
        ] {
            let deep = head.repeat(100_000) + tail;
            assert_eq!(first_statement(&deep), Some(&*deep), "{head}");
        }
        let deep = "do ".repeat(100_000) + ";" + &" while (a);".repeat(100_000);
        assert_eq!(first_statement(&deep), Some(&*deep));
    }
}
