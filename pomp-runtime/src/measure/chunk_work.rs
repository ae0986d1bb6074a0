//! The work in the chunks of a loop, of which a sample is timed.

use super::shared::SharedU64;
use super::span::Span;

/// Where threads wait for a cache line in most chunks, they do not in one of this many.
const SELDOM: u64 = 20;

/// The work in those chunks of a loop where it was timed.
#[derive(Debug, Default)]
pub(crate) struct ChunkWork {
    all: Span,
    /// Work that took about as little as any.
    least: Span,
    /// How often work took a little longer than that.
    longer: SharedU64,
    /// The ticks of the shortest work, plus one.
    shortest: SharedU64,
}

impl ChunkWork {
    /// Adds the work in one chunk. The time to read the clock says how far times of equal work differ.
    pub(super) fn add(&self, ticks: u64, read: u64) {
        self.all.add(ticks);
        let shortest = match self.shortest.get() {
            0 => u64::MAX,
            known => known - 1,
        };
        if ticks < shortest {
            self.shortest.set(ticks.saturating_add(1));
            // Times that are not so short any more.
            if shortest - ticks > read {
                self.least.count.set(0);
                self.least.ticks.set(0);
                self.longer.set(0);
            }
        }
        match ticks.saturating_sub(shortest) {
            more if more <= read => self.least.add(ticks),
            more if more <= 2 * read => self.longer.add(1),
            _ => {}
        }
    }

    /// The work without waits for cache lines. If the threads write to one line in turn, as to
    /// neighbouring elements of an array, most of them wait for it, and the others do not. Nothing lies
    /// between. With more iterations in a chunk, they do not wait.
    pub(super) fn without_waits(&self) -> &Span {
        let [all, least] = [&self.all, &self.least].map(|span| span.count.get());
        let longer = self.longer.get();
        let waited = all.saturating_sub(least).saturating_sub(longer);
        let are_waits = 2 * waited >= all && SELDOM * least >= all && 2 * longer <= least;
        match are_waits {
            true => &self.least,
            false => &self.all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean work without waits of some chunks, where a read of the clock takes 10 ticks.
    fn mean(works: &[u64]) -> u64 {
        let all = ChunkWork::default();
        works.iter().for_each(|ticks| all.add(*ticks, 10));
        let work = all.without_waits();
        work.ticks.get() / work.count.get()
    }

    #[test]
    fn most_chunks_wait_for_a_cache_line() {
        assert_eq!(mean(&[200, 40, 210, 180, 42, 38, 190, 250]), 40);
        // Whichever comes first.
        assert_eq!(mean(&[40, 200, 210, 180, 42, 38, 190, 250]), 40);
    }

    #[test]
    fn work_is_seldom_longer() {
        assert_eq!(mean(&[40, 40, 40, 40, 240]), 80);
    }

    #[test]
    fn work_differs() {
        assert_eq!(mean(&[40, 52, 60, 80, 100, 148]), 80);
    }

    #[test]
    fn one_piece_of_work_was_short_by_chance() {
        let mut works = vec![100; 99];
        works.push(0);
        assert_eq!(mean(&works), 99);
    }
}
