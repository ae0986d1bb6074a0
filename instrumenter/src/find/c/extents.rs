//! Where a construct begins and ends: the tree's answer and the tokens' answer,
//! and what to make of both.

use super::Finder;
use super::groups::{Configuration, visible, word};
use super::lexer::{Token, TokenKind};
use super::matcher::Matcher;
use super::text_of;
use super::tree::{SyntaxTree, TreeAnswer};
use crate::find::{Body, Extent, Placement, Position, SectionBlock};
use crate::openmp::directives::Association;
use crate::openmp::{Directive, Language, Leaf};

/// A source as one configuration of its conditionals shows it.
pub(super) struct View {
    configuration: Configuration,
    /// Visible code tokens without those of `_Pragma` operators.
    tokens: Vec<Token>,
    /// Indices and begins of the visible records.
    records: Vec<(usize, usize)>,
    pub(super) tree: SyntaxTree,
}

impl View {
    pub(super) fn new(finder: &Finder<'_>, configuration: &Configuration) -> Self {
        let tree = SyntaxTree::parse(
            &finder.source.text,
            &finder.hidden(configuration),
            &finder.grammar,
        );
        Self {
            tree,
            ..Self::without_tree(finder, configuration)
        }
    }

    fn without_tree(finder: &Finder<'_>, configuration: &Configuration) -> Self {
        let hidden = finder.groups.hidden(configuration);
        let shows = |at: usize| !hidden.iter().any(|range| range.contains(&at));
        let records: Vec<(usize, usize)> = finder
            .records
            .iter()
            .enumerate()
            .map(|(index, record)| (index, record.range.start))
            .filter(|(_, start)| shows(*start))
            .collect();
        let in_operator = |token: &Token| {
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
            .filter(|token| !in_operator(token))
            .cloned()
            .collect();
        Self {
            configuration: configuration.clone(),
            tokens,
            records,
            tree: SyntaxTree::none(),
        }
    }

    /// The index of the first visible token from an offset on.
    fn token_from(&self, offset: usize) -> usize {
        self.tokens
            .partition_point(|token| token.range.start < offset)
    }

    /// The index behind the last token of the statement that begins at a token.
    fn match_statement(&self, finder: &Finder<'_>, first: usize) -> Option<usize> {
        let directives: Vec<usize> = self.records.iter().map(|(_, start)| *start).collect();
        Matcher {
            text: &finder.source.text,
            tokens: &self.tokens,
            directives: &directives,
        }
        .statement(first)
    }
}

impl Finder<'_> {
    /// The extent of the directive with this index.
    pub(super) fn extent(&self, index: usize, directive: &Directive, view: &View) -> Extent {
        match directive.association() {
            Association::Block | Association::LoopNest => {}
            _ => return Extent::None,
        }
        match self.body(index, directive, view) {
            Ok(body) => Extent::Body(body),
            Err(reason) => Extent::Unclear(reason),
        }
    }

    fn body(&self, index: usize, directive: &Directive, view: &View) -> Result<Body, String> {
        let record = &self.records[index];
        let first = view.token_from(record.range.end);
        let Some(first_token) = view.tokens.get(first) else {
            return Err("nothing follows it".into());
        };
        if self.lexed.code.iter().any(|token| token.is(b'#')) {
            // A line break of ours in front of it would make a directive of it.
            return Err("a # stands inside a line of the file, which is no C".into());
        }
        if self.in_macro_argument(view, first) {
            return Err("it stands inside parentheses, perhaps a macro's argument".into());
        }
        let end = self.agreed_end(record.range.end, view, first)?;
        let last = view.token_from(end) - 1;
        self.check_macros(view, first..last + 1)?;
        self.check_branches(record.range.start, view, first, end)?;
        let begin = self.begin(record.range.end, first_token, view);
        let guarded = self
            .branches(record.range.start)
            .iter()
            .any(|branch| branch.end <= end);
        let sections = match directive.has_leaf(Leaf::Sections) {
            true => self.sections(view, first..last)?,
            false => Vec::new(),
        };
        let end_position = Position {
            at: end,
            line_start: false,
        };
        Ok(Body {
            range: begin.at..end,
            begin,
            end: end_position,
            sections,
            guarded,
        })
    }

