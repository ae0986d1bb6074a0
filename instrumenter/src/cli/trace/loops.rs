//! `romp trace loops TRACE`

use std::io::{self, Write};

use clap::Args;
use profile::analysis::words::count;
use trace::analysis::iterations::{Heavy, Loop, loops};
use trace::export::region;
use trace::read::Trace;

use super::{Failure, failure, print};

/// The columns of a picture.
const COLUMNS: usize = 64;
/// The share of a loop's time beyond the medians up to which no remark is made.
const ONCE: f64 = 0.1;
/// The characters for a column, from nothing to the highest.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Arguments of `romp trace loops TRACE`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A line for each iteration, or for a few neighbours, with tabs: region, first
    /// iteration, values of the loop variables, executions, nanoseconds of one
    #[arg(long)]
    table: bool,
}

pub(super) fn run(trace: &Trace, arguments: &Arguments) -> Result<(), Failure> {
    let loops = loops(trace).map_err(failure)?;
    if loops.is_empty() {
        return Err(failure(
            "no chunks of loops are in this trace\n  = help: build with rompcc --chunks; or start it with \
             ROMP_TRACE=on ROMP_CHUNKS=on romp run, which sees the chunks that the OpenMP runtime hands \
             out (with GCC none of a static schedule)",
        ));
    }
    print(|out| {
        if arguments.table {
            writeln!(out, "region\titeration\tvalue\texecuted\tns")?;
        }
        for (number, known) in &loops {
            let name = region(trace, *number);
            match arguments.table {
                true => table(trace, &name, known, out)?,
                false => picture(trace, &name, known, out)?,
            }
        }
        Ok(())
    })
}

/// The length of a clock's tick, as text. No time is known more precisely.
pub(super) fn tick(trace: &Trace) -> String {
    time(trace.ns_of_parts(1.0))
}

/// A time for people.
fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.2} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.2} us", ns / 1e3),
        ns => format!("{ns:.1} ns"),
    }
}

fn table(trace: &Trace, name: &str, known: &Loop, out: &mut dyn Write) -> io::Result<()> {
    for (first, cell) in (0..)
        .step_by(known.per_cell.max(1) as usize)
        .zip(&known.cells)
    {
        let value = values(known, first).unwrap_or_default();
        let cost = trace.ns_of_parts(cell.cost());
        writeln!(
            out,
            "{name}\t{first}\t{value}\t{}\t{cost:.1}",
            cell.executed
        )?;
    }
    Ok(())
}

/// The values of the loop variables in an iteration.
fn values(known: &Loop, iteration: u64) -> Option<String> {
    let values = known.values(iteration)?;
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    Some(values.join(","))
}

fn picture(trace: &Trace, name: &str, known: &Loop, out: &mut dyn Write) -> io::Result<()> {
    let (executed, ticks) = known.total();
    writeln!(
        out,
        "{name}\n  {} of up to {}, {}; {} in iterations, {} each in the median",
        count(known.instances(), "instance"),
        count(known.iterations, "iteration"),
        count(known.chunks, "chunk"),
        time(trace.ns_of_parts(ticks)),
        time(trace.ns_of_parts(known.mean())),
    )?;
    writeln!(out, "  resolution: {}", resolution(trace, known))?;
    let once = (ticks - known.typical()).max(0.0);
    if once > ONCE * ticks && executed > known.iterations as f64 {
        writeln!(
            out,
            "  {} ({:.0} %) beyond the medians, in single executions: first use of memory, or \
             the operating system",
            time(trace.ns_of_parts(once)),
            100.0 * once / ticks.max(1.0),
        )?;
    }
    let columns = known.columns(COLUMNS);
    let highest = columns.iter().copied().fold(0.0, f64::max);
    let drawn: String = columns.iter().map(|cost| column(*cost, highest)).collect();
    writeln!(
        out,
        "  |{drawn}|  highest: {}",
        time(trace.ns_of_parts(highest))
    )?;
    let heavy = known.heavy();
    for heavy in &heavy {
        writeln!(out, "  heavy: {}", described(trace, known, heavy))?;
    }
    if known.instances() == 1 && !heavy.is_empty() {
        writeln!(
            out,
            "  executed once: what the operating system did then is not told apart"
        )?;
    }
    if heavy.is_empty() {
        writeln!(out, "  no iteration costs twice as much as a usual one")?;
    }
    writeln!(out)
}

/// The finest resolution of a loop in the trace: iterations, and time.
fn resolution(trace: &Trace, known: &Loop) -> String {
    let tick = tick(trace);
    match known.largest_chunk.max(known.per_cell) {
        0 | 1 => format!("each iteration; times are exact to one tick of the clock, {tick}"),
        of => format!(
            "{of} iterations, over which the time of a chunk is spread evenly; times are exact to one \
             tick of the clock, {tick}"
        ),
    }
}

fn column(cost: f64, highest: f64) -> char {
    let height = match highest > 0.0 {
        true => (cost / highest * 8.0).ceil() as usize,
        false => 0,
    };
    HEIGHTS[height.min(8)]
}

fn described(trace: &Trace, known: &Loop, heavy: &Heavy) -> String {
    let range = |first: String, last: String| match first == last {
        true => first,
        false => format!("{first} to {last}"),
    };
    let numbers = range(heavy.first.to_string(), heavy.last.to_string());
    let values = values(known, heavy.first).zip(values(known, heavy.last));
    let values = values.map(|(first, last)| {
        let variable = match first.contains(',') {
            true => "variables",
            false => "variable",
        };
        format!(" (loop {variable} {})", range(first, last))
    });
    let share = 100.0 * heavy.cell.typical() / known.typical().max(1.0);
    let usual = known.mean().max(f64::MIN_POSITIVE);
    format!(
        "iteration {numbers}{}: {} each, {:.1} times the mean, {share:.1} % of the loop",
        values.unwrap_or_default(),
        time(trace.ns_of_parts(heavy.cell.cost())),
        heavy.cell.cost() / usual,
    )
}
