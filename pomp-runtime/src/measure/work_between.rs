//! The time of atomic updates, critical sections and locks that are passed over.
//!
//! Reads of the clock around such an instance change how long it takes. While its thread reads the
//! clock, other threads leave the variable or the lock to it. And a processor that waits for a cache
//! line does other work meanwhile, but not across a read of the clock. So the library does not take
//! the time of timed instances for that of the others. It knows how long the instances that it passes
//! over and the work between them took together. Now and then it times two instances in a row, and so
//! the work between these. The rest, without the cost of passing over an instance, is the time of
//! the instances.
//!
//! A block may hold several such constructs, as a loop with an update for each component of a force. They
//! are executed *in turn*. Then work lasts from an instance of one of them to the next one of any. What is
//! left of an interval between two instances of one of them is the time of all, and is divided as timed
//! instances took it.

use profile::region_kind::RegionKind;

use super::clock::now_in_order;
use super::cost::{ticks_of_passing, ticks_of_read_in_order};
use super::crowding::threads_per_processor;
use super::node_sample::{Intervals, Sample, Sequence};
use super::records::{Node, Region};
use super::state;
use super::thread::{self, Thread};

/// One of this many timed instances is followed by work that is timed.
const EACH: u64 = 4;
/// In place of one of this many pieces of work, empty work is timed.
const EACH_EMPTY: u64 = 4;
/// Of the other nodes of a block, at most this many are looked at.
const MOST_IN_TURN: usize = 16;
/// A construct that is executed less often than this part of another one has no part in the work between
/// instances of the latter.
const LEAST_SHARE_IN_TURN: f64 = 1.0 / 16.0;
/// Work that takes this many times as long as the interval that it is a part of took that long only since it was
/// timed.
const TOO_LONG: f64 = 1.25;

/// An instance of a region that is to be timed begins on this thread. The clock is read as early as
/// possible.
#[inline(always)]
pub(crate) fn end_in_front_of(region: Option<&'static Region>) {
    if let (Some(region), Some(thread)) = (region, thread::current()) {
        thread.end_work_between(region, now_in_order);
    }
}

/// An instance of a region has ended on this thread, and work begins.
#[inline(always)]
pub(crate) fn begin_behind() {
    if let Some(thread) = thread::current() {
        thread.begin_work_between(now_in_order);
    }
}

impl Thread {
    /// Decides whether the work behind an instance that was timed, and ended `at` this time, is timed
    /// as well.
    pub(super) fn times_work_behind(&'static self, node: &'static Node, at: u64) -> bool {
        let is_its_turn = || match others_in_turn(node).count() as u64 {
            0 => true,
            others => self.pass_table.one_of(others + 1),
        };
        let times = is_changed_by_timing(node)
            && self.pass_table.one_of(EACH)
            && is_its_turn()
            && !self.times_other_work(at);
        if times {
            self.pass_table.work_between.begin.set(0);
            self.pass_table.work_between.node.set(Some(node));
            // Whichever comes next ends the work.
            others_in_turn(node).for_each(|other| self.pass_table.times_next(other));
        }
        times
    }

    /// Whether work is being timed that may still count.
    fn times_other_work(&self, at: u64) -> bool {
        let between = &self.pass_table.work_between;
        let sample = between.node.get().and_then(Node::sample);
        sample.is_some_and(|sample| {
            let ticks = at.saturating_sub(between.begin.get());
            sample.sequence.counts_work_of(ticks)
        })
    }

    /// An instance has ended.
    pub(crate) fn begin_work_between(&'static self, now: impl Fn() -> u64) {
        let between = &self.pass_table.work_between;
        let Some(node) = between.node.get() else {
            return;
        };
        if between.begin.get() != 0 {
            return;
        }
        match self.pass_table.one_of(EACH_EMPTY) {
            true => self.time_empty_work(node, now),
            false => between.begin.set(now()),
        }
    }

    /// Times empty work: what the probe of the next instance of a node's region does before it reads the
    /// clock. In a program this takes several times as long as in a loop that does nothing else, since the
    /// processor seldom executes this code, and other threads use its caches.
    #[cold]
    #[inline(never)]
    fn time_empty_work(&'static self, node: &'static Node, now: impl Fn() -> u64) {
        let between = &self.pass_table.work_between;
        let Some(region) = node.region() else { return };
        let begin = now();
        let is_timed = begins_timed(self, region);
        let ticks = now().saturating_sub(begin);
        between.node.set(None);
        if let Some(sample) = node.sample().filter(|_| is_timed) {
            sample.sequence.add_empty(ticks);
        }
    }

    /// An instance of a region begins. One of a region that is not executed in turn may be part of the
    /// work: if such pieces were left out, the others would be shorter than usual.
    pub(crate) fn end_work_between(&'static self, region: &'static Region, now: impl Fn() -> u64) {
        let between = &self.pass_table.work_between;
        let begin = between.begin.get();
        let ends = |node: &&'static Node| {
            node.is_of(region) || others_in_turn(node).any(|other| other.is_of(region))
        };
        let Some(node) = between.node.get().filter(ends) else {
            return;
        };
        if begin == 0 {
            return;
        }
        let ticks = now().saturating_sub(begin);
        between.begin.set(0);
        between.node.set(None);
        if let Some(sample) = node.sample() {
            let read = ticks_of_read_in_order();
            sample
                .sequence
                .add_work(ticks, read, threads_per_processor());
        }
    }
}

