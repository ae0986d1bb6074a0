//! `--functions`: the flag of ours that has the compiler call the library at the
//! begin and end of each function. No compiler knows it, so that it must not
//! reach one.

use std::ffi::OsString;
use std::path::Path;

use crate::wrapper::command::classify::{CommandLine, Role, Stage};
use crate::wrapper::command::flags::Meaning;
use crate::wrapper::command::steps::is_configure_probe;
use crate::wrapper::settings::Settings;

/// What the compilers call the same.
const FLAG: &str = "-finstrument-functions";

/// What is said where the compiler does not like that.
pub(crate) const REFUSED: &str = "the compiler fails if functions are measured (see above); this \
                                  command is run again, and its functions are not measured";

/// A command in words that the compiler knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    /// With functions; none if this command compiles none.
    pub(crate) with: Option<Vec<OsString>>,
    /// Without.
    pub(crate) without: Vec<OsString>,
    /// Whether it reads a source from standard input, and so runs but once.
    pub(crate) reads_stdin: bool,
}

/// Whether a command measures functions.
pub(crate) fn are_measured(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| word == FLAG)
}

/// Translates a command; none if it needs no translation. Sources without
/// OpenMP are compiled with functions too: those stand on the call paths of
/// others.
pub(crate) fn translated(
    line: &CommandLine,
    settings: &Settings,
    directory: &Path,
    transparent: bool,
) -> Option<Translation> {
    let is_ours = |role: &Role| matches!(role, Role::Known(Meaning::Functions, _));
    let is_asked = line.has(Meaning::Functions);
    let compiles = line.stage() != Stage::Preprocess && line.sources().next().is_some();
    let wanted = (is_asked || settings.functions)
        && !transparent
        && compiles
        && !is_configure_probe(line, directory);
    if !is_asked && !wanted {
        return None;
    }
    let arguments = line.arguments.iter();
    let kept = arguments.filter(|argument| !is_ours(&argument.role));
    let without: Vec<OsString> = kept.flat_map(|of| of.words.iter().cloned()).collect();
    let with = [&[OsString::from(FLAG)], without.as_slice()].concat();
    Some(Translation {
        with: wanted.then_some(with),
        without,
        reads_stdin: line.sources().any(|source| source.name() == "-"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    fn translation(text: &str, settings: &Settings) -> Option<String> {
        let words = translated(&classified(text), settings, Path::new("/p"), false)?;
        let words = words.with.unwrap_or(words.without);
        Some(words.join(&OsString::from(" ")).into_string().unwrap())
    }

    #[test]
    fn the_flag_becomes_that_of_the_compiler() {
        let plain = Settings::default();
        let asked = Settings {
            functions: true,
            ..Settings::default()
        };
        for (text, settings, expected) in [
            ("-c a.c", &plain, None),
            (
                "-c --functions a.c",
                &plain,
                Some("-finstrument-functions -c a.c"),
            ),
            ("-c a.c", &asked, Some("-finstrument-functions -c a.c")),
            ("-E --functions a.c", &plain, Some("-E a.c")),
            ("--functions a.o -o app", &plain, Some("a.o -o app")),
            ("a.o -o app", &asked, None),
            ("-c conftest.c", &asked, None),
        ] {
            let found = translation(text, settings);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
