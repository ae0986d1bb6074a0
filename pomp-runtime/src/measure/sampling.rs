//! Hot small constructs, which are counted exactly and timed by sample.
//!
//! Reading the clock takes longer than an undisputed lock. Once a construct proves to be executed
//! often and to be short, only some of its instances are timed: as many as the budget allows. All
//! others are **passed over** ([`passed`](super::passed)): the probes find the construct in a small
//! table of the thread's own and count the instance there. They read neither the clock nor the
//! stack. A timed instance stands for those that were passed over before it. The error of an
//! estimate follows from the spread of the times. No estimate exceeds the time during which the
//! instances were passed over.
//!
//! After each timed instance, the number of instances to pass over next follows from the rate at
//! which they come. It is partly random, so that the sample does not follow a rhythm of the
//! program. Where instances are long, or rare, every one is timed. Of a construct that a whole team
//! executes, all its threads time the same instances ([`left_in_window`]).
//!
//! A long instance is always noticed, timed or passed over: the [`coarse_clock`] goes on by two
//! steps during it. It is recorded with its own time, and stands for no other instance.
//!
//! Counts stay exact, and so do call paths. An entry of the table is valid for one place on the
//! call paths. If something else happens in an instance that is passed over, the instance is put on
//! the stack of frames at that moment, marked as already counted.

use std::sync::atomic::{AtomicU64, Ordering};

use profile::region_kind::PseudoRegion;

use super::arrival::member_frame;
use super::node_sample::Sample;
use super::records::frame::Role;
use super::records::{Frame, Region};
use super::shared::leak;
use super::thread::Thread;
use super::{coarse_clock, cost};
use crate::hash::spread;
use crate::measure::records::Node;
use crate::measure::records::node::pseudo_region;

/// The number of instances after which a node may be sampled. Until then all are timed, to see
/// whether sampling is worth it.
const SAMPLED_FROM_INSTANCES: u64 = 4096;
/// The members of a region's teams can be passed over after this many teams. The number is smaller
/// than [`SAMPLED_FROM_INSTANCES`], since a team whose members record their events takes longer.
const PASSED_FROM_TEAMS: u64 = 1024;
/// Sampling is not worth it if an instance takes longer than this many times the cost of timing it.
const LONG: u64 = 32;
/// How much longer a team takes if its members record their begin and end, in costs of a pair of
/// events. Cache lines go from one processor to another meanwhile.
const TEAM: u64 = 24;
/// A measured difference counts up to this many times the expected one. A larger one is chance.
const MOST_LONGER: u64 = 8;
/// This many instances are timed one after the other before any is passed over. They show how much
/// the times differ. A few instances that stand for many cannot show that.
const TIMED_FIRST: f64 = 1024.0;
/// An instance counts as delaying at most this many threads.
const MOST_DELAYED: u64 = 256;
/// The cost of reading the arrival time of another member at a barrier, in costs of a pair of
/// events. The cache line comes from that member's processor, and goes back to it. This takes about
/// a quarter of the number. The number is larger, so that such reads take only a part of the
/// budget.
const COST_OF_READING_ARRIVAL: u64 = 16;
/// Most barriers in a row that are not looked at, on average. Who came last to those at the end of the run
/// stays unknown.
const MOST_UNSEEN: u64 = 256;
/// Most instances that are passed over in a row.
const MOST_PASSED_IN_A_ROW: u64 = 1 << 14;
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

/// Whether timing instances that come at this `interval` in ticks costs more than the budget.
pub(super) fn exceeds_budget(interval: u64) -> bool {
    let budget = BUDGET.load(Ordering::Relaxed);
    budget != 0 && cost_of_pair() as f64 * WHOLE > budget as f64 * interval as f64
}

/// The cost of timing an instance that has one pair of events, in ticks.
pub(super) fn cost_of_pair() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    cost::found_once(
        &TICKS,
        match cfg!(test) {
            // Tests give all times by hand. What they pass over must not depend on the machine.
            true => || 300,
            false => cost::ticks_of_pair,
        },
    )
}

/// Samples a node from now on if it is hot and small. Called now and then.
#[inline]
pub(crate) fn consider(node: &'static Node) {
    let is_special = node.is_special() || node.coarse_times().is_some();
    if !is_on() || is_special || !node.is_leaf() {
        return;
    }
    let seq = node.span(PseudoRegion::Seq);
    if seq.count.get() >= PASSED_FROM_TEAMS {
        consider_teams(node, seq.ticks.get() / seq.count.get());
    }
    let main = node.span(PseudoRegion::Main);
    if main.count.get() >= SAMPLED_FROM_INSTANCES {
        consider_hot(node, main.count.get(), ticks_without_queueing(node));
    }
}

