//! The data with which a thread passes over instances: a table of its constructs, the locks that it
//! holds, and its part in a team.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use profile::region_kind::PseudoRegion;

use super::lending::{Lending, PassedInstance, Passing};
use super::records::Region;
use super::shared::{SharedRef, SharedU64};
use crate::hash::{FACTOR, spread};
use crate::measure::records::Node;
use crate::measure::records::waits::{NodeWaits, SEVERAL};

/// The number of entries in a thread's table of constructs that it passes over: a power of two. Two
/// constructs that share an entry are both timed more often than they need be.
const ENTRIES: usize = 256;

/// The work between two instances of a thread that is being timed.
#[derive(Debug)]
pub(super) struct WorkBetween {
    /// The node of the update behind which it is timed.
    pub(super) node: SharedRef<Node>,
    /// When it began, in ticks; 0 if it has not begun.
    pub(super) begin: SharedU64,
}

impl WorkBetween {
    const fn new() -> Self {
        Self {
            node: SharedRef::none(),
            begin: SharedU64::new(0),
        }
    }
}

/// The constructs that a thread passes over, and the instance that it passes over at the moment.
#[derive(Debug)]
pub(crate) struct PassTable {
    /// The mark of the coarse clock when the thread found its place; 0 if it has to find it.
    pub(super) seen: SharedU64,
    pub(super) place: SharedU64,
    /// The instance that is passed over at the moment, if one is.
    pub(super) passed: PassedInstance,
    random: SharedU64,
    /// How many entries are in use.
    pub(super) used: SharedU64,
    /// How many teams the thread forked whose members may be passed over.
    pub(super) teams: SharedU64,
    pub(super) work_between: WorkBetween,
    /// The ticks of all instances that were timed as a sample, with what timing them takes.
    pub(super) timed: SharedU64,
    lending: Lending,
    entries: [Entry; ENTRIES],
}

/// A construct at one place on the call paths.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) region: SharedRef<Region>,
    pub(super) place: SharedU64,
    /// How many instances are still to be passed over, and how many were when the node last got its
    /// count. The difference has been passed over since.
    left: AtomicU32,
    armed: AtomicU32,
    node: SharedRef<Node>,
    /// Of calls that set locks: the address of the lock, or [`SEVERAL`].
    guard: AtomicUsize,
}

impl Entry {
    const fn new() -> Self {
        Self {
            region: SharedRef::none(),
            place: SharedU64::new(0),
            left: AtomicU32::new(0),
            armed: AtomicU32::new(0),
            node: SharedRef::none(),
            guard: AtomicUsize::new(0),
        }
    }

    pub(super) fn is_of(&self, node: &'static Node) -> bool {
        self.node.is(node)
    }

    /// How many instances of a construct at a place are still to be passed over. None if there are
    /// none, or if this entry belongs to another construct or place.
    #[inline(always)]
    fn left_of(&self, region: &'static Region, place: u64) -> Option<u32> {
        let left = self.left.load(Ordering::Relaxed);
        (left > 0 && self.region.is(region) && self.place.get() == place).then_some(left)
    }

    /// Instances that were passed over and that the node has not got yet.
    fn passed(&self) -> u64 {
        let left = self.left.load(Ordering::Relaxed);
        u64::from(self.armed.load(Ordering::Relaxed).wrapping_sub(left))
    }

    /// Has the next `number` instances passed over.
    pub(super) fn arm(&self, number: u32) {
        let waits = self.node.get().and_then(Node::known_waits);
        let guard = waits.map_or(0, NodeWaits::address);
        self.guard.store(guard, Ordering::Relaxed);
        self.left.store(number, Ordering::Relaxed);
        self.armed.store(number, Ordering::Relaxed);
    }

    /// Whether the entry stays with its node, although another node needs it. Each such request
    /// halves the number of instances that are still to be passed over.
    pub(super) fn is_kept(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let less = left.div_ceil(2);
        self.left.store(left - less, Ordering::Relaxed);
        let armed = self.armed.load(Ordering::Relaxed);
        self.armed
            .store(armed.wrapping_sub(less), Ordering::Relaxed);
        left > 0
    }

    /// Adds the instances that were passed over to the counts of the node.
    pub(super) fn settle(&self) {
        if let Some(node) = self.node.get() {
            let passed = self.passed();
            let left = self.left.load(Ordering::Relaxed);
            self.armed.store(left, Ordering::Relaxed);
            for part in node.parts_of_each() {
                node.span(part).count.add(passed);
            }
            if let Some(sample) = node.sample() {
                sample.add_passed(passed);
            }
        }
    }
}

