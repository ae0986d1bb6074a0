//! Scaling as comma separated values: one line for each number of threads and place, and one
//! for the whole program. Times are exact seconds of thread time. Divide them by the number of
//! threads to get elapsed time.

use std::io::{self, Write};

use super::{Amounts, Part, Scaling};
use crate::printable::quoted;

pub(super) fn write(scaling: &Scaling, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "threads,runs,duration,kind,file,line,function,name,time,lost"
    )?;
    for part in Part::ALL {
        write!(out, ",lost {}", part.title())?;
    }
    writeln!(out)?;
    for (index, width) in scaling.widths.iter().enumerate() {
        let start = format!(
            "{},{},{}",
            width.threads,
            width.duration.runs,
            seconds(i128::from(width.duration_ns))
        );
        let total = i128::from(width.duration_ns) * i128::from(width.threads);
        write!(out, "{start},PROGRAM,,,,,{}", seconds(total))?;
        parts(&width.lost, out)?;
        for place in &scaling.places {
            let at = &place.at[index];
            match &place.region {
                None => write!(out, "{start},SERIAL,,,,")?,
                Some(site) => {
                    let kind = site.kind.row().full_name;
                    write!(out, "{start},{kind},{},{}", quoted(&site.file), site.line)?;
                    for name in [&site.function, &site.name] {
                        write!(out, ",{}", quoted(name.as_deref().unwrap_or_default()))?;
                    }
                }
            }
            write!(out, ",{}", seconds(at.time.total()))?;
            parts(&at.lost, out)?;
        }
    }
    Ok(())
}

fn parts(lost: &Amounts, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",{}", seconds(lost.total()))?;
    for part in Part::ALL {
        write!(out, ",{}", seconds(lost.of(part)))?;
    }
    writeln!(out)
}

fn seconds(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}
