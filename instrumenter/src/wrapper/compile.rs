//! The ladder: the order in which texts are tried, and the reaction to a text that the compiler
//! rejects.
//!
//! ```text
//! compile the new texts, messages held back
//!   accepted by Flang: check the source itself; refused: the build fails with its messages
//!   accepted, and the messages are those of the source (see diagnostics): done
//!   accepted: compile the user's source to the side; show the messages of that
//!   rejected: compile the user's source; rejected, too: that is the end
//!             compile the new texts without warnings, and show what is said of the source
//!               rejected: the next text, in this order: as the preprocessor shows it,
//!                         the source as it is, the user's source
//! ```

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::wrapper::command::classify::{CommandLine, Stage};
use crate::wrapper::command::outputs;
use crate::wrapper::command::response;
use crate::wrapper::command::steps;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::diagnostics;
use crate::wrapper::finish::coverage;
use crate::wrapper::finish::database;
use crate::wrapper::finish::dependencies;
use crate::wrapper::finish::library;
use crate::wrapper::message;
use crate::wrapper::route::expanded::compiler_line;
use crate::wrapper::route::headers;
use crate::wrapper::route::substitution::substituted;
use crate::wrapper::route::unmeasured::{self, leave_out, not_measured};
use crate::wrapper::run::{Finished, Output, Runner};
use crate::wrapper::scratch::Scratch;
use crate::wrapper::unit::{Renamed, Unit};

/// Why a source can't be compiled from a temporary file.
const CANNOT_MOVE: &str = "it includes itself, or a header in its directory has a namesake \
                           elsewhere";

/// The reason given when the text that the preprocessor made is not used.
const NOT_PREPROCESSED: &str = "the compiler rejected the instrumented text that its \
                                preprocessor made";

/// The reason given when all new texts of a program compile, but the program can't be linked.
const NOT_LINKED: &str = "the program can't be linked with its instrumented text (ROMP_VERBOSE=1 \
                          shows the command)";

/// The reason given when a source's new text does not compile.
const REJECTED: &str = "the compiler rejected the instrumented text (ROMP_KEEP=1 keeps it)";

/// The data that the commands of one build share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) runner: Runner<'a>,
    pub(crate) library: &'a Path,
    pub(crate) scratch: &'a Scratch,
    /// The text from standard input, if a source is read from there.
    pub(crate) stdin: Option<&'a [u8]>,
}

