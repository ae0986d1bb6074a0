//! What the compiler says about the user's source, where it would say something
//! else of the text that it was given, or of another place.

use std::path::{Path, PathBuf};

use super::attempt::Job;
use super::classify::{Argument, CommandLine, Stage};
use super::compilers::{Family, Substitution};
use super::flags::Meaning;
use super::outputs;
use super::run::{Outcome, Output};
use super::unit::Unit;

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

/// Whether a command says, in a message, where in the user's source it is not
/// sure to say the same of ours.
pub(crate) fn tells_otherwise(family: &Family, line: &CommandLine, messages: &[u8]) -> bool {
    let holds = |part: &&[u8]| messages.windows(part.len()).any(|found| found == *part);
    let rereads = || family.substitution == Substitution::TemporaryFile && REREAD.iter().any(holds);
    !messages.is_empty() && (names_places(line) || rereads())
}

/// Whether the messages of a command may name places in our text.
fn names_places(line: &CommandLine) -> bool {
    let words = line.words();
    let mut flags = words.iter().map(|word| word.to_string_lossy());
    flags.any(|word| PLACES.iter().any(|flag| word.starts_with(flag)))
}

/// The only file that a command makes, if it makes just one.
pub(crate) fn single_object(line: &CommandLine) -> Option<PathBuf> {
    let stages = [Stage::Compile, Stage::Assemble];
    let single = stages.contains(&line.stage())
        && line.sources().count() == 1
        && !line.has(Meaning::SideFiles);
    let index = line.arguments.iter().position(Argument::is_source)?;
    single.then(|| outputs::object(line, index))
}

/// Shows what the compiler says about the user's source, of which it makes an
/// object that nobody needs: that of the new text is there.
pub(crate) fn judged(
    job: &Job<'_>,
    line: &CommandLine,
    versions: &[&Unit],
    mut outcome: Outcome,
    object: &Path,
) -> u8 {
    let mut aside = line.clone().without_dependencies();
    aside.clear_all(Meaning::Output);
    aside.clear_all(Meaning::CompilationDatabase);
    match job.scratch.place("object".as_ref()) {
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
    let _ = std::fs::remove_file(object);
    original.replay();
    original.code()
}
