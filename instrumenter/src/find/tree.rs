//! The syntax tree. tree-sitter reads only the parts of the source that are not hidden from it.
//! Its answers are converted to byte offsets of the source.

use std::cell::{Cell, OnceCell};
use std::ops::{ControlFlow, Range};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Tree};

/// The largest number of steps of the parser: a constant, plus a multiple of the number of
/// bytes. Error recovery can take any time; beyond this limit the tokens decide. Steps are
/// counted instead of time, so that the same text always gives the same tree.
const STEPS: usize = 100_000;
const STEPS_PER_BYTE: usize = 8;
/// The number of steps between two reports of the parser.
const STEPS_TOLD: usize = 100;

/// The tree of one configuration.
pub(in crate::find) struct SyntaxTree {
    tree: Option<Tree>,
    shown: Shown,
    is_statement: fn(&str) -> bool,
    /// The nodes that decide where statements end, collected in one walk. A search from the
    /// root would take time in proportion to the text in front of the node.
    nodes: OnceCell<Nodes>,
}

/// The nodes of a tree that decide where statements end, sorted by begin, outer ones first.
#[derive(Debug, Default)]
struct Nodes {
    statements: Vec<Statement>,
    /// Begins and ends of error nodes.
    errors: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Statement {
    start: usize,
    end: usize,
    is_clean: bool,
}

/// What the tree says about the end of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::find) enum TreeAnswer {
    /// Its statement has no errors and ends here.
    Ends(usize),
    /// There is no such statement, or one with errors.
    Unknown,
}

impl SyntaxTree {
    /// Parses a part of a text without `hidden`, which is sorted and disjoint.
    pub(in crate::find) fn parse(
        text: &[u8],
        part: Range<usize>,
        hidden: &[Range<usize>],
        grammar: &tree_sitter::Language,
        is_statement: fn(&str) -> bool,
    ) -> Self {
        let shown = Shown::new(text, part, hidden);
        Self {
            tree: shown.parsed(grammar, &|_| false),
            shown,
            is_statement,
            nodes: OnceCell::new(),
        }
    }

    /// The end of the outermost statement that begins exactly at `start`, unless an error
    /// covers the text from `from` (the directive) to there.
    pub(in crate::find) fn statement_end(&self, from: usize, start: usize) -> TreeAnswer {
        let nodes = self.nodes();
        let first = nodes.statements.partition_point(|node| node.start < start);
        let statement = nodes.statements.get(first);
        let errors = nodes.errors.partition_point(|(begin, _)| *begin < from);
        let errors = &nodes.errors[errors..];
        let mut in_between = errors.iter().take_while(|(begin, _)| *begin == from);
        match statement.filter(|node| node.start == start && node.is_clean) {
            Some(node) if !in_between.any(|(_, end)| *end >= start) => TreeAnswer::Ends(node.end),
            _ => TreeAnswer::Unknown,
        }
    }

    /// Whether an offset is inside an error node.
    pub(in crate::find) fn is_in_error(&self, at: usize) -> bool {
        let errors = &self.nodes().errors;
        let begun = errors.partition_point(|(begin, _)| *begin <= at);
        errors[..begun].iter().any(|(_, end)| *end > at)
    }

    /// The range of a node in the source.
    pub(in crate::find) fn range(&self, node: Node<'_>) -> Range<usize> {
        self.shown.original(node.byte_range())
    }

    fn nodes(&self) -> &Nodes {
        self.nodes.get_or_init(|| {
            let mut nodes = Nodes::default();
            let is_statement = self.tree.as_ref().map_or(Vec::new(), |tree| {
                let grammar = tree.language();
                let ids = 0..u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
                let kind = |id| grammar.node_kind_for_id(id).is_some_and(self.is_statement);
                ids.map(kind).collect()
            });
            self.walk(|node| {
                let Range { start, end } = self.range(node);
                if node.is_error() {
                    nodes.errors.push((start, end));
                }
                let kind = usize::from(node.kind_id());
                if is_statement.get(kind).copied().unwrap_or_default() {
                    nodes.statements.push(Statement {
                        start,
                        end,
                        is_clean: !node.has_error(),
                    });
                }
                true
            });
            nodes
        })
    }

