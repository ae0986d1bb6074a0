//! The distribution of the times of a region's instances: the shortest, the longest, and a
//! histogram by powers of two.

use std::sync::atomic::{AtomicU32, Ordering};

use profile::model::{self, Bucket};
use profile::region_kind::PseudoRegion;

use crate::measure::clock::Scale;
use crate::measure::memory;
use crate::measure::shared::SharedU64;

/// As many buckets as fill two cache lines.
const BUCKETS: usize = 32;
/// The first bucket holds instances of fewer ticks than two to this power, about as long as a read
/// of the clock. The last one holds all that are longer than those of the bucket before: more than
/// ten seconds.
const FIRST: u32 = 5;

/// The instances of one node. One thread writes.
#[derive(Debug, Default)]
pub(crate) struct Instances {
    /// The shortest, and how much longer the longest is; zeros if there was none. One comparison
    /// shows whether an instance lies between.
    shortest: SharedU64,
    width: SharedU64,
    buckets: [AtomicU32; BUCKETS],
}

impl Instances {
    #[inline(always)]
    pub(crate) fn add(&self, ticks: u64) {
        self.add_many(ticks, 1);
    }

    /// Adds `count` instances of `ticks` each.
    #[inline(always)]
    pub(crate) fn add_many(&self, ticks: u64, count: u64) {
        if ticks.wrapping_sub(self.shortest.get()) > self.width.get() {
            self.widen(ticks);
        }
        if let Some(bucket) = self.buckets.get(bucket_of(ticks)) {
            bucket.store(
                bucket.load(Ordering::Relaxed).wrapping_add(count as u32),
                Ordering::Relaxed,
            );
        }
    }

    /// An instance is shorter or longer than all before, or the first.
    #[cold]
    #[inline(never)]
    fn widen(&self, ticks: u64) {
        let (shortest, longest) = match self.bounds() {
            Some((shortest, longest)) => (shortest.min(ticks), longest.max(ticks)),
            None => (ticks, ticks),
        };
        self.shortest.set(shortest);
        self.width.set(longest - shortest);
    }

    fn bounds(&self) -> Option<(u64, u64)> {
        let is_empty = self
            .buckets
            .iter()
            .all(|bucket| bucket.load(Ordering::Relaxed) == 0);
        let shortest = self.shortest.get();
        (!is_empty).then(|| (shortest, shortest + self.width.get()))
    }
}

#[inline(always)]
fn bucket_of(ticks: u64) -> usize {
    // Never the logarithm of zero, which would take a branch.
    let bucket = ((ticks >> (FIRST - 1)) | 1).ilog2();
    (bucket as usize).min(BUCKETS - 1)
}

/// Instances of one node or several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distribution {
    shortest: u64,
    longest: u64,
    buckets: [u64; BUCKETS],
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            shortest: u64::MAX,
            longest: 0,
            buckets: [0; BUCKETS],
        }
    }
}

impl Distribution {
    /// Adds one instance.
    pub(crate) fn add(&mut self, ticks: u64) {
        self.add_many(ticks, 1);
    }

    /// Adds `count` instances of `ticks` each.
    pub(crate) fn add_many(&mut self, ticks: u64, count: u64) {
        self.shortest = self.shortest.min(ticks);
        self.longest = self.longest.max(ticks);
        self.buckets[bucket_of(ticks)] += count;
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        for (sum, bucket) in self.buckets.iter_mut().zip(other.buckets) {
            *sum += bucket;
        }
    }

    /// The longest instance.
    pub(crate) fn longest(&self) -> u64 {
        self.longest
    }

    /// How many instances took this long, a power of two, or longer.
    pub(crate) fn longer_than(&self, ticks: u64) -> u64 {
        self.buckets[bucket_of(ticks)..].iter().sum()
    }

    /// How it is saved; none if there was no instance.
    pub(crate) fn describe(
        &self,
        region: usize,
        thread: Option<usize>,
        part: PseudoRegion,
        scale: Scale,
    ) -> Option<model::Distribution> {
        let last = self.buckets.iter().rposition(|count| *count > 0)?;
        let max_ns = scale.to_ns(self.longest);
        let mut histogram: Vec<Bucket> = Vec::new();
        for (bucket, &count) in self.buckets.iter().enumerate().take(last + 1) {
            let from_ns = match bucket {
                0 => 0,
                _ => scale.to_ns(1 << (FIRST as usize + bucket - 1)),
            };
            // Where a tick is less than a nanosecond, two bounds, or the longest time and a
            // bound, may be rounded to the same nanosecond.
            let least = match bucket == last {
                true => max_ns + 1,
                false => from_ns + 1,
            };
            let below_ns = match bucket {
                bucket if bucket == BUCKETS - 1 => least,
                _ => scale.to_ns(1 << (FIRST as usize + bucket)).max(least),
            };
            if count > 0 {
                histogram.push(Bucket {
                    from_ns,
                    below_ns,
                    count,
                });
            }
        }
        Some(model::Distribution {
            region,
            thread,
            part,
            min_ns: scale.to_ns(self.shortest),
            max_ns,
            histogram,
        })
    }
}

