//! The instances of a node that were timed as a sample. The estimate for the others that follows
//! from them is in `estimate`.

use profile::model::Estimate;
use profile::region_kind::PseudoRegion;

use super::clock::ticks_of;
use super::coarse_clock;
use super::shared::{SharedF64, SharedU64};
use super::shortest::Shortest;
use super::span::Span;
use super::timed_work::TimedWork;

/// The interval of this many standard deviations around a mean holds 95 % of all cases.
pub(super) const NINETY_FIVE: f64 = 1.96;

/// Half of the interval that holds a mean in 95 % of all cases. `squares` is the mean of the squares of
/// this many values.
pub(super) fn half_interval(mean: f64, squares: f64, number: f64) -> f64 {
    let variance = (squares - mean * mean).max(0.0);
    NINETY_FIVE * (variance / number).sqrt()
}

/// The parts of a tick in which a mean interval is kept.
const PRECISION: u64 = 1024;

/// An interval that is more than this many times as long as usual is left out: the thread did
/// something else meanwhile, or much more. So is a piece of work of that length.
const LONG: u64 = 4;

/// A cache line that comes from another processor takes at least this long, and one that comes from a cache
/// of this processor takes less.
const LEAST_TRANSFER_NS: u64 = 25;

/// So much work has to be timed before its mean is used.
const ENOUGH: u64 = 64;
/// So often has empty work to be timed before its mean is used.
const ENOUGH_EMPTY: u64 = 16;

/// Pieces of work that were timed.
#[derive(Debug, Default)]
pub(super) struct Work {
    pieces: TimedWork,
    /// The sum of the squares of their ticks.
    squares: SharedF64,
    /// Empty work that was timed in their place.
    empty: Span,
}

impl Work {
    /// The ticks of empty work in the mean: what passes between the two reads of the clock, if nothing
    /// lies between the instances. 0 if that is not known.
    pub(super) fn of_empty(&self) -> f64 {
        match self.empty.count.get() {
            ..ENOUGH_EMPTY => 0.0,
            number => self.empty.ticks.get() as f64 / number as f64,
        }
    }

    /// The ticks of a piece in the mean, and half of the interval that holds the mean of all pieces in 95 %
    /// of all cases, if the instance behind a piece takes this many ticks while it is timed. None if too few
    /// were timed.
    pub(super) fn mean(&self, instance: f64) -> Option<(f64, f64)> {
        let Span { count, ticks } = self.pieces.all();
        let number = count.get();
        if number < ENOUGH || self.empty.count.get() < ENOUGH_EMPTY {
            return None;
        }
        let squares = self.squares.get() / number as f64;
        let error = half_interval(ticks.get() as f64 / number as f64, squares, number as f64);
        let mean = self.pieces.mean(instance as u64)?;
        Some(((mean - self.of_empty()).max(0.0), error))
    }
}

/// Intervals between timed instances, and the instances that were passed over in them.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    pub(super) whole: Span,
    pub(super) passed: SharedU64,
}

impl Intervals {
    fn add(&self, passed: u64, ticks: u64) {
        self.whole.add(ticks);
        self.passed.add(passed);
    }

    fn clear(&self) {
        let Span { count, ticks } = &self.whole;
        for sum in [count, ticks, &self.passed] {
            sum.set(0);
        }
    }

    /// The ticks from one instance to the next; 0 if there was no interval.
    pub(super) fn each(&self) -> f64 {
        self.whole.ticks.get() as f64 / self.passed.get().max(1) as f64
    }
}

/// Data on a node's instances that were passed over, and on the work between instances.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// The intervals that are not left out because they are long, and all of them.
    pub(super) intervals: Intervals,
    pub(super) all_intervals: Intervals,
    /// About how long the last intervals were, in ticks.
    usual: SharedU64,
    /// The work between two instances, where it was timed.
    pub(super) work: Work,
    /// How many threads shared a processor when work was last timed.
    threads_per_processor: SharedF64,
}

impl Sequence {
    /// So many instances were passed over within an interval in ticks.
    pub(super) fn add_interval(&self, passed: u64, ticks: u64) {
        // How many intervals it takes until longer ones are usual.
        const RECENT: u64 = 16;
        let usual = match self.usual.get() {
            0 => ticks,
            usual => usual,
        };
        let most = LONG * usual;
        self.all_intervals.add(passed, ticks);
        if ticks <= most {
            self.intervals.add(passed, ticks);
        }
        let next = usual - usual / RECENT + ticks.min(2 * most) / RECENT;
        self.usual.set(next.max(RECENT));
    }

