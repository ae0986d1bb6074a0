//! A source as one configuration of its conditionals shows it.

use std::cell::OnceCell;

use super::Finder;
use super::groups::{Configuration, visible, word};
use super::lexer::{Token, TokenKind};
use super::matcher::Matcher;
use super::text_of;
use crate::find::tree::SyntaxTree;
use crate::openmp::Language;

/// What is visible; the expensive parts are made when they are asked for.
pub(super) struct View {
    pub(super) configuration: Configuration,
    /// Visible code tokens without those of `_Pragma` operators and attributes.
    pub(super) tokens: Vec<Token>,
    /// Indices and begins of the visible records.
    pub(super) records: Vec<(usize, usize)>,
    tree: OnceCell<SyntaxTree>,
    macro_arguments: OnceCell<Vec<bool>>,
}

impl View {
    pub(super) fn new(finder: &Finder<'_>, configuration: &Configuration) -> Self {
        let mut hidden = finder.groups.hidden(configuration);
        if !finder.system.is_empty() {
            hidden.extend(finder.system.iter().cloned());
            hidden.sort_by_key(|range| range.start);
        }
        let shows = |at: usize| !hidden.iter().any(|range| range.contains(&at));
        let records: Vec<(usize, usize)> = finder
            .records
            .iter()
            .enumerate()
            .map(|(index, record)| (index, record.range.start))
            .filter(|(_, start)| shows(*start))
            .collect();
        let in_record = |token: &Token| {
            let behind = finder
                .records
                .partition_point(|r| r.range.start <= token.range.start);
            behind > 0
                && finder.records[behind - 1]
                    .range
                    .contains(&token.range.start)
        };
        let tokens = visible(&finder.lexed.code, &hidden)
            .into_iter()
            .filter(|token| !in_record(token))
            .cloned()
            .collect();
        Self {
            configuration: configuration.clone(),
            tokens,
            records,
            tree: OnceCell::new(),
            macro_arguments: OnceCell::new(),
        }
    }

    /// The syntax tree of what is visible.
    pub(super) fn tree(&self, finder: &Finder<'_>) -> &SyntaxTree {
        self.tree.get_or_init(|| {
            let hidden = finder.hidden(&self.configuration);
            SyntaxTree::parse(&finder.source.text, &hidden, &finder.grammar)
        })
    }

    /// The index of the first visible token from an offset on.
    pub(super) fn token_from(&self, offset: usize) -> usize {
        self.tokens
            .partition_point(|token| token.range.start < offset)
    }

    /// The index behind the last token of the statement that begins at a token.
    pub(super) fn match_statement(&self, finder: &Finder<'_>, first: usize) -> Option<usize> {
        let directives: Vec<usize> = self.records.iter().map(|(_, start)| *start).collect();
        let matcher = Matcher {
            text: &finder.source.text,
            tokens: &self.tokens,
            directives: &directives,
        };
        matcher.statement(first)
    }

    /// Whether a token stands in parentheses that may be a macro's: no line of
    /// ours may stand there. Those of a statement expression are not, nor are
    /// those of a C++ call with a lambda, unless the name looks like a macro's.
    pub(super) fn in_macro_argument(&self, finder: &Finder<'_>, at: usize) -> bool {
        if finder.preprocessed {
            return false;
        }
        let arguments = self
            .macro_arguments
            .get_or_init(|| self.find_macro_arguments(finder));
        arguments.get(at).copied().unwrap_or_default()
    }

    /// For every token, whether it stands in parentheses of that kind.
    fn find_macro_arguments(&self, finder: &Finder<'_>) -> Vec<bool> {
        // Each open bracket, and whether a macro's argument may begin there.
        let mut open: Vec<(u8, bool)> = Vec::new();
        let mut inside = Vec::with_capacity(self.tokens.len());
        for (index, token) in self.tokens.iter().enumerate() {
            let in_expression = finder.language == Language::Cxx
                && open.last().is_some_and(|(bracket, _)| *bracket != b'{');
            inside.push(in_expression || open.iter().any(|(_, suspicious)| *suspicious));
            match token.kind {
                TokenKind::Punctuation(bracket @ (b'(' | b'[' | b'{')) => {
                    let suspicious = bracket == b'(' && !self.is_harmless(finder, index);
                    open.push((bracket, suspicious));
                }
                TokenKind::Punctuation(close @ (b')' | b']' | b'}')) => {
                    // What does not pair is skipped, so that one stray bracket
                    // does not reach through the rest of the file.
                    let partner = open
                        .iter()
                        .rposition(|(bracket, _)| *bracket == opening(close));
                    if let Some(partner) = partner {
                        open.truncate(partner);
                    }
                }
                _ => {}
            }
        }
        inside
    }

    fn is_harmless(&self, finder: &Finder<'_>, open: usize) -> bool {
        let name = self.name_before(finder, open);
        match finder.language {
            Language::Cxx => !name.is_some_and(|name| may_be_macro(finder, &name)),
            // `({`, unless a name in front makes it a call.
            _ => {
                self.tokens.get(open + 1).is_some_and(|next| next.is(b'{'))
                    && name.is_none_or(|name| name == "return")
            }
        }
    }

    fn name_before(&self, finder: &Finder<'_>, open: usize) -> Option<String> {
        let before = &self.tokens[open.checked_sub(1)?];
        (before.kind == TokenKind::Identifier).then(|| text_of(&finder.source.text, before))
    }
}

/// Macros are written in capitals, or defined in the same file.
fn may_be_macro(finder: &Finder<'_>, name: &str) -> bool {
    let capitals = !name.contains(|c: char| c.is_ascii_lowercase());
    let text = &finder.source.text;
    let mut lines = finder.lexed.lines.iter();
    capitals || lines.any(|line| word(text, line, 0) == "define" && word(text, line, 1) == name)
}

fn opening(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
