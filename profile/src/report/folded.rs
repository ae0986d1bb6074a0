//! Folded stacks, from which `flamegraph.pl`, `inferno-flamegraph` and speedscope draw flame
//! graphs. There is one line per call path: the frames from the program inwards, separated by
//! `;`, then the exclusive thread time in nanoseconds. Time other than work has frames of its
//! own: `[enter]`, `[barrier]`, `[exit]`.

use std::io::{self, Write};

use crate::analysis::{Label, Report};
use crate::printable::is_command;
use crate::region_kind::RegionKind;

/// Writes the stacks.
///
/// # Errors
/// If writing to `out` fails.
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

/// Text without the characters that separate frames and lines.
fn frame(text: &str) -> String {
    text.replace(|c: char| c == ';' || is_command(c), "_")
}
