//! Warnings about sources that are measured only in part, because the preprocessed text that
//! would show the rest can't be made. The build goes on, unless `ROMP_STRICT` is set.

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::message;
use crate::wrapper::route::choose::{self, Reason};
use crate::wrapper::route::fortran_text;
use crate::wrapper::settings::Settings;
use crate::wrapper::unit::Unit;

/// Why a source is preprocessed.
pub(crate) fn reason(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<Reason> {
    match unit.incomplete {
        true => Some(Reason::expansion(UNCLEAR)),
        false => {
            let moved = || fortran_text::moved_line(compiler, unit).map(Reason::expansion);
            choose::reason(compiler, line, unit).or_else(moved)
        }
    }
}

const UNCLEAR: &str = "a directive in it is not clear";

/// Returns in words the part of a source that can't be seen without preprocessing, if no
/// warning of the instrumenter tells that already.
pub(crate) fn unseen(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<String> {
    let untold = unit.incomplete && unit.warnings.is_empty();
    let hidden = choose::reason(compiler, line, unit).map(|reason| reason.why);
    hidden.or_else(|| untold.then(|| UNCLEAR.to_owned()))
}

/// The sentence that says what is not measured of a source, and why.
pub(crate) fn sentence(unit: &Unit, unseen: &str, obstacle: &str) -> String {
    let measured = match unit.changed() {
        true => "measured only as it stands",
        false => "not measured",
    };
    format!(
        "{} is {measured}: {unseen}, and {obstacle}",
        unit.shown_name()
    )
}

/// Says what is not measured. With `ROMP_STRICT` these are errors, and the result is the status
/// to exit with.
pub(crate) fn say(settings: &Settings, sentences: &[String]) -> Option<u8> {
    for text in sentences {
        if settings.strict {
            message::error(text);
        } else {
            message::warning(settings, text);
        }
    }
    (settings.strict && !sentences.is_empty()).then_some(1)
}
