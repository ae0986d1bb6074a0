//! Hot small constructs, which are counted exactly and timed by sample.
//!
//! Reading the clock takes longer than an undisputed lock. Once a construct proves to
//! be executed often and to be short, only so many of its instances are timed that this
//! stays inside the budget. All others are **passed over**: the probes find the
//! construct in a small table of the thread's own, count there, and look no further,
//! neither at the clock nor at the stack. A timed instance stands for those that were
//! passed over before it. The error of an estimate follows from how much the times
//! differ. No estimate exceeds the time during which the instances were passed over.
//!
//! How many are passed over follows from how fast they come, each time anew, with some
//! chance in it, so that no rhythm of the program is met. Where instances are long, or
//! rare, every one is timed.
//!
//! A long instance is always noticed: the [`coarse_clock`] goes on by two steps during it.
//! It is recorded with its own time, and stands for no other instance, whether it was
//! timed or passed over.
//!
//! Counts stay exact, and so do call paths: an entry of the table is valid for one
//! place on them, and an instance in which something else happens is put on the
//! stack of frames at that moment, as one that is counted already.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use profile::region_kind::{PseudoRegion, RegionKind};

use super::clock::now;
use super::frame::{Frame, Role};
use super::region::Region;
use super::sample::Sample;
use super::shared::{SharedRef, SharedU64, leak};
use super::thread::{self, Thread};
use super::{attention, coarse_clock, cost, errno, pause, state};
use crate::measure::calls::tree::{Node, pseudo_region};
use profile::event::{Action, Event};

/// From so many instances on a node can be sampled: they say whether it is worth it.
const MANY: u64 = 4096;
/// It is not where an instance takes this many times what timing it does.
const LONG: u64 = 32;
/// So many instances are timed one after the other before any is passed over. They show how
/// much times differ, which a few instances that stand for many cannot.
const TIMED_FIRST: f64 = 1024.0;
/// Most instances that are passed over in a row.
const MOST: u64 = 1 << 14;
/// Constructs that a thread can pass over by turns.
const ENTRIES: usize = 64;

/// The part of the time that timing may take, in millionths; 0 if all is timed.
static BUDGET: AtomicU64 = AtomicU64::new(0);

const WHOLE: f64 = 1e6;

/// Has hot constructs timed within a budget, a part of the program's time.
pub(crate) fn limit(budget: f64) {
    BUDGET.store((budget * WHOLE) as u64, Ordering::Relaxed);
}

/// Whether anything may be timed by sample.
#[inline(always)]
fn is_on() -> bool {
    BUDGET.load(Ordering::Relaxed) != 0
}

/// An instance that is passed over, and the constructs that can be.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// The construct that is passed over at the moment, if one is.
    open: SharedRef<Region>,
    phase: AtomicU8,
    entry: AtomicU8,
    /// The steps of the coarse clock when it, or its part, began.
    steps: SharedU64,
    random: SharedU64,
    /// How many entries are in use.
    used: SharedU64,
    entries: [Entry; ENTRIES],
}

/// A construct at one place on the call paths.
#[derive(Debug)]
struct Entry {
    region: SharedRef<Region>,
    parent: SharedRef<Node>,
    within: AtomicU8,
    /// How many instances are to be passed over, and how many were to be.
    left: AtomicU32,
    armed: AtomicU32,
    node: SharedRef<Node>,
}

impl Entry {
    /// Gives the instances that were passed over, and goes on with those that are left.
    fn take(&self) -> u64 {
        let left = self.left.load(Ordering::Relaxed);
        let passed = self.armed.load(Ordering::Relaxed).wrapping_sub(left);
        self.armed.store(left, Ordering::Relaxed);
        u64::from(passed)
    }

    /// Whether it stays with its node, though another one wants its place. The more often
    /// one does, the less it has left.
    fn is_kept(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        let less = left.div_ceil(2);
        self.left.store(left - less, Ordering::Relaxed);
        let armed = self.armed.load(Ordering::Relaxed);
        self.armed
            .store(armed.wrapping_sub(less), Ordering::Relaxed);
        left > 0
    }

