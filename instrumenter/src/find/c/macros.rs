//! The macros that a file defines, as far as extents depend on them.

use std::collections::HashSet;

use super::conditionals::word;
use super::lexer::PreprocessorLine;

/// The names of the macros.
#[derive(Debug, Default)]
pub(super) struct Macros {
    /// Macros that are the head of a loop.
    pub(super) heads: HashSet<String>,
    /// Macros that are the head of a condition, to which an `else` may belong.
    pub(super) conditions: HashSet<String>,
    /// All other macros.
    pub(super) statements: HashSet<String>,
}

impl Macros {
    pub(super) fn new(text: &[u8], lines: &[PreprocessorLine]) -> Self {
        let mut macros = Self::default();
        for line in lines.iter().filter(|line| word(text, line, 0) == "define") {
            let kind = match head(text, line).as_deref() {
                Some("if") => &mut macros.conditions,
                Some("for" | "while" | "switch") => &mut macros.heads,
                _ => &mut macros.statements,
            };
            kind.insert(word(text, line, 1).into_owned());
        }
        macros
    }

    pub(super) fn contain(&self, name: &str) -> bool {
        let kinds = [&self.heads, &self.conditions, &self.statements];
        kinds.iter().any(|names| names.contains(name))
    }
}

/// The keyword that a macro's definition begins with:
/// `#define FOREACH(i, n) for (i = 0; i < (n); i++)`
fn head(text: &[u8], line: &PreprocessorLine) -> Option<String> {
    let [_, name, open, ..] = line.tokens.as_slice() else {
        return None;
    };
    let has_parameters = open.is(b'(') && name.end() == open.start();
    let parameters = line.tokens.iter().position(|token| token.is(b')'));
    let first = parameters.filter(|_| has_parameters)?;
    let open_ended = line.tokens.last()?.is(b')');
    open_ended.then(|| word(text, line, first + 1).into_owned())
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    #[test]
    fn heads_are_told_from_other_macros() {
        let text = b"#define A(i) for (;i;)\n#define B(x) f(x)\n#define C (if)\n#define D(x) \\\n \
            while (x) y()\n#define E(x) if (x) { y; }\n#define F(x) if (x)\n";
        let macros = Macros::new(text, &lex(text).lines);
        let names = |names: [&str; 3]| names.map(str::to_owned).into_iter().collect();
        assert_eq!(
            macros.heads,
            HashSet::from(["A".to_owned(), "D".to_owned()])
        );
        let statements: HashSet<String> = names(["B", "C", "E"]);
        assert_eq!(macros.statements, statements);
        assert_eq!(macros.conditions, HashSet::from(["F".to_owned()]));
        assert!(macros.contain("A") && macros.contain("E") && !macros.contain("G"));
    }
}