    /// The work between two instances took this many ticks, with what empty work takes. Times of equal work
    /// differ by as much as a `read` of the clock takes.
    pub(super) fn add_work(&self, ticks: u64, read: u64, threads_per_processor: f64) {
        self.threads_per_processor.set(threads_per_processor);
        if self.counts_work_of(ticks) {
            self.work.pieces.add(ticks, read, 1.0);
            self.work.squares.add((ticks as f64).powi(2));
        }
    }

    /// Empty work took this many ticks.
    pub(super) fn add_empty(&self, ticks: u64) {
        if self.counts_work_of(ticks) {
            self.work.empty.add(ticks);
        }
    }

    /// How many threads share a processor, as far as work was timed; at least 1.
    pub(super) fn threads_per_processor(&self) -> f64 {
        self.threads_per_processor.get().max(1.0)
    }

    /// Whether a piece of work of this many ticks counts.
    pub(super) fn counts_work_of(&self, ticks: u64) -> bool {
        ticks <= LONG * self.usual.get()
    }
}

/// Data on failed tests of a lock, and on calls that set a nestable lock again.
#[derive(Debug, Default)]
pub(super) struct Tests {
    /// How many of both were not timed since the last one that was.
    pub(super) untimed: SharedU64,
    /// How many failed since the lock was last set.
    in_a_row: SharedU64,
    /// When the first of these had failed, in ticks; 0 if that is not known.
    since: SharedU64,
    /// Of rows that were timed: the tests behind the first one, and the ticks from its end to the time at
    /// which the lock was set.
    behind: Span,
}

impl Tests {
    /// A test failed. `now` is asked if the row is to be timed.
    #[inline(always)]
    pub(super) fn fails(&self, is_row_timed: impl FnOnce() -> bool, now: impl FnOnce() -> u64) {
        let before = self.in_a_row.get();
        self.in_a_row.set(before + 1);
        if before == 0 && is_row_timed() {
            self.since.set(now());
        }
    }

    /// The lock is set.
    #[inline(always)]
    pub(super) fn end(&self, now: impl FnOnce() -> u64) {
        let number = self.in_a_row.get();
        if number > 0 {
            if self.since.get() != 0 {
                self.behind.count.add(number);
                self.behind
                    .ticks
                    .add(now().saturating_sub(self.since.get()));
            }
            self.in_a_row.set(0);
            self.since.set(0);
        }
    }
}

/// The sample of a node of which only some instances are timed.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Instances that were passed over: all of them, and those since the last timed one.
    all_passed: SharedU64,
    pub(super) passed: SharedU64,
    /// When the last timed instance ended; and the most ticks that instances which were passed over
    /// can have taken, summed over the intervals between timed instances.
    pub(super) last: SharedU64,
    pub(super) between: SharedU64,
    /// The ticks of all instances that the thread had timed by then.
    pub(super) timed_until: SharedU64,
    /// Of atomic updates, critical sections and locks.
    pub(super) sequence: Sequence,
    /// Whether the thread held a lock when the last timed instance ended: 0 or 1.
    pub(super) in_hold: SharedU64,
    /// Tests of a lock.
    pub(super) tests: Tests,
    /// The least mean interval of instances that were passed over, in 1024ths of a tick; 0 if it is
    /// not known.
    least_interval: SharedU64,
    /// The intervals that are not much longer than the least one, without what timing takes.
    short_intervals: Intervals,
    /// How many were timed.
    pub(super) timed: SharedU64,
    /// Of the instance that is being timed: for how many it stands, and the ticks of each of
    /// its parts.
    pub(super) weight: SharedU64,
    current: [SharedU64; PARTS],
    /// The number of short instances that were timed as a sample, the sum of their ticks, and
    /// that of the squares of their ticks.
    pub(super) drawn: SharedF64,
    pub(super) ticks: SharedF64,
    pub(super) squares: SharedF64,
    /// The sum of their weights, the sum of the squares of the weights, and for each part the sum
    /// of weight times ticks.
    pub(super) weights: SharedF64,
    pub(super) squared_weights: SharedF64,
    pub(super) weighted: [SharedF64; PARTS],
    /// The shortest one, and how many took much longer than the shortest one until then.
    shortest: Shortest,
    waited: SharedU64,
    /// Ticks of long parts of members that were passed over.
    long: SharedU64,
    /// How many ticks longer an event took on the thread than in a loop of events, when one was last timed.
    pub(super) longer_event: SharedU64,
}

pub(super) const PARTS: usize = PseudoRegion::ALL.len();

impl Sample {
    /// Adds to a part of the instance that is being timed.
    pub(super) fn part(&self, part: u8, ticks: u64) {
        if let Some(current) = self.current.get(usize::from(part)) {
            current.set(current.get().wrapping_add(ticks));
        }
    }

