//! One compiler command on instrumented texts, and what happens when the
//! compiler does not accept them.
//!
//! ```text
//! compile the new texts, messages held back
//!   accepted: show the messages, correct the dependency files
//!   rejected: find out which texts, take the user's for those;
//!             if that fails too, compile the user's sources
//! ```

use std::ffi::OsString;
use std::path::Path;

use super::classify::{CommandLine, Stage};
use super::dependencies::{self, Renamed};
use super::flags::Meaning;
use super::run::{Outcome, Output, Runner};
use super::scratch::Scratch;
use super::settings::Settings;
use super::unit::{Unit, substituted};
use super::{
    aside, coverage, database, headers, library, lost, message, outputs, preprocessed, response,
    shortfall, steps,
};

/// Why a source can't be compiled from a temporary file.
const CANNOT_MOVE: &str = "it includes itself, or a header in its directory has a namesake \
                           elsewhere";

/// Why a source is not measured as its preprocessor shows it.
const NOT_PREPROCESSED: &str = "the compiler rejected the instrumented text that its \
                                preprocessor made";

/// Why the sources of a program are not measured whose new texts all compile.
const NOT_LINKED: &str = "the program can't be linked with its instrumented text (ROMP_VERBOSE=1 \
                          shows the command)";

/// Why a source is not measured whose new text does not compile.
const REJECTED: &str = "the compiler rejected the instrumented text (ROMP_KEEP=1 keeps it)";

/// What the commands of one build share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) runner: Runner<'a>,
    pub(crate) library: &'a Path,
    pub(crate) scratch: &'a Scratch,
    /// What the user gave on standard input, if a source is read from there.
    pub(crate) stdin: Option<&'a [u8]>,
}

