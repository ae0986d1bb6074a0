//! Instances that are passed over: counted, and neither timed nor put on the stack.
//!
//! A probe that passes over an instance reads little. The thread keeps its place on the call paths,
//! together with the mark that the [`coarse_clock`] had when the thread found that place. As long
//! as the mark is the same, no request is pending and the place is valid. The next event that is
//! recorded runs `Thread::catch_up` first, which forgets the place. The probe makes few stores,
//! since an atomic update waits for the stores in front of it.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};

use profile::event::{Action, Event};
use profile::region_kind::{PseudoRegion, RegionKind};

use super::clock::now;
use super::frame::{Frame, Role};
use super::region::Region;
use super::shared::{SharedRef, SharedU64};
use super::thread::{self, Thread};
use super::{attention, coarse_clock, pause, state};
use crate::measure::calls::node::{Node, pseudo_region};
use crate::measure::calls::waits::{NodeWaits, SEVERAL};

/// The number of entries in a thread's table of constructs that it passes over.
const ENTRIES: usize = 64;

/// The constructs that a thread passes over, and the instance that it passes over at the moment.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// The mark of the coarse clock when the thread found its place; 0 if it has to find it.
    seen: SharedU64,
    place: SharedU64,
    /// The construct that is passed over at the moment, if one is.
    open: SharedRef<Region>,
    phase: AtomicU8,
    /// If the open instance is the execution of a task inside a task creation that is passed over,
    /// too: the region of the creation, and the place of the creation.
    outer: SharedRef<Region>,
    outer_place: SharedU64,
    random: SharedU64,
    /// How many entries are in use.
    used: SharedU64,
    /// How many teams the thread forked whose members may be passed over.
    pub(super) teams: SharedU64,
    entries: [Entry; ENTRIES],
}

/// A construct at one place on the call paths.
#[derive(Debug)]
pub(super) struct Entry {
    region: SharedRef<Region>,
    place: SharedU64,
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
            for part in node.parts() {
                node.span(*part).count.add(passed);
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
fn place_of(parent: &'static Node, within: u8) -> u64 {
    std::ptr::from_ref(parent).addr() as u64 + u64::from(within)
}

impl Sampler {
    pub(super) const fn new() -> Self {
        Self {
            seen: SharedU64::new(0),
            place: SharedU64::new(0),
            open: SharedRef::none(),
            phase: AtomicU8::new(0),
            outer: SharedRef::none(),
            outer_place: SharedU64::new(0),
            random: SharedU64::new(0x9e37_79b9_7f4a_7c15),
            used: SharedU64::new(0),
            teams: SharedU64::new(0),
            entries: [const { Entry::new() }; ENTRIES],
        }
    }

    /// The entry that a construct has at a place, if it has one.
    #[inline(always)]
    fn entry(&self, region: &'static Region, place: u64) -> &Entry {
        let region = std::ptr::from_ref(region).addr() as u64;
        &self.entries[((region >> 6) ^ (place >> 7)) as usize % ENTRIES]
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
    }

    /// How many entries are in use.
    pub(super) fn used(&self) -> u64 {
        self.used.get()
    }

    /// The nodes in the table, each with the number of instances passed over that it has not got
    /// yet.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (&'static Node, u64)> {
        let entries = self.entries.iter();
        entries.filter_map(|entry| Some((entry.node.get()?, entry.passed())))
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

    /// Whether an instance is passed over at the moment.
    #[inline(always)]
    pub(super) fn is_passing(&self) -> bool {
        self.open.get().is_some()
    }

    /// The node of the instance that is passed over at the moment.
    fn open_node(&self) -> Option<&'static Node> {
        self.entry(self.open.get()?, self.place.get()).node.get()
    }

    /// The node of the task creation that is passed over, if the open instance is a task in it.
    fn outer_node(&self) -> Option<&'static Node> {
        let place = self.outer_place.get();
        self.entry(self.outer.get()?, place).node.get()
    }

    /// Counts an instance at a place, if one is to be passed over there.
    #[inline(always)]
    fn counts_at(&self, region: &'static Region, place: u64) -> bool {
        let entry = self.entry(region, place);
        let left = entry.left_of(region, place);
        if let Some(left) = left {
            entry.left.store(left - 1, Ordering::Relaxed);
        }
        left.is_some()
    }

    /// The execution of a task begins. Passes it over if it is inside a task creation that is
    /// passed over, and if it is to be passed over itself. Returns whether that is so.
    fn passes_over_within_creation(&self, execution: &'static Region) -> bool {
        let Some(creation) = self.open.get().filter(|open| open.kind.is_task_creation()) else {
            return false;
        };
        let Some(node) = self.open_node() else {
            return false;
        };
        let place = place_of(node, PseudoRegion::Main as u8);
        let is_passed_over = self.outer.get().is_none() && self.counts_at(execution, place);
        if is_passed_over {
            self.outer_place.set(self.place.get());
            self.outer.set(Some(creation));
            self.place.set(place);
            self.open.set(Some(execution));
        }
        is_passed_over
    }

