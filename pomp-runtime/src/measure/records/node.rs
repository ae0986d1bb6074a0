//! A node of a call-path tree.
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

use std::sync::atomic::Ordering;

use profile::region_kind::{PseudoRegion, RegionKind};

use super::waits::NodeWaits;
use super::{CoarseTimes, Node, Region};
use crate::measure::node_sample::Sample;
use crate::measure::shared::leak;
use crate::measure::span::Span;

/// How the region of a node was reached.
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

    /// From now on the times of its instances are taken from the coarse clock.
    pub(crate) fn set_coarse_times(&self, times: &'static CoarseTimes) {
        self.coarse.set(Some(times));
    }

    /// The record of instances that are timed by the coarse clock, if they are.
    #[inline(always)]
    pub(crate) fn coarse_times(&self) -> Option<&'static CoarseTimes> {
        self.coarse.get()
    }

    /// The pseudo-regions that instances have, if its region may be sampled.
    pub(crate) fn parts(&self) -> &'static [PseudoRegion] {
        use PseudoRegion::{Body, Enter, Exit, Ibarr, Main};
        match self.region().map(|region| region.kind) {
            Some(RegionKind::Critical | RegionKind::Ordered | RegionKind::Lock) => {
                &[Main, Enter, Body, Exit]
            }
            Some(RegionKind::Loop | RegionKind::Single | RegionKind::Workshare) => {
                match self.reports_barrier() {
                    true => &[Main, Body, Ibarr],
                    false => &[Main, Body],
                }
            }
            _ => &[Main],
        }
    }

    /// The pseudo-regions that every instance of the node has.
    pub(crate) fn parts_of_each(&self) -> impl Iterator<Item = PseudoRegion> {
        let parts = self.parts().iter().copied();
        parts.filter(|part| self.has_in_each_instance(*part))
    }

    /// As [`Region::has_in_each_instance`].
    pub(crate) fn has_in_each_instance(&self, part: PseudoRegion) -> bool {
        let is_of_region = |region: &Region| region.has_in_each_instance(part);
        let is_whole = part == PseudoRegion::Main;
        (is_whole || !self.sets_no_lock()) && self.region().is_none_or(is_of_region)
    }

    /// Whether it is of a lock routine that sets no lock: its calls have no parts.
    pub(in crate::measure) fn sets_no_lock(&self) -> bool {
        let is_lock = |region: &Region| region.kind == RegionKind::Lock;
        self.region().is_some_and(is_lock) && self.span(PseudoRegion::Enter).count.get() == 0
    }

    /// Whether it is of a construct whose instances report a barrier at their end.
    fn reports_barrier(&self) -> bool {
        self.span(PseudoRegion::Ibarr).count.get() > 0
    }

    /// In which pseudo-region of its parent it is.
    pub(crate) fn key_within(&self) -> u8 {
        self.within.load(Ordering::Relaxed)
    }

    /// Where a recursion goes on that is entered here.
    pub(crate) fn recursion(&self) -> Option<&'static Node> {
        self.recursion.get()
    }

    /// Makes a new node the root of an initial thread.
    pub(in crate::measure) fn become_initial(&self, number: u32) {
        self.within.store(INITIAL, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
    }

    /// Makes a new node the root of a member of the teams that `fork` starts.
    pub(in crate::measure) fn become_member(&self, fork: &'static Node, number: u32) {
        self.region.set(fork.region());
        self.parent.set(Some(fork));
        self.within.store(MEMBER, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
    }

    /// Makes a new node a child of `parent` for a region.
    pub(in crate::measure) fn become_child(
        &'static self,
        parent: &'static Node,
        region: &'static Region,
        within: u8,
    ) {
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

/// The key of a node: its parent, and the values that distinguish it from its siblings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(in crate::measure) parent: Option<&'static Node>,
    pub(in crate::measure) region: Option<&'static Region>,
    pub(in crate::measure) within: u8,
    pub(in crate::measure) number: u32,
}

impl Key {
    pub(in crate::measure) fn of_child(
        parent: &'static Node,
        region: &'static Region,
        within: u8,
    ) -> Self {
        Self {
            parent: Some(parent),
            region: Some(region),
            within,
            number: 0,
        }
    }

    pub(in crate::measure) fn of_member(fork: &'static Node, number: u32) -> Self {
        Self {
            parent: Some(fork),
            region: fork.region(),
            within: MEMBER,
            number,
        }
    }
}

impl Node {
    /// The record of waits, made if there is none; none if memory is short.
    #[inline]
    pub(crate) fn waits(&self) -> Option<&'static NodeWaits> {
        if self.waits.get().is_none() {
            self.waits.set(leak(NodeWaits::default()));
        }
        self.waits.get()
    }

    /// The record of waits, if there is one.
    pub(crate) fn known_waits(&self) -> Option<&'static NodeWaits> {
        self.waits.get()
    }
}

impl Node {
    #[inline(always)]
    pub(in crate::measure) fn matches(&self, region: &'static Region, within: u8) -> bool {
        self.region.is(region) && self.within.load(Ordering::Relaxed) == within
    }

    /// The next child of the same parent.
    #[inline(always)]
    pub(in crate::measure) fn next_in_ring(&self) -> Option<&'static Node> {
        self.next.get()
    }

    /// The key by which it is found.
    pub(in crate::measure) fn key(&self) -> Key {
        Key {
            parent: self.parent.get(),
            region: self.region.get(),
            within: self.within.load(Ordering::Relaxed),
            number: self.number.load(Ordering::Relaxed),
        }
    }

    /// Whether it is the node of a key.
    pub(in crate::measure) fn is(&self, key: Key) -> bool {
        key.parent.is_some_and(|parent| self.parent.is(parent))
            && key
                .region
                .is_some_and(|region| self.matches(region, key.within))
            && self.number.load(Ordering::Relaxed) == key.number
    }

    #[inline(always)]
    pub(in crate::measure) fn is_member(&self, fork: &'static Node, number: u32) -> bool {
        self.parent.is(fork)
            && self.number.load(Ordering::Relaxed) == number
            && self.within.load(Ordering::Relaxed) == MEMBER
    }
}

/// The nodes of a ring, from the one after `last` to `last`.
pub(in crate::measure) struct Ring {
    at: Option<&'static Node>,
    last: Option<&'static Node>,
}

impl Ring {
    #[inline(always)]
    pub(in crate::measure) fn of(last: Option<&'static Node>) -> Self {
        Self { at: last, last }
    }
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

/// Puts a new node into the ring, behind this one.
pub(in crate::measure) fn insert_in_ring(after: Option<&'static Node>, node: &'static Node) {
    match after {
        Some(after) => {
            node.next.set(after.next.get());
            after.next.set(Some(node));
        }
        None => node.next.set(Some(node)),
    }
}
