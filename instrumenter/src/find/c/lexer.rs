//! The lexer of C and C++: code tokens, and preprocessing lines with theirs.
//!
//! The lexer accepts any bytes: an unterminated literal ends at its line, and a stray byte is a
//! punctuation mark. It does not interpret directives.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::cursor::{Cursor, unspliced};

/// The kind of a token, as far as extents depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::find) enum TokenKind {
    /// An identifier or a keyword.
    Identifier,
    /// A preprocessing number.
    Number,
    /// A string or character literal, with prefix.
    Literal,
    /// One punctuation mark; digraphs are given as the mark they stand for.
    Punctuation(u8),
    /// `::`
    DoubleColon,
}

/// A token and its bytes. Files have many of them, so the type is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::find) struct Token {
    pub(in crate::find) kind: TokenKind,
    start: u32,
    end: u32,
    line_start: u32,
}

/// For a token that is not the first of its line.
const NOT_FIRST: u32 = u32::MAX;

impl Token {
    fn new(kind: TokenKind, range: Range<usize>, line_start: Option<usize>) -> Self {
        // Longer texts are cut off before they are lexed.
        let offset = |at: usize| u32::try_from(at).unwrap_or(NOT_FIRST);
        Self {
            kind,
            start: offset(range.start),
            end: offset(range.end),
            line_start: line_start.map_or(NOT_FIRST, offset),
        }
    }

    /// Its bytes.
    pub(in crate::find) fn range(&self) -> Range<usize> {
        self.start()..self.end()
    }

    pub(in crate::find) fn start(&self) -> usize {
        self.start as usize
    }

    pub(in crate::find) fn end(&self) -> usize {
        self.end as usize
    }

    /// The begin of the line, if this token is the first of its line. If a comment in front of
    /// it began on an earlier line, it is the begin of that line.
    pub(in crate::find) fn line_start(&self) -> Option<usize> {
        (self.line_start != NOT_FIRST).then_some(self.line_start as usize)
    }

    pub(in crate::find) fn is(&self, mark: u8) -> bool {
        self.kind == TokenKind::Punctuation(mark)
    }
}

/// A line of the preprocessor.
#[derive(Clone, Debug)]
pub(in crate::find) struct PreprocessorLine {
    /// From the begin of its line to before the newline that ends it.
    pub(in crate::find) range: Range<usize>,
    /// The tokens behind the `#`.
    pub(in crate::find) tokens: Vec<Token>,
}

/// All tokens of a text.
#[derive(Clone, Debug, Default)]
pub(in crate::find) struct Lexed {
    /// Tokens outside preprocessing lines.
    pub(in crate::find) code: Rc<Vec<Token>>,
    /// Preprocessing lines.
    pub(in crate::find) lines: Vec<PreprocessorLine>,
}

/// The part of a text whose offsets fit into a token: the first 4 GB.
fn readable(text: &[u8]) -> &[u8] {
    &text[..text.len().min(NOT_FIRST as usize - 1)]
}

/// Lexes a whole text.
pub(in crate::find) fn lex(text: &[u8]) -> Lexed {
    lex_without(text, &[])
}

/// Lexes a text without the `skipped` parts. They are in order, and each consists of whole
/// lines.
pub(in crate::find) fn lex_without(text: &[u8], skipped: &[Range<usize>]) -> Lexed {
    let text = readable(text);
    let begins = std::iter::once(first_byte(text)).chain(skipped.iter().map(|part| part.end));
    let ends = skipped.iter().map(|part| part.start).chain([text.len()]);
    let parts: Vec<Range<usize>> = begins.zip(ends).map(|(begin, end)| begin..end).collect();
    let length: usize = parts.iter().map(Range::len).sum();
    let mut lines = Vec::new();
    // An estimate of the number of tokens; unused memory costs nothing.
    let mut code = Vec::with_capacity(length / 2);
    for part in parts {
        Lexer::new(text, part).read(&mut code, &mut lines);
    }
    Lexed {
        code: Rc::new(code),
        lines,
    }
}

