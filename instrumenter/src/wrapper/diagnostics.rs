//! Decides which messages are shown: those about the text that was compiled, or those about the
//! user's source. For the latter the source is compiled to the side.
//!
//! | text | said of it |
//! | --- | --- |
//! | any | nothing: nothing is shown |
//! | the source as it is, or with included files in place | is shown, unless it names an inserted line |
//! | with macros expanded, Fortran | the source is compiled; by Clang only checked, if its front end said all |
//!
//! So there is never a warning that the source would not get. A warning that GCC gives only for
//! the source may be lost (about indentation, once the text has a `#line`).

use std::collections::{HashMap, HashSet};

use crate::openmp::Language;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Substitution;
use crate::wrapper::run::{Finished, Runner};
use crate::wrapper::unit::{Needs, Unit};

/// Flags with which messages name lines and columns of the text that was read, whatever `#line`
/// says: fix-its for editors, and remarks of Clang's optimiser.
const PLACES: &[&str] = &[
    "-fdiagnostics-parseable-fixits",
    "-fdiagnostics-print-source-range-info",
    "-Rpass",
];

/// Parts of GCC's messages that may differ from those about the source, though they name a line
/// that both texts have: messages about functions that GCC makes from a construct, and messages
/// for which GCC reads the source file again.
const DOUBTFUL: &[&str] = &["._omp_fn.", "-Wformat"];

/// Whether the compiler's messages about the units' texts are those that it would give for the
/// sources.
pub(crate) fn are_of_source(
    runner: &Runner<'_>,
    line: &CommandLine,
    units: &[&Unit],
    said: &Finished,
) -> bool {
    if runner.settings.exact {
        return false;
    }
    // A text with included files in place is preprocessed once more, so it must get the same
    // messages from the preprocessor again.
    let mut made = units.iter().filter_map(|unit| unit.preprocessed.as_ref());
    if !made.all(|made| runner.says_all_of(&said.stderr, &made.noise)) {
        return false;
    }
    let words = line.words();
    let asks = !words.iter().any(|word| word == "-w");
    if asks && !runner.compiler.family.shows_file && may_govern_nothing(line, units) {
        return false;
    }
    if runner.is_quiet(said) {
        return true;
    }
    let names_places = |word: &str| PLACES.iter().any(|flag| word.starts_with(flag));
    if words
        .iter()
        .any(|word| names_places(&word.to_string_lossy()))
    {
        return false;
    }
    let messages = without_colours(&said.stderr);
    let in_doubt = || DOUBTFUL.iter().any(|part| messages.contains(part)) || lacks_marks(&messages);
    let is_remapped = runner.compiler.family.substitution == Substitution::RemapFile;
    (is_remapped || !in_doubt()) && units.iter().all(|unit| keeps_places(unit, &messages))
}

/// Clang's warnings that come from behind its front end, or while it makes code.
const OF_BACK_END: &[&str] = &[
    "-Watomic-alignment",
    "-Wsync-alignment",
    "-Wsource-mgr",
    "-Wlinker-warnings",
    "-Wpass-failed",
    "-Wframe-larger-than",
    "-Wbackend-plugin",
    "-Winline-asm",
    "-Wattribute-warning",
    "-Wattribute-error",
    "-Wmisexpect",
    "-Wprofile-instr",
    "-Wstack-protector",
];

/// Whether all of Clang's messages come from its front end.
pub(crate) fn are_of_front_end(said: &Finished) -> bool {
    are_all_of_front_end(&without_colours(&said.stderr))
}

fn are_all_of_front_end(messages: &str) -> bool {
    let mut warnings = messages.lines().filter(|line| line.contains("warning: "));
    let is_of_front_end = |line: &str| {
        let flag = line
            .trim_end()
            .strip_suffix(']')
            .and_then(|line| line.rsplit_once('['));
        flag.is_some_and(|(_, flag)| {
            flag.starts_with("-W") && !OF_BACK_END.iter().any(|other| flag.starts_with(other))
        })
    };
    !messages.contains("remark: ") && warnings.all(is_of_front_end)
}

/// Whether a message is about flags, which depend on what the compiler is to make.
pub(crate) fn are_of_flags(said: &Finished) -> bool {
    without_colours(&said.stderr).contains("-Wunused-command-line-argument")
}

/// Whether messages name only lines that a unit's text and the user's files both have.
fn keeps_places(unit: &Unit, messages: &str) -> bool {
    let (text, is_whole) = match &unit.preprocessed {
        _ if unit.language == Language::Fortran => return false,
        Some(made) if made.needs == Needs::Expansion => return false,
        Some(made) => (&made.text, true),
        None => (&unit.text, false),
    };
    let name = unit.text_name();
    let kept: HashSet<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut files: HashMap<&str, Vec<u8>> = HashMap::new();
    messages.lines().filter_map(place).all(|(file, line)| {
        // The compiler has read all other files as the user wrote them.
        if !is_whole && file != name {
            return true;
        }
        let read = || match file == name {
            true => unit.original.clone(),
            false => std::fs::read(file).unwrap_or_default(),
        };
        let written = files.entry(file).or_insert_with(read);
        let mut lines = written.split(|byte| *byte == b'\n');
        let written = lines.nth(line.saturating_sub(1));
        written.is_none_or(|written| kept.contains(written))
    })
}

