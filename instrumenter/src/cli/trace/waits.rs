//! `romp trace waits TRACE`

use std::io::{self, Write};

use profile::analysis::words::count;
use trace::analysis::times::Times;
use trace::analysis::waits::{Barrier, Name, Resource, WAITED, Where, waits};
use trace::export::region;
use trace::read::Trace;

use super::loops::tick;
use super::{Failure, failure, print};

/// A wait of this many times the median is unusual.
const ODD: u64 = 10;
/// The largest number of lines about the causes of waits at a barrier or a lock.
const LINES: usize = 5;

pub(super) fn run(trace: &Trace) -> Result<(), Failure> {
    let waits = waits(trace).map_err(failure)?;
    let mut barriers: Vec<_> = waits.barriers.iter().collect();
    barriers.sort_by_key(|(_, barrier)| std::cmp::Reverse(barrier.waits.typical()));
    let mut resources: Vec<_> = waits.resources.iter().collect();
    resources.sort_by_key(|(_, resource)| std::cmp::Reverse(resource.waits.typical()));
    let scale = trace.scale();
    print(|out| {
        let tick = tick(trace);
        writeln!(out, "times are exact to one tick of the clock, {tick}")?;
        if !resources.is_empty() {
            // A tick may be shorter than a nanosecond.
            let least = scale.to_ns(WAITED);
            writeln!(
                out,
                "criticals and locks: waits of more than {least} ns while another thread had it, \
                 as in the profile"
            )?;
        }
        writeln!(out)?;
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

/// The number of waits and their times. A single event does not change the median.
fn times(trace: &Trace, times: &Times) -> String {
    let (median, sum) = (ms(trace, times.median()), ms(trace, times.sum()));
    match times.count() {
        1 => sum,
        _ => format!("{median} in the median, {sum} in all"),
    }
}

fn barrier(trace: &Trace, known: &Barrier, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "  {}; its threads waited for the last one: {}",
        count(known.waits.count(), "time"),
        times(trace, &known.waits)
    )?;
    let mut last: Vec<_> = known.last.iter().collect();
    last.sort_by_key(|(_, waits)| std::cmp::Reverse(waits.typical()));
    let more = last.len().saturating_sub(LINES);
    for (thread, waits) in last.into_iter().take(LINES) {
        let thread = trace.thread(*thread);
        let (times_last, waits) = (count(waits.count(), "time"), times(trace, waits));
        writeln!(out, "  last: {thread} {times_last}, {waits}")?;
    }
    if more > 0 {
        writeln!(out, "  last: {}", count(more as u64, "more thread"))?;
    }
    let (waited, at, thread) = known.worst;
    let at = trace.ns(at) as f64 / 1e9;
    let median = known.waits.median();
    let once = match known.waits.count() > 2 && waited / ODD > median {
        true => "; that is not usual here: the thread may have had no processor",
        false => "",
    };
    writeln!(
        out,
        "  longest: {} until {} came, {at:.6} s after the start{once}\n",
        ms(trace, waited),
        trace.thread(thread)
    )
}

fn resource(trace: &Trace, known: &Resource, out: &mut dyn Write) -> io::Result<()> {
    let (waits, all) = (
        count(known.waits.count(), "wait"),
        times(trace, &known.waits),
    );
    writeln!(out, "  {waits}: {all}")?;
    let mut pairs: Vec<_> = known.pairs.iter().collect();
    pairs.sort_by_key(|(_, waits)| std::cmp::Reverse(waits.typical()));
    let place = |(thread, number): &Where| (trace.thread(*thread), region(trace, *number));
    for ((waiter, holder), waits) in pairs.iter().take(LINES) {
        let (waiter, at) = place(waiter);
        let (holder, there) = place(holder);
        let (often, waits) = (count(waits.count(), "time"), times(trace, waits));
        writeln!(
            out,
            "  {waiter} waited {often} at {at} while {holder} held it at {there}: {waits}"
        )?;
    }
    let rest = pairs.iter().skip(LINES);
    let rest = rest.fold((0, 0u64), |(count, sum), (_, waits)| {
        (count + waits.count(), sum.saturating_add(waits.sum()))
    });
    if rest.0 > 0 {
        writeln!(
            out,
            "  {} more waits of others: {} in all",
            rest.0,
            ms(trace, rest.1)
        )?;
    }
    writeln!(out)
}
