//! What a pair of events costs in this run, so that a report can tell how much
//! of a region's time is ours.

use std::sync::OnceLock;

use profile::descriptor::Descriptor;

use super::clock::{self, Scale};
use super::region::{self, Region};
use super::shared::SharedRef;
use super::thread::Thread;
use profile::event::Event;

/// The least of so many attempts counts: everything that disturbs makes them
/// longer.
const ATTEMPTS: usize = 20;
/// Pairs of events in one attempt.
const PAIRS: u64 = 100;

/// Cost of a pair in picoseconds; 0 if it could not be found out. Takes some
/// microseconds, once.
pub(crate) fn of_pair(scale: Scale) -> u64 {
    static TICKS: OnceLock<Option<u64>> = OnceLock::new();
    let ticks = TICKS.get_or_init(ticks_of_pairs).unwrap_or(0);
    scale.to_ns(ticks * 1000) / PAIRS
}

/// As `of_pair`, in ticks.
pub(super) fn ticks_of_pair() -> u64 {
    ticks_of_pairs().unwrap_or(0) / PAIRS
}

/// The time of an attempt, on a thread block that is nobody's.
fn ticks_of_pairs() -> Option<u64> {
    // In sight of tools that look for lost memory.
    static THREAD: SharedRef<Thread> = SharedRef::none();
    static REGION: SharedRef<Region> = SharedRef::none();
    let thread = Thread::detached()?.as_initial(0);
    THREAD.set(Some(thread));
    let region = region::unregistered(Descriptor {
        region_type: "flush".to_owned(),
        ..Descriptor::default()
    })?;
    REGION.set(Some(region));
    // Else they are optimised away, since nobody reads them.
    std::hint::black_box((&THREAD, &REGION));
    let attempts = (0..ATTEMPTS).map(|_| {
        let start = clock::now();
        for _ in 0..PAIRS {
            thread.report(Event::FlushEnter, region, clock::now);
            thread.report(Event::FlushExit, region, clock::now);
        }
        clock::now().wrapping_sub(start)
    });
    attempts.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_costs_something() {
        assert!(of_pair(Scale::one()) > 0);
    }
}
