//! Loops whose threads spend much time on combining their parts of a reduction, as of a large array.
//! Mostly they do so one after the other: a thread that is done waits for those behind it.

use super::before::by_thread;
use super::ledger::{Entry, Ledger, sum};
use super::{Cause, Facts, Kind};
use crate::analysis::words::{count, percent, time};
use crate::model::{Row, Span};

/// Combining is a cause if it takes at least this part of the loop's time.
const COMBINING_SHARE: f64 = 0.1;

/// The waits at the loop's end are for the parts of others if they are at most this many times as long
/// as expected. Threads are not done with their work at the same time.
const EXPECTED: f64 = 1.5;

/// Uneven work explains little of the waits if it is at most this part of them.
const LITTLE: f64 = 0.5;

/// To make a thread's copy takes about this part of the time to combine it: it is only written.
const MAKING: f64 = 0.5;

/// A cause for each loop whose threads spend much of its time on combining their parts.
pub(super) fn combining(facts: &Facts<'_, '_>, ledger: &mut Ledger) -> Vec<Cause> {
    let elapsed = facts.elapsed_by_region();
    let combined = facts.sums(Row::reduction).into_iter().enumerate();
    combined
        .filter_map(|(region, combined)| cause(facts, ledger, region, combined, elapsed[region]))
        .collect()
}

/// The cause for a loop with this elapsed time.
fn cause(
    facts: &Facts<'_, '_>,
    ledger: &mut Ledger,
    region: usize,
    combined: Span,
    elapsed: f64,
) -> Option<Cause> {
    let (part, mut amount) = facts.part_of_region(region, combined.ns, elapsed)?;
    if part < COMBINING_SHARE {
        return None;
    }
    // Of n threads that combine one after the other, the k-th takes k times as long as the first,
    // and then waits for n - k others.
    let number = facts.table(region)?.threads.len().max(1) as u64;
    let threads = number as f64;
    let expected = combined.ns as f64 * (threads - 1.0) / (threads + 1.0);
    let is_wait = |entry: &Entry| entry.region == region && entry.is_wait();
    let waits: Vec<Entry> = ledger.open().filter(|it| is_wait(it)).cloned().collect();
    // A thread that combines its part may have no processor for a while, and the others wait for it.
    let crowding = threads / facts.profile.run.at_once(number) as f64;
    let is_expected = sum(&waits).lost as f64 <= EXPECTED * crowding * expected;
    if is_expected || is_even_otherwise(facts, region, &waits) {
        amount += sum(&ledger.take(is_wait));
    }
    // The time of the first of them, in all executions.
    let one = combined.ns as f64 * 2.0 / (threads + 1.0) / threads;
    amount.likely = (amount.likely + MAKING * one).min(elapsed);
    amount.upper = elapsed;
    let each_ns = combined.ns / combined.count.max(1);
    let what = format!(
        "threads combined their parts of its reduction {}; that took {} of the loop's time, {} each time",
        count(combined.count, "time"),
        percent(100.0 * part),
        time(each_ns),
    );
    let remedy = "Reduce over fewer or smaller variables, combine less often, as with one loop or \
                  region around this one, or let each thread own some of the elements.";
    let mut cause = facts.cause_of(Kind::Reduction, facts.at("in", region), amount);
    // The time to make the copies is not measured.
    cause.is_estimated = true;
    let evidence = [("combined", combined.count), ("combined_each_ns", each_ns)];
    Some(cause.showing(&evidence).saying(what, remedy))
}

/// Whether what threads worked without combining their parts explains little of these waits. Who combines a part
/// with many others may take longer, as with the trees of the standard library.
fn is_even_otherwise(facts: &Facts<'_, '_>, region: usize, waits: &[Entry]) -> bool {
    let works = by_thread(facts, &[region], |_, it| {
        it.row.body.ns.saturating_sub(it.row.reduction().ns)
    });
    let works = || works.iter().map(|(_, ns)| *ns);
    let most = works().max().unwrap_or(0);
    let behind: u64 = works().map(|ns| most - ns).sum();
    most > 0 && behind as f64 <= LITTLE * sum(waits).lost as f64
}

/// The thread time that a cause says threads took to combine their parts, in nanoseconds.
pub(super) fn combining_ns(cause: &Cause) -> u64 {
    let each_ns = cause.number("combined_each_ns");
    cause.number("combined").saturating_mul(each_ns)
}