    /// The node gets what was passed over.
    fn settle(&self) {
        if let Some(node) = self.node.get() {
            let passed = self.take();
            for part in parts(node) {
                node.span(*part).count.add(passed);
            }
            if let Some(sample) = node.sample() {
                sample.passed.add(passed);
                sample.all_passed.add(passed);
            }
        }
    }
}

/// The pseudo-regions that each instance has.
pub(crate) fn parts(node: &Node) -> &'static [PseudoRegion] {
    use PseudoRegion::{Body, Enter, Exit, Main};
    match node.region().map(|region| region.kind) {
        Some(RegionKind::Critical | RegionKind::Ordered) => &[Main, Enter, Body, Exit],
        _ => &[Main],
    }
}

impl Sampler {
    pub(super) const fn new() -> Self {
        Self {
            open: SharedRef::none(),
            phase: AtomicU8::new(0),
            entry: AtomicU8::new(0),
            steps: SharedU64::new(0),
            random: SharedU64::new(0x9e37_79b9_7f4a_7c15),
            used: SharedU64::new(0),
            entries: [const {
                Entry {
                    region: SharedRef::none(),
                    parent: SharedRef::none(),
                    within: AtomicU8::new(0),
                    left: AtomicU32::new(0),
                    armed: AtomicU32::new(0),
                    node: SharedRef::none(),
                }
            }; ENTRIES],
        }
    }

    #[inline(always)]
    fn place(region: &'static Region, parent: &'static Node) -> usize {
        let (region, parent) = (std::ptr::from_ref(region), std::ptr::from_ref(parent));
        ((region.addr() >> 6) ^ (parent.addr() >> 7)) % ENTRIES
    }

    /// Nodes, and how many of their instances were passed over since they were told.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (&'static Node, u64)> {
        self.entries.iter().filter_map(|entry| {
            let left = entry.left.load(Ordering::Relaxed);
            let passed = entry.armed.load(Ordering::Relaxed).wrapping_sub(left);
            Some((entry.node.get()?, u64::from(passed)))
        })
    }

    /// Whether an instance is passed over at the moment.
    #[inline(always)]
    pub(super) fn is_passing(&self) -> bool {
        self.open.get().is_some()
    }

    /// A number from `most / 2` on, below half as much again.
    fn about(&self, most: u64) -> u64 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.set(random);
        most / 2 + random % most.max(1)
    }
}

/// Whether an event of the region that `find` gives is counted already. For probes, which
/// ask before anything else.
#[inline(always)]
pub(crate) fn is_passed_over(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    if !may_be_passed_over(event) {
        return false;
    }
    // Asked first: a thread that may be cancelled at any instruction goes no further.
    if !state::is_quick() {
        return false;
    }
    // What is open is passed over to its end. Nothing begins to be before there is a budget,
    // nor where somebody needs every event.
    let begins = matches!(event.action(), Action::Open(_));
    if begins && (!is_on() || attention::is_needed()) {
        return false;
    }
    thread::current()
        .filter(|thread| begins || thread.sampler.is_passing())
        .zip(find())
        .is_some_and(|(thread, region)| thread.passes_over(event, region))
}

/// Whether an event is of a construct that can be passed over. Waits are what users want
/// to see, so none that ends with a barrier or is one.
#[inline(always)]
const fn may_be_passed_over(event: Event) -> bool {
    use Event::{
        AtomicEnter, AtomicExit, CriticalBegin, CriticalEnd, CriticalEnter, CriticalExit,
        FlushEnter, FlushExit, MasterBegin, MasterEnd, OrderedBegin, OrderedEnd, OrderedEnter,
        OrderedExit, TaskyieldEnter, TaskyieldExit,
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
            | TaskyieldEnter
            | TaskyieldExit
    )
}

/// What it takes to time an instance that has one pair of events, in ticks.
pub(super) fn cost_of_pair() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    match TICKS.load(Ordering::Relaxed) {
        0 => {
            // Threads that ask at once find about the same.
            let ticks = errno::keep(cost::ticks_of_pair).max(1);
            TICKS.store(ticks, Ordering::Relaxed);
            ticks
        }
        known => known,
    }
}