/// The ticks of a node's instances without the time for which threads queued. Who queues waits for
/// the probes of all threads in front.
fn ticks_without_queueing(node: &Node) -> u64 {
    let whole = node.span(PseudoRegion::Main).ticks.get();
    whole.saturating_sub(node.span(PseudoRegion::Enter).ticks.get())
}

/// How many threads an instance of a node delays: itself, and those that queue behind it.
fn threads_delayed_by(node: &Node) -> u64 {
    let queued = node.span(PseudoRegion::Enter).ticks.get();
    1 + queued / ticks_without_queueing(node).max(1)
}

/// Has the members of a region's teams passed over if the teams are short. Not if the loop requests
/// chunks: the requests are recorded at the member's frame, so the frame has to exist.
fn consider_teams(fork: &'static Node, ticks: u64) {
    let asks_for_chunks = fork.region().is_some_and(Region::asks_for_chunks);
    if !asks_for_chunks && ticks < LONG / 2 * TEAM * cost_of_pair() {
        fork.passes_over_teams();
    }
}

/// The most ticks by which timing makes a team longer. A larger difference between teams is chance.
pub(super) fn most_longer() -> u64 {
    MOST_LONGER * TEAM * cost_of_pair()
}

/// How many teams of a region are passed over after one whose members recorded their events.
/// `timed` teams of the region did so. Its teams come at this `interval` in ticks, and this many
/// `regions` take turns. If their members record, teams take this much `longer` in ticks, if known.
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
    let longer = longer.unwrap_or(expected).clamp(expected, most_longer());
    let spent = longer
        .saturating_mul(regions.max(1))
        .saturating_mul(WHOLE as u64);
    (spent / BUDGET.load(Ordering::Relaxed).max(1) / interval).min(MOST_PASSED_IN_A_ROW)
}

/// How many instances of a barrier are not looked at after one that was looked at for who came last
/// ([`lateness`](super::lateness)). `done` were looked at, and they come at this `interval` in ticks.
pub(super) fn barriers_to_skip(done: u64, others: u64, interval: u64) -> u64 {
    if !is_on() || (done as f64) < TIMED_FIRST || interval == 0 {
        return 0;
    }
    let spent = COST_OF_READING_ARRIVAL * cost_of_pair() * others * WHOLE as u64;
    (spent / BUDGET.load(Ordering::Relaxed).max(1) / interval).min(MOST_UNSEEN)
}

#[cold]
fn consider_hot(node: &'static Node, count: u64, ticks: u64) {
    let parts = node.parts().len() as u64;
    if !node.region().is_some_and(Region::may_be_passed_over)
        || ticks / count > LONG * parts * cost_of_pair()
    {
        return;
    }
    if sample_from_now_on(node).is_some() {
        coarse_clock::start();
    }
}

