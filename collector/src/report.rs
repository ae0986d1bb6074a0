//! The report: what took most time, with the call stack that led to it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use crate::events::wanted;
use crate::kinds::KINDS;
use crate::model::{Step, model};
use crate::places::Places;
use crate::stacks::{Recorded, Stack, Times, take};

/// Writes the file, if there was a session.
pub(crate) fn write() {
    let Some(wanted) = wanted() else { return };
    let (stacks, rest) = take();
    let program = std::env::current_exe().unwrap_or_default();
    let program = program
        .file_name()
        .unwrap_or("program".as_ref())
        .to_string_lossy();
    let name = format!("{program}.{}.romp-stacks.txt", std::process::id());
    let path = std::env::var_os("ROMP_COLLECTOR_OUTPUT").unwrap_or_else(|| name.into());
    let mut places = Places::new();
    let mut by_steps: BTreeMap<(usize, Vec<String>), Times> = BTreeMap::new();
    for (key, times) in stacks {
        let shown = steps(&key.stack, &mut places).iter().map(step).collect();
        let sum = by_steps.entry((key.kind, shown)).or_default();
        sum.count += times.count;
        sum.ns = sum.ns.saturating_add(times.ns);
        sum.longest = sum.longest.max(times.longest);
    }
    let mut all: Vec<_> = by_steps.into_iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(times.ns));
    let least = wanted.least.as_micros();
    if let Err(error) = file(Path::new(&path), &program, least, &all, &rest) {
        let _ = writeln!(
            io::stderr(),
            "romp-collector: cannot write the report: {error}"
        );
    }
}

fn steps(stack: &Stack, places: &mut Places) -> Vec<Step> {
    let threads = stack.0.split(|address| *address == 0);
    let threads = threads.map(|addresses| addresses.iter().flat_map(|at| places.of(*at)).collect());
    model(&threads.collect::<Vec<_>>())
}

fn step(step: &Step) -> String {
    match step.line {
        0 => step.function.clone(),
        line => format!("{} ({}:{line})", step.function, step.file),
    }
}

type Entry = ((usize, Vec<String>), Times);

fn file(path: &Path, program: &str, least: u128, all: &[Entry], rest: &Recorded) -> io::Result<()> {
    let mut out = io::BufWriter::new(std::fs::File::create(path)?);
    writeln!(
        out,
        "Call stacks of {program}, with the functions of its source\n"
    )?;
    for ((kind, steps), times) in all {
        let (ms, longest) = (times.ns as f64 / 1e6, times.longest as f64 / 1e6);
        writeln!(
            out,
            "{}: {} times, {ms:.3} ms, longest {longest:.3} ms",
            KINDS[*kind].1, times.count
        )?;
        for (depth, step) in steps.iter().enumerate() {
            writeln!(out, "{:1$}{step}", "", 2 * depth + 2)?;
        }
        writeln!(out)?;
    }
    for (short, (_, what, _)) in rest.short.iter().zip(KINDS) {
        if *short > 0 {
            writeln!(
                out,
                "{what}: {short} times under {least} us; their stacks were not taken"
            )?;
        }
    }
    if rest.lost > 0 {
        writeln!(out, "{} further stacks were not kept", rest.lost)?;
    }
    out.flush()
}
