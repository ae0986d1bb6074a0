//! The blocks of a `sections` construct, between its separators.

use super::Finder;
use super::configuration::View;
use super::structure::{Element, Span};
use crate::find::{Position, SectionBlock};

impl Finder<'_> {
    /// The blocks of a `sections` construct. The directive of each is given as
    /// the index of its record.
    pub(super) fn sections(&self, view: &View, span: &Span) -> Vec<SectionBlock> {
        let begins = std::iter::once(span.own).chain(span.sections.iter().copied());
        let ends = span.sections.iter().copied().chain([span.last + 1]);
        begins
            .zip(ends)
            .filter_map(|(from, to)| self.section(view, span, from, to))
            .collect()
    }

    /// The block between the items `from` and `to`. None if it is empty and has no directive.
    fn section(&self, view: &View, span: &Span, from: usize, to: usize) -> Option<SectionBlock> {
        let empty = from + 1 >= to;
        if empty && from == span.own {
            return None;
        }
        let at = |at| Position {
            at,
            line_start: true,
        };
        let next = match to > span.last {
            true => span.end?,
            false => to,
        };
        let range = |item| view.range(&self.records, item);
        let directive = match view.items[from] {
            Element::Directive(record) if from != span.own => Some(record),
            _ => None,
        };
        let begin = view.after(&self.records, from);
        Some(SectionBlock {
            directive,
            range: match empty {
                true => begin..begin,
                false => range(from + 1).start..range(to - 1).end,
            },
            begin: at(begin),
            end: at(range(next).start),
        })
    }
}
