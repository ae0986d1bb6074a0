//! A source as one configuration of its conditionals shows it.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use super::brackets::Brackets;
use super::directives::Record;
use super::groups::{Configuration, visible};
use super::items::{Around, Items};
use super::lexer::{Token, TokenKind};
use super::matcher::{Matched, Matcher};
use super::tree::function_at;
use super::{Finder, text_of};
use crate::find::tree::SyntaxTree;
use crate::find::{Function, Placement};
use crate::openmp::Language;

/// What is visible; the expensive parts are made when they are asked for.
pub(super) struct View {
    pub(super) configuration: Configuration,
    /// Visible code tokens without those of `_Pragma` operators and attributes.
    pub(super) tokens: Rc<Vec<Token>>,
    /// Indices and begins of the visible records.
    pub(super) records: Vec<(usize, usize)>,
    brackets: Brackets,
    items: OnceCell<Items>,
    /// Trees of parts of the text.
    trees: RefCell<Vec<(Range<usize>, Rc<SyntaxTree>)>>,
    macro_arguments: OnceCell<Vec<bool>>,
}

impl View {
    /// The whole text.
    pub(super) fn new(finder: &Finder<'_>, configuration: &Configuration) -> Self {
        Self::part(finder, configuration, 0..finder.source.text.len())
    }

    /// What begins in a part of the text, and the tokens behind it that decide
    /// whether a statement at its end goes on.
    pub(super) fn part(
        finder: &Finder<'_>,
        configuration: &Configuration,
        part: Range<usize>,
    ) -> Self {
        let mut hidden = finder.groups.hidden(configuration);
        if !finder.system.is_empty() {
            hidden.extend(finder.system.iter().cloned());
            hidden.sort_by_key(|range| range.start);
        }
        let tokens = visible_tokens(finder, &hidden, &part);
        Self {
            configuration: configuration.clone(),
            brackets: Brackets::new(&tokens),
            tokens,
            records: visible_records(finder, &hidden, &part),
            items: OnceCell::new(),
            trees: RefCell::default(),
            macro_arguments: OnceCell::new(),
        }
    }

    /// The syntax tree of the part of what is visible that has to be read to
    /// know what stands at an offset.
    pub(super) fn tree(&self, finder: &Finder<'_>, offset: usize) -> Rc<SyntaxTree> {
        let text = &finder.source.text;
        let around = self.items(finder).around(offset);
        let part = around.unwrap_or(0..text.len());
        let mut trees = self.trees.borrow_mut();
        if let Some((_, tree)) = trees.iter().find(|(known, _)| *known == part) {
            return Rc::clone(tree);
        }
        let hidden = finder.hidden(&self.configuration, part.clone());
        let tree = Rc::new(SyntaxTree::parse(text, &hidden, &finder.grammar));
        trees.push((part, Rc::clone(&tree)));
        tree
    }

    /// The function around an offset.
    pub(super) fn function_at(&self, finder: &Finder<'_>, offset: usize) -> Option<Function> {
        let text = &finder.source.text;
        match self.items(finder).function_at(text, offset) {
            Around::Known(function) => function,
            Around::Unclear => function_at(&self.tree(finder, offset), text, offset),
        }
    }

    fn items(&self, finder: &Finder<'_>) -> &Items {
        let text = &finder.source.text;
        let find = || Items::new(text, &self.tokens, &self.brackets, finder.language);
        self.items.get_or_init(find)
    }

    /// The index of the first visible token from an offset on.
    pub(super) fn token_from(&self, offset: usize) -> usize {
        self.tokens.partition_point(|token| token.start() < offset)
    }

