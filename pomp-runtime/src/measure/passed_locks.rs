//! Locks that are set and unset without being timed: counted, and no more.
//!
//! Locks need not nest with regions, so an instance that is passed over is kept beside the stack of
//! frames, as one that is timed is. A thread has a few at a time. A wait or a hold that lasts for two
//! steps of the [`coarse_clock`] is recorded with its own time.

use std::sync::atomic::Ordering;

use profile::region_kind::PseudoRegion;

use super::clock::now;
use super::coarse_clock;
use super::pass_table::{NO_ADDRESS, PassedLock};
use super::records::{Node, Region};
use super::state;
use super::thread::{self, Thread};

/// One call in about this many that sets no free lock is timed, and stands for all of them: a failed test of a
/// lock, or a call that sets a lock again.
const CALLS: u64 = 61;

/// Failed tests up to the one that sets the lock are a row. One row in this many is timed as a whole.
const ROWS: u64 = 8;

/// A lock is about to be set at the region that `find` gives. Returns this thread if the call is
/// passed over. Then the caller only has to set the lock and to call `has_set_passed_lock`. If the
/// thread has to find its place first, the call is not passed over here.
#[inline(always)]
pub(crate) fn passes_over_at_once(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    address: usize,
) -> Option<&'static Thread> {
    passes_over_by(find, address, |thread, _| thread.knows_place_already())
}

/// As `passes_over_at_once`, but the thread finds its place if it has to.
#[inline(always)]
pub(crate) fn passes_over(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    address: usize,
) -> Option<&'static Thread> {
    passes_over_by(find, address, |thread, region| {
        thread.knows_place_for(|| Some(region))
    })
}

/// As `passes_over_nestable`, but the call is not passed over if the thread has to find its place first.
#[inline(always)]
pub(crate) fn passes_over_nestable_at_once(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    address: usize,
) -> Option<&'static Thread> {
    sets_again_untimed(find, address).or_else(|| {
        passes_over_by(find, address, |thread, _| {
            !thread.holds_nestable(address) && thread.knows_place_already()
        })
    })
}

/// As `passes_over`, of a nestable lock. If the thread holds it already, the call is counted, and no more.
#[inline(always)]
pub(crate) fn passes_over_nestable(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    address: usize,
) -> Option<&'static Thread> {
    sets_again_untimed(find, address).or_else(|| {
        passes_over_by(find, address, |thread, region| {
            !thread.holds_nestable(address) && thread.knows_place_for(|| Some(region))
        })
    })
}

/// A nestable lock is about to be set at the region that `find` gives. If this thread holds it, and the call
/// need not be timed, counts the call and returns the thread.
#[inline(always)]
fn sets_again_untimed(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    address: usize,
) -> Option<&'static Thread> {
    if !state::is_quick() {
        return None;
    }
    let thread = thread::current()?;
    if !thread.holds_nestable(address) {
        return None;
    }
    let is_done = thread.sets_again_untimed(find()?, address);
    is_done.then_some(thread)
}

#[inline(always)]
fn passes_over_by(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    address: usize,
    knows_place: impl FnOnce(&'static Thread, &'static Region) -> bool + Copy,
) -> Option<&'static Thread> {
    if !state::is_quick() {
        return None;
    }
    let thread = thread::current()?;
    let passes = thread.passes_over_lock(find()?, address, knows_place);
    passes.then_some(thread)
}

/// A lock is about to be tested at the region that `find` gives. If the test need not be timed, returns the
/// node that it is counted for. If it fails, the caller calls `has_failed_untimed`.
#[inline(always)]
pub(crate) fn leaves_test_untimed(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> Option<&'static Node> {
    let region = find().filter(|region| state::is_quick() && region.is_sampled())?;
    thread::current()?.leaves_call_untimed(region)
}

/// A lock is about to be unset. True if there is no more to do than to unset it.
#[inline(always)]
pub(crate) fn is_passed_over(address: usize) -> bool {
    thread::current().is_some_and(|thread| thread.unsets_passed_lock(address))
}

/// As `is_passed_over`, of a nestable lock.
#[inline(always)]
pub(crate) fn is_nestable_passed_over(address: usize) -> bool {
    thread::current().is_some_and(|thread| thread.unsets_nestable(address))
}

impl Node {
    /// Counts a call that was not timed and did not set a free lock: a failed test, or a call that
    /// sets a lock again. A call that is timed later stands for it.
    #[inline(always)]
    fn counts_untimed(&self) {
        if let Some(sample) = self.sample() {
            sample.tests.untimed.add(1);
            for part in [PseudoRegion::Main, PseudoRegion::Enter] {
                self.span(part).count.add(1);
            }
        }
    }