/// A place on the call paths as a number: the address of a node plus the number of a pseudo-region,
/// which is less than the size of a node.
#[inline(always)]
pub(super) fn place_of(parent: &'static Node, within: u8) -> u64 {
    std::ptr::from_ref(parent).addr() as u64 + u64::from(within)
}

impl PassTable {
    pub(super) const fn new() -> Self {
        Self {
            seen: SharedU64::new(0),
            place: SharedU64::new(0),
            passed: PassedInstance::none(),
            random: SharedU64::new(FACTOR),
            used: SharedU64::new(0),
            teams: SharedU64::new(0),
            work_between: WorkBetween::new(),
            timed: SharedU64::new(0),
            lending: Lending::new(),
            entries: [const { Entry::new() }; ENTRIES],
        }
    }

    /// The entry that a construct has at a place, if it has one.
    #[inline(always)]
    pub(super) fn entry(&self, region: &'static Region, place: u64) -> &Entry {
        &self.entries[Self::number(region, place)]
    }

    #[inline(always)]
    fn number(region: &'static Region, place: u64) -> usize {
        // Regions stand side by side in memory, so many bits of their addresses are the same.
        let region = std::ptr::from_ref(region).addr() as u64;
        let spread = spread(region ^ place.rotate_left(32));
        (spread >> (u64::BITS - ENTRIES.ilog2())) as usize
    }

    pub(super) fn entry_of(&self, node: &'static Node) -> Option<&Entry> {
        let place = place_of(node.parent()?, node.key_within());
        Some(self.entry(node.region()?, place))
    }

    /// Gives an entry to a node.
    pub(super) fn give(&self, entry: &Entry, node: &'static Node) {
        entry.settle();
        self.used.add(u64::from(entry.node.get().is_none()));
        if let Some(parent) = node.parent() {
            entry.place.set(place_of(parent, node.key_within()));
        }
        entry.region.set(node.region());
        entry.node.set(Some(node));
        if let Some(region) = node.region() {
            region.set_sampled();
        }
    }

    /// Has the next instance of a node timed.
    pub(super) fn times_next(&self, node: &'static Node) {
        self.take_back();
        if let Some(entry) = self.entry_of(node).filter(|entry| entry.is_of(node)) {
            entry.settle();
            entry.arm(0);
        }
    }

    /// How many entries are in use.
    pub(super) fn used(&self) -> u64 {
        self.used.get()
    }