/// Gives a node the sample of its instances from now on. All before were timed.
#[cold]
#[inline(never)]
pub(super) fn sample_from_now_on(node: &'static Node) -> Option<&'static Sample> {
    let sample = leak(Sample::default())?;
    sample.timed.set(node.span(PseudoRegion::Main).count.get());
    node.set_sample(sample);
    Some(sample)
}

impl Frame {
    /// A timed instance has ended in an instance that is timed by sample or passed over. Its time
    /// is known, so it is left out of the estimate.
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
    /// How many ticks longer an event takes on this thread than in a loop of events.
    pub(super) fn extra_ticks_of_event(&self) -> u64 {
        self.own_time.extra_ticks(cost::ticks_of_timed_event())
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
        sample.weight.set(self.weigh(node, sample));
        self.open_timed(frame, Role::Sampled, node, phase, now);
    }

    /// The number of instances for which one that is timed now stands: itself, and those that were
    /// passed over before it.
    pub(super) fn weigh(&'static self, node: &'static Node, sample: &'static Sample) -> u64 {
        let entry = self.pass_table.entry_of(node);
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
        let longer_event = self.extra_ticks_of_event();
        // The cost of a pair of events on this thread.
        let timing = cost_of_pair() + 2 * longer_event;
        sample.longer_event.set(longer_event);
        // Holds that are timed are left out: once most are passed over, few are.
        sample.in_hold.set(self.passed_locks.number().min(1));
        sample.add(ticks);
        let before = sample.last.get();
        sample.last.set(at);
        let weight = sample.weight.get().max(1);
        if weight > 1 {
            let interval = start.saturating_sub(before);
            sample.add_interval(node, weight - 1, interval);
            // Other constructs had instances timed meanwhile.
            let timed = self.pass_table.timed.get();
            let others = timed.saturating_sub(sample.timed_until.get());
            let without_timing = interval.saturating_sub(timing).saturating_sub(others);
            sample.sequence.add_interval(weight - 1, without_timing);
            sample.note_interval(weight - 1, interval, timing);
        }
        self.pass_table.timed.add(ticks + timing);
        sample.timed_until.set(self.pass_table.timed.get());
        let decides_itself = node.region().is_some_and(Region::may_be_passed_over);
        // A loop is passed over with the part of the member that it is in.
        if decides_itself && sample.drawn.get() >= TIMED_FIRST {
            self.arm(node, at, at.wrapping_sub(before) / weight, timing);
        }
    }

    /// Has the next instances of a node passed over, as many as fit the budget if they come at this
    /// `interval` in ticks. The last one ended `at` this time. A pair of events costs `pair` ticks here.
    fn arm(&'static self, node: &'static Node, at: u64, interval: u64, pair: u64) {
        let Some(entry) = self.pass_table.entry_of(node) else {
            return;
        };
        if !entry.is_of(node) {
            if entry.is_kept() {
                return;
            }
            self.pass_table.give(entry, node);
        }
        let timing = pair * 2 * node.parts().len().div_ceil(2) as u64;
        let delayed = threads_delayed_by(node).min(MOST_DELAYED);
        let spent = timing * delayed * self.pass_table.used() * WHOLE as u64;
        let spacing = spent / BUDGET.load(Ordering::Relaxed).max(1);
        let wanted = spacing / interval.max(1);
        let shared = node.region().filter(|it| it.kind.is_shared_by_a_team());
        let left = match (shared, wanted) {
            (Some(region), _) => {
                self.sets_window(region, wanted);
                left_in_window(node.span(PseudoRegion::Main).count.get(), region.window())
            }
            (None, 0 | 1) => 0,
            (None, _) if self.times_work_behind(node, at) => 0,
            (None, many) => self.pass_table.about(many.min(MOST_PASSED_IN_A_ROW)),
        };
        entry.arm(left as u32);
    }

    /// Sets the length of a region's windows, of each of which one instance is timed, if this
    /// thread forked the team. The length is changed only if the `wanted` one differs much, since
    /// all threads of the team must know it.
    fn sets_window(&self, region: &'static Region, wanted: u64) {
        let window = region.window();
        if (window / 4..=window).contains(&wanted) {
            return;
        }
        let member = self.top().and_then(member_frame);
        let is_worker = member
            .and_then(Frame::below)
            .is_some_and(|below| below.role() != Role::Fork);
        if !is_worker {
            let window = match wanted {
                0 | 1 => 0,
                many => many.min(MOST_PASSED_IN_A_ROW).next_power_of_two(),
            };
            region.set_window(window as u32);
        }
    }
}

/// How many instances are to be passed over before the next one that is timed, after `done`
/// instances. One of each window of this length is timed, at random. All threads of a team find the
/// same one, since they have executed the same number. So their times belong to one instance, and
/// no thread waits for a probe of another in what it passes over.
fn left_in_window(done: u64, window: u64) -> u64 {
    if window == 0 {
        return 0;
    }
    let timed_of = |number: u64| {
        let random = spread(number) >> 32;
        number * window + random % window
    };
    let number = done / window;
    let next = match timed_of(number) {
        next if next >= done => next,
        _ => timed_of(number + 1),
    };
    next - done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instance_of_each_window_is_timed() {
        const WINDOW: u64 = 64;
        let mut timed = Vec::new();
        let mut done = 0;
        while done < 100 * WINDOW {
            done += left_in_window(done, WINDOW);
            timed.push(done);
            done += 1;
        }
        let windows: Vec<u64> = timed.iter().map(|number| number / WINDOW).collect();
        assert!(windows.iter().copied().eq(0..windows.len() as u64));
        let places: std::collections::BTreeSet<u64> = timed.iter().map(|it| it % WINDOW).collect();
        assert!(places.len() > 40, "{places:?}");
        // A thread that comes to a window later finds the same instance.
        for number in 0..100 * WINDOW {
            let next = number + left_in_window(number, WINDOW);
            assert!(timed.contains(&next), "{number}");
        }
    }

    #[test]
    fn without_a_window_all_are_timed() {
        assert_eq!(left_in_window(17, 0), 0);
    }
}
