//! Building a command with instrumented sources.
//!
//! A command that links stays one command, so that outputs, intermediate objects and side files
//! are those that the compiler makes of it. It is split only if its sources stand in several
//! directories and the compiler is given temporary files. A command that makes several objects
//! is split, too (see [`crate::wrapper::split`]).

use std::ffi::OsString;
use std::path::Path;

use crate::Groups;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::command::outputs;
use crate::wrapper::command::steps;
use crate::wrapper::compile::Job;
use crate::wrapper::finish::coverage;
use crate::wrapper::finish::library;
use crate::wrapper::instrumenting::Instrumenting;
use crate::wrapper::message;
use crate::wrapper::route::as_it_is;
use crate::wrapper::route::choose::{self, Reason};
use crate::wrapper::route::expanded;
use crate::wrapper::route::expanded::Shown;
use crate::wrapper::route::unmeasured::{self, leave_out};
use crate::wrapper::run::{Output, Runner};
use crate::wrapper::scratch::Scratch;
use crate::wrapper::settings::Preprocess;
use crate::wrapper::split;
use crate::wrapper::unit::Unit;

/// The reason given when the instrumenter panics on a source.
const DEFECT: &str =
    "the instrumenter failed on it; this is a defect of romp, please report it with the file";

/// A command with OpenMP sources that is about to be built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build<'a> {
    pub(crate) runner: Runner<'a>,
    pub(crate) how: Instrumenting<'a>,
    pub(crate) line: &'a CommandLine,
    /// The user's words, before response files were read.
    pub(crate) given: &'a [OsString],
    pub(crate) library: &'a Path,
}

