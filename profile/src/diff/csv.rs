//! A comparison as comma separated values: a line with the names of the
//! columns, then one line per change; the whole program has no region. Times
//! are exact seconds; no ratio is written where the time before is 0. Of several runs a time
//! is the median; the last columns have the interval of each side.

use std::io::{self, Write};

use super::{Change, Diff, Status};
use crate::report::csv::{quoted, seconds};

/// Writes the table.
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "status,kind,file,line,line_before,function,name,directive,directive_before,time,\
         before,after,change,ratio,noise,before_low,before_high,after_low,after_high"
    )?;
    for change in diff.program.iter().chain(&diff.regions) {
        line(change, out)?;
    }
    Ok(())
}

fn line(change: &Change, out: &mut dyn Write) -> io::Result<()> {
    match &change.region {
        None => write!(out, "both,PROGRAM,,,,,,,")?,
        Some(region) => {
            let status = match region.status {
                Status::Both => "both",
                Status::New => "new",
                Status::Vanished => "vanished",
            };
            let kind = region.kind.row().full_name;
            let before = region.line_before.map(|line| line.to_string());
            write!(
                out,
                "{status},{kind},{},{},{}",
                quoted(&region.file),
                region.line,
                before.unwrap_or_default()
            )?;
            for text in [
                &region.function,
                &region.name,
                &region.directive,
                &region.directive_before,
            ] {
                write!(out, ",{}", quoted(text.as_deref().unwrap_or_default()))?;
            }
        }
    }
    let sign = if change.change_ns < 0 { "-" } else { "" };
    let size = change.before_ns.abs_diff(change.after_ns);
    let ratio = change.ratio.map(|ratio| ratio.to_string());
    write!(
        out,
        ",{},{},{},{sign}{},{},{}",
        change.subject.name(),
        seconds(change.before_ns),
        seconds(change.after_ns),
        seconds(size),
        ratio.unwrap_or_default(),
        change.noise
    )?;
    let Change { before, after, .. } = change;
    for ns in [before.low, before.high, after.low, after.high] {
        write!(out, ",{}", seconds(ns))?;
    }
    writeln!(out)
}
