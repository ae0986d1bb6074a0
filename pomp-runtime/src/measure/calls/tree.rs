//! The call-path tree of one thread block.
//!
//! A node is (parent, region, pseudo-region of the parent in which it was
//! entered) and holds count and ticks per pseudo-region. Roots have no parent:
//! - the root of an initial thread has no region either;
//! - the root of a team member stands for (fork node, thread number); the fork
//!   node is in the block of the thread that forked.
//!
//! The time from a member's end to the join is kept in two halves until the end of the run, so that
//! no thread writes to another thread's node. The `exit` ticks of a member root are the negated sum
//! of the member's end times. The fork node has, per team size, the sum of the join times. If the
//! barrier in between has no events of its own, the fork node also has the sum of the times at
//! which the last member ended. That sum separates the barrier from the rest.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use profile::region_kind::PseudoRegion;

use super::distribution::Instances;
use super::index::{Index, Key};
use super::team_sizes::TeamSize;
use super::waits::NodeWaits;
use crate::measure::counters;
use crate::measure::memory;
use crate::measure::passed_members::PassedTeams;
use crate::measure::region::Region;
use crate::measure::sample::Sample;
use crate::measure::shared::{SharedRef, SharedU64, leak, leak_slice};

/// Nodes in the first chunk of an arena; each further one is twice as large.
const FIRST_CHUNK: usize = 16;
const LARGEST_CHUNK: usize = 4096;

/// Siblings that are compared before the index is searched.
const SHORT_SEARCH: usize = 4;

/// Siblings that are compared when there was no memory for the index.
const LONG_SEARCH: usize = 64;

/// Count and ticks of one pseudo-region.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) count: SharedU64,
    pub(crate) ticks: SharedU64,
}

impl Span {
    #[inline(always)]
    pub(crate) fn add(&self, ticks: u64) {
        self.count.add(1);
        self.ticks.add(ticks);
    }
}

/// What a node stands for, besides its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Entered in this pseudo-region of the parent.
    Within(PseudoRegion),
    /// The root of a team member with this thread number.
    Member(u32),
    /// The root of an initial thread with this number.
    Initial(u32),
}

const MEMBER: u8 = 0x40;
const INITIAL: u8 = 0x41;

/// How often regions may be entered within themselves on one call path. Deeper levels of a
/// recursion use the nodes of the level above: otherwise the number of paths would grow with the
/// number of calls.
const LEVELS: u8 = 4;

/// A node of the call-path tree. The owner writes; others read at the end.
#[derive(Debug, Default)]
pub(crate) struct Node {
    region: SharedRef<Region>,
    /// The parent; of a member root, the fork node.
    parent: SharedRef<Node>,
    /// The child that was used last; it leads into the ring of children.
    last_child: SharedRef<Node>,
    /// The next child of the same parent, in a ring.
    next: SharedRef<Node>,
    /// A `PseudoRegion`, `MEMBER` or `INITIAL`.
    within: AtomicU8,
    number: AtomicU32,
    /// Of a root that is traced: the number of its thread's path, plus one.
    pub(crate) path: SharedU64,
    /// How many of the regions on its path are entered within themselves.
    repeats: AtomicU8,
    /// Whether entering it needs more than opening a frame.
    is_special: AtomicBool,
    /// If the recursion that is entered here goes on at a node above: that node.
    recursion: SharedRef<Node>,
    /// Of a fork node: its team sizes.
    pub(crate) teams: SharedRef<TeamSize>,
    /// Of a fork node: the time of the latest join, in ticks.
    pub(crate) last_join: SharedU64,
    /// The record of waits, which only some nodes have.
    pub(crate) waits: SharedRef<NodeWaits>,
    /// Of a fork node, if members of its teams may be passed over.
    pub(crate) passed_teams: SharedRef<PassedTeams>,
    /// The sample, if only some of its instances are timed.
    sample: SharedRef<Sample>,
    /// The values of the counters in its instances, if there are counters.
    pub(crate) counters: SharedRef<counters::Values>,
    /// Of a loop: requests for the next chunk, with their time; both estimated.
    pub(crate) chunk_requests: Span,
    spans: [Span; PseudoRegion::COUNT],
    /// The distribution of the times of `main`; of a fork node, that of `seq`.
    pub(crate) instances: Instances,
}

