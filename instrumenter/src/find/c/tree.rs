//! Reads information about C and C++ code from the syntax tree.

use std::ops::Range;

use tree_sitter::Node;

use super::lexer::{Token, TokenKind, lex_part};
use super::text_of;
use crate::find::Function;
use crate::find::nested::Nested;
use crate::find::tree::SyntaxTree;

/// The tree of a part of a text.
pub(super) struct PartTree {
    pub(super) tree: SyntaxTree,
    functions: Vec<Option<Function>>,
    /// The ranges of the functions' definitions.
    definitions: Nested,
}

impl PartTree {
    /// Parses a part of a text without `hidden`, which is sorted and disjoint.
    pub(super) fn new(
        text: &[u8],
        part: Range<usize>,
        hidden: &[Range<usize>],
        grammar: &tree_sitter::Language,
    ) -> Self {
        let tree = SyntaxTree::parse(text, part, hidden, grammar, is_statement);
        let (mut functions, mut ranges) = (Vec::new(), Vec::new());
        let definition = grammar.id_for_node_kind("function_definition", true);
        tree.walk(|node| {
            if node.kind_id() == definition {
                functions.push(function(&tree, text, node));
                ranges.push(tree.range(node));
            }
            true
        });
        Self {
            tree,
            functions,
            definitions: Nested::new(ranges),
        }
    }

    /// The function around an offset.
    pub(super) fn function_at(&self, offset: usize) -> Option<Function> {
        self.functions[self.definitions.innermost(offset)?].clone()
    }
}

/// The function of a definition.
fn function(tree: &SyntaxTree, text: &[u8], definition: Node<'_>) -> Option<Function> {
    let declarator = definition.child_by_field_name("declarator")?;
    let name = function_name(declarator)?;
    Some(Function {
        name: on_one_line(&text[tree.range(name)]),
        maybe_extern_inline: maybe_extern_inline(
            text,
            tree.range(definition).start..tree.range(declarator).start,
        ),
    })
}

/// A name in one line, however it is laid out: `A :: \n f` is `A::f`.
pub(super) fn on_one_line(name: &[u8]) -> String {
    let words: Vec<String> = lex_part(name, 0..name.len())
        .iter()
        .map(|token| text_of(name, token))
        .collect();
    let mut line = String::new();
    for word in words {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if is_word(line.chars().last()) && is_word(word.chars().next()) {
            line.push(' ');
        }
        line += &word;
    }
    line
}

/// Whether a node of this kind is a statement.
pub(super) fn is_statement(kind: &str) -> bool {
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

/// Whether the specifiers of a function may make it `inline` with external linkage. A macro may
/// hide the keyword. So of several words that could be a type, one may be such a macro.
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

/// Keywords that are certainly not `inline`.
fn is_plain_specifier(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool",
        "_Complex", "struct", "union", "enum", "const", "volatile", "restrict", "extern",
    ];
    KEYWORDS.contains(&word)
}