    /// The open instance, the execution of a task, ends.
    #[inline(always)]
    fn ends_execution(&self) {
        let outer = self.outer.get();
        self.open.set(outer);
        if outer.is_some() {
            self.place.set(self.outer_place.get());
            self.outer.set(None);
        }
    }

    /// The thread goes elsewhere on the call paths, so it has to find its place again.
    pub(super) fn forget_place(&self) {
        self.seen.set(0);
    }

    /// A random number, at least `most / 2` and less than `most / 2 + most`.
    pub(super) fn about(&self, most: u64) -> u64 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.set(random);
        most / 2 + random % most.max(1)
    }
}

/// Whether an event of the region that `find` gives is passed over, so that nothing else is to be
/// done. Probes ask this first. The function calls no other one, so that the probes save few
/// registers. If the thread has to find its place first, the answer is no.
#[inline(always)]
pub(crate) fn is_passed_over_at_once(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    may_be_passed_over(event)
        && is_passed_over_by(event.action(), find, |thread| {
            thread.sampler.seen.get() == coarse_clock::mark()
        })
}

/// As `is_passed_over_at_once`, but the thread finds its place if it has to.
#[inline(always)]
pub(crate) fn is_passed_over(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    may_be_passed_over(event) && is_passed_over_by(event.action(), find, Thread::knows_place)
}

/// Whether the begin of a task's execution is passed over. `find` gives the region of the
/// execution.
#[inline(always)]
pub(crate) fn task_is_passed_over(find: impl FnOnce() -> Option<&'static Region> + Copy) -> bool {
    passes_over_by(true, find, Thread::knows_place, |thread, execution| {
        thread.passes_over_execution(execution)
    })
}

/// As `task_is_passed_over`, for the end of the execution.
#[inline(always)]
pub(crate) fn end_of_task_is_passed_over(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    passes_over_by(false, find, Thread::knows_place, |thread, execution| {
        thread.passes_over_end_of_execution(execution)
    })
}