impl Node {
    /// The region; none for the root of an initial thread.
    #[inline(always)]
    pub(crate) fn region(&self) -> Option<&'static Region> {
        self.region.get()
    }

    /// Whether it is a node of this region.
    #[inline(always)]
    pub(crate) fn is_of(&self, region: &'static Region) -> bool {
        self.region.is(region)
    }

    pub(crate) fn parent(&self) -> Option<&'static Node> {
        self.parent.get()
    }

    pub(crate) fn place(&self) -> Origin {
        let number = self.number.load(Ordering::Relaxed);
        match self.within.load(Ordering::Relaxed) {
            MEMBER => Origin::Member(number),
            INITIAL => Origin::Initial(number),
            within => Origin::Within(pseudo_region(within)),
        }
    }

    #[inline(always)]
    pub(crate) fn span(&self, pseudo_region: PseudoRegion) -> &Span {
        &self.spans[pseudo_region as usize]
    }

    /// The nodes of the regions that were entered in it.
    pub(crate) fn children(&self) -> impl Iterator<Item = &'static Node> {
        let first = self.last_child.get();
        let is_first =
            move |node: &'static Node| first.is_some_and(|first| std::ptr::eq(first, node));
        std::iter::successors(first, move |node| {
            node.next.get().filter(|next| !is_first(next))
        })
    }

    /// Whether nothing was ever entered in it.
    pub(crate) fn is_leaf(&self) -> bool {
        self.last_child.get().is_none()
    }

    /// Whether its instances are counted only, or belong to another node.
    #[inline(always)]
    pub(crate) fn is_special(&self) -> bool {
        self.is_special.load(Ordering::Relaxed)
    }

    /// Whether its instances are counted only.
    pub(crate) fn is_throttled(&self) -> bool {
        self.is_special() && self.recursion().is_none() && self.sample().is_none()
    }

    /// From now on its instances are counted only.
    pub(crate) fn set_throttled(&self) {
        self.is_special.store(true, Ordering::Relaxed);
    }

    /// From now on only some of its instances are timed.
    pub(crate) fn set_sample(&self, sample: &'static Sample) {
        self.sample.set(Some(sample));
        self.is_special.store(true, Ordering::Relaxed);
    }

    /// As `set_sample`, of a member root.
    pub(crate) fn set_sample_of_member(&self, sample: &'static Sample) {
        self.sample.set(Some(sample));
    }

    pub(crate) fn sample(&self) -> Option<&'static Sample> {
        self.sample.get()
    }

    /// In which pseudo-region of its parent it is.
    pub(crate) fn key_within(&self) -> u8 {
        self.within.load(Ordering::Relaxed)
    }

    /// Where a recursion goes on that is entered here.
    pub(crate) fn recursion(&self) -> Option<&'static Node> {
        self.recursion.get()
    }

    /// Makes a new node a child of `parent` for a region.
    fn become_child(&'static self, parent: &'static Node, region: &'static Region, within: u8) {
        self.region.set(Some(region));
        self.parent.set(Some(parent));
        self.within.store(within, Ordering::Relaxed);
        let repeats = parent.repeats.load(Ordering::Relaxed);
        // A team has its own node wherever it is forked.
        let around = match region.kind.is_parallel() {
            true => None,
            false => parent.nearest(region),
        };
        if around.is_some() && repeats == LEVELS {
            self.recursion.set(around);
            self.is_special.store(true, Ordering::Relaxed);
        }
        let repeats = repeats + u8::from(around.is_some());
        self.repeats.store(repeats.min(LEVELS), Ordering::Relaxed);
    }

    /// The innermost node of a region on this path, not beyond the team.
    fn nearest(&'static self, region: &'static Region) -> Option<&'static Node> {
        let inside = |node: &&Node| matches!(node.place(), Origin::Within(_));
        std::iter::successors(Some(self), |node| node.parent())
            .take_while(inside)
            .find(|node| node.is_of(region))
    }

    /// Adds to the pseudo-region with this discriminant.
    #[inline(always)]
    pub(crate) fn add(&self, pseudo_region: u8, ticks: u64) {
        if let Some(span) = self.spans.get(usize::from(pseudo_region)) {
            span.add(ticks);
        }
    }
}

