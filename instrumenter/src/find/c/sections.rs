//! The blocks of a `sections` construct, between its separators.

use super::Finder;
use super::configuration::View;
use crate::find::{Placement, Position, SectionBlock};

impl Finder<'_> {
    /// The blocks of a `sections` construct whose braces are `braces`.
    pub(super) fn sections(
        &self,
        view: &View,
        braces: std::ops::Range<usize>,
    ) -> Result<Vec<SectionBlock>, String> {
        let (open, close) = (&view.tokens[braces.start], &view.tokens[braces.end]);
        if !open.is(b'{') || !close.is(b'}') {
            return Err("its block has no braces".into());
        }
        let mut blocks = Vec::new();
        let mut from = open.end();
        let mut directive = None;
        for index in view.separators(self, braces.start) {
            let record = &self.records[*index];
            blocks.extend(self.section(view, directive, from, record.range.start));
            (directive, from) = (Some(*index), record.range.end);
        }
        blocks.extend(self.section(view, directive, from, close.start()));
        Ok(blocks)
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
        let behind = view.records.partition_point(|(_, at)| *at < to);
        let last_record = behind.checked_sub(1).map(|last| view.records[last]);
        let last_record = last_record.filter(|(_, at)| *at >= from);
        let last_record = last_record.map(|(index, _)| &self.records[index]);
        let last_token = tokens.last().map(|token| token.end());
        let first = tokens.first()?;
        let begin = self.begin(directive, from, first, view);
        let end = match last_record.filter(|record| Some(record.range.end) > last_token) {
            // The block ends with a directive that stands alone.
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
        let end = self.behind_conditionals(from..to, end);
        Some(SectionBlock {
            directive,
            range: begin.at..end.at,
            begin,
            end,
        })
    }

    /// Moves the end of a block behind the conditionals in it. If the end were in one branch,
    /// the other branches would have none.
    fn behind_conditionals(&self, block: std::ops::Range<usize>, end: Position) -> Position {
        let groups = self.groups.beginning_in(&block);
        let ends = groups.map(|number| self.groups.groups[number].range.end);
        let last = ends.filter(|at| *at <= block.end).max();
        match last.filter(|at| *at > end.at) {
            Some(at) => Position {
                at,
                line_start: true,
            },
            None => end,
        }
    }
}
