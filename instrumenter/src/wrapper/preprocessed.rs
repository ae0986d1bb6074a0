//! Preprocessed input: the compiler's preprocessor makes the text, with line
//! markers; that is instrumented, and compiled as preprocessed source. So
//! directives that macros make and directives in the user's headers are
//! measured, and every name still is the user's.
//!
//! ```text
//! compile the instrumented text, messages held back
//!   accepted, and what the compiler said of it, if anything, is what it would say
//!              about the user's source: done
//!   accepted, and only the preprocessor said anything: that is all
//!   accepted, and the front end says of the user's source all that it would say of
//!              other places: its messages, and the others
//!   accepted:  compile the user's source to the side, for its messages and its
//!              verdict
//!   rejected:  compile the user's source; then the instrumented text again,
//!              all warnings off; if that is rejected too, go on with the
//!              source as it is
//! ```
//!
//! Compilers say other things of preprocessed text than of its source: macros of
//! system headers are no longer known as such, and what stands on one line there
//! may not here. In nearly all cases they say more: [`lost`] lists what they no
//! longer say. So messages are those of the user's source in every case.

use std::ffi::OsString;
use std::path::Path;

use super::attempt::Job;
use super::classify::{CommandLine, Stage};
use super::compilers::Family;
use super::flags::Meaning;
use super::fortran_text;
use super::run::{Outcome, Output, Runner};
use super::said::{Shows, Text};
use super::unit::{Instrumenting, Preprocessed, Route, Unit, instrumented};
use super::{aside, lost, noise, outputs, system_macros};
use crate::Source;
use crate::find::fortran::marks;
use crate::find::front_end;
use crate::openmp::Language;
use crate::source::Layout;

/// The name of a unit's preprocessed text. Its extension says what it is; of
/// Fortran it says the form, and modules say which file they were made from.
pub(crate) fn file_name(unit: &Unit) -> OsString {
    let path = Path::new(&unit.name);
    let extension = match unit.language {
        Language::C => ".i",
        Language::Cxx => ".ii",
        Language::Fortran => return path.file_name().unwrap_or_default().to_owned(),
    };
    let stem = path.file_stem().unwrap_or("source".as_ref());
    let mut name = stem.to_owned();
    name.push(extension);
    name
}

/// What keeps the sources of a command from taking this way: it must be possible to
/// make every file that the command makes.
pub(crate) fn obstacle(line: &CommandLine, unit: &Unit) -> Option<String> {
    let words = line.words();
    let words = words.iter().map(|word| word.to_string_lossy());
    let mut unusual = words.filter(|word| UNUSUAL.iter().any(|flag| word.starts_with(flag)));
    if let Some(word) = unusual.next() {
        return Some(format!("it can't be preprocessed with {word}"));
    }
    let set = |name: &&str| std::env::var_os(name).is_some();
    if let Some(name) = ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"]
        .into_iter()
        .find(set)
    {
        return Some(format!("it can't be preprocessed with {name} set"));
    }
    let dependencies = line
        .flags()
        .any(|(meaning, _)| meaning.is_of_dependencies());
    let one_object = line.stage() != Stage::Link && line.sources().count() == 1;
    // The compiler makes them of `include` lines too.
    if dependencies && (unit.language == Language::Fortran || !one_object) {
        return Some("it can't be preprocessed by a command that makes dependency files".into());
    }
    (unit.is_stdin() && line.output().is_none())
        .then(|| "standard input is preprocessed only where -o names the output".into())
}

/// Flags that keep or use files which preprocessed input has not, or which say
/// themselves how to preprocess.
const UNUSUAL: &[&str] = &[
    "-save-temps",
    "--save-temps",
    "-include-pch",
    "-fmodules",
    "-fdirectives-only",
    "-fpreprocessed",
    "-traditional",
    "-no-integrated-cpp",
    "-Wp,-M",
    "-P",
    "-C",
];