/// The pseudo-region with this discriminant; `Main` if there is none.
pub(crate) fn pseudo_region(discriminant: u8) -> PseudoRegion {
    match discriminant {
        1 => PseudoRegion::Enter,
        2 => PseudoRegion::Body,
        3 => PseudoRegion::Ibarr,
        4 => PseudoRegion::Exit,
        5 => PseudoRegion::Seq,
        _ => PseudoRegion::Main,
    }
}

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

    /// Looks through the ring, from the child after the last one: programs
    /// visit the same regions in the same order again and again.
    #[cold]
    #[inline(never)]
    fn find_child(
        &self,
        parent: &'static Node,
        region: &'static Region,
        within: u8,
        last: Option<&'static Node>,
    ) -> Option<&'static Node> {
        let key = Key {
            parent: Some(parent),
            region: Some(region),
            within,
            number: 0,
        };
        let node = match self.find(last, key) {
            Some(node) => node,
            None => self.add(|node| {
                node.become_child(parent, region, within);
                if let (Origin::Member(_), Some(around)) = (parent.place(), parent.region()) {
                    around.hold_others();
                }
                insert_in_ring(last, node);
                self.index.add(node);
            })?,
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
                let mut ring = Ring { at: last, last }.take(SHORT_SEARCH);
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
        let mut ring = Ring { at: last, last }.take(SHORT_SEARCH);
        let node = match ring.find(|node| node.is_member(fork, number)) {
            Some(node) => node,
            None => self.look_up_member_root(fork, number, last)?,
        };
        self.last_root.set(Some(node));
        Some(node)
    }

    #[cold]
    #[inline(never)]
    fn look_up_member_root(
        &self,
        fork: &'static Node,
        number: u32,
        last: Option<&'static Node>,
    ) -> Option<&'static Node> {
        let key = Key {
            parent: Some(fork),
            region: fork.region(),
            within: MEMBER,
            number,
        };
        self.find(last, key).or_else(|| {
            self.add_beyond_limit(|node| {
                node.region.set(fork.region());
                node.parent.set(Some(fork));
                node.within.store(MEMBER, Ordering::Relaxed);
                node.number.store(number, Ordering::Relaxed);
                insert_in_ring(last, node);
                self.index.add(node);
            })
        })
    }

    /// Looks a little way through the ring, then into the index.
    fn find(&self, last: Option<&'static Node>, key: Key) -> Option<&'static Node> {
        let ring = |most| Ring { at: last, last }.take(most);
        if let Some(node) = ring(SHORT_SEARCH).find(|node| node.is(key)) {
            return Some(node);
        }
        self.index.find(key).or_else(|| {
            let most = if self.index.has_gaps() {
                LONG_SEARCH
            } else {
                0
            };
            ring(most).find(|node| node.is(key))
        })
    }

    /// A new root for initial thread `number`.
    pub(crate) fn initial_root(&self, number: u32) -> Option<&'static Node> {
        self.add_beyond_limit(|node| {
            node.within.store(INITIAL, Ordering::Relaxed);
            node.number.store(number, Ordering::Relaxed);
        })
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

impl Node {
    #[inline(always)]
    fn matches(&self, region: &'static Region, within: u8) -> bool {
        self.region.is(region) && self.within.load(Ordering::Relaxed) == within
    }

    /// The key by which it is found.
    pub(crate) fn key(&self) -> Key {
        Key {
            parent: self.parent.get(),
            region: self.region.get(),
            within: self.within.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
        }
    }

    /// Whether it is the node of a key.
    pub(crate) fn is(&self, key: Key) -> bool {
        key.parent.is_some_and(|parent| self.parent.is(parent))
            && key
                .region
                .is_some_and(|region| self.matches(region, key.within))
            && self.number.load(Ordering::Relaxed) == key.number
    }

    #[inline(always)]
    fn is_member(&self, fork: &'static Node, number: u32) -> bool {
        self.parent.is(fork)
            && self.number.load(Ordering::Relaxed) == number
            && self.within.load(Ordering::Relaxed) == MEMBER
    }
}

/// The nodes of a ring, from the one after `last` to `last`.
struct Ring {
    at: Option<&'static Node>,
    last: Option<&'static Node>,
}

impl Iterator for Ring {
    type Item = &'static Node;

    fn next(&mut self) -> Option<&'static Node> {
        let node = self.at?.next.get()?;
        let is_last = self.last.is_some_and(|last| std::ptr::eq(node, last));
        self.at = if is_last { None } else { Some(node) };
        Some(node)
    }
}

fn insert_in_ring(after: Option<&'static Node>, node: &'static Node) {
    match after {
        Some(after) => {
            node.next.set(after.next.get());
            after.next.set(Some(node));
        }
        None => node.next.set(Some(node)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::region::tests::region;

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