/// Lexes a part of a text as code.
pub(in crate::find) fn lex_part(text: &[u8], range: Range<usize>) -> Vec<Token> {
    let mut lexer = Lexer::new(readable(text), range);
    lexer.line_start = None;
    std::iter::from_fn(|| lexer.next_token()).collect()
}

/// The offset behind a byte-order mark, if there is one.
pub(in crate::find) fn first_byte(text: &[u8]) -> usize {
    if text.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    cursor: Cursor<'a>,
    /// Begin of the current line, while no token of it was seen.
    line_start: Option<usize>,
    /// The offset where the lexer began, and the possible ends of raw strings from there on.
    raw_ends: (usize, OnceCell<RawEnds<'a>>),
}

/// By delimiter, the offsets of `)delimiter"`, in order. Each `"` ends at most one of them.
type RawEnds<'a> = HashMap<&'a [u8], Vec<usize>>;

/// The longest delimiter of a raw string (C++ [lex.string]).
const LONGEST_DELIMITER: usize = 16;

fn raw_ends(text: &[u8], begin: usize) -> RawEnds<'_> {
    let mut ends = RawEnds::new();
    for quote in memchr::memchr_iter(b'"', &text[begin..]) {
        let quote = begin + quote;
        let before = &text[quote.saturating_sub(LONGEST_DELIMITER + 1).max(begin)..quote];
        if let Some(close) = before.iter().rposition(|byte| *byte == b')') {
            let delimiter = &before[close + 1..];
            ends.entry(delimiter)
                .or_default()
                .push(quote - delimiter.len() - 1);
        }
    }
    ends
}

/// Whether a byte may stand in the delimiter of a raw string.
fn is_delimiter(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'(' | b')' | b'\\' | b'\t' | 0x0b | 0x0c | b'\n' | b'\r'
    )
}

impl<'a> Lexer<'a> {
    /// A lexer at the begin of a part of a text.
    fn new(text: &'a [u8], part: Range<usize>) -> Self {
        let text = &text[..part.end.min(text.len())];
        let cursor = Cursor::new(text, part.start.min(text.len()));
        Self {
            text,
            cursor,
            line_start: Some(cursor.offset()),
            raw_ends: (cursor.offset(), OnceCell::new()),
        }
    }

    /// Lexes up to the end.
    fn read(mut self, code: &mut Vec<Token>, lines: &mut Vec<PreprocessorLine>) {
        while let Some(token) = self.next_token() {
            match (token.is(b'#'), token.line_start()) {
                (true, Some(start)) => lines.push(self.preprocessor_line(start)),
                _ => code.push(token),
            }
        }
    }

    /// The next token of code, behind white space, newlines and comments.
    fn next_token(&mut self) -> Option<Token> {
        loop {
            self.skip_blanks_and_comments();
            match self.cursor.peek()? {
                b'\n' => {
                    self.cursor.bump();
                    self.line_start = Some(self.cursor.offset());
                }
                _ => return Some(self.token()),
            }
        }
    }