/// Is called by chance, so the processor mispredicts every second branch to it.
#[inline(never)]
fn called_by_chance() {
    std::hint::black_box(());
}

/// Whether an instance of a region that begins on this thread is to be timed. Looks where a probe looks,
/// and counts nothing.
#[inline(never)]
fn begins_timed(thread: &'static Thread, region: &'static Region) -> bool {
    std::hint::black_box((state::is_quick(), thread::current()));
    // The processor mispredicts the program's branch on the number of instances that are still to
    // be passed over: it is seldom 0. Each of these two random branches is mispredicted half of the
    // time, so in the mean one of them is.
    let random = thread.pass_table.random();
    for bit in [1, 2] {
        if random & bit != 0 {
            called_by_chance();
        }
    }
    !thread.knows_place_already() && region.is_sampled() && !thread.passes_over_here(region)
}

/// Whether its instances take another time if they are timed. What lies in the hold of a lock is part of that
/// hold.
pub(super) fn is_changed_by_timing(node: &Node) -> bool {
    let kind = node.region().map(|region| region.kind);
    let is_such_kind = matches!(
        kind,
        Some(RegionKind::Atomic | RegionKind::Critical | RegionKind::Lock)
    );
    is_such_kind && !node.sets_no_lock() && !is_in_hold(node)
}

/// Whether the thread holds a lock meanwhile.
fn is_in_hold(node: &Node) -> bool {
    node.sample()
        .is_some_and(|sample| sample.in_hold.get() != 0)
}

/// The other constructs that are executed in turn with that of a node: those of the same block whose
/// instances take another time if they are timed, and that are passed over.
fn others_in_turn(node: &Node) -> impl Iterator<Item = &'static Node> {
    siblings(node).filter(|other| other.sample().is_some() && is_changed_by_timing(other))
}

/// The other constructs of the same block.
fn siblings(node: &Node) -> impl Iterator<Item = &'static Node> {
    let within = node.key_within();
    std::iter::successors(node.next_in_ring(), |other| other.next_in_ring())
        .take_while(move |other| !std::ptr::eq(*other, node))
        .take(MOST_IN_TURN)
        .filter(move |other| other.key_within() == within)
}

/// The work and the probes of all constructs that are executed in turn, in ticks for each instance of one
/// of them.
#[derive(Debug, Default)]
struct Round {
    /// The likely work, and the least that it can be.
    work: f64,
    least_work: f64,
    /// The time to pass over the instances that are not timed.
    passing: f64,
    /// The time of the timed instances.
    timed: f64,
}

impl Round {
    /// Adds a construct of which this many instances are executed for `each` of the one construct. None if
    /// too little is known of it.
    fn add(&mut self, node: &Node, each: f64) -> Option<()> {
        let region = node.region()?;
        let sample = node.sample()?;
        let work = &sample.sequence.work;
        let timed = sample.mean_of_timed();
        let (mean, error) = work.mean(timed)?;
        // While work waits for results of its own, the processor executes what of the next probe lies in
        // front of the read of the clock. Other work hides nothing of that.
        let in_front = work.of_empty() - ticks_of_read_in_order() as f64;
        let hidden = in_front.clamp(0.0, mean) / 2.0;
        self.work += each
            * match region.kind {
                RegionKind::Atomic => mean,
                // The rest may be more than timed instances took, so the work must not be too
                // little.
                _ => mean + hidden + error,
            };
        self.least_work += each * (mean + hidden - error).max(0.0);
        self.passing += each * ticks_of_passing(region.kind, region.is_lent());
        self.timed += each * timed;
        Some(())
    }
}

impl Sequence {
    /// The ticks of an instance of a node that was passed over: the expected number, and the most that all
    /// intervals leave beside the work. None if that is not known.
    pub(super) fn in_passing(&self, node: &Node) -> Option<(f64, f64)> {
        if !is_changed_by_timing(node) {
            return None;
        }
        let sample = node.sample()?;
        let mut round = Round::default();
        round.add(node, 1.0)?;
        let own = round.timed;
        let passed = |node: &Node| node.sample().map_or(0, Sample::passed) as f64;
        for other in others_in_turn(node) {
            let each = passed(other) / passed(node).max(1.0);
            if each >= LEAST_SHARE_IN_TURN {
                round.add(other, each)?;
            }
        }
        for inner in siblings(node).filter(|other| is_in_hold(other)) {
            if let Some(region) = inner.region() {
                let each = passed(inner) / passed(node).max(1.0);
                round.passing += each * ticks_of_passing(region.kind, region.is_lent());
            }
        }
        let part = if own > 0.0 { own / round.timed } else { 1.0 };
        let Intervals { whole, passed } = &self.intervals;
        let passed = passed.get() as f64;
        // There is one more piece of work in an interval than there are instances.
        let pieces = passed + whole.count.get() as f64;
        let whole = whole.ticks.get() as f64;
        let most = self.all_intervals.each()
            - self.threads_per_processor() * round.least_work
            - round.passing;
        let each = self.intervals.each();
        let ticks = match round.work > TOO_LONG * each && sample.often_waited() {
            // Work waited for cache lines, too, but only where it was timed.
            true => each * round.timed / (round.timed + round.work),
            false => (whole - pieces * round.work) / passed.max(1.0) - round.passing,
        };
        Some((part * ticks, part * most.max(0.0)))
    }
}
