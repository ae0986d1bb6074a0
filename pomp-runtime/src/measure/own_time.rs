//! The time that recording an event takes in the program itself.
//!
//! A loop that records events one after the other has everything in the processor's caches. In a
//! program, an event meets other data there. So one of many events is timed as a whole.
//!
//! An event that takes its time from the [coarse clock](super::coarse_clock) costs less than a read of
//! the real one. The library counts the events during which the coarse clock went on by a step. Their number is
//! about the time of all these events, in steps.

use super::clock;
use super::coarse_clock;
use super::shared::SharedU64;

/// One of this many events of a thread is timed. The number is a prime: an instance of a construct has
/// two or four events, of which not always the same one is timed.
const EACH: u64 = 61;
/// This many events at least have to be timed before their mean is used.
const ENOUGH: u64 = 32;
/// An event that takes longer than this many times the shortest one was interrupted, or something
/// was calibrated in it.
const INTERRUPTED: u64 = 64;
/// The shortest event takes this many nanoseconds at least. Some processors' counters go on by as much at
/// once, so that an event may seem to take no time.
const SHORTEST_NS: u64 = 10;

/// The events of one thread that were timed.
#[derive(Debug)]
pub(crate) struct OwnTime {
    /// How many events come before the next one that is timed.
    left: SharedU64,
    /// The ticks of the shortest; 0 before the first.
    least: SharedU64,
    events: SharedU64,
    ticks: SharedU64,
    /// The events during which the coarse clock went on.
    steps: SharedU64,
}

impl OwnTime {
    pub(super) const fn new() -> Self {
        Self {
            left: SharedU64::new(EACH),
            least: SharedU64::new(0),
            events: SharedU64::new(0),
            ticks: SharedU64::new(0),
            steps: SharedU64::new(0),
        }
    }

    /// An event ends that began at this time of the coarse clock.
    #[inline(always)]
    pub(super) fn end_coarse(&self, begin: u64) {
        if coarse_clock::now() != begin {
            self.add_step();
        }
    }

    #[cold]
    #[inline(never)]
    fn add_step(&self) {
        self.steps.add(1);
    }

    /// How many events there were during which the coarse clock went on.
    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// An event begins to be recorded. The time, if this event is timed, and else 0.
    #[inline(always)]
    pub(crate) fn begin(&self) -> u64 {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        match left {
            0 => self.begin_timed(),
            _ => 0,
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_timed(&self) -> u64 {
        self.left.set(EACH - 1);
        clock::now()
    }

    /// The event is recorded that began at this time.
    #[inline(always)]
    pub(crate) fn end(&self, begin: u64) {
        if begin != 0 {
            self.add_from(begin);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_from(&self, begin: u64) {
        self.add(clock::now().wrapping_sub(begin));
    }

    fn add(&self, ticks: u64) {
        let least = self.least.get();
        // With the first one there is nothing to compare.
        if ticks <= INTERRUPTED * least {
            self.events.add(1);
            self.ticks.add(ticks);
        }
        if least == 0 || ticks < least {
            let shortest = clock::ticks_of(SHORTEST_NS).max(1);
            self.least.set(ticks.max(shortest));
        }
    }

    /// How many ticks longer than `calm` an event takes on average on this thread. `calm` is what
    /// one takes that is timed in the same way in a loop.
    pub(super) fn extra_ticks(&self, calm: u64) -> u64 {
        extra_ticks(calm, self.ticks.get(), self.events.get())
    }
}

/// As `OwnTime::extra_ticks`, of the events of several threads together.
pub(super) fn extra_ticks_of<'a>(all: impl Iterator<Item = &'a OwnTime> + Clone, calm: u64) -> u64 {
    let ticks = all.clone().map(|own| own.ticks.get()).sum();
    extra_ticks(calm, ticks, all.map(|own| own.events.get()).sum())
}

fn extra_ticks(calm: u64, ticks: u64, events: u64) -> u64 {
    match events {
        ..ENOUGH => 0,
        _ => (ticks / events).saturating_sub(calm),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counter goes on by several ticks at once.
    #[test]
    fn an_event_that_seems_to_take_no_time_interrupts_no_other_one() {
        let own = OwnTime::new();
        own.add(50);
        own.add(0);
        for _ in 0..ENOUGH {
            own.add(150);
        }
        own.add(100_000);
        // Of 33 events that are not the first, one took 0 ticks.
        assert_eq!(own.extra_ticks(100), 150 * 32 / 33 - 100);
    }

    #[test]
    fn events_during_which_the_coarse_clock_goes_on_are_counted() {
        let own = OwnTime::new();
        for (at, steps) in [(1_000, 1), (2_000, 2)] {
            let begin = coarse_clock::now();
            own.end_coarse(begin);
            coarse_clock::advance(at);
            own.end_coarse(begin);
            assert_eq!(own.steps(), steps);
        }
    }
}
