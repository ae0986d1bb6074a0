//! Where a construct begins and ends: compares the answer of the syntax tree with that of the
//! tokens, and decides.

use std::ops::Range;

use super::classify::StatementKind;
use super::configuration::View;
use super::directives::{DirectiveLines, Meaning};
use super::frames::Wants;
use super::statements::Statement;
use super::structure::{Element, Span};
use super::{Finder, STRAY};
use crate::find::c::conditionals::TOO_DEEP;
use crate::find::tree::TreeAnswer;
use crate::find::{Body, Closing, EndDirective, Extent, Position};
use crate::openmp::directives::Association;
use crate::openmp::{Directive, Leaf};

impl Finder<'_> {
    /// The extent of the directive with this index. The clauses of its end directive are added
    /// to the directive.
    pub(super) fn extent(&self, index: usize, directive: &mut Directive, view: &View) -> Extent {
        match directive.association() {
            Association::Block | Association::LoopNest => {}
            _ => return Extent::None,
        }
        match self.body(index, directive, view) {
            Ok(body) => Extent::Body(body),
            Err(reason) => Extent::Unclear(reason),
        }
    }

    fn body(&self, index: usize, directive: &mut Directive, view: &View) -> Result<Body, String> {
        let record = &self.records[index];
        let span = view.span(index)?;
        self.check_tree(view, span, directive)?;
        let begin = Position {
            at: record.after,
            line_start: true,
        };
        let (closing, end, outside) = match span.end {
            Some(end) => self.ended(view, end, directive)?,
            None => {
                let end = self.behind(view, span.last)?;
                // The continuation line would continue an inserted end directive.
                let is_block = directive.association() == Association::Block;
                if is_block && self.continued.directive_at(end.at) {
                    return Err(STRAY.into());
                }
                (Closing::Omitted, end, end)
            }
        };
        let last = view.range(&self.records, span.last).end;
        let construct_end = span
            .end
            .map_or(last, |end| view.range(&self.records, end).end);
        self.check_branches(index, directive, construct_end)?;
        let guarded = self
            .branches(record.range.start)
            .iter()
            .any(|branch| branch.end <= construct_end);
        let range = match span.last > span.own {
            true => view.range(&self.records, span.own + 1).start..last,
            false => begin.at..begin.at,
        };
        let sections = match directive.has_leaf(Leaf::Sections) {
            true => self.sections(view, span),
            false => Vec::new(),
        };
        Ok(Body {
            range,
            begin,
            end,
            outside,
            closing,
            sections,
            guarded,
            is_one_construct: self.is_one_construct(view, span),
        })
    }

    /// Whether the body of a construct with an end directive is one construct, and nothing else.
    fn is_one_construct(&self, view: &View, span: &Span) -> bool {
        let (Some(end), Some(Element::Directive(index))) = (span.end, view.items.get(span.own + 1))
        else {
            return false;
        };
        let Ok(inner) = view.span(*index) else {
            return false;
        };
        let of = |item: usize| view.range(&self.records, item);
        let last = inner.end.unwrap_or(inner.last);
        let in_front = of(span.own).end..of(inner.own).start;
        let behind = of(last).end..of(end).start;
        let is_empty = |part: &Range<usize>| self.groups.beginning_in(part).is_empty();
        inner.last > inner.own && last + 1 == end && is_empty(&in_front) && is_empty(&behind)
    }

    /// The end of a construct with an end directive. The clauses of the end directive belong to
    /// the construct.
    fn ended(
        &self,
        view: &View,
        end: usize,
        directive: &mut Directive,
    ) -> Result<(Closing, Position, Position), String> {
        let Element::Directive(index) = view.items[end] else {
            return Err("where it ends can't be told".into());
        };
        let record = &self.records[index];
        let Meaning::End(ending) = &record.meaning else {
            return Err("where it ends can't be told".into());
        };
        if let Some(reason) = record.unusable {
            return Err(format!(
                "the directive that ends it can't be used: {reason}"
            ));
        }
        directive.clauses.extend(ending.clauses.iter().cloned());
        let line_start = |at| Position {
            at,
            line_start: true,
        };
        let closing = Closing::Directive(EndDirective {
            range: record.range.clone(),
            words: record.words.clone(),
            name_ranges: ending.name_ranges.clone(),
        });
        Ok((
            closing,
            line_start(record.range.start),
            line_start(record.after),
        ))
    }

    /// The position behind an item: the begin of the next line, or of the next statement in the
    /// same line.
    pub(super) fn behind(&self, view: &View, item: usize) -> Result<Position, String> {
        let next = match view.items[item] {
            Element::Statement(index) => view.statements[index].next_in_line,
            Element::Directive(_) => None,
        };
        if let Some(at) = next {
            return Ok(Position {
                at,
                line_start: false,
            });
        }
        let text = &self.source.text;
        let at = view.after(&self.records, item);
        if at == text.len() && !text.ends_with(b"\n") {
            return Err("the file ends with it".into());
        }
        if self.continued.statement_at(at) {
            return Err(STRAY.into());
        }
        Ok(Position {
            at,
            line_start: true,
        })
    }

    /// Fails if the tree contradicts the tokens about the end of a loop. The tree is asked only
    /// if the tokens leave doubt, since it takes longer than everything else. `cross_check`
    /// always asks it.
    fn check_tree(&self, view: &View, span: &Span, directive: &Directive) -> Result<(), String> {
        let Some((first, last)) = Self::looped(view, span, directive) else {
            return Ok(());
        };
        let (leaves_doubt, _) = view.doubts(first, last);
        match leaves_doubt && self.tree_contradicts(view, span, first, last) {
            false => Ok(()),
            true => Err("two ways of finding its end do not agree, so it is not touched".into()),
        }
    }

    /// The first and the last statement of the loop that a directive governs.
    pub(super) fn looped(
        view: &View,
        span: &Span,
        directive: &Directive,
    ) -> Option<(usize, usize)> {
        if Wants::of(directive, span.end.is_some()) != Some(Wants::Loop) {
            return None;
        }
        match (view.items.get(span.own + 1), view.items[span.last]) {
            (Some(Element::Statement(first)), Element::Statement(last)) => Some((*first, last)),
            // There is another directive in between; its loop is checked on its own.
            _ => None,
        }
    }

    /// Whether the tree gives another end for a loop.
    pub(super) fn tree_contradicts(
        &self,
        view: &View,
        span: &Span,
        first: usize,
        last: usize,
    ) -> bool {
        let (_, hides_loop) = view.doubts(first, last);
        if hides_loop {
            return false;
        }
        let Element::Directive(own) = view.items[span.own] else {
            return false;
        };
        let from = self.records[own].range.end;
        let plain = view.is_plain(first);
        let first = &view.statements[first];
        let tree = view.tree(self);
        let starts = [first.range.start, first.keyword];
        let answer = starts
            .into_iter()
            .map(|start| tree.statement_end(from, start))
            .find(|answer| *answer != TreeAnswer::Unknown);
        let Some(TreeAnswer::Ends(end)) = answer else {
            return false;
        };
        let end = self.source.text[..end].trim_ascii_end().len();
        let at = end.saturating_sub(1);
        !view.statements[last].range.contains(&at) && view.may_end_loop(at, plain)
    }

    /// Fails unless every other choice of the conditionals that overlap the construct gives the
    /// same end.
    fn check_branches(
        &self,
        index: usize,
        directive: &Directive,
        end: usize,
    ) -> Result<(), String> {
        let part = self.records[index].range.start..end;
        // An extent that is counted in statements depends on every statement.
        let any = matches!(Wants::of(directive, false), Some(Wants::Statements(_)));
        let matters = |group: usize| any || self.structural_groups()[group];
        if self.groups.is_too_deep(part.clone()) {
            return Err(TOO_DEEP.replace("around", "in"));
        }
        let alternatives = self
            .conditions
            .alternatives(&self.groups, part.clone(), matters);
        for (number, configuration) in alternatives {
            self.allowance
                .spend(part.len() + self.groups.groups.len())?;
            let view = View::new(self, &configuration, Some(part.clone()));
            if view.end_of(&self.records, index) != Some(end) {
                let group = &self.groups.groups[number].range;
                return Err(format!(
                    "it ends in different places in the branches of the conditional at line {}; \
                     preprocess the file first",
                    self.index.line(group.start)
                ));
            }
        }
        Ok(())
    }

    /// For each conditional, whether the nesting depends on its contents.
    fn structural_groups(&self) -> &[bool] {
        self.structural_groups.get_or_init(|| {
            let groups = self.groups.groups.iter();
            groups
                .map(|group| self.is_structural(&group.range))
                .collect()
        })
    }

    /// Whether the nesting depends on a part of the text.
    fn is_structural(&self, part: &Range<usize>) -> bool {
        let next = self
            .structural
            .partition_point(|line| line.end <= part.start);
        self.structural
            .get(next)
            .is_some_and(|line| line.start < part.end)
    }
}

