//! The view of a source in one configuration of its conditionals.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use super::Finder;
use super::classify::{Compound, StatementKind};
use super::directives::DirectiveLines;
use super::logical::{Logical, logical_lines};
use super::places::Places;
use super::statements::{Statement, statements};
use super::structure::{Element, Span, Structure, structure};
use crate::find::c::conditionals::Configuration;
use crate::find::nested::Nested;
use crate::find::tree::{SyntaxTree, has_errors};
use crate::source::Form;

/// The visible parts of a source and their structure. The tree is made on first use.
pub(super) struct View {
    pub(super) lines: Vec<Logical>,
    pub(super) statements: Vec<Statement>,
    /// The logical line of each statement.
    pub(super) line_of: Vec<usize>,
    pub(super) items: Vec<Element>,
    pub(super) structure: Structure,
    tree: OnceCell<SyntaxTree>,
    /// The ranges of its program units.
    units: Nested,
    /// For each statement two counts of the statements in front of it: those that leave doubt
    /// about loops, and those that begin a loop in a way that the grammar does not recognise.
    doubts: OnceCell<Vec<(u32, u32)>>,
    /// For each statement, the `if` of the construct that contains it.
    ifs: OnceCell<Vec<Option<usize>>>,
    /// Names of the procedures that the text itself defines, in lower case.
    procedures: OnceCell<HashSet<String>>,
    /// Names of the arrays that are declared, in lower case.
    pub(super) arrays: OnceCell<HashSet<String>>,
    /// The places where statements may be inserted.
    places: OnceCell<Places>,
}

impl View {
    /// The view of the whole source, or of a part and the line that follows it.
    pub(super) fn new(
        finder: &Finder<'_>,
        configuration: &Configuration,
        part: Option<Range<usize>>,
    ) -> Self {
        let part = part.unwrap_or(0..usize::MAX);
        // The line behind the part is read, too.
        let hidden = finder
            .groups
            .hidden_in(configuration, &(part.start..usize::MAX));
        let mut gaps = hidden.iter().peekable();
        let first = finder
            .lines
            .partition_point(|line| line.range.start < part.start);
        let shown = finder.lines[first..].iter().filter(|line| {
            while gaps.next_if(|gap| gap.end <= line.range.start).is_some() {}
            gaps.peek().is_none_or(|gap| line.range.start < gap.start)
        });
        let mut behind = false;
        let shown = shown.take_while(|line| {
            let stop = behind;
            behind |= line.range.start >= part.end && line.kind.is_read();
            !stop
        });
        let lines = logical_lines(&finder.source.text, shown, finder.form);
        let mut view = Self {
            lines,
            statements: Vec::new(),
            line_of: Vec::new(),
            items: Vec::new(),
            structure: Structure::default(),
            tree: OnceCell::new(),
            units: Nested::default(),
            doubts: OnceCell::new(),
            ifs: OnceCell::new(),
            procedures: OnceCell::new(),
            arrays: OnceCell::new(),
            places: OnceCell::new(),
        };
        view.read(finder);
        view
    }

    fn read(&mut self, finder: &Finder<'_>) {
        for (number, line) in self.lines.iter().enumerate() {
            if line.sentinel.is_some() {
                // A directive between the lines of a statement has no place of its own.
                let record = finder.record_at(line.range.start);
                let record = record.filter(|_| !line.inside_statement);
                self.items.extend(record.map(Element::Directive));
                continue;
            }
            for statement in statements(line, finder.form) {
                self.items.push(Element::Statement(self.statements.len()));
                self.statements.push(statement);
                self.line_of.push(number);
            }
        }
        self.structure = structure(&self.items, &self.statements, &finder.records);
        self.structure.spans.sort_by_key(|(record, _)| *record);
        let units = self.structure.units.iter();
        self.units = Nested::new(units.map(|unit| unit.range.clone()));
    }

    /// The innermost program unit around an offset, by its index.
    pub(super) fn unit_at(&self, offset: usize) -> Option<usize> {
        self.units.innermost(offset)
    }