/// What the preprocessor shows of a source.
pub(crate) enum Shown {
    /// Something to measure.
    Text(Box<Preprocessed>),
    /// Nothing to measure: what the source holds is not compiled.
    Nothing,
    /// Directives that are left alone, as these warnings say, and nothing else.
    LeftAlone(Vec<String>),
    /// What the source itself shows.
    NoMore,
    /// It can't be told, for this reason.
    Failed(&'static str),
}

/// Why there is no preprocessed text.
const FAILED: &str = "its preprocessor fails (ROMP_VERBOSE=1 shows the command)";
const NOT_UNDERSTOOD: &str =
    "what its preprocessor writes is not understood (ROMP_VERBOSE=1 shows the command)";
const DEFECT: &str = "the instrumenter failed on what its preprocessor writes; this is a defect of \
                      romp, please report it with the file";

/// Preprocesses and instruments a unit.
pub(crate) fn make(
    runner: &Runner<'_>,
    line: &CommandLine,
    unit: &Unit,
    how: &Instrumenting<'_>,
) -> Shown {
    let mut noise = Vec::new();
    let mut text = None;
    if unit.language != Language::Fortran || unit.layout.preprocessed_by_compiler {
        let outcome = match preprocess(runner, line, unit) {
            Ok(outcome) => outcome,
            Err(shown) => return shown,
        };
        if !runner.is_quiet(&outcome) {
            noise = outcome.stderr;
        }
        text = Some(system_macros::unmarked(outcome.stdout));
    }
    if unit.language == Language::Fortran {
        text = fortran_text::whole(line, unit, text);
    }
    let Some(text) = text else {
        return Shown::NoMore;
    };
    let source = Source {
        name: unit.text_name(),
        language: unit.language,
        text,
        layout: Layout {
            preprocessed_by_compiler: false,
            ..unit.layout
        },
        absent: crate::source::Absent::new(),
    };
    let Ok(made) = instrumented(how, &source, line, unit.index, false) else {
        return Shown::Failed(DEFECT);
    };
    if made.text() == source.text {
        return match made.warnings.is_empty() {
            true => Shown::Nothing,
            false => Shown::LeftAlone(made.warnings),
        };
    }
    Shown::Text(Box::new(Preprocessed {
        text: made.applied.text,
        warnings: made.warnings,
        noise,
        source: (unit.language != Language::Fortran).then_some(Text {
            text: source.text,
            lines: made.lines,
            name: source.name,
            padded: 0,
            shows: match how.compiler.family.shows_file {
                true => Shows::Files,
                false => Shows::Text,
            },
        }),
        path: None,
    }))
}

/// Runs the compiler's preprocessor; its output has the usual line markers. The error
/// is what it means that there is none.
fn preprocess(runner: &Runner<'_>, line: &CommandLine, unit: &Unit) -> Result<Outcome, Shown> {
    let stdin = unit.is_stdin().then_some(unit.original.as_slice());
    let family = runner.compiler.family;
    let mut words = preprocessor_words(line, unit);
    words.extend(family.no_remarks.map(OsString::from));
    words.extend(runner.colour(line));
    let outcome = runner.run(&words, stdin, Output::HeldBack);
    let mut outcome = outcome.map_err(|_| Shown::Failed(FAILED))?;
    if runner.settings.dry_run {
        // Which text it is makes no difference to the commands.
        return Err(Shown::Text(Box::default()));
    }
    if !outcome.success() {
        // Of an error of the user's the compiler will tell.
        let accepted = check(runner, line, unit).is_ok_and(|outcome| outcome.success());
        return Err(match accepted {
            true => Shown::Failed(FAILED),
            false => Shown::NoMore,
        });
    }
    if unit.language == Language::Fortran {
        outcome.stdout = marks::as_usual(outcome.stdout);
    }
    if outcome.stdout.trim_ascii().is_empty() {
        return Err(Shown::Nothing);
    }
    match front_end(unit.language).is_preprocessed(&outcome.stdout) {
        true => Ok(outcome),
        false => Err(Shown::Failed(NOT_UNDERSTOOD)),
    }
}

/// What the compiler's front end says of the user's source alone.
pub(crate) fn check(runner: &Runner<'_>, line: &CommandLine, unit: &Unit) -> Result<Outcome, u8> {
    let mut alone = compiler_line(runner.compiler.family, &line.only_source(unit.index));
    alone.clear_all(Meaning::CompilationDatabase);
    alone.push(Meaning::StopsBeforeCompiling, vec!["-fsyntax-only".into()]);
    let mut words = alone.words();
    words.extend(runner.colour(line));
    let stdin = unit.is_stdin().then_some(unit.original.as_slice());
    runner.run(&words, stdin, Output::HeldBack)
}

/// The command that preprocesses one source to standard output, and writes its
/// dependencies where the user's command would.
fn preprocessor_words(line: &CommandLine, unit: &Unit) -> Vec<OsString> {
    let index = unit.index;
    let mut one = line.only_source(index).without_end_of_flags();
    one.clear_all(Meaning::CompilationDatabase);
    one.push(Meaning::StopsBeforeCompiling, vec!["-E".into()]);
    if line.has(Meaning::WritesDependencies) {
        let object = outputs::object(line, index);
        if !line.has(Meaning::DependencyFile) {
            let file = object.with_extension("d");
            one.push(Meaning::DependencyFile, vec!["-MF".into(), file.into()]);
        }
        let names_target = |word: &OsString| {
            let word = word.to_string_lossy();
            word.starts_with("-MT") || word.starts_with("-MQ")
        };
        if !line.words().iter().any(names_target) {
            one.push(Meaning::DependencyDetail, vec!["-MQ".into(), object.into()]);
        }
    }
    one.words()
}

/// Compiles units of which at least one is preprocessed. `None` if the
/// compiler does not take them.
pub(crate) fn attempt(job: &Job<'_>, line: &CommandLine, units: &[&Unit]) -> Option<u8> {
    let versions: Vec<Unit> = units.iter().map(|unit| version(unit)).collect();
    let versions: Vec<&Unit> = versions.iter().collect();
    let mut compiled = compiler_line(job.runner.compiler.family, line);
    let mut first = match job.attempt(&compiled, &versions) {
        Ok(outcome) => outcome,
        Err(code) => return Some(code),
    };
    if first.interrupted() || (first.success() && says_the_same(job, line, units, &first)) {
        return Some(job.accept(&compiled, &versions, &first));
    }
    if first.success()
        && let Some(messages) = noise::all_of_it(units, &first.stderr)
    {
        let of_text = std::mem::replace(&mut first.stderr, messages);
        if lost::nothing_is_lost(job, line, units, &first) {
            return Some(job.accept(&compiled, &versions, &first));
        }
        first.stderr = of_text;
    }
    if first.success()
        && let Some(messages) = aside::told_by_front_end(job, line, units, &first)
    {
        first.stderr = messages;
        return Some(job.accept(&compiled, &versions, &first));
    }
    if let Some(result) = aside::single_result(line).filter(|_| first.success()) {
        return Some(aside::judged(job, line, &versions, first, &result));
    }
    let original = match job.original(line, Output::HeldBack) {
        Ok(outcome) => outcome,
        Err(code) => return Some(code),
    };
    if !original.success() {
        original.replay();
        return Some(original.code());
    }
    compiled.push(Meaning::Nothing, vec!["-w".into()]);
    let mut second = job.attempt(&compiled, &versions).ok()?;
    second.stderr = original.stderr;
    second
        .success()
        .then(|| job.accept(&compiled, &versions, &second))
}

/// Whether the compiler said of the new texts what it would say of the users'
/// sources. What its back end says is the same of both.
fn says_the_same(job: &Job<'_>, line: &CommandLine, units: &[&Unit], said: &Outcome) -> bool {
    let family = job.runner.compiler.family;
    let mut preprocessed = units.iter().filter_map(|unit| unit.preprocessed.as_ref());
    let of_source = match job.runner.is_quiet(said) {
        true => preprocessed.all(|made| made.noise.is_empty()),
        // Which of several texts a message is about is not told.
        false => match units {
            [unit] => {
                is_about_source(family, unit, said)
                    && !aside::tells_otherwise(family, line, &said.stderr)
            }
            _ => false,
        },
    };
    of_source && lost::nothing_is_lost(job, line, units, said)
}

/// Whether what the compiler said of the text that it was given is what it would say of
/// the user's source.
pub(crate) fn is_about_source(family: &Family, unit: &Unit, said: &Outcome) -> bool {
    let is_fortran = unit.language == Language::Fortran;
    match &unit.preprocessed {
        Some(made) if !made.noise.is_empty() => false,
        // Flang names files otherwise once a text has line markers in it.
        _ if is_fortran && !family.shows_file => false,
        Some(made) if is_fortran => {
            Text::instrumented(unit, &made.text, false).says_the_same(&said.stderr)
        }
        None if is_fortran => {
            let cpp = unit.layout.preprocessed_by_compiler;
            Text::instrumented(unit, &unit.text, cpp).says_the_same(&said.stderr)
        }
        Some(made) => {
            let mut source = made.source.iter();
            source.any(|text| text.beside(&made.text).says_the_same(&said.stderr))
        }
        None if unit.is_stdin() => true,
        None => Text::instrumented(unit, &unit.text, true).keeps_places(&said.stderr),
    }
}

/// The unit as the preprocessed text that was made of it, if one was.
fn version(unit: &Unit) -> Unit {
    let mut version = unit.clone();
    if let Some(Preprocessed {
        text,
        path: Some(path),
        ..
    }) = &unit.preprocessed
    {
        version.text.clone_from(text);
        version.route = Some(Route::Preprocessed(path.clone()));
    }
    version
}

/// The command without what the preprocessor has done.
pub(crate) fn compiler_line(family: &Family, line: &CommandLine) -> CommandLine {
    let mut line = line.clone().without_dependencies();
    if let Some(flag) = family.no_remarks {
        line.push(Meaning::Nothing, vec![flag.into()]);
    }
    line
}

/// The words that name a preprocessed file where `-x` may be in force: a
/// language that is named holds for all the inputs that follow.
pub(crate) fn input_words(line: &CommandLine, index: usize, path: &Path) -> Vec<OsString> {
    let file = path.as_os_str().to_owned();
    let mut before = line.arguments.iter().take(index).rev();
    match before.find(|argument| argument.is_language()) {
        Some(language) => {
            let mut words = vec!["-x".into(), "none".into(), file];
            words.extend(language.words.iter().cloned());
            words
        }
        None => vec![file],
    }
}
