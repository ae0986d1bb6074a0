//! The macros on which conditionals depend: the names in conditions, and the places of
//! definitions.

use std::collections::BTreeSet;

/// The names in the conditions of a text that may be macros of a project. Names that begin with
/// an underscore or are written in small letters may be the compiler's own; they are left out.
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

pub(super) const DEFINE: &[u8] = b"define";

/// The macros that a text may define, and the offsets of their definitions.
pub fn definitions(text: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    memchr::memmem::find_iter(text, DEFINE).filter_map(|at| {
        let name = first_word(&text[at + DEFINE.len()..]);
        (!name.is_empty()).then_some((name, at))
    })
}

/// The name that operands begin with; empty if they begin with something else.
pub(super) fn first_word(operands: &[u8]) -> &[u8] {
    let operands = operands.trim_ascii_start();
    let length = operands.iter().take_while(|byte| is_part(**byte)).count();
    &operands[..length]
}

/// The kind and the operands of each line of the preprocessor. If a line is continued, more of
/// the following lines are read, as if they were conditions.
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
    fn definitions_are_found_wherever_they_are() {
        let text = b"#define A\n # define B(x) x\n/* #define C */\n#undef D\n#define EE\n#define A";
        let found: Vec<_> = definitions(text)
            .map(|(name, at)| (str::from_utf8(name).unwrap(), at))
            .collect();
        assert_eq!(
            found,
            [("A", 1), ("B", 13), ("C", 31), ("EE", 53), ("A", 64)]
        );
    }
}