/// Copies of the instances of many nodes, of which most have few buckets.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    nodes: Vec<Copied>,
    /// The buckets that are not empty, node by node: number and count.
    buckets: Vec<(u8, u32)>,
}

/// The copy of one node's instances.
#[derive(Debug)]
struct Copied {
    shortest: u64,
    longest: u64,
    /// Where the buckets of the next node begin.
    end: usize,
}

impl Copies {
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.buckets.reserve(nodes);
        memory::prefer_large_pages(&self.nodes);
        memory::prefer_large_pages(&self.buckets);
    }

    /// Copies the instances of the next node.
    pub(crate) fn push(&mut self, instances: &Instances) {
        let shortest = instances.shortest.get();
        let longest = shortest + instances.width.get();
        for number in bucket_of(shortest)..=bucket_of(longest) {
            let count = instances.buckets[number].load(Ordering::Relaxed);
            if count > 0 {
                self.buckets.push((number as u8, count));
            }
        }
        self.nodes.push(Copied {
            shortest,
            longest,
            end: self.buckets.len(),
        });
    }

    /// Adds the copied instances of a node to a distribution.
    pub(crate) fn add_to(&self, to: &mut Distribution, node: usize) {
        let Some(copied) = self.nodes.get(node) else {
            return;
        };
        let before = node
            .checked_sub(1)
            .and_then(|before| self.nodes.get(before));
        let start = before.map_or(0, |before| before.end);
        let Some(buckets @ [_, ..]) = self.buckets.get(start..copied.end) else {
            return;
        };
        to.shortest = to.shortest.min(copied.shortest);
        to.longest = to.longest.max(copied.longest);
        for (number, count) in buckets {
            to.buckets[usize::from(*number)] += u64::from(*count);
        }
    }
}

#[cfg(test)]
mod tests {
    use trace::clock::Pair;

    use super::*;

    #[test]
    fn every_time_has_its_bucket() {
        let instances = Instances::default();
        let times = [0, 31, 32, 63, 64, 1 << 20, 1 << 50, u64::MAX >> 1];
        times.iter().for_each(|ticks| instances.add(*ticks));
        let mut copies = Copies::default();
        copies.push(&Instances::default());
        copies.push(&instances);
        let mut distribution = Distribution::default();
        copies.add_to(&mut distribution, 0);
        assert_eq!(distribution.longest(), 0);
        copies.add_to(&mut distribution, 1);
        let saved = distribution
            .describe(3, None, PseudoRegion::Main, Scale::one())
            .unwrap();
        assert_eq!((saved.min_ns, saved.max_ns), (0, u64::MAX >> 1));
        let buckets: Vec<_> = saved
            .histogram
            .iter()
            .map(|b| (b.from_ns, b.count))
            .collect();
        assert_eq!(
            buckets,
            [(0, 2), (32, 2), (64, 1), (1 << 20, 1), (1 << 35, 2)]
        );
        for ticks in times {
            let holds = |b: &&Bucket| (b.from_ns..b.below_ns).contains(&ticks);
            assert_eq!(saved.histogram.iter().filter(holds).count(), 1, "{ticks}");
        }
        assert_eq!(
            Distribution::default().describe(3, None, PseudoRegion::Main, Scale::one()),
            None
        );
    }

    #[test]
    fn the_last_bucket_holds_the_longest_time_where_ticks_are_shorter_than_nanoseconds() {
        let instances = Instances::default();
        instances.add(8191);
        let (mut copies, mut distribution) = (Copies::default(), Distribution::default());
        copies.push(&instances);
        copies.add_to(&mut distribution, 0);
        let begin = Pair { ticks: 0, ns: 0 };
        let thirds = Scale::between(begin, Pair { ticks: 3, ns: 1 });
        let saved = distribution
            .describe(3, None, PseudoRegion::Main, thirds)
            .unwrap();
        assert_eq!(saved.max_ns, thirds.to_ns(8192));
        assert!(saved.histogram[0].below_ns > saved.max_ns, "{saved:?}");
    }
}