    /// Visits the nodes, outer ones first. The nodes inside one are visited only if `visit`
    /// returns true for it.
    pub(in crate::find) fn walk<'t>(&'t self, mut visit: impl FnMut(Node<'t>) -> bool) {
        let Some(tree) = &self.tree else { return };
        let mut cursor = tree.walk();
        loop {
            if visit(cursor.node()) && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }
}

/// Whether the grammar finds an error in a part of a text without `hidden`. The text is read up
/// to the first error. None if that takes too long.
pub(in crate::find) fn has_errors(
    text: &[u8],
    part: Range<usize>,
    hidden: &[Range<usize>],
    grammar: &tree_sitter::Language,
) -> Option<bool> {
    let found = Cell::new(false);
    let stop = |state: &ParseState| {
        found.set(state.has_error());
        found.get()
    };
    let tree = Shown::new(text, part, hidden).parsed(grammar, &stop);
    let has_errors = tree.map(|tree| tree.root_node().has_error());
    has_errors.or(found.get().then_some(true))
}

/// The text for the parser: the visible parts, joined. The parser could also read ranges of the
/// source, but then it would go through all ranges before each token.
struct Shown {
    bytes: Vec<u8>,
    /// The begin of each part, here and in the source.
    parts: Vec<(usize, usize)>,
}

impl Shown {
    /// A part of a text without `hidden`.
    fn new(text: &[u8], part: Range<usize>, hidden: &[Range<usize>]) -> Self {
        let mut shown = Self {
            bytes: Vec::with_capacity(part.len()),
            parts: Vec::new(),
        };
        let mut from = part.start;
        let behind = std::iter::once(part.end..part.end);
        for gap in hidden.iter().cloned().chain(behind) {
            let until = gap.start.min(part.end);
            if until > from {
                shown.parts.push((shown.bytes.len(), from));
                shown.bytes.extend_from_slice(&text[from..until]);
            }
            from = from.max(gap.end);
        }
        shown
    }

    /// The range in the source of a range of the visible text.
    fn original(&self, range: Range<usize>) -> Range<usize> {
        let offset = |at: usize| {
            let begun = self.parts.partition_point(|(begin, _)| *begin <= at);
            let part = begun.checked_sub(1).map(|last| self.parts[last]);
            part.map_or(at, |(begin, original)| original + (at - begin))
        };
        let start = offset(range.start);
        match range.is_empty() {
            true => start..start,
            false => start..offset(range.end - 1) + 1,
        }
    }

    /// The tree, unless `stop` ends the parser before.
    fn parsed(
        &self,
        grammar: &tree_sitter::Language,
        stop: &dyn Fn(&ParseState) -> bool,
    ) -> Option<Tree> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        let mut left = (STEPS + STEPS_PER_BYTE * self.bytes.len()) / STEPS_TOLD;
        let mut within_limit = |state: &ParseState| {
            left = left.saturating_sub(1);
            match left == 0 || stop(state) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let options = ParseOptions::new().progress_callback(&mut within_limit);
        let mut read = |at: usize, _: Point| self.bytes.get(at..).unwrap_or_default();
        parser.parse_with_options(&mut read, None, Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_found_again() {
        let text = b"ab#line\ncd##e";
        let shown = Shown::new(text, 1..text.len(), &[0..0, 2..7, 10..12]);
        assert_eq!(shown.bytes, b"b\ncde");
        assert_eq!(shown.original(0..1), 1..2);
        assert_eq!(shown.original(1..4), 7..10);
        assert_eq!(shown.original(3..5), 9..13);
        assert_eq!(shown.original(5..5), 13..13);
    }
}
