//! The first text of a source: the source as it is, instrumented.

use crate::openmp::{self, Language};
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
    let has_macros = unit.language != Language::Fortran || unit.layout.preprocessed_by_compiler;
    leaves_something(made) || has_macros && hides_clauses(made)
}

/// The first construct that is compiled as written.
fn compiled_as_written(made: &Instrumented) -> Option<String> {
    let mut listed = made.plan.listing.iter();
    let passed = listed.find(|listed| matches!(listed.outcome, Decision::PassedThrough { .. }));
    passed.map(|listed| listed.construct.clone())
}

/// Whether a word in the place of a clause may be a macro, so that the implicit barrier of a construct is
/// not measured.
fn hides_clauses(made: &Instrumented) -> bool {
    let is_unknown = |name: &String| !openmp::clauses::is_name(name);
    made.plan.listing.iter().any(|listed| {
        let is_unsplit = matches!(listed.outcome, Decision::Instrumented { unsplit: Some(_) });
        is_unsplit && listed.clauses.iter().any(is_unknown)
    })
}