    /// The nodes in the table, each with the number of instances passed over that it has not got
    /// yet.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (&'static Node, u64)> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(number, entry)| {
            let node = entry.node.get()?;
            Some((
                node,
                entry.passed() + u64::from(self.lending.used_of(number)),
            ))
        })
    }

    /// Passes over a call that sets the lock at this address, if one is to be passed over. Returns
    /// its node. If the node does not know the lock yet, the call is timed.
    #[inline(always)]
    pub(super) fn passed_guarded(
        &self,
        region: &'static Region,
        address: usize,
    ) -> Option<&'static Node> {
        let place = self.place.get();
        let entry = self.entry(region, place);
        let left = entry.left_of(region, place)?;
        let guard = entry.guard.load(Ordering::Relaxed);
        if guard != address && guard != SEVERAL {
            return None;
        }
        entry.left.store(left - 1, Ordering::Relaxed);
        entry.node.get()
    }

    /// The node of a construct at the thread's place, if it is in the table.
    #[inline(always)]
    pub(super) fn node_of(&self, region: &'static Region) -> Option<&'static Node> {
        let place = self.place.get();
        let entry = self.entry(region, place);
        let is_its = entry.region.is(region) && entry.place.get() == place;
        entry.node.get().filter(|_| is_its)
    }

    /// Whether an instance is passed over at the moment.
    #[inline(always)]
    pub(super) fn is_passing(&self) -> bool {
        self.passed.region().is_some()
    }

    /// The node of the instance that is passed over at the moment.
    pub(super) fn open_node(&self) -> Option<&'static Node> {
        self.entry(self.passed.region()?, self.place.get())
            .node
            .get()
    }

    /// A part begins of the instance that is passed over at the moment, which not each instance has.
    #[inline(always)]
    pub(super) fn counts_part(&self, part: PseudoRegion) {
        let is_counted = |region: &Region| !region.has_in_each_instance(part);
        if self.passed.region().is_some_and(is_counted)
            && let Some(node) = self.open_node()
        {
            node.span(part).count.add(1);
        }
    }

    /// Whether an instance at a place is to be passed over.
    #[inline(always)]
    pub(super) fn has_left(&self, region: &'static Region, place: u64) -> bool {
        self.entry(region, place).left_of(region, place).is_some()
    }

    /// Counts an instance at a place, if one is to be passed over there.
    #[inline(always)]
    pub(super) fn counts_at(&self, region: &'static Region, place: u64) -> bool {
        let entry = self.entry(region, place);
        let left = entry.left_of(region, place);
        if let Some(left) = left {
            entry.left.store(left - 1, Ordering::Relaxed);
        }
        left.is_some()
    }

    /// Counts an instance at the thread's place, as `counts_at`. Lends what is left to the program
    /// if possible. The next event that is recorded takes it back.
    pub(super) fn counts_and_lends(&'static self, region: &'static Region) -> Passes {
        let record = self.lending.record_of(region);
        match (self.counts_anew(region, record), record) {
            (false, _) => Passes::No,
            (true, Some(record)) => Passes::Lends(self.lends(record, region)),
            (true, None) => Passes::Once,
        }
    }

    /// Counts an instance at the thread's place, as `counts_at`, of a construct that is never lent to the
    /// program.
    pub(super) fn counts_alone(&self, region: &'static Region) -> bool {
        self.counts_anew(region, None)
    }

    /// Begins an instance at the thread's place in this phase, if one is to be passed over there, and
    /// lends what is left to the program. None if there is no record for the program.
    pub(super) fn begins_and_lends(
        &'static self,
        region: &'static Region,
        phase: PseudoRegion,
    ) -> Option<&'static Passing> {
        let record = self.lending.record_of(region)?;
        if !self.counts_anew(region, Some(record)) {
            return None;
        }
        self.passed.begin(region, phase);
        Some(self.lends(record, region))
    }

    /// Takes back what is lent in a region's record, and counts an instance at the thread's place, if
    /// one is to be passed over there.
    #[inline(always)]
    fn counts_anew(&self, region: &'static Region, record: Option<usize>) -> bool {
        if let Some(record) = record {
            self.take_back_record(record);
        }
        !self.is_passing() && self.counts_at(region, self.place.get())
    }

    /// Lends what is left of a region's instances at the thread's place.
    fn lends(&'static self, record: usize, region: &'static Region) -> &'static Passing {
        let entry = Self::number(region, self.place.get());
        let left = self.entries[entry].left.load(Ordering::Relaxed);
        let seen = self.seen.get();
        region.set_lent();
        self.lending.lend(record, (entry, left), seen, &self.passed)
    }

    fn take_back_record(&self, record: usize) {
        if let Some((number, used)) = self.lending.take_back(record) {
            let left = &self.entries[number % ENTRIES].left;
            left.store(
                left.load(Ordering::Relaxed).saturating_sub(used),
                Ordering::Relaxed,
            );
        }
    }

    /// Takes back what is lent to the program.
    #[inline(always)]
    pub(super) fn take_back(&self) {
        if self.lending.is_any_lent() {
            self.take_all_back();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_all_back(&self) {
        while let Some(record) = self.lending.first_lent() {
            self.take_back_record(record);
        }
    }

    /// The thread goes elsewhere on the call paths, so it has to find its place again.
    pub(super) fn forget_place(&self) {
        self.seen.set(0);
        self.take_back();
    }

    /// True once in `many` times, at random.
    pub(super) fn one_of(&self, many: u64) -> bool {
        self.about(many) == many / 2
    }

    /// A random number, at least `most / 2` and less than `most / 2 + most`.
    pub(super) fn about(&self, most: u64) -> u64 {
        most / 2 + self.random() % most.max(1)
    }

    /// A random number.
    pub(super) fn random(&self) -> u64 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.set(random);
        random
    }
}

/// Whether an instance is passed over in which nothing else happens.
#[derive(Debug)]
pub(crate) enum Passes {
    /// It is not: its begin and its end are recorded.
    No,
    /// It is, and the next one has to be reported as well.
    Once,
    /// It is, and the program may count the next ones itself.
    Lends(&'static Passing),
}

/// The lock that a thread holds whose setting was passed over.
#[derive(Debug)]
pub(crate) struct PassedLock {
    /// Its address; 0 if there is none.
    pub(super) address: AtomicUsize,
    /// How often it was set again by its thread, and not yet unset, if it is nestable.
    pub(super) again: SharedU64,
    pub(super) node: SharedRef<Node>,
    /// The mark of the coarse clock when the thread asked for it, and then when it got it.
    pub(super) mark: SharedU64,
}

impl PassedLock {
    pub(super) const fn none() -> Self {
        Self {
            address: AtomicUsize::new(0),
            again: SharedU64::new(0),
            node: SharedRef::none(),
            mark: SharedU64::new(0),
        }
    }

