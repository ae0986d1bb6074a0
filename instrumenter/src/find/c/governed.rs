//! What conditions and loops without braces govern. Compilers compare that with how
//! a source is laid out, and with what its macros make; of preprocessed text, which
//! is laid out otherwise and has no macros, they can't say it. What is found here is
//! more than they warn of, never less.

use std::collections::HashSet;

use super::brackets::Brackets;
use super::conditions::{DEFINE, first_word};
use super::file::File;
use super::groups::word;
use super::lexer::{PreprocessorLine, Token, TokenKind, lex};
use super::scan::{contains, macros};
use super::text_of;
use crate::find::lines::width;

/// Whether a statement may look governed by the condition or loop in front of it that
/// is not: it stands on the line where what is governed ends, or in the column where that
/// begins, if it is indented more than the condition.
#[must_use]
pub fn may_mislead(file: &File) -> bool {
    any_token(file, |reader, at| reader.misleads(at))
}

/// Whether a condition or a loop may govern an empty statement on its own line: Clang
/// compares the line's number in the text with the one that `#line` gave it.
#[must_use]
pub fn may_be_empty(file: &File) -> bool {
    let tokens = &file.lexed().code;
    let brackets = Brackets::new(tokens);
    // Behind the braces of a `do` stands its own `while`.
    let is_do = |at: &usize| file.text()[tokens[*at].range()] == *b"do";
    let ends = (0..tokens.len()).filter(is_do);
    let ends: HashSet<usize> = ends
        .filter_map(|at| Some(brackets.closing(at + 1)? + 1))
        .collect();
    any_token(file, |reader, at| {
        Some(!ends.contains(&at) && reader.is_empty(at)?)
    })
}

/// Whether a condition without braces may govern a directive behind which an `else`
/// follows a condition: GCC warns that it may be taken for the outer one's, and
/// what is put around a directive hides that.
#[must_use]
pub fn else_may_dangle(file: &File) -> bool {
    let is_pragma = |line: &&PreprocessorLine| word(file.text(), line, 0) == "pragma";
    let pragmas = file.lexed().lines.iter().filter(is_pragma);
    let pragmas: Vec<usize> = pragmas.map(|line| line.range.start).collect();
    !pragmas.is_empty() && any_token(file, |reader, at| reader.dangles(at, &pragmas))
}

/// Whether something is true of a token, or can't be told.
fn any_token(file: &File, holds: impl Fn(&Reader<'_>, usize) -> Option<bool>) -> bool {
    let tokens = &file.lexed().code;
    let brackets = Brackets::new(tokens);
    let reader = Reader {
        text: file.text(),
        tokens,
        brackets: &brackets,
    };
    (0..tokens.len()).any(|at| holds(&reader, at).unwrap_or(true))
}

/// Reads statements from tokens alone, near enough.
struct Reader<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    brackets: &'a Brackets,
}

