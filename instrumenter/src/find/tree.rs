//! What the syntax tree says. tree-sitter sees only what the lexer lets it see;
//! byte offsets stay those of the source.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Point, Tree};

use crate::source::LineIndex;

/// Error recovery has no bound by design; past this the tokens decide.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The tree of one configuration.
pub(in crate::find) struct SyntaxTree {
    tree: Option<Tree>,
}

/// What the tree says about the end of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::find) enum TreeAnswer {
    /// Its statement is free of errors and ends here.
    Ends(usize),
    /// There is no such statement, or one with errors.
    Unknown,
}

impl SyntaxTree {
    /// Parses everything but `hidden`, which is sorted and disjoint.
    pub(in crate::find) fn parse(
        text: &[u8],
        hidden: &[Range<usize>],
        grammar: &tree_sitter::Language,
    ) -> Self {
        let index = LineIndex::new(text);
        let mut parser = Parser::new();
        let ready = parser.set_language(grammar).is_ok()
            && parser
                .set_included_ranges(&shown(text, hidden, &index))
                .is_ok();
        if !ready {
            return Self { tree: None };
        }
        let began = Instant::now();
        let mut in_time = |_: &tree_sitter::ParseState| {
            if began.elapsed() < TIME_LIMIT {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut in_time);
        let mut read = |at: usize, _: Point| text.get(at..).unwrap_or_default();
        Self {
            tree: parser.parse_with_options(&mut read, None, Some(options)),
        }
    }

    /// The end of the outermost statement that begins exactly at `start`, if
    /// nothing from `from` (the directive) on is in error.
    pub(in crate::find) fn statement_end(
        &self,
        from: usize,
        start: usize,
        is_statement: impl Fn(&str) -> bool,
    ) -> TreeAnswer {
        let Some(node) = self.statement_at(start, is_statement) else {
            return TreeAnswer::Unknown;
        };
        let clean = !node.has_error() && !self.has_error_between(from, start);
        if clean {
            TreeAnswer::Ends(node.end_byte())
        } else {
            TreeAnswer::Unknown
        }
    }

    fn statement_at(&self, start: usize, is_statement: impl Fn(&str) -> bool) -> Option<Node<'_>> {
        let root = self.tree.as_ref()?.root_node();
        let mut node = root.descendant_for_byte_range(start, start)?;
        let mut found = None;
        while node.start_byte() == start {
            if is_statement(node.kind()) {
                found = Some(node);
            }
            node = node.parent()?;
        }
        found
    }

    fn has_error_between(&self, from: usize, to: usize) -> bool {
        let Some(tree) = &self.tree else { return true };
        tree.root_node()
            .descendant_for_byte_range(from, to)
            .is_some_and(|node| node.is_error() && node.start_byte() >= from)
    }

    /// The innermost node around an offset.
    pub(in crate::find) fn node_at(&self, offset: usize) -> Option<Node<'_>> {
        let root = self.tree.as_ref()?.root_node();
        root.descendant_for_byte_range(offset, offset)
    }

    /// The number of nodes in error.
    pub(in crate::find) fn error_count(&self) -> usize {
        let Some(tree) = &self.tree else { return 0 };
        let mut pending = vec![tree.root_node()];
        let mut count = 0;
        while let Some(node) = pending.pop() {
            count += usize::from(node.is_error() || node.is_missing());
            if node.has_error() {
                pending.extend((0..node.child_count()).filter_map(|at| node.child(at)));
            }
        }
        count
    }
}

/// The complement of `hidden`.
fn shown(text: &[u8], hidden: &[Range<usize>], index: &LineIndex) -> Vec<tree_sitter::Range> {
    let point = |at: usize| Point {
        row: index.line(at) as usize - 1,
        column: index.column(at) as usize - 1,
    };
    let mut from = 0;
    let mut shown = Vec::with_capacity(hidden.len() + 1);
    for gap in hidden
        .iter()
        .cloned()
        .chain(std::iter::once(text.len()..text.len()))
    {
        if gap.start > from {
            shown.push(tree_sitter::Range {
                start_byte: from,
                end_byte: gap.start,
                start_point: point(from),
                end_point: point(gap.start),
            });
        }
        from = from.max(gap.end);
    }
    shown
}
