//! Where a construct begins and ends: compares the answer of the syntax tree with that of the
//! tokens, and decides.

use std::ops::Range;

use super::Finder;
use super::conditionals::{Configuration, TOO_DEEP};
use super::configuration::View;
use super::lexer::{Token, TokenKind};
use super::{HEADS, is_word};
use crate::find::tree::TreeAnswer;
use crate::find::{Body, Closing, Extent, Placement, Position};
use crate::openmp::directives::Association;
use crate::openmp::{Directive, Leaf};

/// The reason for leaving a directive that stands alone to the compiler in this place (OpenMP
/// 3.1, section 2.8.3, forbids it for `barrier`).
pub(super) const GOVERNED: &str = "a directive without a block of its own must not be all that a condition \
                        or loop governs";

/// The largest number of directives without a statement between them that are examined. A
/// directive behind more of them is not taken for one that may become a statement.
const MOST_IN_A_ROW: usize = 100;

/// An inserted line break in front of the `#` would make it a directive.
const STRAY_HASH: &str = "a # stands inside a line of the file, which is no C";

impl Finder<'_> {
    /// The extent of the directive with this index.
    pub(super) fn extent(&self, index: usize, directive: &Directive, view: &View) -> Extent {
        match directive.association() {
            // Once its sequence is split, the directive would not be governed any more: the
            // statement in front of it would be.
            Association::Block | Association::LoopNest
                if self.follow_statements[index] && self.is_governed(index, view) =>
            {
                return Extent::Unclear(GOVERNED.into());
            }
            Association::Block | Association::LoopNest => {}
            // Braces around it would make compilers accept an error.
            Association::Standalone if self.is_governed(index, view) => {
                return Extent::Unclear(GOVERNED.into());
            }
            Association::Standalone if self.has_stray_hash => {
                return Extent::Unclear(STRAY_HASH.into());
            }
            _ => return Extent::None,
        }
        match self.body(index, directive, view) {
            Ok(body) => Extent::Body(body),
            Err(reason) => Extent::Unclear(reason),
        }
    }

    /// Whether a directive is all that a condition or a loop governs.
    fn is_governed(&self, index: usize, view: &View) -> bool {
        let first = view.token_from(self.records[index].range.start);
        self.is_governed_behind(first, view)
    }

    /// Whether the code that begins with this token is all that a condition or a loop governs.
    fn is_governed_behind(&self, behind: usize, view: &View) -> bool {
        let is = |at: usize, word: &str| is_word(&self.source.text, &view.tokens[at], word);
        let is_any = |at: usize, words: &[&str]| words.iter().any(|word| is(at, word));
        let Some(last) = behind.checked_sub(1) else {
            return false;
        };
        if !is(last, ")") {
            return is_any(last, &["else", "do"]);
        }
        // A closing bracket counts as inside its own pair.
        let head = view.brackets.around(last).filter(|head| is(*head, "("));
        let word = head.and_then(|head| head.checked_sub(1));
        word.is_some_and(|word| is_any(word, HEADS) || is(word, "constexpr"))
    }

    /// Whether a statement in the place of a directive would be all that a condition, a loop or
    /// another directive governs, maybe after labels.
    pub(super) fn is_all_that_is_governed(&self, index: usize, view: &View) -> bool {
        let start = self.records[index].range.start;
        let mut behind = view.token_from(start);
        let in_front = view.tokens[..behind].last().map_or(0, Token::end);
        let nearest = index.saturating_sub(MOST_IN_A_ROW)..index;
        let in_a_row = |other: &usize| self.records[*other].range.start >= in_front;
        let mut others = nearest.rev().take_while(in_a_row);
        let governs = |other: usize| {
            let association = self.association(other);
            let has_body = matches!(
                association,
                Some(Association::Block | Association::LoopNest)
            );
            has_body || index - other == MOST_IN_A_ROW
        };
        if others.any(governs) {
            return true;
        }
        while let Some([name, colon]) = view.tokens[..behind].last_chunk() {
            if !colon.is(b':') || name.kind != TokenKind::Identifier {
                break;
            }
            behind -= 2;
        }
        self.is_governed_behind(behind, view)
    }

    fn body(&self, index: usize, directive: &Directive, view: &View) -> Result<Body, String> {
        let record = &self.records[index];
        let first = view.token_from(record.range.end);
        let Some(first_token) = view.tokens.get(first) else {
            return Err("nothing follows it".into());
        };
        if self.has_stray_hash {
            return Err(STRAY_HASH.into());
        }
        if view.in_macro_argument(self, first) {
            return Err("it stands inside parentheses, perhaps a macro's argument".into());
        }
        let end = self.agreed_end(index, view, first)?;
        let last = view.token_from(end) - 1;
        self.check_macros(view, first..last + 1)?;
        self.check_branches(record.range.start, view, first, end)?;
        let begin = self.begin(Some(index), record.range.end, first_token, view);
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
            outside: end_position,
            closing: Closing::Block,
            sections,
            guarded,
            is_one_construct: self.is_one_construct(record.range.end, view, first..last + 1),
        })
    }

    /// Whether a body is one construct with nothing but braces around it. `after` is the end of the
    /// directive in front of the body's tokens.
    fn is_one_construct(&self, after: usize, view: &View, tokens: Range<usize>) -> bool {
        let end = view.tokens[tokens.end - 1].end();
        let Some(index) = view.directives_in(after..end).next() else {
            return false;
        };
        let record = &self.records[index];
        let inner = view.token_from(record.range.end);
        let opening = tokens.start..view.token_from(record.range.start);
        let has_block = matches!(
            self.association(index),
            Some(Association::Block | Association::LoopNest)
        );
        let are = |part: &Range<usize>, brace| part.clone().all(|at| view.tokens[at].is(brace));
        if !has_block || inner != opening.end || !are(&opening, b'{') {
            return false;
        }
        let Some(matched) = view.match_statement(self, index, inner) else {
            return false;
        };
        let closing = matched.behind..tokens.end;
        let in_front = after..view.tokens[inner].start();
        let behind = view.tokens[matched.behind - 1].end()..end;
        let has_conditional = |part: &Range<usize>| !self.groups.beginning_in(part).is_empty();
        opening.len() == closing.len()
            && are(&closing, b'}')
            && view.directives_in(in_front.clone()).count() == 1
            && view.directives_in(behind.clone()).next().is_none()
            && !has_conditional(&in_front)
            && !has_conditional(&behind)
    }

    /// Returns the end given by the tokens if it is beyond doubt. Otherwise tree and tokens
    /// must agree, or the tree must be in error; then the end given by the tokens counts.
    fn agreed_end(&self, index: usize, view: &View, first: usize) -> Result<usize, String> {
        let from = self.records[index].range.end;
        let start = view.tokens[first].start();
        let matched = view.match_statement(self, index, first);
        let tokens_say = matched.map(|matched| view.tokens[matched.behind - 1].end());
        if let (Some(end), true) = (tokens_say, matched.is_some_and(|matched| matched.plain)) {
            return Ok(end);
        }
        match (
            view.tree(self, start).tree.statement_end(from, start),
            tokens_say,
        ) {
            (TreeAnswer::Ends(tree), Some(tokens)) if tree == tokens => Ok(tree),
            (TreeAnswer::Unknown, Some(tokens)) => Ok(tokens),
            (TreeAnswer::Ends(_), _) => {
                Err("two ways of finding its end do not agree, so it is not touched".into())
            }
            (TreeAnswer::Unknown, None) => Err("where it ends can't be told".into()),
        }
    }

    /// Fails for macros with unbalanced braces: they mislead tokens and tree alike.
    fn check_macros(&self, view: &View, tokens: Range<usize>) -> Result<(), String> {
        if self.brace_macros.is_empty() {
            return Ok(());
        }
        match view.brace_macro(self, tokens) {
            Some(name) => Err(format!(
                "the macro {name} hides a brace; preprocess the file first"
            )),
            None => Ok(()),
        }
    }

    /// Fails unless every other choice of the conditionals that overlap the construct gives the
    /// same end.
    fn check_branches(
        &self,
        start: usize,
        view: &View,
        first: usize,
        end: usize,
    ) -> Result<(), String> {
        if self.groups.is_too_deep(start..end) {
            return Err(TOO_DEEP.replace("around", "in"));
        }
        let from = view.tokens[first].start();
        for number in self.groups.beginning_in(&(start..end)) {
            let group = &self.groups.groups[number];
            if self.is_enclosed(number, view, first) {
                continue;
            }
            let shown = view.configuration[number];
            for choice in group.choices().filter(|choice| *choice != shown) {
                self.allowance.spend(end - start)?;
                let mut other = view.configuration.clone();
                other[number] = choice;
                if !self.ends_at(end, &other, start, from) {
                    return Err(format!(
                        "it ends in different places in the branches of the conditional at line {}; \
                         preprocess the file first",
                        self.lines.line(group.range.start)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether no choice of a conditional changes the end of a statement: each branch closes
    /// the brackets that it opens, and the whole group is inside brackets of the statement.
    fn is_enclosed(&self, number: usize, view: &View, first: usize) -> bool {
        let start = self.groups.groups[number].range.start;
        let around = view.brackets.around(view.token_from(start));
        self.is_balanced(number) && around.is_some_and(|opening| opening >= first)
    }

    /// Whether, in a configuration, the tokens give this end for the statement behind the
    /// record at `start`.
    fn ends_at(
        &self,
        end: usize,
        configuration: &Configuration,
        start: usize,
        from: usize,
    ) -> bool {
        let view = View::part(self, configuration, start..end);
        // In another configuration, the body may begin in a branch of its own.
        let record = self.records.partition_point(|r| r.range.start < start);
        let first = view.token_from(self.records[record].range.end.min(from));
        let matched = view.match_statement(self, record, first);
        matched.is_some_and(|matched| view.tokens[matched.behind - 1].end() == end)
    }

    /// The position for text at the begin of a body: right behind its directive. So everything
    /// in between (nested directives, other pragmas, conditionals) stays with the code that it
    /// belongs to. If there is no directive, or no room behind it, the position is in front of
    /// the first token or of the directives before that token.
    pub(super) fn begin(
        &self,
        directive: Option<usize>,
        after: usize,
        first: &Token,
        view: &View,
    ) -> Position {
        let placement = |index: usize| self.records[index].placement;
        if let Some(Placement::Lines { after: at, .. }) = directive.map(placement) {
            return Position {
                at,
                line_start: true,
            };
        }
        let nested = view.directives_in(after..first.start()).next();
        match nested.map(|index| &self.records[index]) {
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
            None => match first.line_start() {
                Some(at) => Position {
                    at,
                    line_start: true,
                },
                None => Position {
                    at: first.start(),
                    line_start: false,
                },
            },
        }
    }
}
