//! `romp trace periods TRACE`

use std::io::{self, Write};

use clap::Args;
use serde_json::json;
use trace::analysis::periods::{Executed, Period, periods};
use trace::export::region;
use trace::read::Trace;

use super::dump::{Format, label, loop_instance};
use super::{Failure, failure, print};

/// Arguments of `romp trace periods TRACE`.
#[derive(Debug, Args)]
#[command(after_help = "A line has nanoseconds since the start, the thread, and what ran where.")]
pub(super) struct Arguments {
    /// How to write it
    #[arg(short, long, default_value = "text")]
    format: Format,
}

pub(super) fn run(trace: &Trace, arguments: &Arguments) -> Result<(), Failure> {
    let mut result = Ok(());
    print(|out| {
        let (mut written, mut is_empty) = (Ok(()), true);
        result = periods(trace, &mut |period| {
            is_empty = false;
            if written.is_ok() {
                written = match arguments.format {
                    Format::Text => text(trace, period, out),
                    Format::Json => json(trace, period, out),
                };
            }
        });
        match (is_empty && result.is_ok(), arguments.format) {
            (true, Format::Text) => writeln!(out, "no chunks and no tasks"),
            _ => written,
        }
    })?;
    result.map_err(failure)
}

fn text(trace: &Trace, period: &Period, out: &mut dyn Write) -> io::Result<()> {
    let (start, end) = (trace.ns(period.start), trace.ns(period.end));
    let thread = trace.thread(period.thread);
    let what = match period.executed {
        Executed::Set { first, length, .. } => match length {
            Some(length) => {
                let last = first.saturating_add(length.saturating_sub(1));
                format!("iterations {first} to {last}")
            }
            None => format!("iterations from {first}"),
        },
        // A dump names the creation. In Fortran the creation is not known.
        Executed::Task { label, created: 0 } => format!("task executed as {}", name(label)),
        Executed::Task { created, .. } => format!("task {}", name(created)),
    };
    let part = match (period.number, period.is_last) {
        (0, true) => String::new(),
        (number, true) => format!(", last period ({number})"),
        (number, false) => format!(", period {number}"),
    };
    let region = region(trace, period.region);
    writeln!(
        out,
        "{start:>12} {end:>12} {thread:<8} {region}  {what}{part}"
    )
}

fn json(trace: &Trace, period: &Period, out: &mut dyn Write) -> io::Result<()> {
    let mut line = json!({
        "thread": trace.thread(period.thread),
        "region": region(trace, period.region),
        "period": period.number,
        "last": period.is_last,
        "from": trace.ns(period.start),
        "to": trace.ns(period.end),
    });
    match period.executed {
        Executed::Set {
            instance,
            first,
            length,
        } => {
            line["instance"] = loop_instance(instance);
            line["first"] = json!(first);
            if let Some(length) = length {
                line["iterations"] = json!(length);
            }
        }
        Executed::Task {
            label: task,
            created,
        } => {
            line["label"] = label(task);
            line["task"] = label(created);
        }
    }
    writeln!(out, "{line}")
}

/// A label without the quotes of JSON.
fn name(of: u64) -> String {
    label(of).as_str().unwrap_or_default().to_owned()
}
