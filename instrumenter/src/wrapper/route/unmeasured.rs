//! Warnings about sources of which a part is not measured, because the preprocessed text that
//! would show this part can't be made. The build goes on, unless `ROMP_STRICT` is set.

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

/// What a source keeps from who reads it as it is, if no warning tells that.
pub(crate) fn unseen(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<String> {
    let untold = unit.incomplete && unit.warnings.is_empty();
    let hidden = choose::reason(compiler, line, unit).map(|reason| reason.why);
    hidden.or_else(|| untold.then(|| UNCLEAR.to_owned()))
}

/// What is missing of a source, and why.
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

/// Says what is missing; with `ROMP_STRICT` that is the end.
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