/// Returns the file and line that a message begins with, or that its `inlined from` line ends
/// with: `a.c:12:3: warning: ...`.
fn place(line: &str) -> Option<(&str, usize)> {
    let line = match line.trim_start().strip_prefix("inlined from ") {
        Some(inlined) => inlined.rsplit_once(" at ")?.1,
        None => line,
    };
    let mut parts = line.split(':');
    Some((parts.next()?, parts.next()?.parse().ok()?))
}

/// Whether a condition or a loop may govern an empty statement on its own line. Clang's warning
/// about that depends on physical lines, and the text may have a `#line` in between.
fn may_govern_nothing(line: &CommandLine, units: &[&Unit]) -> bool {
    let mut in_c = units
        .iter()
        .filter(|unit| unit.language != Language::Fortran);
    in_c.any(|unit| {
        let mut files = unit.headers(line).files();
        files.any(|file| {
            memchr::memchr_iter(b';', file.text()).any(|end| is_empty(file.text(), end))
        })
    })
}

/// Roughly: whether the semicolon at `end` follows the closing parenthesis of a condition or a
/// loop.
fn is_empty(text: &[u8], end: usize) -> bool {
    const HEADS: &[&[u8]] = &[b"if", b"for", b"while", b"switch"];
    const LONGEST: usize = 4096;
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut at = text[..end]
        .iter()
        .rposition(|byte| !blank(byte))
        .unwrap_or(0);
    let mut open = 0;
    loop {
        match text[at] {
            b')' => open += 1,
            b'(' => open -= 1,
            _ => {}
        }
        if open == 0 || at == 0 || end - at > LONGEST {
            break;
        }
        at -= 1;
    }
    let before = text[..at].trim_ascii_end();
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begin = before.iter().rposition(|byte| !part(byte));
    let (rest, word) = before.split_at(begin.map_or(0, |begin| begin + 1));
    // A `while` after a closing brace belongs to a `do`.
    HEADS.contains(&word) && !rest.trim_ascii_end().ends_with(b"}")
}

/// Whether messages show a source line without marks below it. Once a text has a `#line`, GCC
/// takes a macro defined in front of it as defined in another file.
fn lacks_marks(messages: &str) -> bool {
    let gutter = |line: &str| {
        line.split_once(" | ")
            .map(|(gutter, _)| gutter.trim().len())
    };
    let shown = messages.lines().map(gutter);
    let next = shown.clone().skip(1).chain([None]);
    shown
        .zip(next)
        .any(|(line, next)| line > Some(0) && next != Some(0))
}

/// The messages without control sequences for colours (ECMA-48).
fn without_colours(messages: &[u8]) -> String {
    let text = String::from_utf8_lossy(messages);
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        plain + part.get(end.map_or(0, |end| end + 1)..).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_may_be_empty_are_found() {
        for (text, expected) in [
            ("if (a);", true),
            ("  while (f(a, (b))) ;", true),
            ("for (;;)\t;", true),
            ("if (a)\n  ;", false),
            ("f(a);", false),
            ("x = if_(a);", false),
            ("do { f(); } while (a);", false),
            (");", false),
            (";", false),
        ] {
            let found = memchr::memchr_iter(b';', text.as_bytes());
            let found = found.into_iter().any(|end| is_empty(text.as_bytes(), end));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn places_are_read_from_all_that_names_them() {
        for (line, expected) in [
            ("a.c:4:5: warning: b [-Wb]", Some(("a.c", 4))),
            ("a.c:4: note: b", Some(("a.c", 4))),
            ("    inlined from 'g' at a.c:6:1:", Some(("a.c", 6))),
            ("a.c: In function 'f':", None),
            ("gcc: warning: a flag", None),
        ] {
            assert_eq!(place(line), expected);
        }
        assert_eq!(without_colours(b"\x1b[1ma.c:6:5:\x1b[K d"), "a.c:6:5: d");
    }

    #[test]
    fn messages_from_behind_the_front_end_are_known() {
        for (messages, expected) in [
            ("", true),
            (
                "a.c:4:5: warning: b [-Wb]\n  int b;\n1 warning generated.\n",
                true,
            ),
            ("a.c:4:5: warning: b\n", false),
            (
                "a.c:4:5: warning: loop not unrolled [-Wpass-failed=transform-warning]\n",
                false,
            ),
            (
                "a.c:4:5: warning: c [-Wc]\nwarning: frame [-Wframe-larger-than]\n",
                false,
            ),
            ("a.c:4:5: remark: inlined [-Rpass=inline]\n", false),
        ] {
            assert_eq!(are_all_of_front_end(messages), expected, "{messages}");
        }
    }

    #[test]
    fn a_line_without_marks_is_noticed() {
        let said = "a.c:4:5: warning: b [-Wb]\n    4 | int b;\n";
        assert!(lacks_marks(said));
        assert!(lacks_marks(&format!("{said}  +++ |+#include <b.h>\n")));
        assert!(!lacks_marks(&format!("{said}      |     ^\n")));
        assert!(!lacks_marks("a.c:4:5: warning: b\n"));
    }
}