    /// The rest of a line whose `#` was read.
    fn preprocessor_line(&mut self, start: usize) -> PreprocessorLine {
        let mut tokens = Vec::new();
        loop {
            self.skip_blanks_and_comments();
            match self.cursor.peek() {
                None | Some(b'\n') => break,
                Some(_) => tokens.push(self.token()),
            }
        }
        PreprocessorLine {
            range: start..self.cursor.offset(),
            tokens,
        }
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            match self.cursor.peek() {
                Some(byte) if is_blank(byte) => self.cursor.skip_while(is_blank),
                Some(b'/') if self.cursor.starts_with("//") => {
                    self.cursor.skip_while(|byte| byte != b'\n');
                }
                Some(b'/') if self.cursor.starts_with("/*") => self.skip_block_comment(),
                _ => break,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        self.cursor.bump();
        self.cursor.bump();
        loop {
            self.cursor.skip_while(|byte| byte != b'*');
            if self.cursor.peek().is_none() || self.cursor.starts_with("*/") {
                break;
            }
            self.cursor.bump();
        }
        self.cursor.bump();
        self.cursor.bump();
    }

    /// One token; the cursor stands on its first byte.
    fn token(&mut self) -> Token {
        let start = self.cursor.offset();
        let kind = match self.cursor.peek() {
            Some(byte) if is_identifier_start(byte) => self.identifier_or_literal(),
            Some(b'0'..=b'9') => self.number(),
            Some(b'.') if self.cursor.peek_at(1).is_some_and(|b| b.is_ascii_digit()) => {
                self.number()
            }
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote),
            _ => self.punctuation(),
        };
        Token::new(kind, start..self.cursor.end(), self.line_start.take())
    }