    /// The statement that begins at a token.
    pub(super) fn match_statement(&self, finder: &Finder<'_>, first: usize) -> Option<Matched> {
        let matcher = Matcher {
            text: &finder.source.text,
            tokens: &self.tokens,
            brackets: &self.brackets,
            directives: &self.records,
            odd: Cell::new(false),
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
        // Each open bracket, and whether what it holds may be a macro's argument.
        let mut open: Vec<(u8, bool)> = Vec::new();
        // How many of each kind are open.
        let mut count = [0usize; 256];
        let mut inside = Vec::with_capacity(self.tokens.len());
        for (index, token) in self.tokens.iter().enumerate() {
            let in_expression = finder.language == Language::Cxx
                && open.last().is_some_and(|(bracket, _)| *bracket != b'{');
            let in_argument = open.last().is_some_and(|(_, suspicious)| *suspicious);
            inside.push(in_expression || in_argument);
            match token.kind {
                TokenKind::Punctuation(bracket @ (b'(' | b'[' | b'{')) => {
                    let suspicious = bracket == b'(' && !self.is_harmless(finder, index);
                    open.push((bracket, in_argument || suspicious));
                    count[usize::from(bracket)] += 1;
                }
                TokenKind::Punctuation(close @ (b')' | b']' | b'}')) => {
                    // What does not pair is skipped, so that one stray bracket
                    // does not reach through the rest of the file.
                    let partner = opening(close);
                    while count[usize::from(partner)] > 0 {
                        let Some((bracket, _)) = open.pop() else {
                            break;
                        };
                        count[usize::from(bracket)] -= 1;
                        if bracket == partner {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        inside
    }

    fn is_harmless(&self, finder: &Finder<'_>, open: usize) -> bool {
        let name = || self.name_before(finder, open);
        match finder.language {
            Language::Cxx => !name().is_some_and(|name| finder.may_be_macro(&name)),
            // `({`, unless a name in front makes it a call.
            _ => {
                self.tokens.get(open + 1).is_some_and(|next| next.is(b'{'))
                    && name().is_none_or(|name| name == "return")
            }
        }
    }

    fn name_before(&self, finder: &Finder<'_>, open: usize) -> Option<String> {
        let before = &self.tokens[open.checked_sub(1)?];
        (before.kind == TokenKind::Identifier).then(|| text_of(&finder.source.text, before))
    }
}

/// How many tokens behind a statement may be looked at to tell that it ends.
const LOOKAHEAD: usize = 2;

fn visible_tokens(
    finder: &Finder<'_>,
    hidden: &[Range<usize>],
    part: &Range<usize>,
) -> Rc<Vec<Token>> {
    let (code, records) = (&finder.lexed.code, &finder.records);
    let inline = |record: &Record| record.placement == Placement::Inline;
    let all = *part == (0..finder.source.text.len());
    if all && hidden.is_empty() && !records.iter().any(inline) {
        return Rc::clone(code);
    }
    let from = code.partition_point(|token| token.start() < part.start);
    let until = code.partition_point(|token| token.start() < part.end);
    let mut behind = 0;
    let mut in_record = |at: usize| {
        let begun = |record: &Record| record.range.start <= at;
        while records.get(behind).is_some_and(begun) {
            behind += 1;
        }
        behind > 0 && records[behind - 1].range.contains(&at)
    };
    let mut tokens = Vec::with_capacity(until - from + LOOKAHEAD);
    let mut ahead = LOOKAHEAD;
    for token in visible(&code[from..], hidden) {
        if in_record(token.start()) {
            continue;
        }
        if token.start() >= part.end {
            if ahead == 0 {
                break;
            }
            ahead -= 1;
        }
        tokens.push(token.clone());
    }
    Rc::new(tokens)
}

fn visible_records(
    finder: &Finder<'_>,
    hidden: &[Range<usize>],
    part: &Range<usize>,
) -> Vec<(usize, usize)> {
    let shows = |at: usize| !hidden.iter().any(|range| range.contains(&at));
    let records = finder.records.iter().enumerate();
    records
        .map(|(index, record)| (index, record.range.start))
        .skip_while(|(_, start)| *start < part.start)
        .filter(|(_, start)| shows(*start))
        .collect()
}

fn opening(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
