//! Warnings about sources that are not measured, or only in part: a new text can't be made, or
//! the compiler rejects it. The build goes on, unless `ROMP_STRICT` is set.

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::message;
use crate::wrapper::route::choose;
use crate::wrapper::settings::Settings;
use crate::wrapper::unit::Unit;

/// Returns in words the part of a source that can't be seen without preprocessing, if no
/// warning of the instrumenter tells that already.
pub(crate) fn unseen(compiler: &Compiler, line: &CommandLine, unit: &Unit) -> Option<String> {
    let untold = unit.incomplete && unit.warnings.is_empty();
    let hidden = choose::hidden(compiler, line, unit).map(|reason| reason.why);
    hidden.or_else(|| untold.then(|| choose::UNCLEAR.to_owned()))
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

/// Says that units are not measured. With `ROMP_STRICT` these are errors, and the result is the
/// status to exit with.
pub(crate) fn leave_out(settings: &Settings, units: &[&Unit], why: &str) -> Option<u8> {
    let sentences: Vec<String> = units.iter().map(|unit| not_measured(unit, why)).collect();
    say(settings, &sentences)
}

/// The sentence about a source of which nothing is measured.
pub(crate) fn not_measured(unit: &Unit, why: &str) -> String {
    format!("{} is not measured: {why}", unit.shown_name())
}
