//! The call-path tree of one thread block: how its nodes are found and made.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::index::Index;
use crate::measure::memory;
use crate::measure::records::Node;
use crate::measure::records::Region;
use crate::measure::records::node::{Key, Origin, Ring, insert_in_ring};
use crate::measure::shared::{SharedRef, leak, leak_slice};

/// Nodes in the first chunk of an arena; each further one is twice as large.
const FIRST_CHUNK: usize = 16;
const LARGEST_CHUNK: usize = 4096;

/// Siblings that are compared before the index is searched.
const SHORT_SEARCH: usize = 4;

/// Siblings that are compared when there was no memory for the index.
const LONG_SEARCH: usize = 64;

/// Nodes with stable addresses, published one after the other.
#[derive(Debug)]
struct Chunk {
    nodes: &'static [Node],
    used: AtomicUsize,
    next: SharedRef<Chunk>,
}

/// The nodes of one thread block.
#[derive(Debug)]
pub(crate) struct CallTree {
    first: SharedRef<Chunk>,
    last: SharedRef<Chunk>,
    /// The member root that was used last; it leads into the ring of them.
    last_root: SharedRef<Node>,
    index: Index,
    /// Set when memory was refused.
    is_full: AtomicBool,
    /// Set while memory is given beyond the limit, too.
    is_unlimited: AtomicBool,
}

impl CallTree {
    pub(crate) const fn new() -> Self {
        Self {
            first: SharedRef::none(),
            last: SharedRef::none(),
            last_root: SharedRef::none(),
            index: Index::new(),
            is_full: AtomicBool::new(false),
            is_unlimited: AtomicBool::new(false),
        }
    }

    /// Runs `action` with memory beyond the limit.
    pub(crate) fn beyond_limit<R>(&self, action: impl FnOnce() -> R) -> R {
        self.is_unlimited.store(true, Ordering::Relaxed);
        let result = action();
        self.is_unlimited.store(false, Ordering::Relaxed);
        result
    }

