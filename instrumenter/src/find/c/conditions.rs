//! The macros that decide conditionals: which are named, which a text defines, and
//! what is left of it without those that are known to be absent.

use std::collections::BTreeSet;

use super::groups::Groups;
use super::lexer::lex;
use crate::openmp::Language;
use crate::source::Absent;

const DEFINE: &[u8] = b"define";

/// The names in the conditions of a text that may be macros of a project. What begins
/// with an underscore or is written in small letters may be the compiler's own.
#[must_use]
pub fn deciding(text: &[u8]) -> BTreeSet<String> {
    let conditions = directives(text).filter(|(kind, _)| {
        let kinds: [&[u8]; 6] = [b"if", b"ifdef", b"ifndef", b"elif", b"elifdef", b"elifndef"];
        kinds.contains(kind)
    });
    let names = conditions.flat_map(|(_, operands)| {
        let words = operands.split(|byte| !is_part(*byte));
        words.filter(|word| {
            word.iter().any(u8::is_ascii_uppercase) && word[0] != b'_' && !word[0].is_ascii_digit()
        })
    });
    let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
    names.collect()
}

/// Those of some names that a text may define.
#[must_use]
pub fn defined(text: &[u8], names: &BTreeSet<String>) -> BTreeSet<String> {
    let found = memchr::memmem::find_iter(text, DEFINE).filter_map(|at| {
        let name = first_word(&text[at + DEFINE.len()..]);
        let name = str::from_utf8(name).ok()?;
        names.get(name).cloned()
    });
    found.collect()
}

/// Macros that a text defines if they are not: of a header that is read once, above all.
#[must_use]
pub fn guards(text: &[u8]) -> Vec<&str> {
    let directives: Vec<_> = directives(text).collect();
    let guards = directives.windows(2).filter_map(|pair| match pair {
        [(b"ifndef", asked), (b"define", defined)] => {
            let name = first_word(asked);
            (name == first_word(defined)).then_some(name)
        }
        _ => None,
    });
    guards
        .filter_map(|name| str::from_utf8(name).ok())
        .collect()
}

fn first_word(operands: &[u8]) -> &[u8] {
    let operands = operands.trim_ascii_start();
    let length = operands.iter().take_while(|byte| is_part(**byte)).count();
    &operands[..length]
}

/// A text without the branches that are not compiled if some macros are absent; every
/// line stays where it is.
#[must_use]
pub fn without_dead(text: &[u8], language: Language, absent: &Absent) -> Vec<u8> {
    let lexed = lex(text);
    let groups = Groups::new(text, &lexed.lines, language, absent);
    let mut left = text.to_vec();
    for group in &groups.groups {
        for (branch, _) in group
            .branches
            .iter()
            .zip(&group.dead)
            .filter(|(_, dead)| **dead)
        {
            for byte in left[branch.clone()]
                .iter_mut()
                .filter(|byte| **byte != b'\n')
            {
                *byte = b' ';
            }
        }
    }
    left
}

/// The kind and the operands of each line of the preprocessor; of one that goes on, in
/// the next, more lines are read as if they were conditions too.
fn directives(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = text.split(|byte| *byte == b'\n');
    let mut goes_on = None;
    lines.filter_map(move |line| {
        let begins = line.trim_ascii_start().strip_prefix(b"#");
        let found = match (begins, goes_on) {
            (Some(rest), _) => {
                let rest = rest.trim_ascii_start();
                Some(rest.split_at(first_word(rest).len()))
            }
            (None, Some(kind)) => Some((kind, line)),
            (None, None) => None,
        };
        let continued = line.trim_ascii_end().ends_with(b"\\");
        goes_on = found.filter(|_| continued).map(|(kind, _)| kind);
        found
    })
}

/// Whether a byte may stand in a name.
#[must_use]
pub fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn names_of_projects_decide() {
        let text = b"#ifdef A\n# if defined(B) && \\\n  C_1 > 2\n#elif __GNUC__ || linux || 0X1\n\
                     #define D\n#endif // E\n#ifndef F\nG\n";
        assert_eq!(deciding(text), names(&["A", "B", "C_1", "F"]));
    }

    #[test]
    fn what_guards_a_header_is_found() {
        let text = b"// a\n#ifndef A_H\n# define A_H\n#ifndef B\nint b;\n#define B\n#ifndef C\n#define D\n";
        assert_eq!(guards(text), ["A_H", "B"]);
    }

    #[test]
    fn definitions_are_found_wherever_they_are() {
        let text = b"#define A\n # define B(x) x\n/* #define C */\n#undef D\n#define EE\n";
        let asked = names(&["A", "B", "C", "D", "E"]);
        assert_eq!(defined(text, &asked), names(&["A", "B", "C"]));
    }

    #[test]
    fn branches_that_need_an_absent_macro_are_dead() {
        let absent = names(&["A", "Z"]);
        for (condition, dead) in [
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
            let text = format!("#{condition}\n#pragma omp barrier\n#endif\n");
            let left = without_dead(text.as_bytes(), Language::C, &absent);
            let left = String::from_utf8(left).unwrap();
            assert_eq!(!left.contains("barrier"), dead, "{condition}");
            assert_eq!(left.matches('\n').count(), 3);
        }
        let text = "#ifndef A\n#define B\n#elif C\n#define D\n#else\n#define E\n#endif\n";
        let left = String::from_utf8(without_dead(text.as_bytes(), Language::C, &absent)).unwrap();
        assert!(
            left.contains('B') && !left.contains('D') && !left.contains("#define E"),
            "{left}"
        );
    }
}