impl Job<'_> {
    /// Runs one command on the units' new texts and returns the status to exit with.
    pub(crate) fn build(&self, line: &CommandLine, units: Vec<&Unit>) -> u8 {
        let (units, fixed): (Vec<&Unit>, Vec<&Unit>) = units
            .into_iter()
            .partition(|unit| unit.preprocessed.is_some() || self.can_move(line, unit));
        if let Some(code) = leave_out(self.runner.settings, &fixed, CANNOT_MOVE) {
            return code;
        }
        if units.is_empty() {
            let outcome = self.original(line, Output::Shown);
            return outcome.map_or_else(|code| code, |outcome| outcome.code());
        }
        self.compile(line, &units).unwrap_or_else(|code| code)
    }

    /// Compiles the units' new texts. If the compiler rejects them, tries the next texts of the
    /// ladder.
    fn compile(&self, line: &CommandLine, units: &[&Unit]) -> Result<u8, u8> {
        let family = self.runner.compiler.family;
        let is_preprocessed = units.iter().any(|unit| unit.preprocessed.is_some());
        let mut command = match is_preprocessed {
            true => compiler_line(family, line),
            false => line.clone(),
        };
        let versions: Vec<Unit> = units.iter().map(|unit| unit.compiled()).collect();
        let versions: Vec<&Unit> = versions.iter().collect();
        let mut made = self.compile_texts(&command, &versions)?;
        let refused = made.success() && self.refuses_source(line)?;
        let of_source = || {
            made.success()
                && !refused
                && diagnostics::are_of_source(&self.runner, line, units, &made)
        };
        if made.interrupted() || of_source() {
            return Ok(self.accept(&command, &versions, &made));
        }
        let result = single_result(line).filter(|_| made.success());
        let original = match &result {
            Some(_) => self.beside(line, &made)?,
            None => self.original(line, Output::HeldBack)?,
        };
        if !original.success() {
            if let Some(result) = result.filter(|result| result.is_file()) {
                let _ = std::fs::remove_file(result);
            }
            original.replay();
            return Ok(original.code());
        }
        if result.is_none() {
            command.push(Meaning::Nothing, vec!["-w".into()]);
            made = self.compile_texts(&command, &versions)?;
        }
        if made.success() {
            made.stderr = original.stderr;
            return Ok(self.accept(&command, &versions, &made));
        }
        match is_preprocessed {
            true => Ok(self.as_they_are(line, units)),
            false => self.not_accepted(line, units, &made),
        }
    }

    /// Whether the compiler refuses the user's sources. Only compilers that may accept the new text
    /// of a source that they refuse are asked: those with a `check` flag.
    fn refuses_source(&self, line: &CommandLine) -> Result<bool, u8> {
        let Some(check) = self.runner.compiler.family.check else {
            return Ok(false);
        };
        let mut checked = line.clone();
        checked.push(Meaning::StopsBeforeCompiling, vec![check.into()]);
        let outcome = self.original(&checked, Output::HeldBack)?;
        Ok(!outcome.success())
    }

    /// A path for a temporary file of this name.
    pub(crate) fn place(&self, name: &OsStr) -> Result<PathBuf, u8> {
        self.scratch.place(name).map_err(|error| {
            message::error(&format!("cannot make a temporary directory: {error}"));
            1
        })
    }

    /// Compiles the user's sources to a file that is not used, to get the compiler's messages
    /// about them. The front end is enough if nothing else had said anything of the new texts.
    fn beside(&self, line: &CommandLine, made: &Finished) -> Result<Finished, u8> {
        if let Some(flag) = self.runner.compiler.family.front_end
            && diagnostics::are_of_front_end(made)
        {
            let mut checked = line.clone().without_dependencies();
            checked.clear_all(Meaning::CompilationDatabase);
            checked.push(Meaning::StopsBeforeCompiling, vec![flag.into()]);
            let outcome = self.original(&checked, Output::HeldBack)?;
            if !diagnostics::are_of_flags(&outcome) {
                return Ok(outcome);
            }
        }
        let mut aside = line.clone().without_dependencies();
        aside.clear_all(Meaning::Output);
        aside.clear_all(Meaning::CompilationDatabase);
        let path = self.place("result".as_ref())?;
        aside.push(Meaning::Output, vec!["-o".into(), path.into()]);
        self.original(&aside, Output::HeldBack)
    }

    /// Builds the units without the preprocessed texts, which the compiler rejected.
    fn as_they_are(&self, line: &CommandLine, units: &[&Unit]) -> u8 {
        let Runner { compiler, settings } = self.runner;
        let mut units: Vec<Unit> = units.iter().map(|unit| (*unit).clone()).collect();
        for unit in &mut units {
            if unit.preprocessed.take().is_some() {
                let unseen = unmeasured::unseen(compiler, line, unit);
                let known = unseen.map(|why| unmeasured::sentence(unit, &why, NOT_PREPROCESSED));
                let unknown = || not_measured(unit, NOT_PREPROCESSED);
                unit.missing = known.or_else(|| (!unit.changed()).then(unknown));
            }
        }
        // It is not known yet whether the other units are measured at all.
        let certain = units
            .iter()
            .filter(|unit| settings.strict || !unit.changed());
        let missing: Vec<String> = certain.filter_map(|unit| unit.missing.clone()).collect();
        if let Some(code) = unmeasured::say(settings, &missing) {
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

    /// Decides what follows after the compiler has rejected new texts.
    pub(crate) fn not_accepted(
        &self,
        line: &CommandLine,
        units: &[&Unit],
        failure: &Finished,
    ) -> Result<u8, u8> {
        if self.runner.settings.strict {
            self.refuse(line, units, failure)
        } else {
            self.fall_back(line, units)
        }
    }

    /// Compiles the new texts. If the compiler names one of our flags in its errors, the next
    /// flag of the family is tried, and none in the end.
    fn compile_texts(&self, line: &CommandLine, units: &[&Unit]) -> Result<Finished, u8> {
        for flag in self.runner.compiler.family.prefix_maps {
            let outcome = self.compile_texts_with(line, units, Some(flag))?;
            let mut parts = outcome.stderr.windows(flag.len());
            let named = parts.any(|part| part == flag.as_bytes());
            if outcome.success() || !named {
                return Ok(outcome);
            }
        }
        self.compile_texts_with(line, units, None)
    }

    fn compile_texts_with(
        &self,
        line: &CommandLine,
        units: &[&Unit],
        prefix_map: Option<&str>,
    ) -> Result<Finished, u8> {
        let mut words = substituted(line, units, prefix_map);
        words.extend(self.runner.colour(line));
        words.extend(self.pipe(line).map(OsString::from));
        let words = self.completed(line, words);
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

    /// Returns the flag that makes the compiler and its assembler run at the same time. With a
    /// second processor the object is finished sooner. But then even a source with errors
    /// reaches the assembler, which would overwrite an existing object.
    fn pipe(&self, line: &CommandLine) -> Option<&'static str> {
        let compiler = self.runner.compiler;
        let makes = match line.stage() {
            Stage::Preprocess | Stage::Compile => false,
            Stage::Assemble => !outputs::outputs(line).iter().any(|path| path.exists()),
            Stage::Link => true,
        };
        // A launcher such as ccache would take the command with the flag for another one.
        let pipes = makes && compiler.leading.is_empty() && !line.has(Meaning::SideFiles);
        compiler.family.pipe.filter(|_| pipes && !may_print(line))
    }

    /// Adds the library to the words of a command that links. A user who gave a response file
    /// may have had more words than a command line can hold, so the words are put into one.
    fn completed(&self, line: &CommandLine, mut words: Vec<OsString>) -> Vec<OsString> {
        if steps::wants_library(line) {
            words.extend(library::link_words(line, self.library));
        }
        if !line.from_response_file {
            return words;
        }
        let text = response::join(&words);
        let Ok(path) = self.scratch.write("arguments".as_ref(), &text) else {
            return words;
        };
        let mut word = OsString::from("@");
        word.push(path);
        vec![word]
    }

    fn accept(&self, line: &CommandLine, units: &[&Unit], outcome: &Finished) -> u8 {
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
            let outcome = self.compile_texts(line, &accepted)?;
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

    /// Splits the units into those whose new texts the compiler rejects, and the others, after
    /// a command on all of them has failed.
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
        !job.compile_texts(&alone, &[unit])
            .is_ok_and(|outcome| outcome.success())
    }

    /// Handles a rejected text under `ROMP_STRICT`: the command fails even if the compiler
    /// accepts the user's source. The user's source is compiled all the same, because errors in
    /// it must be reported as the compiler reports them.
    fn refuse(&self, line: &CommandLine, units: &[&Unit], failure: &Finished) -> Result<u8, u8> {
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

    /// Runs a command with the inputs that it names: the user's sources, or objects.
    pub(crate) fn original(&self, line: &CommandLine, output: Output) -> Result<Finished, u8> {
        let words = line.clone().without_end_of_flags().words();
        let words = self.completed(line, words);
        self.runner.run(&words, self.stdin, output)
    }

    fn warn(&self, units: &[&Unit], why: &str) {
        for unit in units {
            message::warning(self.runner.settings, &not_measured(unit, why));
        }
    }
}

/// Words that make the linker write another file.
const LINKER_WRITES: &[&[u8]] = &[
    b"-Map",
    b"--Map",
    b"-dependency-file",
    b"--dependency-file",
    b"-out-implib",
    b"--out-implib",
];

/// The only file that a command makes, if it makes just one.
fn single_result(line: &CommandLine) -> Option<PathBuf> {
    let writes = |word: &&[u8]| LINKER_WRITES.iter().any(|flag| word.starts_with(flag));
    let single = match line.stage() {
        Stage::Preprocess => false,
        Stage::Compile | Stage::Assemble => line.sources().count() == 1,
        Stage::Link => !line.linker_words().iter().any(writes),
    };
    let result = outputs::outputs(line).pop();
    result.filter(|_| single && !line.has(Meaning::SideFiles))
}

/// Whether a flag may make the compiler print on standard output, where an assembler would read
/// it: `-MF -`, `-fopt-info=stdout`, a plugin, or a wrapper program (`-wrapper`).
fn may_print(line: &CommandLine) -> bool {
    const PLACES: &[&str] = &["stdout", "/dev/fd/", "/proc/self/", "-fplugin", "-wrapper"];
    line.words().iter().any(|word| {
        let word = word.to_string_lossy();
        word.ends_with('-') || PLACES.iter().any(|place| word.contains(place))
    })
}

/// Removes the outputs of a command that fails. Otherwise they might look like those of a
/// command that succeeded.
fn remove_outputs(line: &CommandLine) {
    let outputs = outputs::outputs(line).into_iter();
    for output in outputs.filter(|path| path.is_file()) {
        let _ = std::fs::remove_file(output);
    }
}

/// Why a command fails with the new texts, but not without them.
fn blame(rejected: &[&Unit]) -> &'static str {
    if rejected.is_empty() {
        NOT_LINKED
    } else {
        REJECTED
    }
}

fn renamed(units: &[&Unit]) -> Vec<Renamed> {
    units.iter().flat_map(|unit| unit.renamed()).collect()
}
