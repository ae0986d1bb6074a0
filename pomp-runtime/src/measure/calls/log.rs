//! Instances that are done but not yet sorted into the distributions of their
//! nodes.
//!
//! The bucket of an instance depends on the time that was just read, and processors hold back later
//! instructions until the address of such a store is known. So sorting an instance at once costs as
//! much as half a read of the clock. Instances that are written one after the other and sorted many
//! at a time cost a fraction of that.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::measure::clock;
use crate::measure::records::Node;
use crate::measure::shared::{SharedRef, SharedU64};

/// Entries that are sorted at a time: a kilobyte.
const ENTRIES: usize = 64;

/// An instance: its node and its time in ticks.
#[derive(Debug)]
struct Entry {
    node: SharedRef<Node>,
    ticks: SharedU64,
}

/// The log of one thread.
#[derive(Debug)]
pub(crate) struct Log {
    used: AtomicUsize,
    /// When entries were sorted last, in ticks.
    sorted: SharedU64,
    entries: [Entry; ENTRIES],
}

/// Called now and then for a node that got instances, with the mean time from one instance of the
/// thread to the next, in ticks.
type Consider = fn(&'static Node, u64);

impl Log {
    pub(crate) const fn new() -> Self {
        Self {
            used: AtomicUsize::new(0),
            sorted: SharedU64::new(0),
            entries: [const {
                Entry {
                    node: SharedRef::none(),
                    ticks: SharedU64::new(0),
                }
            }; ENTRIES],
        }
    }

    /// Adds an instance.
    #[inline(always)]
    pub(crate) fn add(&self, node: &'static Node, ticks: u64, consider: Consider) {
        let used = self.used.load(Ordering::Relaxed);
        match self.entries.get(used) {
            Some(entry) => {
                entry.node.set(Some(node));
                entry.ticks.set(ticks);
                self.used.store(used + 1, Ordering::Relaxed);
            }
            None => self.sort_and_add(node, ticks, consider),
        }
    }

    #[inline(never)]
    fn sort_and_add(&self, node: &'static Node, ticks: u64, consider: Consider) {
        let now = clock::now();
        let interval = now.wrapping_sub(self.sorted.get()) / ENTRIES as u64;
        self.sorted.set(now);
        for (node, ticks) in self.entries() {
            node.instances.add(ticks);
            consider(node, interval);
        }
        self.used.store(0, Ordering::Relaxed);
        node.instances.add(ticks);
    }

    /// The instances that are still to be sorted.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static Node, u64)> {
        let used = self.used.load(Ordering::Relaxed);
        let used = self.entries.iter().take(used);
        used.filter_map(|entry| Some((entry.node.get()?, entry.ticks.get())))
    }
}