/// Samples a node from now on if it is hot and small. Looked at now and then.
#[inline]
pub(crate) fn consider(node: &'static Node) {
    if !is_on() || node.is_special() || !node.is_leaf() {
        return;
    }
    let main = node.span(PseudoRegion::Main);
    if main.count.get() >= MANY {
        consider_hot(node, main.count.get(), main.ticks.get());
    }
}

#[cold]
fn consider_hot(node: &'static Node, count: u64, ticks: u64) {
    if !node
        .region()
        .is_some_and(|region| region.kind.may_be_sampled())
        || ticks / count > LONG * cost_of_pair()
    {
        return;
    }
    let Some(sample) = leak(Sample::default()) else {
        return;
    };
    sample.timed.set(count);
    node.set_sample(sample);
    coarse_clock::start();
}

impl Thread {
    /// An event of a construct. True if there is no more to do.
    #[inline(always)]
    pub(crate) fn passes_over(&'static self, event: Event, region: &'static Region) -> bool {
        let sampler = &self.sampler;
        match event.action() {
            Action::Open(phase) => self.passes_over_whole(region, phase),
            Action::SwitchPhase(phase) => {
                let is_open = sampler.open.is(region);
                if is_open {
                    self.checks_length();
                    sampler.phase.store(phase as u8, Ordering::Relaxed);
                }
                is_open
            }
            Action::Close => {
                let is_open = sampler.open.is(region);
                if is_open {
                    self.checks_length();
                    sampler.open.set(None);
                    self.looks_no_more();
                }
                is_open
            }
            Action::OpenWork | Action::CloseWork => false,
        }
    }

    #[inline(always)]
    fn passes_over_whole(&'static self, region: &'static Region, phase: PseudoRegion) -> bool {
        let sampler = &self.sampler;
        let Some(top) = self.top() else { return false };
        let Some(parent) = top.node() else {
            return false;
        };
        let place = Sampler::place(region, parent);
        let entry = &sampler.entries[place];
        let left = entry.left.load(Ordering::Relaxed);
        if left == 0
            || !entry.region.is(region)
            || !entry.parent.is(parent)
            || entry.within.load(Ordering::Relaxed) != top.within()
            || self.is_disturbed()
        {
            return false;
        }
        entry.left.store(left - 1, Ordering::Relaxed);
        sampler.phase.store(phase as u8, Ordering::Relaxed);
        sampler.entry.store(place as u8, Ordering::Relaxed);
        sampler.steps.set(coarse_clock::steps());
        self.looks_up_next_time();
        sampler.open.set(Some(region));
        true
    }

    /// A part of an instance that is passed over ends: records it if it was long.
    #[inline(always)]
    fn checks_length(&'static self) {
        let steps = coarse_clock::steps();
        if steps != self.sampler.steps.get() {
            self.records_if_long(steps);
        }
    }

    #[cold]
    #[inline(never)]
    fn records_if_long(&'static self, steps: u64) {
        let sampler = &self.sampler;
        let first = sampler.steps.get();
        sampler.steps.set(steps);
        if self.is_paused() {
            return;
        }
        let entry = usize::from(sampler.entry.load(Ordering::Relaxed));
        let node = sampler.entries.get(entry).and_then(|it| it.node.get());
        let (Some(node), Some(ticks)) = (node, coarse_clock::elapsed(first, steps, now())) else {
            return;
        };
        node.span(PseudoRegion::Main).ticks.add(ticks);
        // Its count is in that of all instances that are passed over.
        let phase = pseudo_region(sampler.phase.load(Ordering::Relaxed));
        if phase != PseudoRegion::Main {
            node.span(phase).ticks.add(ticks);
        }
    }