impl Build<'_> {
    /// Builds the command and returns the status to exit with.
    pub(crate) fn run(&self) -> u8 {
        let indices = 0..self.line.arguments.len();
        let read = |index| {
            let mut unit = Unit::read(self.line, index)?;
            as_it_is::instrument(&mut unit, self.line, &self.how);
            Some(unit)
        };
        let mut units: Vec<Unit> = indices.filter_map(read).collect();
        let missing = units.iter_mut().filter_map(|unit| self.preprocess(unit));
        let missing: Vec<String> = missing.collect();
        let defective: Vec<&Unit> = units.iter().filter(|unit| unit.defective).collect();
        if let Some(code) = leave_out(self.runner.settings, &defective, DEFECT)
            .or_else(|| unmeasured::say(self.runner.settings, &missing))
        {
            return code;
        }
        for warning in units.iter().flat_map(|unit| &unit.warnings) {
            message::plain(self.runner.settings, warning);
        }
        let stdin = units
            .iter()
            .find(|unit| unit.is_stdin())
            .map(|unit| unit.original.clone());
        self.say_if_nothing_is_measured(&units);
        units.retain(Unit::is_measured);
        if coverage::is_mapped(self.line) {
            let all: Vec<&Unit> = units.iter().collect();
            if let Some(code) = leave_out(self.runner.settings, &all, coverage::MAPPED) {
                return code;
            }
            units.clear();
        }
        if units.is_empty() {
            return self.untouched(stdin.as_deref());
        }
        match self.place(&mut units) {
            Ok(scratch) => self.build(&units, &scratch, stdin.as_deref()),
            Err(problem) if self.runner.settings.strict => {
                message::error(&problem);
                1
            }
            Err(problem) => {
                let text = format!("{problem}; nothing is measured");
                message::warning(self.runner.settings, &text);
                self.untouched(stdin.as_deref())
            }
        }
    }

    /// Makes the preprocessed text if it is preferred to the source as it is. Returns a
    /// sentence about the missing measurements if the text can't be made.
    fn preprocess(&self, unit: &mut Unit) -> Option<String> {
        let Runner { compiler, settings } = self.runner;
        let short = |unit: &mut Unit, obstacle: &str| {
            let unseen = unmeasured::unseen(compiler, self.line, unit)?;
            if !unit.changed() {
                // The returned sentence says it all.
                unit.warnings.clear();
            }
            Some(unmeasured::sentence(unit, &unseen, obstacle))
        };
        if settings.preprocess == Preprocess::Never || unit.defective {
            return None;
        }
        if let Some(obstacle) = expanded::obstacle(self.line, unit) {
            return short(unit, &obstacle);
        }
        let reason = match settings.preprocess {
            Preprocess::Always => Reason::expansion("ROMP_PREPROCESS=always"),
            Preprocess::Auto | Preprocess::Never => choose::reason(compiler, self.line, unit)?,
        };
        let why = format!("{} is preprocessed: {}", unit.shown_name(), reason.why);
        message::note(settings, &why);
        match expanded::make(&self.runner, self.line, unit, &self.how, reason.needs) {
            Shown::Text(mut made) => {
                unit.warnings = std::mem::take(&mut made.warnings);
                unit.preprocessed = Some(*made);
            }
            Shown::Nothing => unit.leave(),
            Shown::LeftAlone(warnings) if !unit.changed() => unit.warnings = warnings,
            Shown::LeftAlone(_) | Shown::NoMore => {}
            Shown::Failed(why) => return short(unit, why),
        }
        None
    }

    /// Warns that the program will write no profile. That is certain only if this command alone
    /// makes the program, and none of the directives in its sources is measured.
    fn say_if_nothing_is_measured(&self, units: &[Unit]) {
        let settings = self.runner.settings;
        if !steps::makes_whole_program(self.line)
            || settings.disabled != Groups::default()
            || units.iter().any(Unit::is_measured)
        {
            return;
        }
        let named = |unit: &Unit| {
            let construct = unit.compiled_as_written.as_ref()?;
            Some(format!("{construct} in {}", unit.shown_name()))
        };
        if let Some(example) = units.iter().find_map(named) {
            let text = format!(
                "the program will write no profile: none of its directives is measured \
                 (the first is {example})"
            );
            message::warning(settings, &text);
        }
    }

    /// Runs the user's command with nothing instrumented. The library is added if the command
    /// links.
    fn untouched(&self, stdin: Option<&[u8]>) -> u8 {
        let words = with_library(self.line, self.given, self.library);
        match stdin {
            Some(_) => {
                let ended = self.runner.run(&words, stdin, Output::Shown);
                ended.map_or_else(|code| code, |outcome| outcome.code())
            }
            None => self.runner.become_compiler(&words),
        }
    }

    /// Writes the new texts to temporary files.
    fn place(&self, units: &mut [Unit]) -> Result<Scratch, String> {
        let place = std::env::temp_dir();
        let failed = |error| {
            format!(
                "cannot write temporary files in {}: {error}; set TMPDIR",
                place.display()
            )
        };
        let scratch = Scratch::new().map_err(failed)?;
        for unit in units {
            unit.place(self.runner.compiler, &scratch).map_err(failed)?;
            if self.runner.settings.keep && !self.runner.settings.dry_run {
                self.keep(unit);
            }
        }
        Ok(scratch)
    }

    fn keep(&self, unit: &Unit) {
        let path = outputs::kept(self.line, &unit.name);
        let settings = self.runner.settings;
        let preprocessed = unit.preprocessed.as_ref().map(|made| &made.text);
        match std::fs::write(&path, preprocessed.unwrap_or(&unit.text)) {
            Ok(()) => message::note(settings, &format!("kept {}", path.display())),
            Err(error) => {
                message::warning(
                    settings,
                    &format!("cannot write {}: {error}", path.display()),
                );
            }
        }
    }

    fn build(&self, units: &[Unit], scratch: &Scratch, stdin: Option<&[u8]>) -> u8 {
        let job = Job {
            runner: self.runner,
            library: self.library,
            scratch,
            stdin,
        };
        let units: Vec<&Unit> = units.iter().collect();
        if !split::is_needed(self.line, &units) {
            return job.build(self.line, units);
        }
        match split::obstacle(self.line) {
            None => split::run(&job, self.line, &units).unwrap_or_else(|code| code),
            Some(flag) => {
                let why = format!(
                    "{flag} names files after the command, and its sources stand in several \
                     directories; compile them one by one"
                );
                leave_out(self.runner.settings, &units, &why)
                    .unwrap_or_else(|| job.build(self.line, Vec::new()))
            }
        }
    }
}

/// The user's own words, with the library if the command links a program.
pub(crate) fn with_library(
    line: &CommandLine,
    given: &[OsString],
    library: &Path,
) -> Vec<OsString> {
    if !steps::wants_library(line) {
        return given.to_vec();
    }
    let mut words = given.to_vec();
    if line.has_end_of_flags() {
        words = line.clone().without_end_of_flags().words();
    }
    words.extend(library::link_words(line, library));
    words
}
