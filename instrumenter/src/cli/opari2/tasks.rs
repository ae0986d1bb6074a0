//! OPARI2's options for tasks that a measurement library may not understand.

use clap::ValueEnum;

use super::super::Failure;
use crate::diagnostic::{at_line, error_at};
use crate::find::{Closing, Extent, FoundDirective, front_end};
use crate::openmp::{Directive, Leaf};
use crate::source::Source;

/// What is done with tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Tasks {
    /// The first one is an error
    Abort,
    /// A warning for each
    Warn,
    /// Their directives go: what is in them is executed at once
    Remove,
}

/// What is done with untied tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Untied {
    /// The first one is an error
    Abort,
    /// They stay untied
    Keep,
    /// The same: there is no warning
    NoWarn,
}

/// Treats the tasks of a source as the options say.
///
/// # Errors
/// If there is a task that is not allowed.
pub(super) fn treat(
    source: &mut Source,
    tasks: Option<Tasks>,
    untied: Option<Untied>,
) -> Result<(), Failure> {
    if tasks.is_none() && untied.is_none() {
        return Ok(());
    }
    let found = front_end(source.language).find(source);
    let mut gone = Vec::new();
    for (directive, task) in found.directives.iter().filter_map(task) {
        let said = |what: &str| at_line(found.lines.presumed(directive.range.start), what);
        let is_untied = task.clause("untied").is_some();
        if tasks == Some(Tasks::Abort) || (is_untied && untied == Some(Untied::Abort)) {
            let kind = if tasks == Some(Tasks::Abort) {
                "a task"
            } else {
                "an untied task"
            };
            let what = format!("there is {kind}, and an option forbids it");
            return Err(error_at(found.lines.presumed(directive.range.start), &what).into());
        }
        match tasks {
            Some(Tasks::Warn) => {
                tell!(
                    "{}",
                    said("tasks may not be supported by the measurement library")
                );
            }
            Some(Tasks::Remove) => {
                gone.push(directive.range.clone());
                gone.extend(end_of(directive));
            }
            _ => {}
        }
    }
    for range in gone {
        for byte in &mut source.text[range] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    Ok(())
}

fn task(found: &FoundDirective) -> Option<(&FoundDirective, &Directive)> {
    let directive = found.directive.as_ref().ok()?;
    directive.has_leaf(Leaf::Task).then_some((found, directive))
}

/// The directive that ends a construct, if it has one.
fn end_of(directive: &FoundDirective) -> Option<std::ops::Range<usize>> {
    match &directive.extent {
        Extent::Body(body) => match &body.closing {
            Closing::Directive(end) => Some(end.range.clone()),
            Closing::Block | Closing::Omitted => None,
        },
        Extent::None | Extent::Unclear(_) => None,
    }
}
