//! `romp trace info TRACE`

use trace::read::Trace;

use super::{Failure, print};

pub(super) fn run(trace: &Trace) -> Result<(), Failure> {
    let header = &trace.header;
    let (bytes, state) = (trace.bytes(), trace.state());
    let regions = trace.regions().flatten().count();
    print(|out| {
        for (name, value) in trace.facts() {
            writeln!(out, "{name:<12} {value}")?;
        }
        writeln!(out, "{:<12} {}", "process", header.pid)?;
        writeln!(out, "{:<12} {state}", "state")?;
        writeln!(out, "{:<12} {} ns", "duration", trace.ns(header.end.ticks))?;
        writeln!(out, "{:<12} {bytes} bytes, {} pages", "size", trace.pages())?;
        let streams = trace.streams().count();
        writeln!(
            out,
            "{:<12} {streams}, each with the events of a thread, or of several in turn",
            "streams"
        )?;
        writeln!(out, "{:<12} {}", "thread paths", trace.threads())?;
        writeln!(out, "{:<12} {regions}", "regions")?;
        if trace.unplaced() > 0 {
            let unplaced = trace.unplaced();
            writeln!(
                out,
                "{:<12} {unplaced} regions, known by machine code",
                "no lines"
            )?;
        }
        writeln!(out, "{:<12} {} events", "dropped", header.dropped)?;
        writeln!(out, "{:<12} {} pages", "replaced", header.replaced)?;
        writeln!(out, "{:<12} {} pages", "torn", trace.torn())
    })
}
