//! `--functions`: Romp's own flag that makes the compiler call the library at the begin and end
//! of each function. No compiler knows the flag, so it must not reach one.

use std::ffi::OsString;
use std::path::Path;

use crate::wrapper::command::classify::{Argument, CommandLine, Role, Stage};
use crate::wrapper::command::steps::is_configure_probe;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::settings::Settings;

/// The compilers' flag for the same thing.
const FLAG: &str = "-finstrument-functions";

/// The warning when the compiler fails with that flag.
pub(crate) const REFUSED: &str = "the compiler fails if functions are measured (see above); this \
                                  command is run again, and its functions are not measured";

/// A command with `--functions` translated to words that the compiler knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Translation {
    /// The words with measured functions; none if this command compiles no functions.
    pub(crate) with: Option<Vec<OsString>>,
    /// The words without measured functions.
    pub(crate) without: Vec<OsString>,
    /// Whether a source is read from standard input, so that the command can run only once.
    pub(crate) reads_stdin: bool,
}

/// Whether a command measures functions.
pub(crate) fn are_measured(words: &[OsString]) -> bool {
    words.first().is_some_and(|word| word == FLAG)
}

/// Translates a command; none if it needs no translation. Functions are measured in sources
/// without OpenMP, too: they may be on the call paths of regions.
pub(crate) fn translated(
    line: &CommandLine,
    settings: &Settings,
    directory: &Path,
    transparent: bool,
) -> Option<Translation> {
    let is_asked = line.has(Meaning::Functions);
    let compiles = line.stage() != Stage::Preprocess && line.sources().next().is_some();
    let wanted = (is_asked || settings.functions)
        && !transparent
        && compiles
        && !is_configure_probe(line, directory);
    if !is_asked && !wanted {
        return None;
    }
    let is_ours = |of: &Argument| matches!(of.role, Role::Known(Meaning::Functions, _));
    let without = line.words_of(|argument| !is_ours(argument));
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
