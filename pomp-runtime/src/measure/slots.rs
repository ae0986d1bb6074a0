//! Where the members of a team record their arrivals at barriers and their ends: each in a cache
//! line of its own.

use super::pause;
use super::shared::{SharedRef, SharedU64, leak_slice};

/// Slots that are made at once.
const CHUNK: usize = 8;
/// Larger teams are not looked at.
const CHUNKS: usize = 128;

/// The times of a member: its arrivals at the latest two barriers, and its end.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Slot {
    pub(super) arrivals: [Arrival; 2],
    /// The end of the member's part; its number is that of the team's instance.
    pub(super) end: Arrival,
    /// The end of all that the member did, including tasks after its part. While it executes such a
    /// task, the number is not that of the instance.
    pub(super) done: Arrival,
    /// Where a member that is traced learns when its team was released. It is in the member's frame:
    /// the next teams have this slot, and the member may learn it much later, or never be in a team
    /// again.
    pub(super) release: SharedRef<Arrival>,
}

#[derive(Debug, Default)]
pub(super) struct Arrival {
    pub(super) number: SharedU64,
    at: SharedU64,
}

/// The slots of a team's members, by number.
#[derive(Debug)]
pub(super) struct Slots([SharedRef<Chunk>; CHUNKS]);

#[derive(Debug, Default)]
struct Chunk([Slot; CHUNK]);

impl Default for Slots {
    fn default() -> Self {
        Self([const { SharedRef::none() }; CHUNKS])
    }
}

impl Slots {
    /// The slot of a member, if it has been made.
    #[inline(always)]
    pub(super) fn get(&self, number: u32) -> Option<&'static Slot> {
        let chunk = self.0.get(number as usize / CHUNK)?.get()?;
        chunk.0.get(number as usize % CHUNK)
    }

    /// The slot of a member, made if need be.
    #[inline(always)]
    pub(super) fn of(&self, number: u32) -> Option<&'static Slot> {
        match self.get(number) {
            Some(slot) => Some(slot),
            None => self.make(number),
        }
    }

    /// Two members may make the same chunk; the first one counts.
    #[cold]
    #[inline(never)]
    fn make(&self, number: u32) -> Option<&'static Slot> {
        let link = self.0.get(number as usize / CHUNK)?;
        link.replace_if(None, leak_slice(1, Chunk::default)?.first()?);
        self.get(number)
    }
}

/// The result that the thread that forked gets from the ends of all members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest {
    /// When the last member was done. The join counts for a member that `cancel` has left, of which
    /// nothing later is known.
    pub(super) release: u64,
    /// The member that came last, if all ends are known and there is more than one member.
    pub(super) last: Option<Last>,
}

/// The member that came last to a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) member: u32,
    /// Ticks after the one before, and after the first.
    pub(super) after_others: u64,
    pub(super) after_first: u64,
}

impl Last {
    /// From the times of all members, by number; none if one is missing.
    #[inline(always)]
    pub(super) fn of(times: impl Iterator<Item = Option<u64>>) -> Option<Self> {
        let (mut last, mut before_last, mut first) = ((0, 0), 0, u64::MAX);
        for (member, at) in (0..).zip(times) {
            let at = at?;
            first = first.min(at);
            if at >= last.1 {
                before_last = last.1;
                last = (member, at);
            } else {
                before_last = before_last.max(at);
            }
        }
        Some(Self {
            member: last.0,
            after_others: last.1 - before_last,
            after_first: last.1 - first,
        })
    }
}

impl Slots {
    /// Looks at the ends of an instance of this size that is being joined.
    pub(super) fn latest(&self, size: u32, instance: u64, join: u64) -> Latest {
        let at = |arrival: &Arrival| arrival.of(instance);
        let done = (0..size).map(|member| at(&self.get(member)?.done));
        let release = done.map(|done| done.unwrap_or(join)).max();
        let ends = (0..size).map(|member| at(&self.get(member)?.end));
        let ends = ends.map(|end| end.map(|end| pause::without(0, end)));
        Latest {
            release: release.unwrap_or(join).min(join),
            last: if size > 1 { Last::of(ends) } else { None },
        }
    }

    /// Tells all members that wait for it when an instance was released.
    pub(super) fn publish_release(&self, size: u32, instance: u64, at: u64) {
        let slots = (0..size).filter_map(|member| self.get(member));
        for release in slots.filter_map(|slot| slot.release.get()) {
            if release.is_awaited(instance) {
                release.at.set(at);
            }
        }
    }
}

impl Arrival {
    #[inline(always)]
    pub(super) fn set(&self, number: u64, at: u64) {
        self.at.set(at);
        self.number.set(number);
    }

    /// The time of this number will be written by another thread.
    pub(super) fn await_time(&self, number: u64) {
        self.set(number, 0);
    }

    /// Whether the time of this number is still to be written.
    pub(super) fn is_awaited(&self, number: u64) -> bool {
        self.of(number) == Some(0)
    }

    /// The time, if it is that of this number.
    #[inline(always)]
    pub(super) fn of(&self, number: u64) -> Option<u64> {
        (self.number.get() == number).then(|| self.at.get())
    }
}