    /// Whether it is the lock at this address.
    #[inline(always)]
    pub(super) fn is(&self, address: usize) -> bool {
        self.address.load(Ordering::Relaxed) == address
    }

    /// Forgets the lock.
    pub(super) fn forget(&self) {
        self.address.store(0, Ordering::Relaxed);
    }
}

/// The number of locks that a thread can hold without being timed. Programs often hold two, such as those of
/// both ends of an edge.
const LOCKS: usize = 4;

/// The address of no lock.
pub(super) const NO_ADDRESS: usize = 0;

/// The locks that a thread holds at the moment and whose calls were passed over.
#[derive(Debug)]
pub(crate) struct PassedLocks([PassedLock; LOCKS]);

impl PassedLocks {
    pub(super) const fn none() -> Self {
        Self([const { PassedLock::none() }; LOCKS])
    }

    /// The lock at this address; for [`NO_ADDRESS`], room for one.
    #[inline(always)]
    pub(super) fn of(&self, address: usize) -> Option<&PassedLock> {
        self.0.iter().find(|lock| lock.is(address))
    }

    /// Counts that the thread sets the lock at this address again, if it is among them. Returns whether it is.
    #[inline(always)]
    pub(super) fn set_again(&self, address: usize) -> bool {
        let lock = self.of(address);
        if let Some(lock) = lock {
            lock.again.add(1);
        }
        lock.is_some()
    }

    /// How many there are.
    pub(crate) fn number(&self) -> u64 {
        self.0
            .iter()
            .map(|lock| u64::from(!lock.is(NO_ADDRESS)))
            .sum()
    }

    /// Forgets all.
    pub(super) fn forget(&self) {
        for lock in &self.0 {
            lock.forget();
            lock.again.set(0);
        }
    }
}

const OUT: u8 = 0;
const IN: u8 = 1;
const ENDED: u8 = 2;

/// The part of a thread in a team that is passed over: the current part, or the last one.
#[derive(Debug)]
pub(crate) struct PassedMember {
    /// The root of the member.
    pub(super) root: SharedRef<Node>,
    state: AtomicU8,
    /// The construct in the part that is passed over with it, if one has begun.
    pub(super) inner: SharedRef<Node>,
    /// Which of its pseudo-regions the thread is in.
    inner_phase: AtomicU8,
    /// The mark of the coarse clock when the part began.
    pub(super) mark: SharedU64,
}

impl PassedMember {
    pub(super) const fn none() -> Self {
        Self {
            root: SharedRef::none(),
            state: AtomicU8::new(OUT),
            inner: SharedRef::none(),
            inner_phase: AtomicU8::new(0),
            mark: SharedU64::new(0),
        }
    }

    /// The thread begins a part that is passed over, at this mark of the coarse clock.
    #[inline(always)]
    pub(super) fn begin(&self, root: &'static Node, mark: u64) {
        self.root.set(Some(root));
        self.inner.set(None);
        self.mark.set(mark);
        self.state.store(IN, Ordering::Relaxed);
    }

    /// A construct begins that is passed over with the part.
    #[inline(always)]
    pub(super) fn begin_inner(&self, node: &'static Node) {
        self.inner.set(Some(node));
        self.set_inner_phase(PseudoRegion::Body);
    }

    #[inline(always)]
    pub(super) fn set_inner_phase(&self, phase: PseudoRegion) {
        self.inner_phase.store(phase as u8, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn inner_phase(&self) -> u8 {
        self.inner_phase.load(Ordering::Relaxed)
    }

    /// The part ends.
    #[inline(always)]
    pub(super) fn end(&self) {
        self.state.store(ENDED, Ordering::Relaxed);
    }

    #[inline(always)]
    fn is(&self, state: u8) -> bool {
        self.state.load(Ordering::Relaxed) == state
    }

    /// Whether the thread is executing a part that is passed over.
    #[inline(always)]
    pub(super) fn is_in(&self) -> bool {
        self.is(IN)
    }

    /// Whether its part in a team that is passed over has ended, while the team may still last.
    #[inline(always)]
    pub(super) fn has_ended(&self) -> bool {
        self.is(ENDED)
    }

    /// The thread is in no such team any more.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.state.store(OUT, Ordering::Relaxed);
    }
}
