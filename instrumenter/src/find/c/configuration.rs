//! The view of a source in one configuration of its conditionals.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::brackets::Brackets;
use super::conditionals::{Configuration, visible};
use super::items::{EnclosingFunction, Items};
use super::lexer::{Token, TokenKind};
use super::matcher::{MacroKnowledge, Matched, Matcher};
use super::raw_directive::RawDirective;
use super::tree::PartTree;
use super::{Finder, classes, text_of};
use crate::find::{Function, Placement};
use crate::openmp::{Association, Language};

/// The visible parts of a source. The expensive parts are made on first use.
pub(super) struct View {
    pub(super) configuration: Configuration,
    /// Visible code tokens without those of `_Pragma` operators and attributes.
    pub(super) tokens: Rc<Vec<Token>>,
    /// Indices and begins of the visible records.
    pub(super) records: Vec<(usize, usize)>,
    pub(super) brackets: Brackets,
    known: MacroKnowledge,
    items: OnceCell<Items>,
    /// Trees of parts of the text.
    trees: RefCell<HashMap<Range<usize>, Rc<PartTree>>>,
    macro_arguments: OnceCell<Vec<bool>>,
    /// Indices of the tokens that are macros with unbalanced braces, sorted.
    brace_macros: OnceCell<Vec<usize>>,
    /// The `section` directives directly inside the braces that a token opens.
    separators: OnceCell<HashMap<usize, Vec<usize>>>,
}

impl View {
    /// The view of the whole text.
    pub(super) fn new(finder: &Finder<'_>, configuration: &Configuration) -> Self {
        Self::part(finder, configuration, 0..finder.source.text.len())
    }

    /// The view of a part of the text, with the tokens behind it that decide whether a
    /// statement at its end continues.
    pub(super) fn part(
        finder: &Finder<'_>,
        configuration: &Configuration,
        part: Range<usize>,
    ) -> Self {
        let mut hidden = finder.groups.hidden_in(configuration, &part);
        if !finder.system.is_empty() {
            hidden.extend(finder.system_in(&part));
            hidden.sort_by_key(|range| range.start);
        }
        let tokens = visible_tokens(finder, &hidden, &part);
        Self {
            configuration: configuration.clone(),
            brackets: Brackets::new(&tokens),
            records: visible_records(finder, &hidden, &part, &tokens),
            tokens,
            known: MacroKnowledge::default(),
            items: OnceCell::new(),
            trees: RefCell::default(),
            macro_arguments: OnceCell::new(),
            brace_macros: OnceCell::new(),
            separators: OnceCell::new(),
        }
    }

    /// The syntax tree of the part of the visible text that has to be read to understand an
    /// offset.
    pub(super) fn tree(&self, finder: &Finder<'_>, offset: usize) -> Rc<PartTree> {
        let text = &finder.source.text;
        let around = self.items(finder).around(offset);
        let part = around.unwrap_or(0..text.len());
        let mut trees = self.trees.borrow_mut();
        let made = || {
            let hidden = finder.hidden(&self.configuration, part.clone());
            Rc::new(PartTree::new(text, part.clone(), &hidden, &finder.grammar))
        };
        Rc::clone(trees.entry(part.clone()).or_insert_with(made))
    }

    /// The function around an offset.
    pub(super) fn function_at(&self, finder: &Finder<'_>, offset: usize) -> Option<Function> {
        let text = &finder.source.text;
        let function = match self.items(finder).function_at(text, offset) {
            EnclosingFunction::Known(function) => function,
            EnclosingFunction::Unclear => self.tree(finder, offset).function_at(offset),
        };
        let mut function = function?;
        if finder.language == Language::Cxx {
            let at = self.token_from(offset);
            let mut path = classes::around(text, &self.tokens, &self.brackets, at);
            path.push(function.name);
            function.name = path.join("::");
        }
        Some(function)
    }

    pub(super) fn items(&self, finder: &Finder<'_>) -> &Items {
        let text = &finder.source.text;
        let find = || Items::new(text, &self.tokens, &self.brackets, finder.language);
        self.items.get_or_init(find)
    }

    /// The index of the first visible token from an offset on.
    pub(super) fn token_from(&self, offset: usize) -> usize {
        self.tokens.partition_point(|token| token.start() < offset)
    }

    /// The visible directives that begin in a part of the text.
    pub(super) fn directives_in(&self, part: Range<usize>) -> impl Iterator<Item = usize> {
        let from = self
            .records
            .partition_point(|(_, start)| *start < part.start);
        let records = self.records[from..].iter();
        let end = part.end;
        records
            .take_while(move |(_, start)| *start < end)
            .map(|(index, _)| *index)
    }

