//! `romp trace FILE info`

use std::path::Path;

use trace::read::Trace;

use super::{Failure, print};

pub(super) fn run(path: &Path, trace: &Trace) -> Result<(), Failure> {
    let bytes = std::fs::metadata(path).map_or(0, |data| data.len());
    let header = &trace.header;
    let state = match header.is_complete {
        true => "complete",
        false => "broken off: the program was killed, or still runs",
    };
    let regions = trace.regions.iter().flatten().count();
    print(|out| {
        for (name, value) in &trace.facts {
            writeln!(out, "{name:<12} {value}")?;
        }
        writeln!(out, "{:<12} {}", "process", header.pid)?;
        writeln!(out, "{:<12} {state}", "state")?;
        writeln!(out, "{:<12} {} ns", "duration", trace.ns(header.end.ticks))?;
        writeln!(out, "{:<12} {bytes} bytes, {} pages", "size", trace.pages())?;
        writeln!(out, "{:<12} {}", "streams", trace.streams().count())?;
        writeln!(out, "{:<12} {}", "threads", trace.paths.len())?;
        writeln!(out, "{:<12} {regions}", "regions")?;
        writeln!(out, "{:<12} {} events", "dropped", header.dropped)?;
        writeln!(out, "{:<12} {} pages", "replaced", header.replaced)?;
        writeln!(out, "{:<12} {} pages", "torn", trace.torn)
    })
}
