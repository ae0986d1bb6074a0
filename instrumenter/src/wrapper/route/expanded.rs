//! Preprocessed input: the compiler's preprocessor makes the text, with line markers; this text
//! is instrumented and compiled. So directives made by macros and directives in the user's
//! headers are measured, and messages and debug information still name the user's files.
//!
//! Clang can put included files in place and leave macros alone. It reads such a text in the
//! place of the source, and its messages are the same as for the source. Where macros matter,
//! and for other compilers, macros are expanded and the text is compiled as preprocessed
//! source.

use std::ffi::OsString;
use std::path::Path;

use crate::Source;
use crate::find::c::preprocessed::without_system_marks;
use crate::find::fortran::marks;
use crate::find::front_end;
use crate::openmp::Language;
use crate::source::Layout;
use crate::wrapper::command::classify::{CommandLine, Stage};
use crate::wrapper::command::outputs;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::compilers::{Family, Substitution};
use crate::wrapper::instrumenting::{Instrumenting, instrumented, leaves_something};
use crate::wrapper::route::fortran_text;
use crate::wrapper::run::{Finished, Output, Runner};
use crate::wrapper::unit::{Needs, Preprocessed, Unit};

/// Returns why the sources of a command can't be preprocessed, if they can't. Every file that
/// the command makes must still be made.
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
    // The compiler lists the files of Fortran `include` lines, too.
    if dependencies && (unit.language == Language::Fortran || !one_object) {
        return Some("it can't be preprocessed by a command that makes dependency files".into());
    }
    (unit.is_stdin() && line.output().is_none())
        .then(|| "standard input is preprocessed only where -o names the output".into())
}

/// Flags that keep or use files which don't exist for preprocessed input, and flags that
/// themselves say how to preprocess.
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

/// The outcome of preprocessing a source.
pub(crate) enum Shown {
    /// There is something to measure.
    Text(Box<Preprocessed>),
    /// There is nothing to measure: the constructs in the source are not compiled.
    Nothing,
    /// There are only directives that are left alone; these warnings tell why.
    LeftAlone(Vec<String>),
    /// Preprocessing shows nothing beyond the source itself.
    NoMore,
    /// The preprocessed text can't be made or read, for this reason.
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
    needs: Needs,
) -> Shown {
    if needs == Needs::Includes && can_keep_macros(runner.compiler.family, line, unit) {
        match made_of(runner, line, unit, how, Needs::Includes) {
            Shown::Failed(_) | Shown::LeftAlone(_) => {}
            shown => return shown,
        }
    }
    made_of(runner, line, unit, how, Needs::Expansion)
}

/// Macros that Clang (since 17) tests around the text of an included file, so that the
/// `#include` can be restored. They are never defined.
const NEVER_DEFINED: &[&str] = &[
    "__CLANG_REWRITTEN_INCLUDES",
    "__CLANG_REWRITTEN_SYSTEM_INCLUDES",
];

/// Whether the compiler can put included files in place, and read the result as the source. A
/// file that the command itself includes (`-include`) would be read twice.
fn can_keep_macros(family: &Family, line: &CommandLine, unit: &Unit) -> bool {
    let read = unit.is_stdin()
        || (family.substitution == Substitution::RemapFile && unit.can_be_remapped());
    family.places_includes.is_some() && read && !line.has(Meaning::ForcedInclude)
}

fn made_of(
    runner: &Runner<'_>,
    line: &CommandLine,
    unit: &Unit,
    how: &Instrumenting<'_>,
    needs: Needs,
) -> Shown {
    let mut noise = Vec::new();
    let mut text = None;
    if unit.language != Language::Fortran || unit.layout.preprocessed_by_compiler {
        let outcome = match preprocess(runner, line, unit, needs) {
            Ok(outcome) => outcome,
            Err(shown) => return shown,
        };
        noise = outcome.stderr;
        text = Some(without_system_marks(outcome.stdout));
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
        undefined: NEVER_DEFINED.iter().map(|name| (*name).into()).collect(),
    };
    let Ok(made) = instrumented(how, &source, line, unit.index, false) else {
        return Shown::Failed(DEFECT);
    };
    if needs == Needs::Includes && leaves_something(&made) {
        return Shown::LeftAlone(made.warnings);
    }
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
        needs,
        path: None,
    }))
}

/// Runs the compiler's preprocessor; its output has the usual line markers. The error is the
/// outcome to report when there is no such output.
fn preprocess(
    runner: &Runner<'_>,
    line: &CommandLine,
    unit: &Unit,
    needs: Needs,
) -> Result<Finished, Shown> {
    let stdin = unit.is_stdin().then_some(unit.original.as_slice());
    let family = runner.compiler.family;
    let mut words = preprocessor_words(line, unit);
    let keeps_macros = family.places_includes.filter(|_| needs == Needs::Includes);
    words.extend(keeps_macros.map(OsString::from));
    words.extend(family.no_remarks.map(OsString::from));
    words.extend(runner.colour(line));
    let outcome = runner.run(&words, stdin, Output::HeldBack);
    let mut outcome = outcome.map_err(|_| Shown::Failed(FAILED))?;
    if runner.settings.dry_run {
        // In a dry run only the commands matter, and they don't depend on the text.
        return Err(Shown::Text(Box::new(Preprocessed {
            needs,
            ..Preprocessed::default()
        })));
    }
    if !outcome.success() {
        // If the error is in the user's source, the compiler will report it.
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

/// Has the compiler's front end check the user's source alone.
fn check(runner: &Runner<'_>, line: &CommandLine, unit: &Unit) -> Result<Finished, u8> {
    let mut alone = compiler_line(runner.compiler.family, &line.only_source(unit.index));
    alone.clear_all(Meaning::CompilationDatabase);
    alone.push(Meaning::StopsBeforeCompiling, vec!["-fsyntax-only".into()]);
    let stdin = unit.is_stdin().then_some(unit.original.as_slice());
    runner.run(&alone.words(), stdin, Output::HeldBack)
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
        let mut arguments = line.arguments.iter();
        if !arguments.any(|argument| argument.begins_with(&["-MT", "-MQ"])) {
            one.push(Meaning::DependencyDetail, vec!["-MQ".into(), object.into()]);
        }
    }
    one.words()
}

/// The command for a preprocessed text: without the flags for dependencies, which the
/// preprocessor has written already.
pub(crate) fn compiler_line(family: &Family, line: &CommandLine) -> CommandLine {
    let mut line = line.clone().without_dependencies();
    if let Some(flag) = family.no_remarks {
        line.push(Meaning::Nothing, vec![flag.into()]);
    }
    line
}

/// The words that name a preprocessed file where `-x` may be in force: `-x` holds for all
/// inputs that follow.
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
