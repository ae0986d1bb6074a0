//! `rompcc`: recognise the compiler, classify its arguments, choose the text of each
//! source, compile, finish.
//!
//! 1. `compilers`: the compiler, its family, and the family's abilities; one file per family.
//! 2. `command`: the arguments (`classify`, by the family's flags; `response` reads
//!    `@file`), the files they make (`outputs`), and what is to be done (`steps`): leave the
//!    command alone, link it with the library, or build it with instrumented sources.
//! 3. `unit`: a source and its texts. `route` chooses the text, and has the compiler's
//!    preprocessor make it where the source, or one of the headers that it may include
//!    (`included`), hides something. `instrumenting` calls the instrumenter; `questions` are
//!    those that only the compiler can answer for it.
//! 4. `build`, and `split` for commands that can't stay one: all sources of a command.
//!    `compile`: the ladder of texts; `diagnostics`: whose messages are shown.
//! 5. `finish`: links the library, and keeps our files (`scratch`) out of the user's sight.
//! 6. `run`: the only place that starts a compiler. `inherited`: the compiler begins and ends
//!    as it would without us. `fault`: injected faults, for test builds.
//!
//! Invariants: no shell is used; an unknown argument is handed on in its place; only
//! `instrumenting` calls the instrumenter; problems of ours never fail a build unless `ROMP_STRICT` asks for
//! that.
//!
//! The wrapper is for Unix: the first goal is to look like the compiler in every way that a
//! build can see, and on Unix that needs `exec`.

mod build;
mod command;
mod compile;
mod compilers;
mod diagnostics;
mod fault;
mod finish;
mod included;
#[allow(unsafe_code, reason = "signals")]
pub(crate) mod inherited;
mod instrumenting;
mod message;
mod questions;
mod route;
mod run;
mod scratch;
mod settings;
mod split;
mod unit;

pub(crate) use finish::library;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use build::Build;
use command::classify::CommandLine;
use command::steps::Decision;
use command::{functions, steps};
use compilers::Compiler;
use instrumenting::Instrumenting;
use questions::known_directives::KnownDirectives;
use questions::offload::Offload;
use run::{Output, Runner};
use settings::Settings;

pub use scratch::clean_if_asked;

/// Whether this process was started under a name of the wrapper.
#[must_use]
pub fn is_invoked() -> bool {
    let invoked = std::env::args_os().next().unwrap_or_default();
    Path::new(&invoked)
        .file_name()
        .is_some_and(|name| compilers::is_own(&name.to_string_lossy()))
}

/// Runs the wrapper commands: the compiler is taken from the command's own name or from its
/// first argument.
#[must_use]
pub fn main() -> ExitCode {
    inherited::with_stack(run_by_name)
}

fn run_by_name() -> ExitCode {
    let mut words = std::env::args_os();
    let invoked = words.next().unwrap_or_else(|| OsString::from("rompcc"));
    let arguments: Vec<OsString> = words.collect();
    if clean_if_asked(&arguments) {
        return ExitCode::SUCCESS;
    }
    run(&invoked, &arguments)
}

/// Behaves as the compiler that the name `invoked` stands for, or as the one that the first
/// argument names (`rompcc mpicc ...`). Returns the status to exit with, if the process was not
/// replaced by the compiler.
#[must_use]
pub fn run(invoked: &OsStr, arguments: &[OsString]) -> ExitCode {
    let mut settings = settings();
    let (own, arguments): (Vec<_>, Vec<_>) =
        arguments.iter().cloned().partition(|word| word == CHUNKS);
    settings.chunks |= !own.is_empty();
    if let Some((compiler, arguments)) = Compiler::leading(&arguments) {
        return as_compiler(&compiler, &settings, arguments);
    }
    let compiler = Compiler::select(invoked, is_nested());
    as_compiler(&compiler, &settings, &arguments)
}

/// The wrapper's only flag of its own; no compiler has it. See `Settings::chunks`.
const CHUNKS: &str = "--chunks";

