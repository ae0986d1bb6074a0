//! Locks: waiting for them and holding them, credited to the call that set
//! them, wherever they are unset.
//!
//! They are not on the stack of frames, since they need not nest with regions. `main` lasts from
//! the begin of the call that sets the lock to the end of the call that unsets it. It consists of
//! `enter` (waiting), `body` (holding) and `exit` (the unset call).

use std::sync::atomic::{AtomicU64, Ordering};

use profile::region_kind::PseudoRegion;

use super::cost::ticks_of_updates;
use super::estimate::CONTENDED;
use super::holds::{Acquisition, HeldLock};
use super::pause;
use super::records::Region;
use super::thread::Thread;
use crate::measure::collector;
use crate::measure::records::Node;
use crate::measure::trace::LockRecord;
use trace::record::Op;

/// How long a call that finds a lock free waits for the lock's cache line, in ticks: what it takes
/// beyond the shortest such call. 0 if that is no more than what calls differ by anyway.
fn ticks_to_fetch([begin, end]: [u64; 2]) -> u64 {
    static LEAST: AtomicU64 = AtomicU64::new(u64::MAX);
    let ticks = end.saturating_sub(begin);
    let least = LEAST.load(Ordering::Relaxed);
    if ticks < least {
        LEAST.store(ticks, Ordering::Relaxed);
    }
    let more = ticks.saturating_sub(least);
    match more >= ticks_of_updates(CONTENDED) {
        true => more,
        false => 0,
    }
}

/// A call of a lock routine that is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockCall {
    node: &'static Node,
    start: u64,
}

impl LockCall {
    /// The call stands for those of its node that were not timed, each of which took this many ticks.
    fn count_for_untimed(self, ticks: u64) {
        if let Some(sample) = self.node.sample() {
            let untimed = sample.tests.untimed.get();
            sample.tests.untimed.set(0);
            self.node.instances.add_many(ticks, untimed);
            let ticks = ticks.saturating_mul(untimed);
            for part in [PseudoRegion::Main, PseudoRegion::Enter] {
                self.node.span(part).ticks.add(ticks);
            }
        }
    }

    /// The call with a later start, as if there had been no pause between its start and `at`.
    #[inline(always)]
    fn without_pauses(self, at: u64) -> Self {
        let start = at.wrapping_sub(pause::between(self.start, at));
        Self { start, ..self }
    }
}

/// A lock that is about to be unset: the call that set it, and the record of that acquisition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unset {
    set: LockCall,
    got: Acquisition,
    /// For how many instances it stands, if only some are timed.
    weight: u64,
}

impl Unset {
    /// Whether the call that set it may have had to wait.
    #[inline(always)]
    pub(crate) fn was_waited_for(self) -> bool {
        self.got.acquired != self.got.asked
    }
}

impl Thread {
    /// A lock routine is about to be called.
    #[inline(always)]
    pub(crate) fn lock_call(
        &'static self,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) -> Option<LockCall> {
        let Some((_, node)) = self.next_frame(region) else {
            // Without a node it is outside of all that is measured.
            if self.top().is_some_and(|top| top.node().is_some()) {
                self.folded.add(1);
            }
            return None;
        };
        Some(LockCall { node, start: now() })
    }

    /// A routine that waits for a lock is about to be called.
    pub(crate) fn lock_wait(
        &'static self,
        region: &'static Region,
        address: usize,
        now: impl Fn() -> u64,
    ) -> Option<LockCall> {
        let call = self.lock_call(region, now)?;
        self.awaited.set(address as u64);
        self.notify_lock_wait();
        Some(call)
    }

    /// The thread has got a lock that was free. `test`: the begin and the end of the call that has
    /// set it, if they are known.
    #[inline(always)]
    pub(crate) fn lock_got(
        &'static self,
        region: &'static Region,
        address: usize,
        test: Option<[u64; 2]>,
        now: impl Fn() -> u64,
    ) {
        let at = || test.map_or_else(&now, |[_, end]| end);
        if let Some(call) = self.lock_call(region, at) {
            let at = call.start;
            let start = at - test.map_or(0, ticks_to_fetch);
            self.lock_acquired(LockCall { start, ..call }, address, at);
        }
    }

    /// The address of the lock that it waits for, if it does.
    pub(crate) fn awaited_lock(&self) -> Option<u64> {
        Some(self.awaited.get()).filter(|address| *address != 0)
    }

    /// The call has acquired the lock.
    #[inline(always)]
    pub(crate) fn lock_acquired(&'static self, call: LockCall, address: usize, at: u64) {
        let call = call.without_pauses(at);
        if self.awaited.get() != 0 {
            if collector::is_listening() {
                collector::notify(collector::events::Event::EndLockWait);
            }
            self.awaited.set(0);
        }
        call.node.ends_tests();
        call.node
            .span(PseudoRegion::Enter)
            .add(at.wrapping_sub(call.start));
        if self.sets_again(address) {
            self.trace_call(Op::LockNested, call, address, at);
            self.add_call(call, at);
            return call.count_for_untimed(at.wrapping_sub(call.start));
        }
        self.trace_call(Op::LockSet, call, address, at);
        if let Some(held) = self.held.free_for(address) {
            held.node.set(Some(call.node));
            held.start.set(call.start);
            held.acquired.set(at);
            if let Some(sample) = call.node.sample() {
                held.weight.set(self.weigh(call.node, sample));
            }
            held.depth.store(1, Ordering::Relaxed);
            held.address.store(address, Ordering::Release);
        }
        if let Some(waits) = call.node.waits() {
            waits.set_address(address);
        }
    }

