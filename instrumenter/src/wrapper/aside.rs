//! What the compiler says about the user's source, where it would say something
//! else of the text that it was given, or of another place.

use std::path::{Path, PathBuf};

use super::attempt::Job;
use super::classify::{CommandLine, Stage};
use super::compilers::{Family, Substitution};
use super::flags::Meaning;
use super::merged::merged;
use super::outputs;
use super::preprocessed::check;
use super::run::{Outcome, Output};
use super::said::{Text, lacks_marks, needs_whole, without_colours};
use super::unit::Unit;
use crate::openmp::Language;

/// Messages that name places as they are in the text that was read, whatever
/// `#line` says: corrections for editors, and remarks of Clang's optimiser.
const PLACES: &[&str] = &[
    "-fdiagnostics-parseable-fixits",
    "-fdiagnostics-print-source-range-info",
    "-Rpass",
];

/// Parts of messages that GCC words differently once a text has `#line` in it: it
/// reads the source again to point into a string, and does so only where it is
/// sure to read the same file.
const REREAD: &[&[u8]] = &[b"-Wformat"];

/// Languages in which messages have the usual form: a place, then what is said there.
const USUAL: &[Language] = &[Language::C, Language::Cxx];

/// Words that have the linker write another file.
const LINKER_WRITES: &[&[u8]] = &[
    b"-Map",
    b"--Map",
    b"-dependency-file",
    b"--dependency-file",
    b"-out-implib",
    b"--out-implib",
];

/// Whether a command says, in a message, where in the user's source it is not
/// sure to say the same of ours.
pub(crate) fn tells_otherwise(family: &Family, line: &CommandLine, messages: &[u8]) -> bool {
    !messages.is_empty() && (names_places(line) || rereads(family, messages))
}

/// Whether there may be a message that is worded differently.
fn rereads(family: &Family, messages: &[u8]) -> bool {
    let holds = |part: &&[u8]| messages.windows(part.len()).any(|found| found == *part);
    family.substitution == Substitution::TemporaryFile && REREAD.iter().any(holds)
}

/// Whether the messages of a command may name places in our text.
fn names_places(line: &CommandLine) -> bool {
    let words = line.words();
    let mut flags = words.iter().map(|word| word.to_string_lossy());
    flags.any(|word| PLACES.iter().any(|flag| word.starts_with(flag)))
}

/// What the compiler would say of the source of a command that was accepted, if its
/// front end can tell.
pub(crate) fn told_by_front_end(
    job: &Job<'_>,
    line: &CommandLine,
    units: &[&Unit],
    said: &Outcome,
) -> Option<Vec<u8>> {
    let [unit] = units else { return None };
    let family = job.runner.compiler.family;
    let hopeless = names_places(line) || needs_whole(&without_colours(&said.stderr));
    if !USUAL.contains(&unit.language) || hopeless {
        return None;
    }
    let mut is_same = sameness(family, unit)?;
    let of_source = check(&job.runner, line, unit).ok()?;
    let text = str::from_utf8(&said.stderr).ok()?;
    let source = str::from_utf8(&of_source.stderr).ok()?;
    let same = |messages: &str| !rereads(family, messages.as_bytes()) && is_same(messages);
    let told = merged(text, source, same).filter(|_| of_source.success());
    told.map(String::into_bytes)
}

/// Tells of messages.
type Same<'u> = Box<dyn FnMut(&str) -> bool + 'u>;

/// What tells whether messages about the text that was compiled would be those about the
/// unit's source; none if that can't be told.
fn sameness<'u>(family: &'u Family, unit: &'u Unit) -> Option<Same<'u>> {
    if let Some(made) = &unit.preprocessed {
        let mut compared = made.source.as_ref()?.beside(&made.text);
        return Some(Box::new(move |messages| {
            compared.says_the_same(messages.as_bytes())
        }));
    }
    if unit.is_stdin() {
        return None;
    }
    let text = Text::instrumented(unit, &unit.text, true);
    Some(Box::new(move |messages| {
        let messages = messages.as_bytes();
        text.keeps_places(messages) && !leaves_out_marks(family, &[unit], messages)
    }))
}

/// Whether GCC leaves out the marks below a line of the user's, and would not of the
/// source: once a text has `#line` in it, a macro that was defined in front of it seems
/// to stand in another file. Of a header that is missing it then says so for every
/// function.
pub(crate) fn leaves_out_marks(family: &Family, units: &[&Unit], messages: &[u8]) -> bool {
    let usual = units.iter().all(|unit| USUAL.contains(&unit.language));
    family.shows_file && usual && lacks_marks(&without_colours(messages))
}

/// The only file that a command makes, if it makes just one.
pub(crate) fn single_result(line: &CommandLine) -> Option<PathBuf> {
    let writes = |word: &&[u8]| LINKER_WRITES.iter().any(|flag| word.starts_with(flag));
    let single = match line.stage() {
        Stage::Preprocess => false,
        Stage::Compile | Stage::Assemble => line.sources().count() == 1,
        Stage::Link => !line.linker_words().iter().any(writes),
    };
    let result = outputs::outputs(line).pop();
    result.filter(|_| single && !line.has(Meaning::SideFiles))
}

/// Shows what the compiler says about the user's source, of which it makes an
/// object or a program that nobody needs: that of the new text is there.
pub(crate) fn judged(
    job: &Job<'_>,
    line: &CommandLine,
    versions: &[&Unit],
    mut outcome: Outcome,
    result: &Path,
) -> u8 {
    let mut aside = line.clone().without_dependencies();
    aside.clear_all(Meaning::Output);
    aside.clear_all(Meaning::CompilationDatabase);
    match job.scratch.place("result".as_ref()) {
        Ok(path) => aside.push(Meaning::Output, vec!["-o".into(), path.into()]),
        Err(_) => return job.accept(line, versions, &outcome),
    }
    let original = match job.original(&aside, Output::HeldBack) {
        Ok(original) => original,
        Err(code) => return code,
    };
    if original.success() {
        outcome.stderr = original.stderr;
        return job.accept(line, versions, &outcome);
    }
    if result.is_file() {
        let _ = std::fs::remove_file(result);
    }
    original.replay();
    original.code()
}
