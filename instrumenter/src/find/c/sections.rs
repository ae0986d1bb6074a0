//! The blocks of a `sections` construct: what stands between its separators.

use super::Finder;
use super::view::View;
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
        let separators = self.separators(view, braces.clone());
        let mut blocks = Vec::new();
        let mut from = open.end();
        let mut directive = None;
        for index in separators {
            let record = &self.records[index];
            blocks.extend(self.section(view, directive, from, record.range.start));
            (directive, from) = (Some(index), record.range.end);
        }
        blocks.extend(self.section(view, directive, from, close.start()));
        Ok(blocks)
    }

    /// The `section` directives directly inside these braces.
    fn separators(&self, view: &View, braces: std::ops::Range<usize>) -> Vec<usize> {
        let tokens = &view.tokens[braces.clone()];
        let (start, end) = (tokens[0].start(), view.tokens[braces.end].start());
        let depth_at = |offset: usize| {
            tokens
                .iter()
                .take_while(|token| token.start() < offset)
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
        let mut records = view
            .records
            .iter()
            .filter(|(_, at)| (from..to).contains(at));
        let last_record = records.next_back().map(|(index, _)| &self.records[*index]);
        let last_token = tokens.last().map(|token| token.end());
        let first = tokens.first()?;
        let begin = self.begin(directive, from, first, view);
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