    /// The end on which tree and tokens agree, or what the tokens say where the
    /// tree is in error.
    fn agreed_end(&self, from: usize, view: &View, first: usize) -> Result<usize, String> {
        let start = view.tokens[first].range.start;
        let tokens_say = view
            .match_statement(self, first)
            .map(|behind| view.tokens[behind - 1].range.end);
        match (view.tree.statement_end(from, start), tokens_say) {
            (TreeAnswer::Ends(tree), Some(tokens)) if tree == tokens => Ok(tree),
            (TreeAnswer::Unknown, Some(tokens)) => Ok(tokens),
            (TreeAnswer::Ends(_), _) => {
                Err("two ways of finding its end do not agree, so it is not touched".into())
            }
            (TreeAnswer::Unknown, None) => Err("where it ends can't be told".into()),
        }
    }

    /// Whether a token stands in parentheses that may be a macro's: no line of
    /// ours may stand there. Those of a statement expression are not, nor are
    /// those of a C++ call with a lambda, unless the name looks like a macro's.
    fn in_macro_argument(&self, view: &View, at: usize) -> bool {
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in view.tokens[..at].iter().enumerate() {
            match token.kind {
                TokenKind::Punctuation(b'(' | b'[' | b'{') => open.push(index),
                TokenKind::Punctuation(close @ (b')' | b']' | b'}')) => {
                    // What does not pair is skipped, so that one stray bracket
                    // does not reach through the rest of the file.
                    let pairs = |index: &usize| view.tokens[*index].is(opening(close));
                    if let Some(partner) = open.iter().rposition(pairs) {
                        open.truncate(partner);
                    }
                }
                _ => {}
            }
        }
        let innermost_is_block = open.last().is_none_or(|index| view.tokens[*index].is(b'{'));
        let parentheses = open.iter().filter(|index| view.tokens[**index].is(b'('));
        let harmless = |index: &usize| match self.language {
            Language::Cxx => innermost_is_block && !self.may_be_macro_call(view, *index),
            _ => self.opens_statement_expression(view, *index),
        };
        !parentheses.copied().all(|index| harmless(&index))
    }

    /// `({`, unless a name in front makes it a call.
    fn opens_statement_expression(&self, view: &View, open: usize) -> bool {
        let is_call = self
            .name_before(view, open)
            .is_some_and(|name| name != "return");
        view.tokens.get(open + 1).is_some_and(|next| next.is(b'{')) && !is_call
    }

    /// Macros are written in capitals, or defined in the same file.
    fn may_be_macro_call(&self, view: &View, open: usize) -> bool {
        self.name_before(view, open).is_some_and(|name| {
            let capitals = !name.contains(|c: char| c.is_ascii_lowercase());
            capitals
                || self.lexed.lines.iter().any(|line| {
                    word(&self.source.text, line, 0) == "define"
                        && word(&self.source.text, line, 1) == name
                })
        })
    }

    fn name_before(&self, view: &View, open: usize) -> Option<String> {
        let before = &view.tokens[open.checked_sub(1)?];
        (before.kind == TokenKind::Identifier).then(|| text_of(&self.source.text, before))
    }

    /// Macros with unbalanced braces make tokens and tree wrong alike.
    fn check_macros(&self, view: &View, tokens: std::ops::Range<usize>) -> Result<(), String> {
        if self.brace_macros.is_empty() {
            return Ok(());
        }
        let text = &self.source.text;
        let used = view.tokens[tokens].iter().map(|token| text_of(text, token));
        match used
            .into_iter()
            .find(|name| self.brace_macros.contains(name))
        {
            Some(name) => Err(format!(
                "the macro {name} hides a brace; preprocess the file first"
            )),
            None => Ok(()),
        }
    }

    /// Every other choice of the conditionals that overlap the construct must
    /// give the same end.
    fn check_branches(
        &self,
        start: usize,
        view: &View,
        first: usize,
        end: usize,
    ) -> Result<(), String> {
        let from = view.tokens[first].range.start;
        for (number, group) in self.groups.groups.iter().enumerate() {
            let overlaps = group.range.start < end && group.range.end > start;
            if !overlaps || group.branch_of(start).is_some() {
                continue;
            }
            for choice in group
                .choices()
                .filter(|choice| *choice != view.configuration[number])
            {
                let mut other = view.configuration.clone();
                other[number] = choice;
                if self.end_in(&other, start, from) != Some(end) {
                    return Err(format!(
                        "it ends in different places in the branches of the conditional at line {}; \
                         preprocess the file first",
                        self.line_of(group.range.start)
                    ));
                }
            }
        }
        Ok(())
    }

