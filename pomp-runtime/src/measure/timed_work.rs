//! Pieces of work, of which a sample is timed: in the chunks of a loop, or between two atomic updates.

use super::shared::{SharedF64, SharedU64};
use super::shortest::Shortest;
use super::span::Span;

/// If threads wait for a cache line, at least one in this many pieces of work waits, and at least
/// one finds the line present.
const PIECES_PER_WAIT: u64 = 20;

/// The pieces of work that were timed.
#[derive(Debug, Default)]
pub(crate) struct TimedWork {
    all: Span,
    /// Work that took about as little as any.
    least: Span,
    /// How often work took a little longer than that.
    longer: SharedU64,
    shortest: Shortest,
    /// How many threads shared a processor when work was last timed.
    threads_per_processor: SharedF64,
}

impl TimedWork {
    /// Adds a piece of work, during which its thread ran. The time to read the clock says how far
    /// times of equal work differ.
    pub(super) fn add(&self, ticks: u64, read: u64, threads_per_processor: f64) {
        self.threads_per_processor.set(threads_per_processor);
        self.all.add(ticks);
        let shortest = self.shortest.compare(ticks);
        if shortest.saturating_sub(ticks) > read {
            // The others are not so short any more.
            self.least.count.set(0);
            self.least.ticks.set(0);
            self.longer.set(0);
        }
        match ticks.saturating_sub(shortest) {
            more if more <= read => self.least.add(ticks),
            more if more <= 2 * read => self.longer.add(1),
            _ => {}
        }
    }

    /// All pieces.
    pub(super) fn all(&self) -> &Span {
        &self.all
    }

    /// The mean ticks from the begin to the end of a piece, without waits for cache lines, if what stands
    /// between two pieces takes this many ticks. None if none was timed.
    pub(super) fn mean(&self, between: u64) -> Option<f64> {
        let work = self.without_waits(between);
        let mean = work.ticks.get() as f64 / work.count.get() as f64;
        // The threads take turns.
        (work.count.get() > 0).then(|| mean * self.threads_per_processor.get())
    }

    /// The work without waits for cache lines. If the threads write to one line in turn, as to neighbouring
    /// elements of an array, some of them wait for it, and the others do not. Nothing lies between. With
    /// more iterations in a chunk, or without the updates, they do not wait. What stands `between` two
    /// pieces, a request for a chunk or an update, waits for one cache line, too. So if work is taken for
    /// a wait after all, that is no more than one and a half times this for each such piece.
    fn without_waits(&self, between: u64) -> &Span {
        let [all, least] = [&self.all, &self.least].map(|span| span.count.get());
        let longer = self.longer.get();
        let waits = all.saturating_sub(least).saturating_sub(longer);
        let ticks = self.all.ticks.get().saturating_sub(self.least.ticks.get());
        let are_waits = PIECES_PER_WAIT * waits.min(least) >= all && 2 * longer <= least;
        match are_waits && 2 * ticks <= 3 * between.saturating_mul(waits) {
            true => &self.least,
            false => &self.all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean work without waits of some chunks, where a read of the clock takes 10 ticks and a request
    /// 150.
    fn mean(works: &[u64]) -> u64 {
        let all = TimedWork::default();
        works.iter().for_each(|ticks| all.add(*ticks, 10, 1.0));
        all.mean(150).unwrap() as u64
    }

    #[test]
    fn most_chunks_wait_for_a_cache_line() {
        assert_eq!(mean(&[200, 40, 210, 180, 42, 38, 190, 250]), 40);
        // Whichever comes first.
        assert_eq!(mean(&[40, 200, 210, 180, 42, 38, 190, 250]), 40);
    }

    #[test]
    fn some_chunks_wait_for_a_cache_line() {
        assert_eq!(mean(&[40, 40, 40, 40, 40, 40, 220]), 40);
    }

    #[test]
    fn work_is_longer_than_a_wait() {
        assert_eq!(mean(&[40, 40, 40, 40, 240]), 80);
    }

    #[test]
    fn work_differs() {
        assert_eq!(mean(&[40, 52, 60, 80, 100, 148]), 80);
    }

    #[test]
    fn some_chunks_have_no_work() {
        assert_eq!(mean(&[0, 500, 0, 500, 510, 490, 500, 1500]), 500);
    }

    #[test]
    fn one_piece_of_work_was_short_by_chance() {
        let mut works = vec![100; 99];
        works.push(0);
        assert_eq!(mean(&works), 99);
    }
}
