//! The locks and critical sections that a thread holds, and those that it held last.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::shared::{SharedRef, SharedU64, leak};
use crate::hash::spread;
use crate::measure::records::Node;

/// A lock that a thread holds, or an entry that is free for the next.
#[derive(Debug, Default)]
pub(crate) struct HeldLock {
    /// Address of the lock; 0 if the entry is free.
    pub(super) address: AtomicUsize,
    /// How often it is set, for locks that nest.
    pub(super) depth: AtomicU32,
    pub(super) node: SharedRef<Node>,
    pub(super) start: SharedU64,
    pub(super) acquired: SharedU64,
    /// For how many instances this one stands, if only some are timed.
    pub(super) weight: SharedU64,
    /// The next one in its chain.
    next: SharedRef<HeldLock>,
}

/// The locks that a thread holds, by their addresses: a program may hold thousands at a time.
#[derive(Debug)]
pub(crate) struct HeldLocks([SharedRef<HeldLock>; CHAINS]);

/// A power of two.
const CHAINS: usize = 256;

impl HeldLocks {
    pub(super) const fn new() -> Self {
        Self([const { SharedRef::none() }; CHAINS])
    }

    #[inline(always)]
    fn chain(&self, address: usize) -> &SharedRef<HeldLock> {
        let spread = spread(address as u64);
        &self.0[(spread >> (u64::BITS - CHAINS.ilog2())) as usize]
    }

    /// The first entry in the chain of an address that holds the lock at `wanted`, or is free for 0.
    #[inline(always)]
    fn find(&self, address: usize, wanted: usize) -> Option<&'static HeldLock> {
        let mut chain = entries(self.chain(address));
        chain.find(|held| held.is_for(wanted))
    }

    /// The lock at an address, if it is held.
    #[inline(always)]
    pub(super) fn of(&self, address: usize) -> Option<&'static HeldLock> {
        self.find(address, address)
    }

    /// A free entry for the lock at an address. None without memory.
    #[inline(always)]
    pub(super) fn free_for(&self, address: usize) -> Option<&'static HeldLock> {
        self.find(address, 0).or_else(|| self.new_entry(address))
    }

    #[cold]
    fn new_entry(&self, address: usize) -> Option<&'static HeldLock> {
        let held = leak(HeldLock::default())?;
        let chain = self.chain(address);
        held.next.set(chain.get());
        chain.set(Some(held));
        Some(held)
    }

    /// The length of the longest chain.
    #[cfg(test)]
    pub(super) fn longest(&self) -> usize {
        let lengths = self.0.iter().map(|chain| entries(chain).count());
        lengths.max().unwrap_or(0)
    }

    /// All entries, also those that are free.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static HeldLock> {
        self.0.iter().flat_map(entries)
    }
}

/// The entries of a chain.
#[inline(always)]
fn entries(chain: &SharedRef<HeldLock>) -> impl Iterator<Item = &'static HeldLock> + use<> {
    std::iter::successors(chain.get(), |held| held.next.get())
}

impl HeldLock {
    pub(crate) fn address(&self) -> usize {
        self.address.load(Ordering::Relaxed)
    }

    /// Node, begin of the call and time of acquisition, if it is held.
    pub(crate) fn holding(&self) -> Option<(&'static Node, u64, u64)> {
        let is_held = self.address.load(Ordering::Acquire) != 0;
        let node = self.node.get().filter(|_| is_held)?;
        Some((node, self.start.get(), self.acquired.get()))
    }

    pub(super) fn is_for(&self, address: usize) -> bool {
        self.address.load(Ordering::Relaxed) == address
    }

    /// Whether it is held and was set once.
    pub(super) fn is_set_once(&self) -> bool {
        self.depth.load(Ordering::Relaxed) == 1
    }

    /// Whether its thread has set it several times.
    pub(super) fn is_set_again(&self) -> bool {
        self.depth.load(Ordering::Relaxed) > 1
    }

    /// Whether the holds of the call that set it are timed by sample.
    pub(super) fn is_sampled(&self) -> bool {
        self.node.get().is_some_and(|node| node.sample().is_some())
    }

    pub(super) fn change_depth(&self, change: impl FnOnce(u32) -> u32) -> u32 {
        let depth = change(self.depth.load(Ordering::Relaxed));
        self.depth.store(depth, Ordering::Relaxed);
        depth
    }
}

/// How many holds are kept.
const KEPT: usize = 8;

/// The latest times that a thread held something.
#[derive(Debug)]
pub(crate) struct Holds {
    count: AtomicUsize,
    latest: [PastHold; KEPT],
}

/// From when to when something was held.
#[derive(Debug)]
pub(super) struct PastHold {
    /// The lock or critical section that was held, by an address; 0 while the entry is written.
    guard: AtomicUsize,
    pub(super) node: SharedRef<Node>,
    pub(super) from: SharedU64,
    to: SharedU64,
}

/// The acquisition of a lock or critical section by a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acquisition {
    pub(crate) guard: usize,
    pub(crate) node: &'static Node,
    /// The times at which the thread asked for it, and at which it had it.
    pub(crate) asked: u64,
    pub(crate) acquired: u64,
}

impl Holds {
    pub(crate) const fn new() -> Self {
        Self {
            count: AtomicUsize::new(0),
            latest: [const {
                PastHold {
                    guard: AtomicUsize::new(0),
                    node: SharedRef::none(),
                    from: SharedU64::new(0),
                    to: SharedU64::new(0),
                }
            }; KEPT],
        }
    }

    #[inline(always)]
    pub(super) fn add(&self, guard: usize, node: &'static Node, from: u64, to: u64) {
        let count = self.count.load(Ordering::Relaxed);
        let hold = &self.latest[count % KEPT];
        hold.guard.store(0, Ordering::Relaxed);
        hold.node.set(Some(node));
        hold.from.set(from);
        hold.to.set(to);
        hold.guard.store(guard, Ordering::Release);
        self.count.store(count.wrapping_add(1), Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn newest(&self) -> &PastHold {
        let count = self.count.load(Ordering::Relaxed);
        &self.latest[count.wrapping_sub(1) % KEPT]
    }

    /// The holds of this thread during the wait: the ticks of the overlap, and the node.
    pub(super) fn overlap(&self, got: Acquisition) -> impl Iterator<Item = (u64, &'static Node)> {
        self.latest.iter().filter_map(move |hold| {
            if hold.guard.load(Ordering::Acquire) != got.guard {
                return None;
            }
            let (from, to) = (hold.from.get(), hold.to.get());
            let node = hold.node.get()?;
            let is_whole = hold.guard.load(Ordering::Acquire) == got.guard;
            let overlap = to.min(got.acquired).checked_sub(from.max(got.asked))?;
            // The hold during which the wait began comes before all others.
            let first = from <= got.asked;
            (is_whole && overlap > 0).then_some((if first { u64::MAX } else { overlap }, node))
        })
    }
}
