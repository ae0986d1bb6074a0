//! Hot small constructs, which are counted exactly and timed by sample.
//!
//! Reading the clock takes longer than an undisputed lock. Once a construct proves to
//! be executed often and to be short, only so many of its instances are timed that this
//! stays inside the budget. All others are **passed over** ([`passed`](super::passed)): the probes find the
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

use std::sync::atomic::{AtomicU64, Ordering};

use profile::region_kind::{PseudoRegion, RegionKind};

use super::frame::{Frame, Role};
use super::passed::parts;
use super::sample::Sample;
use super::shared::leak;
use super::thread::Thread;
use super::{coarse_clock, cost};
use crate::measure::calls::tree::{Node, pseudo_region};

/// From so many instances on a node can be sampled: they say whether it is worth it.
const MANY: u64 = 4096;
/// From so many teams on their members can be passed over: what they tell takes longer.
const MANY_TEAMS: u64 = 1024;
/// It is not where an instance takes this many times what timing it does.
const LONG: u64 = 32;
/// What it takes longer if the members of a team tell when they begin and end, in pairs of
/// events: cache lines go from one processor to another meanwhile.
const TEAM: u64 = 24;
/// A difference that was measured counts up to so many times what is expected: beyond that it
/// is taken for chance.
const MOST_LONGER: u64 = 8;
/// So many instances are timed one after the other before any is passed over. They show how
/// much times differ, which a few instances that stand for many cannot.
const TIMED_FIRST: f64 = 1024.0;
/// Most instances that are passed over in a row.
const MOST: u64 = 1 << 14;
/// The part of the time that timing may take, in millionths; 0 if all is timed.
static BUDGET: AtomicU64 = AtomicU64::new(0);

const WHOLE: f64 = 1e6;

/// Has hot constructs timed within a budget, a part of the program's time.
pub(crate) fn limit(budget: f64) {
    BUDGET.store((budget * WHOLE) as u64, Ordering::Relaxed);
}

/// Whether anything may be timed by sample.
fn is_on() -> bool {
    BUDGET.load(Ordering::Relaxed) != 0
}

/// What it takes to time an instance that has one pair of events, in ticks.
pub(super) fn cost_of_pair() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    cost::found_once(&TICKS, cost::ticks_of_pair)
}

/// Samples a node from now on if it is hot and small. Looked at now and then.
#[inline]
pub(crate) fn consider(node: &'static Node) {
    if !is_on() || node.is_special() || !holds_at_most_leaf_tasks(node) {
        return;
    }
    let seq = node.span(PseudoRegion::Seq);
    if seq.count.get() >= MANY_TEAMS {
        consider_teams(node, seq.ticks.get() / seq.count.get());
    }
    let main = node.span(PseudoRegion::Main);
    if main.count.get() >= MANY {
        consider_hot(node, main.count.get(), main.ticks.get());
    }
}

/// Whether nothing happens in a node, except that a creation executes tasks at once in which
/// nothing happens.
fn holds_at_most_leaf_tasks(node: &'static Node) -> bool {
    let is_short_task = |child: &Node| {
        let region = child.region();
        child.is_leaf() && region.is_some_and(|region| region.kind == RegionKind::TaskExec)
    };
    node.is_leaf()
        || node
            .region()
            .is_some_and(|region| region.kind.is_task_creation())
            && node.children().all(is_short_task)
}

/// Requests for chunks are told of at the member's frame, so it has to be there.
fn consider_teams(fork: &'static Node, ticks: u64) {
    let schedule = fork
        .region()
        .and_then(|region| region.descriptor.schedule.as_deref());
    let asks_for_chunks = schedule.is_some_and(|schedule| !schedule.starts_with("static"));
    if !asks_for_chunks && ticks < LONG / 2 * TEAM * cost_of_pair() {
        fork.passes_over_teams();
    }
}

/// How many teams of a region are passed over behind one whose members told, if so many did,
/// teams of it come at this interval, and so many regions take turns. A team whose members
/// tell takes `longer` by so many ticks than another one, if that is known.
pub(super) fn teams_to_pass_over(
    timed: u64,
    interval: u64,
    regions: u64,
    longer: Option<u64>,
) -> u64 {
    if (timed as f64) < TIMED_FIRST || interval == 0 {
        return 0;
    }
    let expected = TEAM * cost_of_pair();
    let longer = longer
        .unwrap_or(expected)
        .clamp(expected, MOST_LONGER * expected);
    let spent = longer
        .saturating_mul(regions.max(1))
        .saturating_mul(WHOLE as u64);
    (spent / BUDGET.load(Ordering::Relaxed).max(1) / interval).min(MOST)
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

impl Frame {
    /// Of an instance that is timed by sample, or passed over: something that was timed in it
    /// has ended. That time is known, and is in no estimate.
    #[cold]
    pub(super) fn add_inner_time(&'static self, ticks: u64) {
        let mut around = Some(self);
        while let Some(frame) = around
            && let Some(node) = frame.node()
        {
            let part = pseudo_region(frame.within());
            match (frame.role(), node.sample()) {
                (Role::Counted, _) => node.add_known_time(part, ticks),
                (Role::Sampled, Some(sample)) => return sample.leave_out(part, ticks),
                _ => return,
            }
            around = frame.below();
        }
    }
}

impl Thread {
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
        sample.weight.set(self.weigh(node, sample));
        self.open_timed(frame, Role::Sampled, node, phase, now);
    }

    /// For how many instances one stands that is timed now: itself, and those that were
    /// passed over before it.
    pub(super) fn weigh(&'static self, node: &'static Node, sample: &'static Sample) -> u64 {
        let entry = self.sampler.entry_of(node);
        if let Some(entry) = entry.filter(|entry| entry.is_of(node)) {
            entry.settle();
        }
        let weight = sample.passed.get() + 1;
        sample.passed.set(0);
        weight
    }

    /// An instance ends that was timed from `start` on.
    #[inline(never)]
    pub(super) fn close_sampled(&'static self, node: &'static Node, start: u64, at: u64) {
        let ticks = at.wrapping_sub(start);
        node.span(PseudoRegion::Main).add(ticks);
        node.instances.add(ticks);
        let Some(sample) = node.sample() else { return };
        sample.add(ticks);
        let before = sample.last.get();
        sample.last.set(at);
        let weight = sample.weight.get().max(1);
        if weight > 1 {
            sample.between.add(start.saturating_sub(before));
        }
        if sample.drawn.get() >= TIMED_FIRST {
            self.arm(node, at.wrapping_sub(before) / weight);
        }
    }

    /// The next instances of a node are passed over, if they come as fast.
    fn arm(&'static self, node: &'static Node, interval: u64) {
        let Some(entry) = self.sampler.entry_of(node) else {
            return;
        };
        if !entry.is_of(node) {
            if entry.is_kept() {
                return;
            }
            self.sampler.give(entry, node);
        }
        let timing = cost_of_pair() * 2 * parts(node).len().div_ceil(2) as u64;
        let spent = timing * self.sampler.used() * WHOLE as u64;
        let spacing = spent / BUDGET.load(Ordering::Relaxed).max(1);
        let wanted = spacing / interval.max(1);
        let left = match wanted {
            0 | 1 => 0,
            many => self.sampler.about(many.min(MOST)),
        };
        entry.arm(left as u32);
    }
}