    /// The statement that begins at a token.
    /// `record` is the directive in front of it.
    pub(super) fn match_statement(
        &self,
        finder: &Finder<'_>,
        record: usize,
        first: usize,
    ) -> Option<Matched> {
        let matcher = Matcher {
            text: &finder.source.text,
            tokens: &self.tokens,
            brackets: &self.brackets,
            directives: &self.records,
            macros: finder.macros(),
            stands_alone: &|record| finder.stands_alone(record),
            loop_nest: finder.association(record) == Some(Association::LoopNest),
            known: &self.known,
        };
        matcher.statement(first)
    }

    /// The first macro with unbalanced braces among some tokens.
    pub(super) fn brace_macro(&self, finder: &Finder<'_>, tokens: Range<usize>) -> Option<String> {
        let text = &finder.source.text;
        let name = |at: &usize| text_of(text, &self.tokens[*at]);
        let hides = |at: &usize| finder.brace_macros.contains(&name(at));
        let all = || (0..self.tokens.len()).filter(hides).collect();
        let macros: &Vec<usize> = self.brace_macros.get_or_init(all);
        let first = macros.partition_point(|at| *at < tokens.start);
        let first = macros.get(first).filter(|at| tokens.contains(at));
        first.map(name)
    }

    /// The `section` directives directly inside the braces that a token opens.
    pub(super) fn separators(&self, finder: &Finder<'_>, open: usize) -> &[usize] {
        let all = self.separators.get_or_init(|| self.all_separators(finder));
        all.get(&open).map_or(&[], Vec::as_slice)
    }

    fn all_separators(&self, finder: &Finder<'_>) -> HashMap<usize, Vec<usize>> {
        let mut separators: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, start) in &self.records {
            let first = finder.records[*index].words.first();
            if first.is_some_and(|word| word.text == "section") {
                let mut around = self.brackets.all_around(self.token_from(*start));
                let braces = around.find(|open| self.tokens[*open].is(b'{'));
                let inside = braces.map(|braces| separators.entry(braces).or_default());
                inside.into_iter().for_each(|inside| inside.push(*index));
            }
        }
        separators
    }

    /// Whether a token is in parentheses that may be a macro's, where no inserted line may
    /// stand. The parentheses of a C statement expression are not a macro's. Neither are those
    /// of a C++ call with a lambda, unless the called name looks like a macro.
    pub(super) fn in_macro_argument(&self, finder: &Finder<'_>, at: usize) -> bool {
        if finder.preprocessed {
            return false;
        }
        let arguments = self
            .macro_arguments
            .get_or_init(|| self.find_macro_arguments(finder));
        arguments.get(at).copied().unwrap_or_default()
    }

    /// For every token, whether it is in such parentheses.
    fn find_macro_arguments(&self, finder: &Finder<'_>) -> Vec<bool> {
        // Each open bracket, and whether its contents may be a macro's argument.
        let mut open: Vec<(u8, bool)> = Vec::new();
        // The number of open brackets of each kind.
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
                    // Brackets that don't pair are skipped, so that one stray bracket does not
                    // affect the rest of the file.
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
            // `({` is a statement expression, unless a name in front makes it a call.
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

/// The number of tokens behind a statement that may be needed to tell that it ends.
const LOOKAHEAD: usize = 2;

fn visible_tokens(
    finder: &Finder<'_>,
    hidden: &[Range<usize>],
    part: &Range<usize>,
) -> Rc<Vec<Token>> {
    let (code, records) = (&finder.lexed.code, &finder.records);
    let inline = |record: &RawDirective| record.placement == Placement::Inline;
    let all = *part == (0..finder.source.text.len());
    if all && hidden.is_empty() && !records.iter().any(inline) {
        return Rc::clone(code);
    }
    let from = code.partition_point(|token| token.start() < part.start);
    let until = code.partition_point(|token| token.start() < part.end);
    let mut behind = 0;
    let mut in_record = |at: usize| {
        let begun = |record: &RawDirective| record.range.start <= at;
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
    tokens: &[Token],
) -> Vec<(usize, usize)> {
    let shows = |at: usize| {
        let next = hidden.partition_point(|range| range.start <= at);
        next == 0 || !hidden[next - 1].contains(&at)
    };
    let records = &finder.records;
    let start = |index: usize| records[index].range.start;
    let from = records.partition_point(|record| record.range.start < part.start);
    // Directives behind the part decide whether a statement at its end continues.
    let end = tokens.last().map_or(0, Token::end).max(part.end);
    let mut ahead = 1;
    (from..records.len())
        .map(|index| (index, start(index)))
        .filter(|(_, start)| shows(*start))
        .take_while(|(_, start)| {
            let within = *start <= end || ahead > 0;
            ahead -= usize::from(*start > end && ahead > 0);
            within
        })
        .collect()
}

fn opening(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
