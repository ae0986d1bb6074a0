//! What the syntax tree says. tree-sitter sees only what the lexer lets it see;
//! byte offsets stay those of the source.

use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Point, Tree};

use super::lexer::{Token, TokenKind, lex_part};
use super::text_of;
use crate::find::Function;
use crate::source::LineIndex;

/// Error recovery has no bound by design; past this the tokens decide.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The tree of one configuration.
pub(super) struct SyntaxTree {
    tree: Option<Tree>,
}

/// What the tree says about the end of a construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeAnswer {
    /// Its statement is free of errors and ends here.
    Ends(usize),
    /// There is no such statement, or one with errors.
    Unknown,
}

impl SyntaxTree {
    /// Parses everything but `hidden`, which is sorted and disjoint.
    pub(super) fn parse(
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
    pub(super) fn statement_end(&self, from: usize, start: usize) -> TreeAnswer {
        let Some(node) = self.statement_at(start) else {
            return TreeAnswer::Unknown;
        };
        let clean = !node.has_error() && !self.has_error_between(from, start);
        if clean {
            TreeAnswer::Ends(node.end_byte())
        } else {
            TreeAnswer::Unknown
        }
    }

    fn statement_at(&self, start: usize) -> Option<Node<'_>> {
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

    /// The number of nodes in error.
    pub(super) fn error_count(&self) -> usize {
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

    /// The function around an offset.
    pub(super) fn function_at(&self, text: &[u8], offset: usize) -> Option<Function> {
        let root = self.tree.as_ref()?.root_node();
        let mut node = root.descendant_for_byte_range(offset, offset)?;
        while node.kind() != "function_definition" {
            node = node.parent()?;
        }
        let declarator = node.child_by_field_name("declarator")?;
        let name = function_name(declarator)?;
        Some(Function {
            name: String::from_utf8_lossy(&text[name.byte_range()]).into_owned(),
            maybe_extern_inline: maybe_extern_inline(
                text,
                node.start_byte()..declarator.start_byte(),
            ),
        })
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

fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement") || matches!(kind, "declaration" | "for_range_loop")
}

/// The identifier that a function declarator declares.
fn function_name(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        match node.kind() {
            "identifier"
            | "field_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name" => return Some(node),
            _ => {
                let inner = node.child_by_field_name("declarator");
                node = inner.or_else(|| node.named_child(0))?;
            }
        }
    }
}

/// Whether the specifiers of a function may make it `inline` with external
/// linkage. A macro may hide the keyword: two words that could be a type are
/// one too many to be sure.
pub(super) fn maybe_extern_inline(text: &[u8], specifiers: Range<usize>) -> bool {
    let words: Vec<String> = lex_part(text, specifiers)
        .iter()
        .filter(|token: &&Token| token.kind == TokenKind::Identifier)
        .map(|token| text_of(text, token))
        .collect();
    let says = |keyword: &str| words.iter().any(|word| word.trim_matches('_') == keyword);
    if says("static") {
        return false;
    }
    says("inline")
        || words
            .iter()
            .filter(|word| !is_plain_specifier(word))
            .count()
            > 1
}

/// Keywords that never stand for `inline`.
fn is_plain_specifier(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool",
        "_Complex", "struct", "union", "enum", "const", "volatile", "restrict", "extern",
    ];
    KEYWORDS.contains(&word)
}
