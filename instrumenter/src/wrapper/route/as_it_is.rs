//! The first text of a source: the source as it is, instrumented.

use crate::openmp;
use crate::plan::Decision;
use crate::source::UndefinedMacros;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::instrumenting::{Instrumenting, instrumented, leaves_something};
use crate::wrapper::route::choose;
use crate::wrapper::settings::Preprocess;
use crate::wrapper::unit::Unit;
use crate::{Instrumented, Source};

/// Instruments the source of a unit as it is. A part that is not clear or depends on a device
/// may be in a branch that needs undefined macros. Then such macros are looked up, and the
/// source is instrumented again.
pub(crate) fn instrument(unit: &mut Unit, line: &CommandLine, how: &Instrumenting<'_>) {
    let mut source = Source {
        name: unit.text_name(),
        language: unit.language,
        text: unit.original.clone(),
        layout: unit.layout,
        undefined: UndefinedMacros::new(),
    };
    let asks = how.settings.preprocess == Preprocess::Auto;
    let mut made = instrumented(how, &source, line, unit.index, asks);
    let depends = |made: &Instrumented| made.plan.depends_on_device || is_unclear(unit, made);
    if asks && made.as_ref().is_ok_and(depends) {
        source.undefined = choose::undefined_macros(how.compiler, line, unit);
        let on_device = made.as_ref().is_ok_and(|made| made.plan.depends_on_device);
        if on_device || !source.undefined.is_empty() {
            made = instrumented(how, &source, line, unit.index, false);
        }
    }
    unit.defective = made.is_err();
    unit.incomplete = made.as_ref().is_ok_and(|made| is_unclear(unit, made));
    if let Ok(made) = made {
        unit.compiled_as_written = compiled_as_written(&made);
        (unit.text, unit.warnings) = (made.applied.text, made.warnings);
    }
}

fn is_unclear(unit: &Unit, made: &Instrumented) -> bool {
    leaves_something(made) || (unit.layout.preprocessed_by_compiler && hides_clauses(made))
}

/// The first construct that is compiled as written.
fn compiled_as_written(made: &Instrumented) -> Option<String> {
    let mut listed = made.plan.listing.iter();
    let passed = listed.find(|listed| matches!(listed.outcome, Decision::PassedThrough { .. }));
    passed.map(|listed| listed.construct.clone())
}

/// Whether a word in the place of a clause may be a macro.
fn hides_clauses(made: &Instrumented) -> bool {
    let mut listed = made.plan.listing.iter();
    listed.any(|listed| {
        let mut clauses = listed.clauses.iter();
        clauses.any(|name| !openmp::clauses::is_name(name))
    })
}