impl Job<'_> {
    /// Runs one command on the units' new texts; the result is the status to
    /// exit with.
    pub(crate) fn build(&self, line: &CommandLine, units: Vec<&Unit>) -> u8 {
        let (units, fixed): (Vec<&Unit>, Vec<&Unit>) = units
            .into_iter()
            .partition(|unit| unit.preprocessed.is_some() || self.can_move(line, unit));
        if let Some(code) = leave_out(self.runner.settings, &fixed, CANNOT_MOVE) {
            return code;
        }
        if units.iter().all(|unit| unit.preprocessed.is_none()) {
            return self.run(line, &units).unwrap_or_else(|code| code);
        }
        preprocessed::attempt(self, line, &units).unwrap_or_else(|| self.as_they_are(line, &units))
    }

    /// Builds units without what was preprocessed, which the compiler did not
    /// take.
    fn as_they_are(&self, line: &CommandLine, units: &[&Unit]) -> u8 {
        let Runner { compiler, settings } = self.runner;
        let mut units: Vec<Unit> = units.iter().map(|unit| (*unit).clone()).collect();
        for unit in &mut units {
            if unit.preprocessed.take().is_some() {
                let unseen = shortfall::unseen(compiler, line, unit);
                let known = unseen.map(|why| shortfall::sentence(unit, &why, NOT_PREPROCESSED));
                let unknown = || not_measured(unit, NOT_PREPROCESSED);
                unit.missing = known.or_else(|| (!unit.changed()).then(unknown));
            }
        }
        // Of the others it is not known yet whether they are measured at all.
        let certain = units
            .iter()
            .filter(|unit| settings.strict || !unit.changed());
        let missing: Vec<String> = certain.filter_map(|unit| unit.missing.clone()).collect();
        if let Some(code) = shortfall::say(settings, &missing) {
            remove_outputs(line);
            return code;
        }
        units.retain(Unit::changed);
        self.build(line, units.iter().collect())
    }

    fn can_move(&self, line: &CommandLine, unit: &Unit) -> bool {
        let checked = || headers::same_headers(&self.runner, line, unit);
        unit.is_stdin() || (!headers::includes_itself(unit) && checked())
    }

    fn run(&self, line: &CommandLine, units: &[&Unit]) -> Result<u8, u8> {
        if units.is_empty() {
            return Ok(self.original(line, Output::Shown)?.code());
        }
        let mut outcome = self.attempt(line, units)?;
        let family = self.runner.compiler.family;
        let about_sources = |said: &Outcome| {
            let mut units = units.iter();
            units.all(|unit| preprocessed::is_about_source(family, unit, said))
        };
        if outcome.success()
            && let Some(result) = aside::single_result(line)
            && (aside::tells_otherwise(family, line, &outcome.stderr)
                || aside::leaves_out_marks(family, units, &outcome.stderr)
                || !(self.runner.is_quiet(&outcome) || about_sources(&outcome))
                || !lost::nothing_is_lost(self, line, units, &outcome))
        {
            let Some(messages) = aside::told_by_front_end(self, line, units, &outcome) else {
                return Ok(aside::judged(self, line, units, outcome, &result));
            };
            outcome.stderr = messages;
        }
        if outcome.success() || outcome.interrupted() {
            return Ok(self.accept(line, units, &outcome));
        }
        self.not_accepted(line, units, &outcome)
    }

    /// What follows when new texts have failed a command.
    pub(crate) fn not_accepted(
        &self,
        line: &CommandLine,
        units: &[&Unit],
        failure: &Outcome,
    ) -> Result<u8, u8> {
        if self.runner.settings.strict {
            self.refuse(line, units, failure)
        } else {
            self.fall_back(line, units)
        }
    }

    /// Compiles the new texts. A compiler that rejects one of our flags by its name
    /// gets another one, or none in the end.
    pub(crate) fn attempt(&self, line: &CommandLine, units: &[&Unit]) -> Result<Outcome, u8> {
        for flag in self.runner.compiler.family.prefix_maps {
            let outcome = self.attempt_with(line, units, Some(flag))?;
            let mut parts = outcome.stderr.windows(flag.len());
            let named = parts.any(|part| part == flag.as_bytes());
            if outcome.success() || !named {
                return Ok(outcome);
            }
        }
        self.attempt_with(line, units, None)
    }

    fn attempt_with(
        &self,
        line: &CommandLine,
        units: &[&Unit],
        prefix_map: Option<&str>,
    ) -> Result<Outcome, u8> {
        let mut words = substituted(line, units, prefix_map);
        words.extend(self.runner.colour(line));
        words.extend(self.pipe(line).map(OsString::from));
        if steps::wants_library(line) {
            words.extend(library::link_words(line, self.library));
        }
        if line.from_response_file {
            words = self.in_response_file(words);
        }
        let new = units
            .iter()
            .find(|unit| unit.is_stdin())
            .map(|unit| unit.text.as_slice());
        let mut outcome = self
            .runner
            .run(&words, new.or(self.stdin), Output::HeldBack)?;
        let renamed = renamed(units);
        outcome.stdout = dependencies::rename_in(outcome.stdout, &renamed);
        outcome.stderr = dependencies::rename_in(outcome.stderr, &renamed);
        Ok(outcome)
    }

    /// The compiler and its assembler run at the same time: with a second processor an
    /// object is there sooner. But then a source with errors, too, reaches the assembler,
    /// which would overwrite an object that is there.
    fn pipe(&self, line: &CommandLine) -> Option<&'static str> {
        let compiler = self.runner.compiler;
        let makes = match line.stage() {
            Stage::Preprocess | Stage::Compile => false,
            Stage::Assemble => !outputs::outputs(line).iter().any(|path| path.exists()),
            Stage::Link => true,
        };
        // A launcher's cache would not know the two commands for the same.
        let pipes = makes && compiler.leading.is_empty() && !line.has(Meaning::SideFiles);
        compiler.family.pipe.filter(|_| pipes && !may_print(line))
    }

    /// Who used a response file may have had more words than a command can
    /// hold.
    fn in_response_file(&self, words: Vec<OsString>) -> Vec<OsString> {
        let text = response::join(&words);
        let Ok(path) = self.scratch.write("arguments".as_ref(), &text) else {
            return words;
        };
        let mut word = OsString::from("@");
        word.push(path);
        vec![word]
    }

    pub(crate) fn accept(&self, line: &CommandLine, units: &[&Unit], outcome: &Outcome) -> u8 {
        outcome.replay();
        for missing in units.iter().filter_map(|unit| unit.missing.as_ref()) {
            message::warning(self.runner.settings, missing);
        }
        if let Err(error) = dependencies::correct(line, &renamed(units)) {
            let text = format!("cannot put the source's name into a dependency file: {error}");
            message::warning(self.runner.settings, &text);
        }
        if let Err(error) = coverage::correct(line, units) {
            let text = format!("cannot take lines that were added out of coverage: {error}");
            message::warning(self.runner.settings, &text);
        }
        if let Err(error) = database::correct(line, units) {
            let text = format!("cannot correct the compilation database: {error}");
            message::warning(self.runner.settings, &text);
        }
        outcome.code()
    }

    fn fall_back(&self, line: &CommandLine, units: &[&Unit]) -> Result<u8, u8> {
        let (rejected, accepted) = self.told_apart(line, units);
        if !rejected.is_empty() && !accepted.is_empty() {
            let outcome = self.attempt(line, &accepted)?;
            if outcome.success() {
                self.warn(&rejected, REJECTED);
                return Ok(self.accept(line, &accepted, &outcome));
            }
        }
        let outcome = self.original(line, Output::Shown)?;
        if outcome.success() {
            self.warn(units, blame(&rejected));
        }
        Ok(outcome.code())
    }

    /// The units whose new texts the compiler rejects, and the others, after a
    /// command on all of them has failed.
    fn told_apart<'u>(
        &self,
        line: &CommandLine,
        units: &[&'u Unit],
    ) -> (Vec<&'u Unit>, Vec<&'u Unit>) {
        let certain = units.len() == 1 && line.stage() != Stage::Link;
        units
            .iter()
            .partition(|unit| certain || self.rejects(line, unit))
    }

    /// Whether the compiler rejects the new text of one source alone.
    fn rejects(&self, line: &CommandLine, unit: &Unit) -> bool {
        let mut alone = line.only_source(unit.index);
        alone.push(Meaning::StopsBeforeCompiling, vec!["-fsyntax-only".into()]);
        let stdin = self.stdin.filter(|_| unit.is_stdin());
        let job = Job { stdin, ..*self };
        !job.attempt(&alone, &[unit])
            .is_ok_and(|outcome| outcome.success())
    }

    /// `ROMP_STRICT`: that the compiler accepts the user's source does not save
    /// a rejected text. It is compiled all the same, because a source with
    /// errors must be reported as the compiler does.
    fn refuse(&self, line: &CommandLine, units: &[&Unit], failure: &Outcome) -> Result<u8, u8> {
        let outcome = self.original(line, Output::HeldBack)?;
        if !outcome.success() {
            outcome.replay();
            return Ok(outcome.code());
        }
        remove_outputs(line);
        failure.replay();
        let (rejected, _) = self.told_apart(line, units);
        let left_out = if rejected.is_empty() {
            units
        } else {
            &rejected
        };
        for unit in left_out {
            message::error(&not_measured(unit, blame(&rejected)));
        }
        Ok(1)
    }

    /// Compiles the user's sources.
    pub(crate) fn original(&self, line: &CommandLine, output: Output) -> Result<Outcome, u8> {
        let mut words = line.clone().without_end_of_flags().words();
        if steps::wants_library(line) {
            words.extend(library::link_words(line, self.library));
        }
        if line.from_response_file {
            words = self.in_response_file(words);
        }
        self.runner.run(&words, self.stdin, output)
    }

    fn warn(&self, units: &[&Unit], why: &str) {
        for unit in units {
            message::warning(self.runner.settings, &not_measured(unit, why));
        }
    }
}