impl Reader<'_> {
    /// Whether what follows the statement that the token at `guard` governs may look
    /// governed, too; `None` if that can't be told.
    fn misleads(&self, guard: usize) -> Option<bool> {
        let body = match self.word(guard) {
            b"if" | b"for" | b"while" | b"switch" => self.head_end(guard + 1)?,
            b"else" => guard + 1,
            _ => return Some(false),
        };
        if self.is(body, b'{') {
            return Some(false);
        }
        let after = self.statement_end(body)? + 1;
        let Some(next) = self.tokens.get(after) else {
            return Some(false);
        };
        if next.is(b'}') || next.is(b';') {
            return Some(false);
        }
        // Where a line ends after a lone semicolon, a block may look governed as well.
        let block = self.is(body, b';') && next.is(b'{');
        let same_line = next.line_start().is_none();
        let column = |token: &Token| indentation(self.text, token.start());
        let indented = column(next) > column(&self.tokens[guard]);
        Some(block || same_line || (indented && self.lines_up(body, column(next))))
    }

    /// Whether the token at `guard` governs an empty statement on the line of its head.
    fn is_empty(&self, guard: usize) -> Option<bool> {
        if !matches!(self.word(guard), b"if" | b"for" | b"while" | b"switch") {
            return Some(false);
        }
        let body = self.head_end(guard + 1)?;
        let same_line = self
            .tokens
            .get(body)
            .is_some_and(|token| token.line_start().is_none());
        Some(same_line && self.is(body, b';'))
    }

    /// Whether the token at `guard` is such a condition; `pragmas` are offsets, in order.
    fn dangles(&self, guard: usize, pragmas: &[usize]) -> Option<bool> {
        if self.word(guard) != b"if" {
            return Some(false);
        }
        let body = self.head_end(guard + 1)?;
        if self.is(body, b'{') {
            return Some(false);
        }
        let end = self.statement_end(body)?;
        let mut inner = [false; 2];
        let mut at = body;
        while at <= end {
            inner[0] |= self.word(at) == b"if";
            inner[1] |= self.word(at) == b"else";
            let opens = b"([{".iter().any(|mark| self.is(at, *mark));
            at = if opens {
                self.brackets.closing(at)?
            } else {
                at
            } + 1;
        }
        let range = self.tokens[guard].end()..self.tokens[end].start();
        let first = pragmas.partition_point(|at| *at < range.start);
        let directed = pragmas.get(first).is_some_and(|at| *at < range.end);
        Some(directed && inner == [true; 2])
    }

    /// Whether what is governed begins in a column, or is none: else the compilers say nothing.
    fn lines_up(&self, body: usize, column: usize) -> bool {
        let Some(token) = self.tokens.get(body) else {
            return true;
        };
        let line = line_before(self.text, token.start());
        // How wide other characters are is for the compilers to say.
        token.is(b';') || !line.is_ascii() || width(line) == column
    }

    /// Behind the parentheses of a condition.
    fn head_end(&self, mut at: usize) -> Option<usize> {
        while matches!(self.word(at), b"constexpr" | b"consteval" | b"!") {
            at += 1;
        }
        match self.is(at, b'(') {
            true => Some(self.brackets.closing(at)? + 1),
            false => Some(at),
        }
    }

    /// The last token of a statement.
    fn statement_end(&self, body: usize) -> Option<usize> {
        let mut at = body;
        loop {
            let token = self.tokens.get(at)?;
            let last = match token.kind {
                TokenKind::Punctuation(b';') => true,
                TokenKind::Punctuation(b'{') => {
                    at = self.brackets.closing(at)?;
                    // Else it is a part of an expression.
                    let next = self.tokens.get(at + 1).map(|next| next.kind);
                    !matches!(next, Some(TokenKind::Punctuation(mark)) if mark != b'}')
                }
                TokenKind::Punctuation(b'(' | b'[') => {
                    at = self.brackets.closing(at)?;
                    false
                }
                TokenKind::Punctuation(b'}' | b')' | b']') => return Some(at - 1),
                _ if self.word(at) == b"do" => return None,
                _ => false,
            };
            if last && !matches!(self.word(at + 1), b"else" | b"catch") {
                return Some(at);
            }
            at += 1;
        }
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    fn word(&self, at: usize) -> &[u8] {
        self.tokens
            .get(at)
            .filter(|token| token.kind == TokenKind::Identifier)
            .map_or(b"", |token| &self.text[token.range()])
    }
}

/// The column of the first character on the line of an offset.
fn indentation(text: &[u8], offset: usize) -> usize {
    let begin = offset - line_before(text, offset).len();
    let line = &text[begin..];
    let blanks = line.iter().take_while(|byte| b" \t".contains(byte)).count();
    width(&line[..blanks])
}

/// What stands in front of an offset on its line.
fn line_before(text: &[u8], offset: usize) -> &[u8] {
    let newline = text[..offset].iter().rposition(|byte| *byte == b'\n');
    &text[newline.map_or(0, |newline| newline + 1)..offset]
}

/// The macros of several files, as far as what they make may be governed in part.
#[derive(Debug, Default)]
pub struct Statements {
    /// Those that can make more than one statement: a semicolon stands in them outside of
    /// all brackets. A cheap test that misses none.
    several: HashSet<String>,
    /// Those with a definition that ends a statement.
    ended: HashSet<String>,
    /// Those with another definition.
    open: HashSet<String>,
}

impl Statements {
    /// Adds the macros that a file defines.
    pub fn read(&mut self, text: &[u8]) {
        for definition in macros(text) {
            let Shape { several, ends } = Shape::of(definition);
            let Some(name) = defined_name(definition) else {
                continue;
            };
            if several {
                self.several.insert(name.clone());
            }
            let known = if ends {
                &mut self.ended
            } else {
                &mut self.open
            };
            known.insert(name);
        }
    }

    /// Adds macros that begin with one that can make more than one statement; whether
    /// there were new ones.
    pub fn add(&mut self, aliases: Vec<String>) -> bool {
        let known = self.several.len();
        self.several.extend(aliases);
        self.several.len() > known
    }

    /// Whether there is anything to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.several.is_empty()
    }

    /// Whether what a macro makes ends a statement, so that it governs nothing.
    fn ends_statement(&self, name: &str) -> bool {
        self.ended.contains(name) && !self.open.contains(name)
    }
}

/// What the text of a definition shows.
struct Shape {
    /// A semicolon stands outside of all brackets.
    several: bool,
    /// It ends with a semicolon or a brace that stands so, too.
    ends: bool,
}

