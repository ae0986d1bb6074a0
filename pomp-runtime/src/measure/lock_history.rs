//! Which thread held the lock or critical section for which others waited.
//!
//! Each thread keeps the latest times that it held something, in memory that it alone writes to. A
//! thread that has waited long looks for the thread that held the lock when the wait began. It does
//! so after it has released the lock itself. So other threads are not held up longer, and nothing
//! at all is done where no thread waits.

use profile::region_kind::PseudoRegion;

use super::holds::Acquisition;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::{self, Thread};
use profile::event::Event;

/// After a wait of more ticks than this the thread looks for the holder. It is several times the
/// cost of an undisputed lock, and less than the wake-up of a thread.
pub(crate) const WAITED: u64 = trace::analysis::waits::WAITED;

impl Thread {
    /// Records that this thread releases a lock or critical section.
    #[inline(always)]
    pub(super) fn record_release(&self, got: Acquisition, at: u64) {
        self.holds.add(got.guard, got.node, got.acquired, at);
    }

    /// This thread has released what it got, and holds up no other. After a long wait it looks for
    /// the holder.
    #[inline(always)]
    pub(super) fn account(&'static self, got: Acquisition) {
        let waited = got.acquired.wrapping_sub(got.asked);
        if waited > WAITED && i64::try_from(waited).is_ok() {
            self.look_for_holder(got, waited);
        }
    }

    #[cold]
    #[inline(never)]
    fn look_for_holder(&'static self, got: Acquisition, waited: u64) {
        let Some(waits) = got.node.waits() else {
            return;
        };
        if waited > waits.longest.get() {
            waits.longest.set(waited);
        }
        let holder = thread::others(self)
            .flat_map(|thread| thread.holds.overlap(got))
            .max_by_key(|(overlap, _)| *overlap);
        // Without a holder the thread was merely slow.
        if let Some((_, node)) = holder {
            waits.waited.add(1);
            waits.add_holder(std::ptr::from_ref(node).addr(), waited);
        }
    }
}

impl Frame {
    /// Whether it is an instance of a region that is timed.
    #[inline(always)]
    fn is_timed(&self, region: &'static Region) -> bool {
        self.is(Role::Construct, region) || self.is(Role::Sampled, region)
    }
}

/// Critical sections.
impl Thread {
    /// The body of a critical section ends.
    #[inline(always)]
    pub(super) fn end_critical(&'static self, region: &'static Region, at: u64) {
        if let Some(top) = self.top().filter(|top| top.is_timed(region))
            && let (Some(node), Some((PseudoRegion::Body, acquired))) =
                (top.node(), top.running_phase())
        {
            self.holds.add(region.guard, node, acquired, at);
        }
        self.act(Event::CriticalEnd.action(), region, || at);
    }

    /// A critical section has been left.
    #[inline(always)]
    pub(super) fn exit_critical(&'static self, region: &'static Region, at: u64) {
        let got = self.got_critical(region);
        self.act(Event::CriticalExit.action(), region, || at);
        if let Some(got) = got {
            self.account(got);
        }
    }

    /// The hold of the critical section on top, which this thread has just released.
    #[inline(always)]
    fn got_critical(&'static self, region: &'static Region) -> Option<Acquisition> {
        let top = self.top().filter(|top| top.is_timed(region))?;
        let node = top.node()?;
        let hold = self.holds.newest();
        hold.node.is(node).then(|| Acquisition {
            guard: region.guard,
            node,
            asked: top.start(),
            acquired: hold.from.get(),
        })
    }
}