/// Whether a flag may have the compiler print on standard output, where an assembler
/// would read it: `-MF -`, `-fopt-info=stdout`, a plugin, a program in between.
fn may_print(line: &CommandLine) -> bool {
    const PLACES: &[&str] = &["stdout", "/dev/fd/", "/proc/self/", "-fplugin", "-wrapper"];
    line.words().iter().any(|word| {
        let word = word.to_string_lossy();
        word.ends_with('-') || PLACES.iter().any(|place| word.contains(place))
    })
}

/// A command that fails leaves nothing that looks as if it had not.
fn remove_outputs(line: &CommandLine) {
    let outputs = outputs::outputs(line).into_iter();
    for output in outputs.filter(|path| path.is_file()) {
        let _ = std::fs::remove_file(output);
    }
}

/// Says that units are not measured; with `ROMP_STRICT` that is the end.
pub(crate) fn leave_out(settings: &Settings, units: &[&Unit], why: &str) -> Option<u8> {
    let sentences: Vec<String> = units.iter().map(|unit| not_measured(unit, why)).collect();
    shortfall::say(settings, &sentences)
}

/// Why a command fails that is accepted without new texts.
fn blame(rejected: &[&Unit]) -> &'static str {
    if rejected.is_empty() {
        NOT_LINKED
    } else {
        REJECTED
    }
}

fn not_measured(unit: &Unit, why: &str) -> String {
    format!("{} is not measured: {why}", unit.shown_name())
}

fn renamed(units: &[&Unit]) -> Vec<Renamed> {
    units.iter().flat_map(|unit| unit.renamed()).collect()
}