    /// Whether a statement may be put in the place of a directive.
    pub(super) fn takes_statement(&self, offset: usize, form: Form) -> bool {
        let places = self.places.get_or_init(|| {
            let statements = self.statements.iter().zip(&self.line_of);
            let texts = statements.map(|(statement, line)| {
                let text = statement.squeezed(&self.lines[*line], form);
                (statement, text)
            });
            Places::new(&self.structure, texts)
        });
        places.take_statement(offset)
    }

    /// Whether one of the statements `first` to `last` leaves doubt about loops, and whether
    /// one begins a loop in a way that the grammar does not recognise.
    pub(super) fn doubts(&self, first: usize, last: usize) -> (bool, bool) {
        let doubts = self.doubts.get_or_init(|| {
            let mut so_far = (0, 0);
            let mut doubts = vec![so_far];
            for index in 0..self.statements.len() {
                so_far.0 += u32::from(!self.is_plain(index));
                so_far.1 += u32::from(self.hides_loop(index));
                doubts.push(so_far);
            }
            doubts
        });
        let (before, behind) = (doubts[first], doubts[last + 1]);
        (behind.0 > before.0, behind.1 > before.1)
    }

    /// The `if` of the construct that contains a statement.
    pub(super) fn if_of(&self, statement: usize) -> Option<usize> {
        let ifs = self.ifs.get_or_init(|| {
            let mut open = Vec::new();
            let statements = self.statements.iter().enumerate();
            let around = statements.map(|(index, statement)| {
                let around = open.last().copied();
                match statement.kind {
                    StatementKind::Open(Compound::If) => open.push(index),
                    StatementKind::Close(Compound::If) => drop(open.pop()),
                    _ => {}
                }
                around
            });
            around.collect()
        });
        ifs[statement]
    }

    /// Whether the text defines a procedure of this name, and not only an interface for one.
    pub(super) fn defines(&self, name: &str) -> bool {
        let procedures = self.procedures.get_or_init(|| {
            let interfaces = Nested::new(self.structure.interfaces.iter().cloned());
            let in_interface = |at| interfaces.innermost(at).is_some();
            let units = self.structure.units.iter();
            let own = units.filter(|unit| !in_interface(unit.range.start));
            own.filter_map(|unit| unit.head.name.clone()).collect()
        });
        procedures.contains(name)
    }

    /// The span of a record's construct.
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
    pub(super) fn range(&self, records: &[DirectiveLines], item: usize) -> Range<usize> {
        match self.items[item] {
            Element::Statement(index) => self.statements[index].range.clone(),
            Element::Directive(index) => records[index].range.clone(),
        }
    }

    /// The offset behind the lines of an item, including the newline.
    pub(super) fn after(&self, records: &[DirectiveLines], item: usize) -> usize {
        match self.items[item] {
            Element::Statement(index) => self.lines[self.line_of[index]].after,
            Element::Directive(index) => records[index].after,
        }
    }

    /// The syntax tree of its statements.
    pub(super) fn tree(&self, finder: &Finder<'_>) -> &SyntaxTree {
        self.tree.get_or_init(|| {
            let text = &finder.source.text;
            let hidden = hidden(text, &self.lines);
            SyntaxTree::parse(text, 0..text.len(), &hidden, &grammar(), |kind| {
                kind == "do_loop"
            })
        })
    }

    /// Whether the grammar finds an error in its statements.
    pub(super) fn has_errors(&self, text: &[u8]) -> Option<bool> {
        has_errors(text, 0..text.len(), &hidden(text, &self.lines), &grammar())
    }
}

fn grammar() -> tree_sitter::Language {
    tree_sitter_fortran::LANGUAGE.into()
}

/// The parts of the text that are not statements. They are hidden from the grammar: it knows
/// neither fixed form nor directives, and it takes comments for parts of neighbouring code.
/// Carriage returns inside a line are hidden, too: they end a line for the grammar, but not for
/// compilers.
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
        for piece in line.glued.source_pieces() {
            let mut at = piece.start;
            for part in text[piece].split(|byte| *byte == b'\r') {
                show(at..at + part.len());
                at += part.len() + 1;
            }
        }
        // The newline ends the statement.
        let newline = line.after.saturating_sub(1);
        if line.after <= text.len() && text.get(newline) == Some(&b'\n') {
            show(newline..line.after);
        }
    }
    show(text.len()..text.len());
    hidden
}
