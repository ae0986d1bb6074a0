//! `romp trace FILE waits`

use std::io::{self, Write};

use trace::analysis::waits::{Barrier, Name, Resource, Where, waits};
use trace::read::Trace;

use super::{Failure, export::region, failure, print};

/// Lines for what a barrier or a lock is about.
const LINES: usize = 5;

pub(super) fn run(trace: &Trace) -> Result<(), Failure> {
    let waits = waits(trace).map_err(failure)?;
    let mut barriers: Vec<_> = waits.barriers.iter().collect();
    barriers.sort_by_key(|(_, barrier)| std::cmp::Reverse(barrier.waited));
    let mut resources: Vec<_> = waits.resources.iter().collect();
    resources.sort_by_key(|(_, resource)| std::cmp::Reverse(resource.waited));
    print(|out| {
        for ((number, is_implicit), known) in &barriers {
            let name = region(trace, *number);
            match is_implicit {
                true => writeln!(out, "implicit barrier of {name}")?,
                false => writeln!(out, "{name}")?,
            }
            barrier(trace, known, out)?;
        }
        for (name, known) in &resources {
            match name {
                Name::Critical(name) if name.is_empty() => {
                    writeln!(out, "critical without a name")?
                }
                Name::Critical(name) => writeln!(out, "critical ({name})")?,
                Name::Lock(address) => writeln!(out, "lock at {address:#x}")?,
            }
            resource(trace, known, out)?;
        }
        if barriers.is_empty() && resources.is_empty() {
            writeln!(out, "no thread waited for another one")?;
        }
        Ok(())
    })
}

fn ms(trace: &Trace, ticks: u64) -> String {
    format!("{:.3} ms", trace.scale().to_ns(ticks) as f64 / 1e6)
}

fn barrier(trace: &Trace, known: &Barrier, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "  {} times; its threads waited {} for the last one",
        known.instances,
        ms(trace, known.waited)
    )?;
    let mut last: Vec<_> = known.last.iter().collect();
    last.sort_by_key(|(_, (_, waited))| std::cmp::Reverse(*waited));
    for (thread, (times, waited)) in last.into_iter().take(LINES) {
        let thread = trace.thread(*thread);
        let waited = ms(trace, *waited);
        writeln!(out, "  last: {thread} {times} times, {waited}")?;
    }
    let (waited, at, thread) = known.worst;
    let at = trace.ns(at) as f64 / 1e9;
    writeln!(
        out,
        "  longest: {} until {} came, {at:.6} s after the start\n",
        ms(trace, waited),
        trace.thread(thread)
    )
}

fn resource(trace: &Trace, known: &Resource, out: &mut dyn Write) -> io::Result<()> {
    let waited = ms(trace, known.waited);
    writeln!(out, "  {} waits, {waited}", known.waits)?;
    let mut pairs: Vec<_> = known.pairs.iter().collect();
    pairs.sort_by_key(|(_, (_, waited))| std::cmp::Reverse(*waited));
    let place = |(thread, number): &Where| (trace.thread(*thread), region(trace, *number));
    for ((waiter, holder), (times, waited)) in pairs.into_iter().take(LINES) {
        let (waiter, at) = place(waiter);
        let (holder, there) = place(holder);
        let waited = ms(trace, *waited);
        writeln!(
            out,
            "  {waiter} waited {waited} ({times} times) at {at} while {holder} held it at {there}"
        )?;
    }
    writeln!(out)
}