impl Shape {
    fn of(definition: &[u8]) -> Self {
        let bytes = definition.iter().copied();
        let shape = Self::of_marks(bytes);
        if !shape.several {
            return shape;
        }
        // Comments and texts have semicolons, too.
        let lexed = lex(definition);
        let tokens = lexed.lines.iter().flat_map(|line| &line.tokens);
        Self::of_marks(tokens.map(|token| match token.kind {
            TokenKind::Punctuation(mark) => mark,
            _ => b'x',
        }))
    }

    fn of_marks(marks: impl Iterator<Item = u8>) -> Self {
        let mut depth = 0;
        let mut several = false;
        let mut last = b' ';
        for mark in marks.filter(|mark| !mark.is_ascii_whitespace()) {
            match mark {
                b'{' | b'(' => depth += 1,
                b'}' | b')' => depth -= 1,
                _ => {}
            }
            several |= mark == b';' && depth <= 0;
            last = mark;
        }
        Self {
            several,
            ends: depth == 0 && matches!(last, b';' | b'}'),
        }
    }
}

/// The name of a macro, by its definition from the sign on.
fn defined_name(definition: &[u8]) -> Option<String> {
    let rest = definition.trim_ascii_start().strip_prefix(b"#")?;
    let name = first_word(rest.trim_ascii_start().strip_prefix(DEFINE)?);
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// How a file uses some macros.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Whether one may be what a condition or a loop governs: it does not follow a
    /// statement or a brace.
    pub governed: bool,
    /// Macros that begin with one of them.
    pub aliases: Vec<String>,
}

/// How a file uses macros that can make more than one statement.
#[must_use]
pub fn uses(file: &File, macros: &Statements) -> Uses {
    let text = file.text();
    let names = &macros.several;
    let mut uses = Uses::default();
    if !names.iter().any(|name| contains(text, name.as_bytes())) {
        return uses;
    }
    let lexed = file.lexed();
    let mut governed = |tokens: &[Token]| {
        let governed = |at: &usize| {
            is_among(text, &tokens[*at], names) && !follows_statement(text, &tokens[..*at], macros)
        };
        uses.governed |= (1..tokens.len()).any(|at| governed(&at));
    };
    governed(&lexed.code);
    for line in lexed
        .lines
        .iter()
        .filter(|line| word(text, line, 0) == "define")
    {
        let body = body(line);
        governed(body);
        if body
            .first()
            .is_some_and(|first| is_among(text, first, names))
        {
            uses.aliases.push(word(text, line, 1).into_owned());
        }
    }
    uses
}

/// Whether tokens end with a statement, or with what one may follow: then nothing
/// governs the next.
fn follows_statement(text: &[u8], tokens: &[Token], macros: &Statements) -> bool {
    let Some(last) = tokens.last() else {
        return false;
    };
    if last.is(b';') || last.is(b'{') || last.is(b'}') {
        return true;
    }
    let used = if last.is(b')') {
        head(tokens)
    } else {
        Some(last)
    };
    used.is_some_and(|used| {
        used.kind == TokenKind::Identifier && macros.ends_statement(&text_of(text, used))
    })
}

/// What stands in front of the parentheses that tokens end with.
fn head(tokens: &[Token]) -> Option<&Token> {
    let mut depth = 0;
    let open = tokens.iter().rposition(|token| {
        depth += i32::from(token.is(b')')) - i32::from(token.is(b'('));
        depth == 0
    });
    tokens.get(open?.checked_sub(1)?)
}

fn is_among(text: &[u8], token: &Token, names: &HashSet<String>) -> bool {
    token.kind == TokenKind::Identifier && names.contains(&text_of(text, token))
}