    /// Passes over the next so many instances of a region, to calibrate what that costs. False
    /// if it cannot now.
    pub(super) fn pass_over_next(&'static self, region: &'static Region, number: u32) -> bool {
        let Some((frame, node)) = self.next_frame(region) else {
            return false;
        };
        let Some(parent) = frame.below().and_then(Frame::node) else {
            return false;
        };
        let entry = &self.sampler.entries[Sampler::place(region, parent)];
        entry.region.set(Some(region));
        entry.parent.set(Some(parent));
        entry.within.store(node.key_within(), Ordering::Relaxed);
        entry.left.store(number, Ordering::Relaxed);
        self.set_pauses(pause::count());
        self.looks_no_more();
        !self.is_disturbed()
    }

    /// Whether an event is under way, or there is something to do first.
    #[inline(always)]
    fn is_disturbed(&self) -> bool {
        self.is_busy() || !self.sees(pause::mark())
    }

    /// Something happens in an instance that is passed over: it is put on the stack.
    pub(super) fn put_on_stack(&'static self) {
        let sampler = &self.sampler;
        sampler.open.set(None);
        let entry = sampler
            .entries
            .get(usize::from(sampler.entry.load(Ordering::Relaxed)));
        let node = entry.and_then(|entry| entry.node.get());
        let frame = self.top().and_then(|top| top.frame_above());
        if let (Some(node), Some(frame)) = (node, frame) {
            frame.begin(Role::Counted, node, 0);
            frame.set_within(sampler.phase.load(Ordering::Relaxed));
            self.set_top(frame);
        }
    }

    /// Opens an instance that is timed, for those that were passed over before it.
    #[inline(never)]
    pub(super) fn open_sampled(
        &'static self,
        frame: &'static Frame,
        node: &'static Node,
        phase: PseudoRegion,
        now: &dyn Fn() -> u64,
    ) {
        let Some(sample) = node.sample() else { return };
        if let Some(entry) = self.entry_of(node).filter(|entry| entry.node.is(node)) {
            entry.settle();
        }
        sample.weight.set(sample.passed.get() + 1);
        sample.passed.set(0);
        self.open_timed(frame, Role::Sampled, node, phase, now);
    }

    fn entry_of(&'static self, node: &'static Node) -> Option<&'static Entry> {
        let place = Sampler::place(node.region()?, node.parent()?);
        self.sampler.entries.get(place)
    }

    /// An instance ends that was timed.
    #[inline(never)]
    pub(super) fn close_sampled(
        &'static self,
        frame: &'static Frame,
        node: &'static Node,
        at: u64,
    ) {
        let ticks = at.wrapping_sub(frame.start());
        node.span(PseudoRegion::Main).add(ticks);
        node.instances.add(ticks);
        let Some(sample) = node.sample() else { return };
        sample.add(ticks);
        let before = sample.last.get();
        sample.last.set(at);
        let weight = sample.weight.get().max(1);
        if weight > 1 {
            sample.between.add(frame.start().saturating_sub(before));
        }
        if sample.drawn.get() >= TIMED_FIRST {
            self.arm(node, at.wrapping_sub(before) / weight);
        }
    }

    /// The next instances of a node are passed over, if they come as fast.
    fn arm(&'static self, node: &'static Node, interval: u64) {
        let Some(entry) = self.entry_of(node) else {
            return;
        };
        if !entry.node.is(node) {
            if entry.is_kept() {
                return;
            }
            entry.settle();
            let was_free = entry.node.get().is_none();
            self.sampler.used.add(u64::from(was_free));
            entry.region.set(node.region());
            entry.parent.set(node.parent());
            entry.within.store(node.key_within(), Ordering::Relaxed);
            entry.node.set(Some(node));
        }
        let timing = cost_of_pair() * 2 * parts(node).len().div_ceil(2) as u64;
        let spent = timing * self.sampler.used.get() * WHOLE as u64;
        let spacing = spent / BUDGET.load(Ordering::Relaxed).max(1);
        let wanted = spacing / interval.max(1);
        let left = match wanted {
            0 | 1 => 0,
            many => self.sampler.about(many.min(MOST)),
        };
        entry.left.store(left as u32, Ordering::Relaxed);
        entry.armed.store(left as u32, Ordering::Relaxed);
    }
}
