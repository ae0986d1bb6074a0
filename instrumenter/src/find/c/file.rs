//! A file that is scanned and not rewritten. It is lexed at most once, and branches that are not
//! compiled are left out.

use std::cell::OnceCell;
use std::ops::Range;

use super::conditionals::{Group, Groups};
use super::conditions::deciding;
use super::lexer::{Lexed, lex};
use super::mentions;
use crate::openmp::Language;
use crate::source::UndefinedMacros;

/// Tells whether a macro is known not to be defined.
pub type IsUndefined<'a> = &'a dyn Fn(&str) -> bool;

/// A file of the user's.
#[derive(Clone, Debug)]
pub struct File {
    language: Language,
    text: Vec<u8>,
    lexed: OnceCell<Lexed>,
    /// The conditionals, with nothing known about macros.
    groups: OnceCell<Groups>,
    may_speak: OnceCell<bool>,
}

impl File {
    /// Makes a file of this text.
    #[must_use]
    pub fn new(language: Language, text: Vec<u8>) -> Self {
        Self {
            language,
            text,
            lexed: OnceCell::new(),
            groups: OnceCell::new(),
            may_speak: OnceCell::new(),
        }
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn language(&self) -> Language {
        self.language
    }

    pub(super) fn lexed(&self) -> &Lexed {
        self.lexed.get_or_init(|| lex(&self.text))
    }

    /// Whether the file may mention OpenMP. If not, it need not be lexed.
    pub(super) fn may_speak(&self) -> bool {
        let asked = || mentions::may_speak(&self.text);
        *self.may_speak.get_or_init(asked)
    }

    /// The parts of the file that are not compiled, as far as they affect the text at some
    /// offsets. Only macros that these offsets depend on are looked up.
    pub(super) fn dead(
        &self,
        offsets: impl IntoIterator<Item = usize>,
        is_undefined: IsUndefined<'_>,
    ) -> Dead {
        let lines = &self.lexed().lines;
        let groups =
            |undefined: &UndefinedMacros| Groups::new(&self.text, lines, self.language, undefined);
        let known = self.groups.get_or_init(|| groups(&UndefinedMacros::new()));
        let mut deciding_conditions = vec![0; known.groups.len()];
        for offset in offsets {
            for number in known.around(offset) {
                let branch = known.groups[number].branch_of(offset);
                let branches = branch.map_or(0, |branch| branch + 1);
                deciding_conditions[number] = branches.max(deciding_conditions[number]);
            }
        }
        let conditions = known
            .groups
            .iter()
            .zip(deciding_conditions)
            .flat_map(|(group, count)| self.conditions(group).take(count));
        let mut undefined: UndefinedMacros = conditions.flat_map(deciding).collect();
        undefined.retain(|name| is_undefined(name));
        Dead(match undefined.is_empty() {
            true => known.dead(),
            false => groups(&undefined).dead(),
        })
    }

    /// Whether the text at an offset is compiled, as far as is known.
    pub fn compiles(&self, offset: usize, is_undefined: IsUndefined<'_>) -> bool {
        !self.dead([offset], is_undefined).holds(offset)
    }

    /// The lines of a group that decide which branch is compiled.
    fn conditions(&self, group: &Group) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(group.range.start);
        let begins = begins.chain(group.branches.iter().map(|branch| branch.end));
        let ends = group.branches.iter().map(|branch| branch.start);
        begins.zip(ends).map(|(begin, end)| &self.text[begin..end])
    }
}

/// Parts of a file that are not compiled, in order.
pub(super) struct Dead(Vec<Range<usize>>);

impl Dead {
    pub(super) fn holds(&self, offset: usize) -> bool {
        let next = self.0.partition_point(|part| part.end <= offset);
        self.0.get(next).is_some_and(|part| part.contains(&offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(text: &str, part: &str) -> bool {
        let file = File::new(Language::C, text.as_bytes().to_vec());
        let at = text.find(part).unwrap();
        let is_undefined = |name: &str| matches!(name, "A" | "Z");
        file.dead([at], &is_undefined).holds(at)
    }

    #[test]
    fn branches_that_need_an_undefined_macro_are_dead() {
        for (condition, expected) in [
            ("ifdef A", true),
            ("if A", true),
            ("if defined A", true),
            ("if defined(A) && B > 1", true),
            ("if B && (defined(A))", true),
            ("if (A)", true),
            ("ifdef B", false),
            ("if defined(A) || B", false),
            ("if !defined(A)", false),
            ("if !A", false),
            ("if A == 0", false),
            ("if (A) == (Z)", false),
            ("ifndef A", false),
        ] {
            let text = format!("x\n#{condition}\n#pragma omp barrier\n#endif\ny");
            assert_eq!(dead(&text, "barrier"), expected, "{condition}");
            assert!(!dead(&text, "x") && !dead(&text, "y"));
        }
    }

    #[test]
    fn a_branch_that_is_compiled_excludes_the_next_ones() {
        let text = "#ifndef A\none\n#elif C\ntwo\n#else\n#if 1\nthree\n#endif\n#endif\n";
        assert!(!dead(text, "one") && dead(text, "two") && dead(text, "three"));
    }

    #[test]
    fn only_macros_that_decide_are_asked_for() {
        let text = "#ifdef A\na\n#elif B\nb\n#elif C\nc\n#endif\n#ifdef D\n#endif\n";
        let file = File::new(Language::C, text.as_bytes().to_vec());
        let asked = std::cell::RefCell::new(Vec::new());
        let is_undefined = |name: &str| {
            asked.borrow_mut().push(name.to_owned());
            false
        };
        file.dead(text.find("b\n"), &is_undefined);
        assert_eq!(asked.into_inner(), ["A", "B"]);
    }
}