#[inline(always)]
fn is_passed_over_by(
    action: Action,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    knows_place: impl FnOnce(&'static Thread) -> bool + Copy,
) -> bool {
    let begins = matches!(action, Action::Open(_));
    passes_over_by(begins, find, knows_place, |thread, region| {
        thread.passes_over(action, region)
    })
}

/// Whether `passes_over` says that an event is passed over. It is asked only if the thread is in a
/// state in which it can pass over something. `begins`: the event begins an instance.
#[inline(always)]
fn passes_over_by(
    begins: bool,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    knows_place: impl FnOnce(&'static Thread) -> bool + Copy,
    passes_over: impl FnOnce(&'static Thread, &'static Region) -> bool + Copy,
) -> bool {
    // Asked first: a thread that may be cancelled at any instruction goes no further.
    if !state::is_quick() {
        return false;
    }
    let Some(thread) = thread::current() else {
        return false;
    };
    if !begins && !thread.sampler.is_passing() || !knows_place(thread) {
        return false;
    }
    find().is_some_and(|region| passes_over(thread, region))
}

/// Whether an event is of a construct that can be passed over. Barriers and constructs that end
/// with one are not: users want to see waits.
#[inline(always)]
pub(crate) const fn may_be_passed_over(event: Event) -> bool {
    use Event::{
        AtomicEnter, AtomicExit, CriticalBegin, CriticalEnd, CriticalEnter, CriticalExit,
        FlushEnter, FlushExit, MasterBegin, MasterEnd, OrderedBegin, OrderedEnd, OrderedEnter,
        OrderedExit, TaskCreateEnter, TaskCreateExit, TaskyieldEnter, TaskyieldExit,
    };
    matches!(
        event,
        AtomicEnter
            | AtomicExit
            | CriticalEnter
            | CriticalBegin
            | CriticalEnd
            | CriticalExit
            | FlushEnter
            | FlushExit
            | MasterBegin
            | MasterEnd
            | OrderedEnter
            | OrderedBegin
            | OrderedEnd
            | OrderedExit
            | TaskCreateEnter
            | TaskCreateExit
            | TaskyieldEnter
            | TaskyieldExit
    )
}

impl Thread {
    /// Whether the thread knows its place on the call paths. Finds the place if need be.
    #[inline(always)]
    pub(crate) fn knows_place(&'static self) -> bool {
        let sampler = &self.sampler;
        match sampler.seen.get() == coarse_clock::mark() {
            true => true,
            false if sampler.is_passing() => {
                self.records_if_long();
                true
            }
            false => sampler.used() != 0 && self.find_place(),
        }
    }

    /// Handles an event of a construct on a thread that knows its place. True if there is no more
    /// to do. If the begin of an instance was passed over, so are its other events.
    #[inline(always)]
    pub(crate) fn passes_over(&'static self, action: Action, region: &'static Region) -> bool {
        let sampler = &self.sampler;
        let is_open = || sampler.open.is(region);
        match action {
            Action::Open(phase) => self.passes_over_whole(region, phase),
            Action::SwitchPhase(phase) if is_open() => {
                sampler.phase.store(phase as u8, Ordering::Relaxed);
                true
            }
            Action::Close if is_open() => {
                sampler.open.set(None);
                true
            }
            _ => false,
        }
    }

    /// As `passes_over`, for the begin of a task's execution.
    #[inline(always)]
    pub(crate) fn passes_over_execution(&'static self, execution: &'static Region) -> bool {
        match self.sampler.is_passing() {
            true => self.sampler.passes_over_within_creation(execution),
            false => self.passes_over_whole(execution, PseudoRegion::Main),
        }
    }

    /// As `passes_over`, for the end of a task's execution.
    #[inline(always)]
    pub(crate) fn passes_over_end_of_execution(&'static self, execution: &'static Region) -> bool {
        let is_open = self.sampler.open.is(execution);
        if is_open {
            self.sampler.ends_execution();
        }
        is_open
    }

    #[inline(always)]
    fn passes_over_whole(&'static self, region: &'static Region, phase: PseudoRegion) -> bool {
        let sampler = &self.sampler;
        // A construct that begins inside an instance that is passed over has another place.
        if sampler.is_passing() || !sampler.counts_at(region, sampler.place.get()) {
            return false;
        }
        sampler.phase.store(phase as u8, Ordering::Relaxed);
        sampler.open.set(Some(region));
        true
    }

    /// Finds the thread's place on the call paths. False if an event is being recorded, if there is
    /// something to do first, or if every event has to be recorded.
    #[cold]
    #[inline(never)]
    fn find_place(&'static self) -> bool {
        let sampler = &self.sampler;
        // The mark is read first: a request that comes meanwhile changes it.
        let mark = coarse_clock::mark_of_all_before();
        let sees_all = match sampler.seen.get() {
            0 => self.sees(pause::mark()),
            // `sees` compares a field that the call of `looks_up_next_time` below has overwritten.
            _ => self.pauses() == pause::mark(),
        };
        let Some(top) = self.top() else { return false };
        let Some(parent) = top.node() else {
            return false;
        };
        // After the end of its part a member executes tasks, whose ends have to be recorded.
        let is_behind_end = top.role() == Role::Ended || self.passed_member.has_ended();
        if is_behind_end
            || !sees_all
            || self.is_busy()
            || attention::is_needed()
            || self.passed_member.is_in()
        {
            return false;
        }
        sampler.place.set(place_of(parent, top.within()));
        sampler.seen.set(mark);
        self.looks_up_next_time();
        true
    }

    /// A part of an instance that is passed over ends: records it if it was long.
    #[cold]
    #[inline(never)]
    fn records_if_long(&'static self) {
        let mark = coarse_clock::mark();
        let sampler = &self.sampler;
        let seen = sampler.seen.get();
        let (first, steps) = (coarse_clock::steps_of(seen), coarse_clock::steps_of(mark));
        // Only the steps are brought up to date. A request still has to be noticed.
        sampler.seen.set(seen - first + steps);
        if self.is_paused() {
            return;
        }
        let Some(ticks) = coarse_clock::elapsed(first, steps, now()) else {
            return;
        };
        // Only the time is added: the instance is counted with all others that are passed over.
        let phase = pseudo_region(sampler.phase.load(Ordering::Relaxed));
        if let Some(node) = sampler.open_node() {
            node.add_known_time(phase, ticks);
        }
        if let Some(node) = sampler.outer_node() {
            node.add_known_time(PseudoRegion::Main, ticks);
        }
    }

    /// Has the next `number` instances of a region passed over, to calibrate the cost of that.
    /// False if none can be passed over now.
    pub(super) fn pass_over_next(&'static self, region: &'static Region, number: u32) -> bool {
        let Some((frame, node)) = self.next_frame(region) else {
            return false;
        };
        let Some(parent) = frame.below().and_then(Frame::node) else {
            return false;
        };
        let place = place_of(parent, node.key_within());
        let entry = self.sampler.entry(region, place);
        entry.region.set(Some(region));
        entry.place.set(place);
        entry.arm(number);
        self.sampler.used.set(1);
        self.set_pauses(pause::count());
        self.looks_no_more();
        self.find_place()
    }

    /// Something happens in the instance that is passed over, so the instance is put on the stack.
    pub(super) fn put_on_stack(&'static self) {
        let sampler = &self.sampler;
        let phase = sampler.phase.load(Ordering::Relaxed);
        let outer = sampler.outer_node();
        let open = sampler.open_node();
        sampler.outer.set(None);
        sampler.open.set(None);
        for (node, phase) in [(outer, PseudoRegion::Main as u8), (open, phase)] {
            let frame = self.top().and_then(Frame::frame_above);
            if let (Some(node), Some(frame)) = (node, frame) {
                frame.begin(Role::Counted, node, 0);
                frame.set_within(phase);
                self.set_top(frame);
            }
        }
    }
}

impl Node {
    /// Adds time that was measured of an instance that is passed over, to the whole and to one
    /// part.
    pub(super) fn add_known_time(&self, part: PseudoRegion, ticks: u64) {
        self.span(PseudoRegion::Main).ticks.add(ticks);
        if part != PseudoRegion::Main {
            self.span(part).ticks.add(ticks);
        }
    }
}