    fn identifier_or_literal(&mut self) -> TokenKind {
        let start = self.cursor.offset();
        self.cursor.skip_while(is_identifier_part);
        let Some(quote @ (b'"' | b'\'')) = self.cursor.peek() else {
            return TokenKind::Identifier;
        };
        let prefix = unspliced(&self.text[start..self.cursor.end()]);
        match &*prefix {
            "R" | "LR" | "uR" | "UR" | "u8R" if quote == b'"' => self.raw_string(),
            "L" | "u" | "U" | "u8" => self.quoted(quote),
            _ => TokenKind::Identifier,
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut last = 0;
        while let Some(byte) = self.cursor.peek() {
            let sign = matches!(byte, b'+' | b'-') && matches!(last, b'e' | b'E' | b'p' | b'P');
            let separator = byte == b'\''
                && self
                    .cursor
                    .peek_at(1)
                    .is_some_and(|next| next.is_ascii_alphanumeric());
            if !(is_identifier_part(byte) || byte == b'.' || sign || separator) {
                break;
            }
            last = byte;
            self.cursor.bump();
        }
        TokenKind::Number
    }

    /// A literal in quotes; unterminated, it ends at its line.
    fn quoted(&mut self, quote: u8) -> TokenKind {
        self.cursor.bump();
        while let Some(byte) = self.cursor.peek() {
            if byte == b'\n' {
                break;
            }
            self.cursor.bump();
            match byte {
                b'\\' if self.cursor.peek() != Some(b'\n') => drop(self.cursor.bump()),
                _ if byte == quote => break,
                _ => {}
            }
        }
        TokenKind::Literal
    }

    /// `R"delimiter(...)delimiter"`; line splices have no effect in it. If it is not well
    /// formed, the quote begins an ordinary string.
    fn raw_string(&mut self) -> TokenKind {
        let open = self.cursor.offset();
        let rest = &self.text[open + 1..];
        let longest = &rest[..rest.len().min(LONGEST_DELIMITER + 1)];
        let length = longest.iter().position(|byte| !is_delimiter(*byte));
        let length = length.filter(|length| rest[*length] == b'(');
        let end = length.and_then(|length| {
            let (begin, ends) = &self.raw_ends;
            let ends = ends.get_or_init(|| raw_ends(self.text, *begin));
            let ends = ends.get(&rest[..length])?;
            let next = ends.partition_point(|end| *end <= open + 1 + length);
            Some(ends.get(next)? - open - 1 + length + 2)
        });
        match end {
            Some(end) => {
                while self.cursor.offset() < open + 1 + end {
                    self.cursor.bump_raw();
                }
                self.cursor = Cursor::new(self.text, self.cursor.offset());
                TokenKind::Literal
            }
            None => self.quoted(b'"'),
        }
    }

    fn punctuation(&mut self) -> TokenKind {
        match self.cursor.peek() {
            Some(b'<' | b'%' | b':') => self.two_marks(),
            _ => TokenKind::Punctuation(self.cursor.bump().unwrap_or(0)),
        }
    }

    /// A mark that may be a digraph or `::`.
    fn two_marks(&mut self) -> TokenKind {
        const DIGRAPHS: [(&str, u8); 5] = [
            ("<%", b'{'),
            ("%>", b'}'),
            ("<:", b'['),
            (":>", b']'),
            ("%:", b'#'),
        ];
        // C++ [lex.pptoken]: `<::` is `<` `::` unless `:` or `>` follows.
        let template =
            self.cursor.starts_with("<::") && !matches!(self.cursor.peek_at(3), Some(b':' | b'>'));
        let digraph = DIGRAPHS
            .iter()
            .find(|(text, _)| self.cursor.starts_with(text));
        if let Some((_, mark)) = digraph.filter(|_| !template) {
            self.cursor.bump();
            self.cursor.bump();
            return TokenKind::Punctuation(*mark);
        }
        if self.cursor.starts_with("::") {
            self.cursor.bump();
            self.cursor.bump();
            return TokenKind::DoubleColon;
        }
        TokenKind::Punctuation(self.cursor.bump().unwrap_or(0))
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

fn is_identifier_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

fn is_identifier_part(byte: u8) -> bool {
    is_identifier_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(source: &str) -> Vec<String> {
        let lexed = lex(source.as_bytes());
        lexed
            .code
            .iter()
            .map(|t| super::super::text_of(source.as_bytes(), t))
            .collect()
    }

    #[test]
    fn comments_strings_and_splices() {
        assert_eq!(texts("a /* b */ c // d \\\n e\nf"), ["a", "c", "f"]);
        assert_eq!(
            texts("x\\\ny = \"/*\\\"\" '\"'"),
            ["xy", "=", "\"/*\\\"\"", "'\"'"]
        );
        assert_eq!(
            texts("1e+5 0x1p-3 1'000 .5"),
            ["1e+5", "0x1p-3", "1'000", ".5"]
        );
        assert_eq!(texts("R\"x(a\n)\" )x\" b"), ["R\"x(a\n)\" )x\"", "b"]);
        assert_eq!(texts("'unterminated\nnext"), ["'unterminated", "next"]);
    }

    #[test]
    fn a_token_ends_before_the_splice_behind_it() {
        let source = b"ab\\\n  c; \\  \nd";
        let tokens = lex(source).code;
        let ends: Vec<_> = tokens.iter().map(|token| token.range()).collect();
        assert_eq!(ends, [0..2, 6..7, 7..8, 13..14]);
    }

    #[test]
    fn preprocessor_lines() {
        let lexed = lex(b"a\n  # pragma omp \\\n for /* x\n */ nowait\nb %: c\n%: if 1\n");
        assert_eq!(lexed.lines.len(), 2);
        assert_eq!(lexed.lines[0].range, 2..39);
        assert_eq!(lexed.lines[0].tokens.len(), 4);
        assert_eq!(lexed.code.len(), 4, "a hash inside a line is a token");
    }

    #[test]
    fn a_line_begins_before_the_comment_that_leads_into_it() {
        let lexed = lex(b"x;\n/* a\n b */ #pragma omp barrier\n");
        assert_eq!(lexed.lines[0].range.start, 3);
    }

    proptest! {
        #[test]
        fn any_bytes_give_tokens_in_order(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let lexed = lex(&text);
            let mut end = 0;
            for token in lexed.code.iter() {
                prop_assert!(token.start() >= end && token.end() > token.start());
                end = token.end();
            }
            for line in &lexed.lines {
                prop_assert!(line.range.end <= text.len());
            }
        }

        #[test]
        fn c_like_text_gives_tokens_in_order(text in "[a\\\\\n #/*\"'{}();R<%:>1.]{0,60}") {
            let lexed = lex(text.as_bytes());
            let mut end = 0;
            for token in lexed.code.iter() {
                prop_assert!(token.start() >= end && token.end() > token.start());
                end = token.end();
            }
        }
    }
}