    /// Leaves out of the instance that is being timed what was timed in one of its parts.
    pub(super) fn leave_out(&self, part: PseudoRegion, ticks: u64) {
        self.part(PseudoRegion::Main as u8, ticks.wrapping_neg());
        if part != PseudoRegion::Main {
            self.part(part as u8, ticks.wrapping_neg());
        }
    }

    /// The instance that is being timed ends.
    pub(super) fn add(&self, ticks: u64) {
        self.timed.add(1);
        self.part(PseudoRegion::Main as u8, ticks);
        // The clocks of several processors differ a little, so the rest can be negative.
        let parts = self.current.each_ref().map(|current| {
            let ticks = current.get().cast_signed().max(0);
            current.set(0);
            ticks as f64
        });
        let weight = self.weight.get() as f64;
        let ticks = parts[PseudoRegion::Main as usize];
        self.compare_with_shortest(ticks as u64);
        if ticks < coarse_clock::always_noticed() as f64 {
            self.drawn.add(1.0);
            self.ticks.add(ticks);
            self.squares.add(ticks * ticks);
            self.weights.add(weight);
            self.squared_weights.add(weight * weight);
            for (sum, part) in self.weighted.iter().zip(parts) {
                sum.add(weight * part);
            }
        }
    }

    /// Notes whether an instance that was timed took much longer than the shortest one.
    fn compare_with_shortest(&self, ticks: u64) {
        let shortest = self.shortest.compare(ticks);
        if ticks.saturating_sub(shortest) >= ticks_of(LEAST_TRANSFER_NS) {
            self.waited.add(1);
        }
    }

    /// Whether many of the timed instances waited for a cache line.
    pub(super) fn often_waited(&self) -> bool {
        let estimate = Estimate {
            timed: self.timed.get(),
            waited: self.waited.get(),
            ..Estimate::default()
        };
        estimate.often_waited()
    }

    /// How many timed instances took as much longer than the shortest one as a cache line needs to come
    /// from another processor.
    pub(crate) fn waited(&self) -> u64 {
        self.waited.get()
    }

    /// So many instances were passed over within an interval in ticks, which includes what `timing` an
    /// instance takes.
    pub(super) fn note_interval(&self, passed: u64, ticks: u64, timing: u64) {
        // In a shorter interval, the error of that weighs too much.
        const LONGER: u64 = 8;
        if ticks < LONGER * timing {
            return;
        }
        let ticks = ticks.saturating_sub(timing);
        let mean = (ticks.saturating_mul(PRECISION) / passed.max(1)).max(1);
        let least = self.least_interval.get();
        if least == 0 || mean < least {
            self.least_interval.set(mean);
        }
        // The intervals until now held other work as well.
        if mean < least / LONG {
            self.short_intervals.clear();
        }
        if mean <= LONG * self.least_interval.get() {
            self.short_intervals.add(passed, ticks);
        }
    }

    /// The mean time from one instance that was passed over to the next where the thread hardly does
    /// anything else, in ticks; 0 if it is not known. A look may take several times as long as in the
    /// shortest interval, since another thread writes the same variable.
    pub(crate) fn interval_of_looks(&self) -> f64 {
        let Span { count, ticks } = &self.tests.behind;
        match count.get() {
            0 => self.short_intervals.each(),
            tests => ticks.get() as f64 / tests as f64,
        }
    }

    /// An instance was timed that stands for no other.
    pub(super) fn timed_besides(&self) {
        self.timed.add(1);
    }

    /// Calls for locks that were counted, and that no timed one stands for yet.
    pub(crate) fn untimed_calls(&self) -> u64 {
        self.tests.untimed.get()
    }

    /// A member that was passed over took long.
    pub(super) fn add_long(&self, ticks: u64) {
        self.long.add(ticks);
    }

    /// The ticks of long parts of members that were passed over.
    pub(crate) fn long(&self) -> u64 {
        self.long.get()
    }

    /// So many instances were passed over.
    pub(super) fn add_passed(&self, number: u64) {
        self.passed.add(number);
        self.all_passed.add(number);
    }

    /// The mean ticks of short instances that were timed.
    pub(super) fn mean_of_timed(&self) -> f64 {
        let weights = self.weights.get().max(1.0);
        self.weighted[PseudoRegion::Main as usize].get() / weights
    }

    /// Instances that were timed.
    pub(crate) fn timed(&self) -> u64 {
        self.timed.get()
    }

    /// Instances that were passed over, without those that only the thread's table knows yet.
    pub(crate) fn passed(&self) -> u64 {
        self.all_passed.get()
    }
}