    /// The thread sets a lock that it may hold already. Returns whether it does; then it has to unset it once more.
    #[inline(always)]
    pub(super) fn sets_again(&self, address: usize) -> bool {
        let held = self.held.of(address);
        if let Some(held) = held {
            held.change_depth(|depth| depth.saturating_add(1));
        }
        held.is_some() || self.passed_locks.set_again(address)
    }

    /// The call that acquired a lock returns. Recording it takes longer than many a hold. So where holds
    /// are timed by sample, that time is left out: the hold begins now. A lock that was set before is held
    /// already.
    #[inline(always)]
    pub(crate) fn begin_hold(&'static self, address: usize, now: impl Fn() -> u64) {
        let held = self.held.of(address);
        if let Some(held) = held.filter(|held| held.is_sampled() && held.is_set_once()) {
            let recording = now().saturating_sub(held.acquired.get());
            held.start.add(recording);
            held.acquired.add(recording);
        }
    }

    /// The call has not acquired the lock.
    pub(crate) fn lock_refused(&'static self, call: LockCall, at: u64) {
        let call = call.without_pauses(at);
        self.trace_call(Op::LockRefused, call, 0, at);
        let ticks = at.wrapping_sub(call.start);
        call.node.span(PseudoRegion::Enter).add(ticks);
        self.add_call(call, at);
        // This test stands for the tests that were not timed. Each of those took at most the mean
        // time between two tests.
        if let Some(sample) = call.node.sample() {
            let ticks = match sample.interval_of_looks() as u64 {
                0 => ticks,
                interval => ticks.min(interval),
            };
            call.count_for_untimed(ticks);
            sample.tests.fails(|| false, || at);
        }
    }

    /// Adds an instance that ends with the call.
    fn add_call(&'static self, call: LockCall, at: u64) {
        self.add_instance(call.node, at.wrapping_sub(call.start));
        if let Some(sample) = call.node.sample() {
            sample.timed_besides();
        }
    }

    /// A call that neither sets nor unsets has returned.
    pub(crate) fn lock_called(&'static self, call: LockCall, at: u64) {
        let call = call.without_pauses(at);
        self.trace_call(Op::LockCalled, call, 0, at);
        match call.node.sample() {
            None => self.add_instance(call.node, at.wrapping_sub(call.start)),
            Some(sample) => {
                sample.weight.set(self.weigh(call.node, sample));
                self.close_sampled(call.node, call.start, at);
            }
        }
    }

    /// The lock is about to be unset: the hold ends, unless it nests deeper.
    /// Gives the call that set it.
    #[inline(always)]
    pub(crate) fn lock_release(&'static self, address: usize, at: u64) -> Option<Unset> {
        let Some(held) = self.held.of(address) else {
            self.unmatched.add(1);
            return None;
        };
        if held.change_depth(|depth| depth.saturating_sub(1)) > 0 {
            return None;
        }
        let call = LockCall {
            node: held.node.get()?,
            start: held.start.get(),
        };
        self.trace_call(Op::LockUnset, call, address, at);
        call.node
            .span(PseudoRegion::Body)
            .add(at.wrapping_sub(held.acquired.get()));
        let got = Acquisition {
            guard: address,
            node: call.node,
            asked: call.start,
            acquired: held.acquired.get(),
        };
        held.address.store(0, Ordering::Relaxed);
        self.record_release(got, at);
        Some(Unset {
            set: call,
            got,
            weight: held.weight.get(),
        })
    }

    /// The unset call, which began at `start`, has returned.
    #[inline(always)]
    pub(crate) fn lock_released(&'static self, unset: Unset, start: u64, at: u64) {
        let Unset { set, got, weight } = unset;
        let set = set.without_pauses(at);
        self.trace_call(Op::LockFree, set, got.guard, at);
        set.node
            .span(PseudoRegion::Exit)
            .add(at.wrapping_sub(start));
        match set.node.sample() {
            None => self.add_instance(set.node, at.wrapping_sub(set.start)),
            Some(sample) => {
                sample.weight.set(weight);
                sample.part(
                    PseudoRegion::Enter as u8,
                    got.acquired.wrapping_sub(got.asked),
                );
                sample.part(PseudoRegion::Body as u8, start.wrapping_sub(got.acquired));
                sample.part(PseudoRegion::Exit as u8, at.wrapping_sub(start));
                self.close_sampled(set.node, set.start, at);
            }
        }
        self.account(got);
    }

    #[inline(always)]
    fn trace_call(&'static self, op: Op, call: LockCall, address: usize, at: u64) {
        let LockCall { node, start } = call;
        let record = LockRecord {
            op,
            node,
            start,
            address,
            is_cut: false,
        };
        self.trace_lock(at, record);
    }

    /// From now on this thread holds no lock that is known.
    pub(super) fn forget_locks(&self) {
        self.awaited.set(0);
        self.passed_locks.forget();
        for held in self.held.all() {
            held.address.store(0, Ordering::Relaxed);
        }
    }

    /// Whether this thread holds the lock at this address, and the call that set it was not passed over.
    #[inline(always)]
    pub(super) fn holds(&self, address: usize) -> bool {
        self.held.of(address).is_some()
    }

    /// Whether this thread holds the lock at this address, and holds of the call that set it are timed by sample.
    #[inline(always)]
    pub(crate) fn is_hold_sampled(&self, address: usize) -> bool {
        self.held.of(address).is_some_and(HeldLock::is_sampled)
    }
}