/// What a definition puts in a macro's place.
fn body(definition: &PreprocessorLine) -> &[Token] {
    let tokens = definition.tokens.as_slice();
    let has_parameters = match tokens {
        [_, name, open, ..] => open.is(b'(') && name.end() == open.start(),
        _ => false,
    };
    let close = tokens.iter().position(|token| token.is(b')'));
    let begin = close
        .filter(|_| has_parameters)
        .map_or(2, |close| close + 1);
    tokens.get(begin..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openmp::Language;

    fn file(source: &str) -> File {
        File::new(Language::C, source.as_bytes().to_vec())
    }

    fn macros_of(source: &str) -> Statements {
        let mut macros = Statements::default();
        macros.read(source.as_bytes());
        macros
    }

    #[test]
    fn what_may_look_governed_is_found() {
        for source in [
            "if (a) b(); c();",
            "while (a); while (b);",
            "if (a)\n  b();\n  c();\n",
            "  for (;;)\n\tb();\n\tc();\n",
            "if (a)\n  b();\nelse\n  c();\n  d();\n",
            "for (;;)\n  if (a) { b(); }\n  c();\n",
            "if (a) b();\n       c();\n",
            "while (a)\n  ;\n{ b(); }\n",
            "if (a) x = S{1}; c();",
            "if (a) do b(); while (c);\nd();\n",
            "if (a) { b(); } else if (c) d(); e();",
            "if (a)\n  ;\n    b();\n",
            "if (\u{e4}) b();\n  c();\n",
        ] {
            assert!(may_mislead(&file(source)), "{source}");
        }
        for source in [
            "if (a) b();\nc();\n",
            "{\n\tif (a)\n\t\tb();\n\tc();\n}\n",
            "if (a) { b(); } c();",
            "{ if (a) b(); }",
            "do {\n  a();\n} while (b);\nc();\n",
            "if (a)\n  for (;;) {\n    b();\n  }\nelse\n  c();\nd();\n",
            "if (a)\n  f([] { b(); },\n    c);\nd();\n",
            "if (a) int b[] = {1, 2};\nc();\n",
            "#define A if (a) b; c\n",
            "if (a) b();\n#ifdef C\n  if (c) {\n  }\n#endif\nd();\n",
            "if (a)\n    b();\n  c();\n",
        ] {
            assert!(!may_mislead(&file(source)), "{source}");
        }
    }

    #[test]
    fn empty_statements_on_the_line_of_their_head_are_found() {
        for source in [
            "while (!f()) ; g();",
            "if (a);",
            "for (;;) ;\n",
            "do b(); while (a);",
            "if (a) { }\n while (b);",
        ] {
            assert!(may_be_empty(&file(source)), "{source}");
        }
        for source in ["while (a)\n  ;\n", "do { b(); } while (a);", "if (a) b();"] {
            assert!(!may_be_empty(&file(source)), "{source}");
        }
    }

    #[test]
    fn an_else_behind_a_directive_may_dangle() {
        let directive = "\n#pragma omp critical\n";
        for source in [
            "if (a)@if (b) c(); else d();\n",
            "if (a)\n  for (;;)@if (b) { c(); } else { d(); }\n",
            "if (a)@for (;;) if (b) c(); else d();\n",
            "if (a) while (1)@if (b) c(); else d();\nelse e();\n",
        ] {
            let source = source.replace('@', directive);
            assert!(else_may_dangle(&file(&source)), "{source}");
        }
        for source in [
            "if (a) {@if (b) c(); else d(); }\n",
            "if (a)@{ if (b) c(); else d(); }\n",
            "if (a)@c();\nelse d();\n",
            "if (a) if (b) c(); else d();@e();\n",
            "@if (a) if (b) c(); else d();\n",
        ] {
            let source = source.replace('@', directive);
            assert!(!else_may_dangle(&file(&source)), "{source}");
        }
    }

    #[test]
    fn macros_of_several_statements_are_found() {
        for (source, name) in [
            ("#define A x; y\n", "A"),
            ("int x;\n # define A(x) x++; \\\n  x--\n", "A"),
            ("#define B } ;\n", "B"),
        ] {
            assert!(macros_of(source).several.contains(name), "{source}");
        }
        for source in [
            "#define A do { x; y; } while (0)\n",
            "int x; int y;\n",
            "#define B for (;;)\n",
            "#define C 8 // one; or two\n",
            "#define D \"a; b\" /* c; d */\n",
        ] {
            assert!(macros_of(source).is_empty(), "{source}");
        }
    }

    #[test]
    fn macros_that_something_may_govern_are_found() {
        let uses = |source: &str| {
            let several = "#define M(x) x; x\n".to_owned();
            let rest = "#define E(x) f(x);\n#define G(x) if (x)\n#define H a;\n#define H b\n";
            uses(&file(source), &macros_of(&(several + rest)))
        };
        for source in [
            "void f() { if (x) M; }",
            "if (x) ;\nelse\n#ifdef A\nM(1)\n#endif\n",
            "for (;;) label: M(2);",
            "UNLESS M",
            "if (x) [[likely]] M",
            "#define W(x) if (x) M\n",
            "G(1) M(1)",
            "if (E(1)) M(1)",
            "H M(1)",
            "unknown(1) M(1)",
        ] {
            assert!(uses(source).governed, "{source}");
        }
        for source in [
            "void f() { M; M(1); if (x) { M; } M }",
            "E(1) M(1); E((2)) M(2);",
            "#define W(x) { x; M; }\n",
            "#define M a; b\n#define N (a)\nint MM;\n",
        ] {
            assert!(!uses(source).governed, "{source}");
        }
        assert_eq!(
            uses("#define N M\n#define O(x) M(x)\n#define P(x) f(); M(x)\n").aliases,
            ["N", "O"]
        );
    }
}