    /// A test of a lock failed that was not timed.
    #[inline(always)]
    pub(crate) fn has_failed_untimed(&self) {
        if let Some(sample) = self.sample() {
            self.counts_untimed();
            let is_row_timed = || thread::current().is_some_and(|it| it.pass_table.one_of(ROWS));
            sample.tests.fails(is_row_timed, now);
        }
    }

    /// The lock is set, by a test or by another call.
    #[inline(always)]
    pub(crate) fn ends_tests(&self) {
        if let Some(sample) = self.sample() {
            sample.tests.end(now);
        }
    }
}

impl Thread {
    /// Whether a call at a region that does not set a free lock need not be timed. Then gives the node that it
    /// is counted for.
    #[inline(always)]
    pub(super) fn leaves_call_untimed(
        &'static self,
        region: &'static Region,
    ) -> Option<&'static Node> {
        if self.pass_table.is_passing() || !self.knows_place_for(|| Some(region)) {
            return None;
        }
        // The table knows no node whose instances are all such calls.
        let by_tree = || self.next_frame(region).map(|(_, node)| node);
        let node = self.pass_table.node_of(region).or_else(by_tree)?;
        let sample = node.sample()?;
        (sample.untimed_calls() < CALLS).then_some(node)
    }

    #[inline(always)]
    pub(super) fn passes_over_lock(
        &'static self,
        region: &'static Region,
        address: usize,
        knows_place: impl FnOnce(&'static Self, &'static Region) -> bool + Copy,
    ) -> bool {
        let free = self.passed_locks.of(NO_ADDRESS);
        let Some(held) = free.filter(|_| !self.pass_table.is_passing()) else {
            return false;
        };
        if !knows_place(self, region) {
            return false;
        }
        let Some(node) = self.pass_table.passed_guarded(region, address) else {
            return false;
        };
        held.node.set(Some(node));
        held.mark.set(coarse_clock::mark());
        held.address.store(address, Ordering::Release);
        true
    }

    /// The lock at this address is set.
    #[inline(always)]
    pub(crate) fn has_set_passed_lock(&'static self, address: usize) {
        if let Some(held) = self.passed_locks.of(address)
            && held.mark.get() != coarse_clock::mark()
        {
            self.adds_long_part(held, PseudoRegion::Enter);
        }
    }

    #[inline(always)]
    pub(super) fn unsets_passed_lock(&'static self, address: usize) -> bool {
        let Some(held) = self.passed_locks.of(address) else {
            return false;
        };
        if held.mark.get() != coarse_clock::mark() {
            self.adds_long_part(held, PseudoRegion::Body);
        }
        held.forget();
        true
    }

    /// Whether this thread holds the nestable lock at this address. A call that sets it again begins no hold.
    #[inline(always)]
    fn holds_nestable(&self, address: usize) -> bool {
        self.passed_locks.of(address).is_some() || self.holds(address)
    }

    /// The thread holds a nestable lock, and sets it again at a region. Returns whether there is no more to do
    /// than that. A function of its own: what is recorded may have to be undone when the stack is unwound.
    #[inline(never)]
    pub(super) fn sets_again_untimed(
        &'static self,
        region: &'static Region,
        address: usize,
    ) -> bool {
        let Some(node) = self.leaves_call_untimed(region) else {
            return false;
        };
        node.counts_untimed();
        self.sets_again(address)
    }

    /// A nestable lock is about to be unset. True if there is no more to do than to unset it.
    #[inline(always)]
    pub(super) fn unsets_nestable(&'static self, address: usize) -> bool {
        let passed = self.passed_locks.of(address);
        if let Some(passed) = passed.filter(|passed| passed.again.get() > 0) {
            passed.again.set(passed.again.get() - 1);
            return true;
        }
        let held = self.held.of(address);
        let held = held.filter(|held| held.is_set_again() && held.is_sampled());
        if let Some(held) = held {
            held.change_depth(|depth| depth.saturating_sub(1));
        }
        held.is_some() || self.unsets_passed_lock(address)
    }

    /// A part of the instance ends: adds its time if it was long. The instance is counted with all
    /// others that are passed over.
    #[cold]
    #[inline(never)]
    fn adds_long_part(&'static self, held: &'static PassedLock, part: PseudoRegion) {
        // A call that sets a lock again ends nothing.
        if held.again.get() > 0 {
            return;
        }
        let mark = coarse_clock::mark();
        let steps = [held.mark.get(), mark].map(coarse_clock::steps_of);
        held.mark.set(mark);
        if self.is_paused() {
            return;
        }
        if let (Some(node), Some(ticks)) = (
            held.node.get(),
            coarse_clock::elapsed(steps[0], steps[1], now()),
        ) {
            node.span(PseudoRegion::Main).ticks.add(ticks);
            node.span(part).ticks.add(ticks);
        }
    }
}