/// Behaves as the compiler that the command names (`romp wrap mpicc ...`). A dry
/// run prints the commands and runs none.
#[must_use]
pub fn wrap(command: &[OsString], dry_run: bool) -> ExitCode {
    let mut settings = settings();
    settings.dry_run = dry_run;
    let Some((compiler, arguments)) = Compiler::given(command) else {
        message::error("there is no compiler in the command; say romp wrap COMPILER ARGUMENTS");
        return ExitCode::from(2);
    };
    as_compiler(&compiler, &settings, arguments)
}

/// What the environment asks for. A value that is not known is reported and ignored.
fn settings() -> Settings {
    let (settings, problems) = Settings::from_environment();
    for problem in &problems {
        message::warning(&settings, problem);
    }
    settings
}

fn is_nested() -> bool {
    std::env::var_os(run::NESTED).is_some()
}

/// Ends as the compiler does.
fn as_compiler(compiler: &Compiler, settings: &Settings, arguments: &[OsString]) -> ExitCode {
    inherited::prepare();
    inherited::end(code_of(compiler, settings, arguments))
}

fn code_of(compiler: &Compiler, settings: &Settings, arguments: &[OsString]) -> u8 {
    let runner = Runner { compiler, settings };
    // A nested call compiles what the outer one has already instrumented.
    let transparent = settings.off || is_nested();
    let directory = std::env::current_dir().unwrap_or_default();
    let line = CommandLine::classify(compiler, arguments);
    let Some(words) = functions::translated(&line, settings, &directory, transparent) else {
        return classified(&runner, &line, arguments, &directory, transparent);
    };
    let run = |words: &[OsString]| {
        let line = CommandLine::classify(compiler, words);
        classified(&runner, &line, words, &directory, transparent)
    };
    let Some(with) = words.with else {
        return run(&words.without);
    };
    let code = run(&with);
    if code == 0 || words.reads_stdin {
        return code;
    }
    // The compiler's messages were about a command with added words, not the user's.
    message::warning(settings, functions::REFUSED);
    run(&words.without)
}

fn classified(
    runner: &Runner<'_>,
    line: &CommandLine,
    arguments: &[OsString],
    directory: &Path,
    transparent: bool,
) -> u8 {
    if transparent {
        return runner.become_compiler(arguments);
    }
    match steps::decide(line, directory) {
        Decision::AsGiven if functions::are_measured(arguments) => {
            let outcome = runner.run(arguments, None, Output::Shown);
            outcome.map_or_else(|code| code, |outcome| outcome.code())
        }
        Decision::AsGiven => runner.become_compiler(arguments),
        decision => with_library(runner, line, arguments, decision),
    }
}

/// Goes on with a command that needs the library, now or when its objects are linked.
fn with_library(
    runner: &Runner<'_>,
    line: &CommandLine,
    given: &[OsString],
    decision: Decision,
) -> u8 {
    let found = library::find(runner.settings.library.as_deref());
    let library = match found {
        Ok(library) => library,
        Err(why) => return without_library(runner, given, &why),
    };
    if decision == Decision::Link {
        return runner.become_compiler(&build::with_library(line, given, &library));
    }
    let how = Instrumenting {
        instrument: fault::instrumenter(),
        offload: &Offload::new(*runner, line),
        known: &KnownDirectives::new(*runner, line),
        settings: runner.settings,
        compiler: runner.compiler,
    };
    Build {
        runner: *runner,
        how,
        line,
        given,
        library: &library,
    }
    .run()
}

/// Runs the user's command uninstrumented: without the library, instrumented objects could not
/// be linked.
fn without_library(runner: &Runner<'_>, given: &[OsString], why: &str) -> u8 {
    const HELP: &str = "set ROMP_LIB to the file libpomp.a or its directory";
    if runner.settings.strict {
        message::error(&format!("{why}; {HELP}"));
        return 1;
    }
    message::warning(
        runner.settings,
        &format!("nothing is measured: {why}; {HELP}"),
    );
    runner.become_compiler(given)
}
