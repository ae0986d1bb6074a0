//! Folded stacks, from which `flamegraph.pl`, `inferno-flamegraph` and
//! speedscope draw flame graphs: one line per call path, frames from the
//! program inwards with `;` between, then its own thread time in nanoseconds.
//! What is not work is a frame of its own: `[enter]`, `[barrier]`, `[exit]`.

use std::io::{self, Write};

use crate::analysis::{Label, Report};
use crate::printable::is_command;
use crate::region_kind::RegionKind;

/// Writes the stacks.
///
/// # Errors
/// If `out` refuses.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let program = frame(&report.profile.run.application);
    let program = if program.is_empty() {
        "program"
    } else {
        &program
    };
    writeln!(out, "{program} {}", report.call_graph.program.exclusive.ns)?;
    let mut stack = Vec::new();
    for (path, own) in report.call_graph.paths.iter().zip(&report.own_times) {
        stack.truncate(path.level - 1);
        stack.push(region(&report.labels[path.region]));
        let frames = format!("{program};{}", stack.join(";"));
        if own.work_ns > 0 {
            writeln!(out, "{frames} {}", own.work_ns)?;
        }
        for (what, ns) in own.waits().into_iter().filter(|(_, ns)| *ns > 0) {
            writeln!(out, "{frames};[{what}] {ns}")?;
        }
    }
    Ok(())
}

fn region(label: &Label) -> String {
    match (label.kind, &label.name) {
        (RegionKind::Function, Some(name)) => frame(name),
        _ => frame(&label.in_words()),
    }
}

/// Text without the separators of stacks and lines.
fn frame(text: &str) -> String {
    text.replace(|c: char| c == ';' || is_command(c), "_")
}