    /// The child of `parent` for a region entered in `within`; none if memory
    /// is short.
    #[inline(always)]
    pub(crate) fn child(
        &self,
        parent: &'static Node,
        region: &'static Region,
        within: u8,
    ) -> Option<&'static Node> {
        match parent.last_child.get() {
            Some(node) if node.matches(region, within) => Some(node),
            last => self.find_child(parent, region, within, last),
        }
    }

    /// Like `child`, but looks only at the child that was used last and at the one behind it.
    #[inline(always)]
    pub(crate) fn last_or_next_child(
        &self,
        parent: &'static Node,
        region: &'static Region,
        within: u8,
    ) -> Option<&'static Node> {
        let last = parent.last_child.get()?;
        if last.matches(region, within) {
            return Some(last);
        }
        let next = last
            .next_in_ring()
            .filter(|next| next.matches(region, within))?;
        parent.last_child.set(Some(next));
        Some(next)
    }

    /// Looks through the ring, from the child after the last one: programs
    /// visit the same regions in the same order again and again.
    #[inline(never)]
    fn find_child(
        &self,
        parent: &'static Node,
        region: &'static Region,
        within: u8,
        last: Option<&'static Node>,
    ) -> Option<&'static Node> {
        // All in the ring have this parent.
        let mut ring = Ring::of(last).take(SHORT_SEARCH);
        let node = match ring.find(|node| node.matches(region, within)) {
            Some(node) => node,
            None => {
                let key = Key::of_child(parent, region, within);
                self.look_up_or_add(last, key, |node| {
                    node.become_child(parent, region, within);
                    if let (Origin::Member(_), Some(around)) = (parent.place(), parent.region())
                        && !region.may_be_counted_in_part()
                    {
                        around.hold_others();
                    }
                })?
            }
        };
        parent.last_child.set(Some(node));
        Some(node)
    }

    /// The root of member `number` of the teams that `fork` starts.
    #[inline(always)]
    pub(crate) fn member_root(&self, fork: &'static Node, number: u32) -> Option<&'static Node> {
        match self.last_root.get() {
            Some(node) if node.is_member(fork, number) => Some(node),
            last => self.find_member_root(fork, number, last),
        }
    }

    /// As `member_root`, if it is found at once.
    #[inline(always)]
    pub(crate) fn known_member_root(
        &self,
        fork: &'static Node,
        number: u32,
    ) -> Option<&'static Node> {
        match self.last_root.get() {
            Some(node) if node.is_member(fork, number) => Some(node),
            last => {
                let mut ring = Ring::of(last).take(SHORT_SEARCH);
                let node = ring.find(|node| node.is_member(fork, number))?;
                self.last_root.set(Some(node));
                Some(node)
            }
        }
    }

    /// Members look among their own nodes first. The thread that forked writes to the fork node at
    /// each join, and a member that reads the fork node takes its cache line away from that thread.
    #[inline(never)]
    fn find_member_root(
        &self,
        fork: &'static Node,
        number: u32,
        last: Option<&'static Node>,
    ) -> Option<&'static Node> {
        let mut ring = Ring::of(last).take(SHORT_SEARCH);
        let node = match ring.find(|node| node.is_member(fork, number)) {
            Some(node) => node,
            None => {
                let key = Key::of_member(fork, number);
                // Without the root, the records of a thread would be lost.
                self.beyond_limit(|| {
                    self.look_up_or_add(last, key, |node| node.become_member(fork, number))
                })?
            }
        };
        self.last_root.set(Some(node));
        Some(node)
    }

    /// The node of a key that does not come soon in the ring. If there is none, `fill` makes a new
    /// one what the key says.
    #[cold]
    #[inline(never)]
    fn look_up_or_add(
        &self,
        last: Option<&'static Node>,
        key: Key,
        fill: impl FnOnce(&'static Node),
    ) -> Option<&'static Node> {
        self.look_up(last, key).or_else(|| {
            self.add(|node| {
                fill(node);
                insert_in_ring(last, node);
                self.index.add(node);
            })
        })
    }

    /// Looks into the index for a node that does not come soon in the ring.
    fn look_up(&self, last: Option<&'static Node>, key: Key) -> Option<&'static Node> {
        self.index.find(key).or_else(|| {
            let most = if self.index.has_gaps() {
                LONG_SEARCH
            } else {
                0
            };
            let mut ring = Ring::of(last).take(most);
            ring.find(|node| node.is(key))
        })
    }

    /// A new root for initial thread `number`.
    pub(crate) fn initial_root(&self, number: u32) -> Option<&'static Node> {
        self.add_beyond_limit(|node| node.become_initial(number))
    }

    /// Adds a node even beyond the memory limit: without it the records of a thread would be lost.
    fn add_beyond_limit(&self, fill: impl FnOnce(&'static Node)) -> Option<&'static Node> {
        self.beyond_limit(|| self.add(fill))
    }

    fn add(&self, fill: impl FnOnce(&'static Node)) -> Option<&'static Node> {
        let chunk = match self.last.get() {
            Some(chunk) if chunk.used.load(Ordering::Relaxed) < chunk.nodes.len() => chunk,
            last => self.add_chunk(last)?,
        };
        let used = chunk.used.load(Ordering::Relaxed);
        let node = chunk.nodes.get(used)?;
        fill(node);
        chunk.used.store(used + 1, Ordering::Release);
        Some(node)
    }

    fn add_chunk(&self, last: Option<&'static Chunk>) -> Option<&'static Chunk> {
        let size = last.map_or(FIRST_CHUNK, |chunk| {
            (chunk.nodes.len() * 2).min(LARGEST_CHUNK)
        });
        let bytes = size * size_of::<Node>();
        if !memory::take(bytes) && !self.is_unlimited.load(Ordering::Relaxed) {
            self.is_full.store(true, Ordering::Relaxed);
            return None;
        }
        let nodes = leak_slice(size, Node::default)?;
        let chunk = leak(Chunk {
            nodes,
            used: AtomicUsize::new(0),
            next: SharedRef::none(),
        })?;
        match last {
            Some(last) => last.next.set(Some(chunk)),
            None => self.first.set(Some(chunk)),
        }
        self.last.set(Some(chunk));
        Some(chunk)
    }

    fn chunks(&self) -> impl Iterator<Item = &'static Chunk> {
        std::iter::successors(self.first.get(), |chunk| chunk.next.get())
    }

    /// All nodes that are published, oldest first, as they stand in memory.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &'static [Node]> {
        self.chunks().map(|chunk| {
            let used = chunk.used.load(Ordering::Acquire);
            chunk.nodes.get(..used).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use profile::region_kind::PseudoRegion;

    use super::*;
    use crate::measure::records::region::tests::region;

    #[test]
    fn children_keep_their_nodes_whatever_the_order() {
        let tree = CallTree::new();
        let root = tree.initial_root(0).unwrap();
        let regions: Vec<_> = (1..50).map(|line| region("for", line)).collect();
        let first: Vec<_> = regions
            .iter()
            .map(|r| tree.child(root, r, 0).unwrap() as *const Node)
            .collect();
        for index in (0..regions.len()).rev().chain(0..regions.len()) {
            let again = tree.child(root, regions[index], 0).unwrap();
            assert!(std::ptr::eq(again, first[index]));
        }
        let other = tree
            .child(root, regions[0], PseudoRegion::Body as u8)
            .unwrap();
        assert!(!std::ptr::eq(other, first[0]));
        assert_eq!(tree.nodes().flatten().count(), 1 + regions.len() + 1);
    }

    #[test]
    fn members_are_found_among_many_and_in_any_order() {
        let tree = CallTree::new();
        let root = tree.initial_root(0).unwrap();
        let forks: Vec<_> = (1..40)
            .map(|line| tree.child(root, region("parallel", line), 0).unwrap())
            .collect();
        let member =
            |fork: usize, number| tree.member_root(forks[fork], number).unwrap() as *const Node;
        let first: Vec<_> = (0..39)
            .flat_map(|fork| (0..8).map(move |number| (fork, number)))
            .collect();
        let first: Vec<_> = first
            .into_iter()
            .map(|(fork, number)| (fork, number, member(fork, number)))
            .collect();
        for (fork, number, node) in first.into_iter().rev() {
            assert!(std::ptr::eq(member(fork, number), node));
        }
    }
}
