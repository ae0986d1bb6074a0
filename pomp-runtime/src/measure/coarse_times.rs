//! Hot constructs in which others happen: tasks that create tasks.
//!
//! A thread has to know the nesting of its constructs, so such instances are not passed over. But
//! most of the cost of an event is the read of the clock. So the times of these instances come from
//! the [`coarse_clock`], whose read is one load. A time is then a whole number of steps of that
//! clock, mostly none. The sum over many instances is right, as with a profiler that looks at the
//! program each millisecond. Times of instances in one another add up as ever, since all come from
//! the same clock. An instance that lasts for two steps is noticed, and known to a step.
//!
//! Only constructs of which all events are of one thread are timed in this way. Times that are
//! compared between threads must be exact.

use profile::event::{Action, Event};
use profile::region_kind::PseudoRegion;

use super::calls::totals::Total;
use super::node_sample::NINETY_FIVE;
use super::records::frame::Role;
use super::records::{CoarseTimes, Frame, Node, Region};
use super::shared::leak;
use super::thread::{self, Thread};
use super::{attention, clock, coarse_clock, pause, sampling, state};

/// This many instances are timed by the clock itself first. They show how long instances are.
const TIMED_FIRST_INSTANCES: u64 = 1024;

/// Has a node timed by the coarse clock from now on if it is hot: if the thread's instances come
/// at such an `interval` in ticks that timing them exceeds the budget. Called now and then.
#[inline]
pub(crate) fn consider(node: &'static Node, interval: u64) {
    let main = node.span(PseudoRegion::Main);
    let count = main.count.get();
    if count < TIMED_FIRST_INSTANCES || node.is_special() || node.coarse_times().is_some() {
        return;
    }
    let kind = node.region().map(|region| region.kind);
    let is_fit = kind.is_some_and(|kind| {
        kind.may_have_coarse_times() && !(kind.may_be_passed_over() && node.is_leaf())
    });
    if is_fit && sampling::exceeds_budget(interval) {
        consider_hot(node, count, main.ticks.get());
    }
}

#[cold]
fn consider_hot(node: &'static Node, count: u64, ticks: u64) {
    coarse_clock::start();
    if !coarse_clock::is_running(clock::now()) {
        return;
    }
    if let Some(times) = leak(CoarseTimes::default()) {
        times.before.count.set(count);
        times.before.ticks.set(ticks);
        node.set_coarse_times(times);
        if let Some(region) = node.region() {
            region.set_coarse_times();
        }
    }
}

/// Whether an event is of a construct that may be timed by the coarse clock. The begin of a task's
/// execution is [`opens_execution`].
pub(crate) const fn may_be_coarse(event: Event) -> bool {
    matches!(
        event,
        Event::AtomicEnter
            | Event::AtomicExit
            | Event::TaskCreateEnter
            | Event::TaskCreateExit
            | Event::TaskEnd
            | Event::TaskwaitEnter
            | Event::TaskwaitExit
    )
}

/// Records an event of the region that `find` gives, if it takes no more than a look at the coarse
/// clock. Returns whether it did.
#[inline(always)]
pub(crate) fn is_recorded(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    if !may_be_coarse(event) {
        return false;
    }
    let begin = coarse_clock::now();
    let Some((thread, region)) = coarse_region(find) else {
        return false;
    };
    let is_recorded = match event.action() {
        Action::Open(_) => thread.opens_at_once(region),
        _ => thread.closes_at_once(region),
    };
    thread.own_time.end_coarse(begin);
    is_recorded
}

/// As `is_recorded`, of the begin of a task's execution. `stack` is an address on the machine's
/// stack.
#[inline(always)]
pub(crate) fn opens_execution(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    stack: u64,
) -> bool {
    let begin = coarse_clock::now();
    let Some((thread, region)) = coarse_region(find) else {
        return false;
    };
    let is_recorded = thread.begins_execution_at_once(region, stack);
    thread.own_time.end_coarse(begin);
    is_recorded
}

