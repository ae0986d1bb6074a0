//! A comparison as comma separated values: a line with the names of the columns, then one line
//! per change. For the whole program, the region is empty. The time that a cause would win is
//! called `win` and its kind, such as `win_imbalance`. Times are exact seconds. No ratio is
//! written if the time before is 0. With several runs, a time is the median; the last columns
//! have the interval of each side.

use std::io::{self, Write};

use super::{CauseChange, ComparedRegion, Diff, Status};
use crate::printable::{quoted, seconds};
use crate::runs::Sample;

/// Writes the table.
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "status,kind,file,line,line_before,function,name,directive,directive_before,time,\
         before,after,change,ratio,noise,before_low,before_high,after_low,after_high"
    )?;
    for change in diff.program.iter().chain(&diff.regions) {
        let cells = Cells {
            subject: change.subject.name().to_owned(),
            before: change.before,
            after: change.after,
            ratio: change.ratio,
            noise: change.noise,
        };
        let status = change.region.as_ref().map(|region| region.status);
        line(
            status.unwrap_or(Status::Both),
            change.region.as_ref(),
            &cells,
            out,
        )?;
    }
    for change in &diff.causes {
        let CauseChange { before, after, .. } = *change;
        let ratio = (change.status == Status::Both && before.median > 0)
            .then(|| after.median as f64 / before.median as f64);
        let cells = Cells {
            subject: format!("win_{}", change.kind.row().name),
            before,
            after,
            ratio,
            noise: change.noise,
        };
        line(change.status, change.region.as_ref(), &cells, out)?;
    }
    Ok(())
}

/// The cells that follow the place.
struct Cells {
    subject: String,
    before: Sample,
    after: Sample,
    ratio: Option<f64>,
    noise: bool,
}

fn line(
    status: Status,
    region: Option<&ComparedRegion>,
    cells: &Cells,
    out: &mut dyn Write,
) -> io::Result<()> {
    let status = match status {
        Status::Both => "both",
        Status::New => "new",
        Status::Vanished => "vanished",
    };
    match region {
        None => write!(out, "{status},PROGRAM,,,,,,,")?,
        Some(region) => {
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
    let Cells { before, after, .. } = cells;
    let sign = if after.median < before.median {
        "-"
    } else {
        ""
    };
    let ratio = cells.ratio.map(|ratio| ratio.to_string());
    write!(
        out,
        ",{},{},{},{sign}{},{},{}",
        cells.subject,
        seconds(before.median),
        seconds(after.median),
        seconds(before.median.abs_diff(after.median)),
        ratio.unwrap_or_default(),
        cells.noise
    )?;
    for ns in [before.low, before.high, after.low, after.high] {
        write!(out, ",{}", seconds(ns))?;
    }
    writeln!(out)
}
