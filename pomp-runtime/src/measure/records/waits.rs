//! The records that some nodes have beside their spans. The node of a barrier records which threads
//! came last to it. The node of a critical section, or of a call that sets a lock, records which
//! threads held it meanwhile. A record is made when it is first needed, and only the node's thread
//! writes it.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::measure::shared::{SharedRef, SharedU64, leak};

/// Members whose records are made at once.
const MEMBERS: usize = 16;

/// Most holders of which a node keeps an account of its own.
const MOST_HOLDERS: usize = 256;

/// Instead of an address: the call has set several locks.
pub(crate) const SEVERAL: usize = 1;

/// The record of a node.
#[derive(Debug, Default)]
pub(crate) struct NodeWaits {
    late: SharedRef<LateMembers>,
    holders: SharedRef<Holder>,
    /// How often another thread held the lock or critical section.
    pub(crate) waited: SharedU64,
    /// The longest wait in ticks.
    pub(crate) longest: SharedU64,
    /// Which instances of a barrier are looked at.
    pub(crate) looks: Looks,
    /// Address of the lock; 0 before the first one, [`SEVERAL`] after different ones.
    address: AtomicUsize,
}

/// Instances of a barrier of which some are looked at for who came last.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    /// How many were looked at.
    pub(crate) done: SharedU64,
    /// When the thread came to the one that was looked at last.
    last: SharedU64,
    /// How many are not looked at before the next one.
    pub(crate) left: SharedU64,
    /// For how many the next one stands besides itself.
    pub(crate) skipped: SharedU64,
}

/// How often some members came last, and by how much.
#[derive(Debug, Default)]
struct LateMembers {
    members: [Late; MEMBERS],
    next: SharedRef<LateMembers>,
}

/// How often one member came last.
#[derive(Debug, Default)]
pub(crate) struct Late {
    pub(crate) times: SharedU64,
    /// Ticks after the one before it.
    pub(crate) after_others: SharedU64,
    /// Ticks after the first.
    pub(crate) after_first: SharedU64,
}

/// A place where another thread held the lock or critical section.
#[derive(Debug, Default)]
pub(crate) struct Holder {
    /// The address of the holder's node, in another thread's tree.
    pub(crate) node: AtomicUsize,
    pub(crate) times: SharedU64,
    /// Ticks waited for it.
    pub(crate) ticks: SharedU64,
    next: SharedRef<Holder>,
}

impl Looks {
    /// An instance is over. Whether it is not looked at.
    pub(crate) fn skips(&self) -> bool {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left - 1);
            self.skipped.add(1);
        }
        left > 0
    }

    /// The instance is looked at to which the thread came at this time. The ticks since the one before
    /// that was.
    pub(crate) fn look(&self, at: u64) -> u64 {
        let ticks = at.wrapping_sub(self.last.get());
        self.last.set(at);
        self.skipped.set(0);
        self.done.add(1);
        ticks
    }
}

impl NodeWaits {
    /// Member `number` came last, `times` times. `after`: by how many ticks, after the one before
    /// it and after the first.
    pub(crate) fn add_late(&self, number: u32, times: u64, after: [u64; 2]) {
        let mut link = &self.late;
        for _ in 0..number as usize / MEMBERS {
            let Some(members) = made(link) else { return };
            link = &members.next;
        }
        if let Some(late) = made(link).and_then(|late| late.members.get(number as usize % MEMBERS))
        {
            let [others, first] = after.map(|ticks| ticks.saturating_mul(times));
            late.times.add(times);
            late.after_others.add(others);
            late.after_first.add(first);
        }
    }

    /// Members that came last, by number.
    pub(crate) fn late(&self) -> impl Iterator<Item = (u32, &'static Late)> {
        let all = std::iter::successors(self.late.get(), |late| late.next.get());
        let all = all.flat_map(|late| &late.members);
        (0..).zip(all).filter(|(_, late)| late.times.get() > 0)
    }

    /// Another thread held it, at the node of its own with this address, for `ticks` of the wait.
    pub(crate) fn add_holder(&self, node: usize, ticks: u64) {
        let is_at = |holder: &&Holder| holder.node.load(Ordering::Relaxed) == node;
        let known = self.holders().find(is_at);
        let holder = known.or_else(|| {
            if self.holders().count() >= MOST_HOLDERS {
                return None;
            }
            let holder = leak(Holder {
                node: AtomicUsize::new(node),
                ..Holder::default()
            })?;
            holder.next.set(self.holders.get());
            self.holders.set(Some(holder));
            Some(holder)
        });
        if let Some(holder) = holder {
            holder.times.add(1);
            holder.ticks.add(ticks);
        }
    }

    /// The places where other threads held it.
    pub(crate) fn holders(&self) -> impl Iterator<Item = &'static Holder> {
        std::iter::successors(self.holders.get(), |holder| holder.next.get())
    }

    /// A lock with this address was set here.
    #[inline]
    pub(crate) fn set_address(&self, address: usize) {
        match self.address.load(Ordering::Relaxed) {
            0 => self.address.store(address, Ordering::Relaxed),
            SEVERAL => {}
            known if known == address => {}
            _ => self.address.store(SEVERAL, Ordering::Relaxed),
        }
    }

    pub(crate) fn address(&self) -> usize {
        self.address.load(Ordering::Relaxed)
    }
}

/// The target of a link, made if there is none.
fn made(link: &SharedRef<LateMembers>) -> Option<&'static LateMembers> {
    if link.get().is_none() {
        link.set(leak(LateMembers::default()));
    }
    link.get()
}