/// This thread, and the region that `find` gives, if its instances may be timed by the coarse
/// clock.
#[inline(always)]
fn coarse_region(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> Option<(&'static Thread, &'static Region)> {
    // Asked first: a thread that may be cancelled at any instruction goes no further.
    if !state::is_quick() {
        return None;
    }
    let region = find()?;
    if !region.has_coarse_times() {
        return None;
    }
    Some((thread::current()?, region))
}

impl Thread {
    pub(super) fn opens_at_once(&'static self, region: &'static Region) -> bool {
        self.does_at_once(|| self.opens_coarse(region).is_some())
    }

    pub(super) fn closes_at_once(&'static self, region: &'static Region) -> bool {
        self.does_at_once(|| self.closes_coarse(region).is_some())
    }

    pub(super) fn begins_execution_at_once(
        &'static self,
        execution: &'static Region,
        stack: u64,
    ) -> bool {
        self.does_at_once(|| {
            let frame = match self.is_deeper_than_open_tasks(stack) {
                true => self.opens_coarse(execution),
                false => None,
            };
            if let Some(frame) = frame {
                frame.stack.set(stack);
                frame.label.set(0);
            }
            frame.is_some()
        })
    }

    /// Runs `action` if it may be all that there is to do for an event. Returns what it returns.
    #[inline(always)]
    fn does_at_once(&'static self, action: impl FnOnce() -> bool + Copy) -> bool {
        if self.is_busy() {
            return false;
        }
        self.set_busy(true);
        let is_done = self.has_nothing_else_to_do() && !attention::is_needed() && action();
        self.set_busy(false);
        is_done
    }

    /// Whether the thread may record the event at once: there is nothing to catch up with, or only
    /// its place on the call paths, which it knows.
    #[inline(always)]
    fn has_nothing_else_to_do(&'static self) -> bool {
        let mark = pause::mark();
        if self.is_up_to_date(mark) {
            return true;
        }
        let only_knows_place =
            self.pauses() == mark && !self.pass_table.is_passing() && self.knows_place_already();
        if only_knows_place {
            self.pass_table.forget_place();
            self.clear_catch_up_request();
        }
        only_knows_place
    }

    #[inline(always)]
    fn opens_coarse(&'static self, region: &'static Region) -> Option<&'static Frame> {
        let top = self.top().filter(|top| top.is_unchanged_by_inner())?;
        let node = self
            .tree
            .last_or_next_child(top.node()?, region, top.within())?;
        let frame = top.above()?;
        let (role, around) = match node.recursion() {
            None => (Role::Construct, node),
            Some(around) => (Role::Recursive, around),
        };
        around.coarse_times()?;
        let at = coarse_clock::now();
        frame.entry.set(Some(node));
        frame.begin(role, around, at);
        frame.start_phase(PseudoRegion::Main, at);
        self.set_top(frame);
        Some(frame)
    }

    #[inline(always)]
    fn closes_coarse(&'static self, region: &'static Region) -> Option<()> {
        let top = self.top()?;
        let node = top.node().filter(|node| node.is_of(region))?;
        node.coarse_times()?;
        let below = top.below()?;
        if !top.is_timed_construct() || !below.is_unchanged_by_inner() {
            return None;
        }
        let ticks = coarse_clock::now().saturating_sub(top.start());
        if ticks != 0 && ticks >= coarse_clock::always_noticed() {
            return None;
        }
        if let Some(entry) = top.entry() {
            entry.span(PseudoRegion::Main).add(ticks);
        }
        node.span(PseudoRegion::Main).add(ticks);
        self.set_top(below);
        Some(())
    }

    /// Whether an address on the machine's stack is deeper than all tasks that are open.
    #[inline(always)]
    fn is_deeper_than_open_tasks(&self, stack: u64) -> bool {
        if self.passed_member.has_ended() {
            return false;
        }
        let mut frame = self.top();
        while let Some(open) = frame.filter(|frame| frame.is_timed_construct()) {
            if open.is_task() {
                return stack < open.stack.get();
            }
            frame = open.below();
        }
        frame.is_none_or(|frame| !frame.role().is_construct())
    }
}

impl Node {
    /// The time at which an instance begins.
    #[inline(always)]
    pub(super) fn time_of_begin(&self, now: impl Fn() -> u64) -> u64 {
        match self.coarse_times() {
            None => now(),
            Some(_) => coarse_clock::now(),
        }
    }

    /// An instance has ended that was timed by the coarse clock. Only a long one says how the
    /// times of instances differ.
    #[inline(always)]
    pub(super) fn add_coarse_instance(&self, times: &CoarseTimes, ticks: u64) {
        if ticks != 0 && ticks >= coarse_clock::always_noticed() {
            times.long.add(ticks);
            self.instances.add(ticks);
        }
    }
}

/// Half of the 95 % confidence interval around a sum of times that were taken from the coarse clock,
/// in ticks: the number of steps in them follows Poisson's distribution.
pub(crate) fn error_of(sum: u64) -> u64 {
    (NINETY_FIVE * (sum as f64 * coarse_clock::period()).sqrt()) as u64
}

impl CoarseTimes {
    /// The instances whose own times are known.
    pub(crate) fn others(&self) -> Total {
        Total {
            count: self.before.count.get() + self.long.count.get(),
            ticks: self.before.ticks.get() + self.long.ticks.get(),
        }
    }
}

impl Frame {
    /// The time at which the instance ends.
    #[inline(always)]
    pub(super) fn time_of_end(&self, now: impl Fn() -> u64) -> u64 {
        match self.node().and_then(Node::coarse_times) {
            None => now(),
            // The instance may have begun before the node was hot.
            Some(_) => coarse_clock::now().max(self.start()),
        }
    }

    /// The time at which the instance has ended, for other threads that may have waited for it. `end` is the end of
    /// its time, which may be that of the coarse clock.
    #[inline(always)]
    pub(super) fn exact_time_of_end(&self, end: u64) -> u64 {
        match self.node().and_then(Node::coarse_times) {
            None => end,
            Some(_) => clock::now(),
        }
    }
}