impl View {
    /// Whether a statement begins a loop that the grammar takes for something else without
    /// seeing an error: `DOI=1,N`.
    pub(super) fn hides_loop(&self, index: usize) -> bool {
        let statement = &self.statements[index];
        let line = &self.lines[self.line_of[index]];
        let keyword = line.tokens.get(statement.tokens.start);
        matches!(statement.kind, StatementKind::Do { .. })
            && keyword.is_some_and(|token| !line.text(token).eq_ignore_ascii_case(b"do"))
    }

    /// Whether the words of a statement show its effect on loops: `do` and `end do` begin and
    /// end a loop, and no other statement does. Loops that end at a label are not plain.
    pub(super) fn is_plain(&self, index: usize) -> bool {
        let statement = &self.statements[index];
        let line = &self.lines[self.line_of[index]];
        let own = line.tokens.get(statement.tokens.clone());
        let mut words = own.unwrap_or_default().iter().map(|token| line.text(token));
        let first = words.next().unwrap_or_default();
        let is = |word: &[u8], text: &str| word.eq_ignore_ascii_case(text.as_bytes());
        let unfinished = own
            .and_then(<[_]>::last)
            .is_some_and(|token| line.text(token) == b",");
        let ends = is(first, "enddo")
            || is(first, "end") && words.next().is_some_and(|word| is(word, "do"));
        match statement.kind {
            StatementKind::Do { label, .. } => label.is_none() && is(first, "do") && !unfinished,
            StatementKind::EndDo => ends,
            _ => !is(first, "do") && !ends,
        }
    }

    /// Whether a loop may end at an offset; `plain` tells whether its head is plain. Behind
    /// code that the grammar does not know, an `end`, a `return` or a label ends any loop for
    /// it.
    fn may_end_loop(&self, offset: usize, plain: bool) -> bool {
        let starts = |statement: &Statement| statement.range.start <= offset;
        let behind = self.statements.partition_point(starts);
        behind.checked_sub(1).is_none_or(|index| {
            let statement = &self.statements[index];
            let ends =
                statement.kind == StatementKind::EndDo || statement.label.is_some() && !plain;
            ends || !self.is_plain(index)
        })
    }

    /// Where the construct of a record ends.
    fn end_of(&self, records: &[DirectiveLines], index: usize) -> Option<usize> {
        let span = self.span(index).ok()?;
        let last = span.end.unwrap_or(span.last);
        Some(self.range(records, last).end)
    }
}