    /// The end of the statement behind `start`, by tokens, in a configuration.
    fn end_in(&self, configuration: &Configuration, start: usize, from: usize) -> Option<usize> {
        let view = View::without_tree(self, configuration);
        // The body may begin in a branch of its own.
        let record_end = self
            .records
            .iter()
            .find(|r| r.range.start == start)?
            .range
            .end;
        let first = view.token_from(record_end.min(from));
        let behind = view.match_statement(self, first)?;
        Some(view.tokens[behind - 1].range.end)
    }

    fn line_of(&self, offset: usize) -> u32 {
        crate::source::LineIndex::new(&self.source.text).line(offset)
    }

    /// Where text at the begin of a body goes, given its first token: in front
    /// of the directives that stand between.
    fn begin(&self, after: usize, first: &Token, view: &View) -> Position {
        let next = view.records.partition_point(|(_, start)| *start < after);
        let nested = view
            .records
            .get(next)
            .filter(|(_, start)| *start < first.range.start);
        match nested.map(|(index, _)| &self.records[*index]) {
            Some(record) => match record.placement {
                Placement::Lines { before, .. } => Position {
                    at: before,
                    line_start: true,
                },
                Placement::Inline => Position {
                    at: record.range.start,
                    line_start: false,
                },
            },
            None => match first.line_start {
                Some(at) => Position {
                    at,
                    line_start: true,
                },
                None => Position {
                    at: first.range.start,
                    line_start: false,
                },
            },
        }
    }

    /// The blocks of a `sections` construct whose braces are `braces`.
    fn sections(
        &self,
        view: &View,
        braces: std::ops::Range<usize>,
    ) -> Result<Vec<SectionBlock>, String> {
        let (open, close) = (&view.tokens[braces.start], &view.tokens[braces.end]);
        if !open.is(b'{') || !close.is(b'}') {
            return Err("its block has no braces".into());
        }
        let separators = self.separators(view, braces.clone());
        let mut blocks = Vec::new();
        let mut from = open.range.end;
        let mut directive = None;
        for index in separators {
            let record = &self.records[index];
            blocks.extend(self.section(view, directive, from, record.range.start));
            (directive, from) = (Some(index), record.range.end);
        }
        blocks.extend(self.section(view, directive, from, close.range.start));
        Ok(blocks)
    }

    /// The `section` directives directly inside these braces.
    fn separators(&self, view: &View, braces: std::ops::Range<usize>) -> Vec<usize> {
        let tokens = &view.tokens[braces.clone()];
        let (start, end) = (tokens[0].range.start, view.tokens[braces.end].range.start);
        let depth_at = |offset: usize| {
            tokens
                .iter()
                .take_while(|token| token.range.start < offset)
                .fold(0, |depth, token| {
                    depth + i32::from(token.is(b'{')) - i32::from(token.is(b'}'))
                })
        };
        view.records
            .iter()
            .filter(|(_, at)| (start..end).contains(at))
            .filter(|(index, _)| {
                self.records[*index]
                    .words
                    .first()
                    .is_some_and(|word| word.text == "section")
            })
            .filter(|(_, at)| depth_at(*at) == 1)
            .map(|(index, _)| *index)
            .collect()
    }

    /// The block between two separators, unless it is empty.
    fn section(
        &self,
        view: &View,
        directive: Option<usize>,
        from: usize,
        to: usize,
    ) -> Option<SectionBlock> {
        let tokens = &view.tokens[view.token_from(from)..view.token_from(to)];
        let records = view
            .records
            .iter()
            .filter(|(_, at)| (from..to).contains(at));
        let last_record = records.last().map(|(index, _)| &self.records[*index]);
        let last_token = tokens.last().map(|token| token.range.end);
        let first = tokens.first()?;
        let begin = self.begin(from, first, view);
        let end = match last_record.filter(|record| Some(record.range.end) > last_token) {
            // It ends with a directive that stands alone.
            Some(record) => match record.placement {
                Placement::Lines { after, .. } => Position {
                    at: after,
                    line_start: true,
                },
                Placement::Inline => Position {
                    at: record.range.end,
                    line_start: false,
                },
            },
            None => Position {
                at: last_token?,
                line_start: false,
            },
        };
        Some(SectionBlock {
            directive,
            range: begin.at..end.at,
            begin,
            end,
        })
    }
}

fn opening(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    }
}
