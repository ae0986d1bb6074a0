//! A source as one configuration of its conditionals shows it.

use std::cell::OnceCell;
use std::ops::Range;

use super::Finder;
use super::directives::Record;
use super::logical::{Logical, logical_lines};
use super::statements::{Statement, statements};
use super::structure::{Item, Span, Structure, structure};
use crate::find::c::groups::Configuration;
use crate::find::tree::SyntaxTree;

/// What is visible, and what it means; the tree is made when it is asked for.
pub(super) struct View {
    pub(super) configuration: Configuration,
    pub(super) lines: Vec<Logical>,
    pub(super) statements: Vec<Statement>,
    /// The logical line of each statement.
    pub(super) line_of: Vec<usize>,
    pub(super) items: Vec<Item>,
    pub(super) structure: Structure,
    tree: OnceCell<SyntaxTree>,
}

impl View {
    /// The whole source; or a part of it and the line that follows.
    pub(super) fn new(
        finder: &Finder<'_>,
        configuration: &Configuration,
        part: Option<Range<usize>>,
    ) -> Self {
        let hidden = finder.groups.hidden(configuration);
        let mut gaps = hidden.iter().peekable();
        let shown = finder.lines.iter().filter(|line| {
            while gaps.next_if(|gap| gap.end <= line.range.start).is_some() {}
            gaps.peek().is_none_or(|gap| line.range.start < gap.start)
        });
        let part = part.unwrap_or(0..usize::MAX);
        let mut behind = false;
        let shown = shown
            .skip_while(|line| line.range.start < part.start)
            .take_while(|line| {
                let stop = behind;
                behind |= line.range.start >= part.end && line.kind.is_read();
                !stop
            });
        let lines = logical_lines(&finder.source.text, shown, finder.form);
        let mut view = Self {
            configuration: configuration.clone(),
            lines,
            statements: Vec::new(),
            line_of: Vec::new(),
            items: Vec::new(),
            structure: Structure::default(),
            tree: OnceCell::new(),
        };
        view.read(finder);
        view
    }

    fn read(&mut self, finder: &Finder<'_>) {
        for (number, line) in self.lines.iter().enumerate() {
            if line.sentinel.is_some() {
                // Between the lines of a statement it has no place of its own.
                let record = finder.record_at(line.range.start);
                let record = record.filter(|_| !line.inside_statement);
                self.items.extend(record.map(Item::Directive));
                continue;
            }
            for statement in statements(line, finder.form) {
                self.items.push(Item::Statement(self.statements.len()));
                self.statements.push(statement);
                self.line_of.push(number);
            }
        }
        self.structure = structure(&self.items, &self.statements, &finder.records);
        self.structure.spans.sort_by_key(|(record, _)| *record);
    }

    /// What a record governs.
    pub(super) fn span(&self, record: usize) -> Result<&Span, &'static str> {
        let spans = &self.structure.spans;
        let at = spans.binary_search_by_key(&record, |(record, _)| *record);
        match at.ok().map(|at| &spans[at].1) {
            Some(Ok(span)) => Ok(span),
            Some(Err(reason)) => Err(reason),
            None => Err("a branch of a conditional hides it"),
        }
    }

    /// The bytes of an item.
    pub(super) fn range(&self, records: &[Record], item: usize) -> Range<usize> {
        match self.items[item] {
            Item::Statement(index) => self.statements[index].range.clone(),
            Item::Directive(index) => records[index].range.clone(),
        }
    }

    /// Where the lines of an item end, behind the newline.
    pub(super) fn after(&self, records: &[Record], item: usize) -> usize {
        match self.items[item] {
            Item::Statement(index) => self.lines[self.line_of[index]].after,
            Item::Directive(index) => records[index].after,
        }
    }

    /// The syntax tree of its statements.
    pub(super) fn tree(&self, finder: &Finder<'_>) -> &SyntaxTree {
        self.tree.get_or_init(|| {
            let text = &finder.source.text;
            let hidden = hidden(text, &self.lines);
            SyntaxTree::parse(text, &hidden, &tree_sitter_fortran::LANGUAGE.into())
        })
    }
}

/// Everything that is no statement: the grammar knows neither fixed form nor
/// directives, and takes comments for parts of what they stand next to.
fn hidden(text: &[u8], lines: &[Logical]) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut from = 0;
    let mut show = |range: Range<usize>| {
        if range.start > from {
            hidden.push(from..range.start);
        }
        from = from.max(range.end);
    };
    for line in lines.iter().filter(|line| line.sentinel.is_none()) {
        line.glued.source_pieces().for_each(&mut show);
        // The newline ends the statement.
        let newline = line.after.saturating_sub(1);
        if line.after <= text.len() && text.get(newline) == Some(&b'\n') {
            show(newline..line.after);
        }
    }
    show(text.len()..text.len());
    hidden
}
