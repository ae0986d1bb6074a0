//! Who comes last to a barrier.
//!
//! Each member of a team writes the time of its arrival into a cache line of its own. The member
//! that forked the team looks at all of them when the barrier lets it go. By then every member has
//! arrived, and none can have arrived at the barrier after the next one. So two places that are
//! used in turn are enough. Each time carries the number of its barrier. A member that skipped a
//! barrier (`cancel`) is noticed by that number, and the barrier is left out.
//!
//! If the barrier at the end of a parallel region has no events of its own, members write the time
//! at which their part ended, and the time at which the last task that they executed after it
//! ended. The thread that forked looks for the latest of these times at the join (`ended`).

use super::frame::{Frame, Role};
use super::pause;
use super::shared::{SharedRef, SharedU64, leak_slice};
use super::team::Team;
use super::thread::Thread;
use crate::measure::calls::node::Node;

/// Slots that are made at once.
const CHUNK: usize = 8;
/// Larger teams are not looked at.
const CHUNKS: usize = 128;

/// The times of a member: its arrivals at the latest two barriers, and its end.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Slot {
    arrivals: [Arrival; 2],
    /// The end of the member's part; its number is that of the team's instance.
    end: Arrival,
    /// The end of all that the member did, including tasks after its part. While it executes such a
    /// task, the number is not that of the instance.
    done: Arrival,
    /// When the team was released; only written if events are traced.
    release: Arrival,
}

#[derive(Debug, Default)]
struct Arrival {
    number: SharedU64,
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
    fn get(&self, number: u32) -> Option<&'static Slot> {
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

/// What the thread that forked learns from the ends of all members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest {
    /// When the last member was done. The join counts for a member that `cancel` has left, of which
    /// nothing later is known.
    pub(super) release: u64,
    /// Who came last, if all ends are known, and there is more than one.
    pub(super) last: Option<Last>,
}

/// Who came last to a barrier.
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
    fn of(times: impl Iterator<Item = Option<u64>>) -> Option<Self> {
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

    /// Tells all members when an instance was released.
    pub(super) fn tell_release(&self, size: u32, instance: u64, at: u64) {
        for slot in (0..size).filter_map(|member| self.get(member)) {
            slot.release.set(instance, at);
        }
    }
}

impl Arrival {
    #[inline(always)]
    fn set(&self, number: u64, at: u64) {
        self.at.set(at);
        self.number.set(number);
    }

    /// The time, if it is that of this number.
    #[inline(always)]
    fn of(&self, number: u64) -> Option<u64> {
        (self.number.get() == number).then(|| self.at.get())
    }
}

impl Thread {
    /// This thread has just arrived at a barrier; the event is recorded.
    #[inline(always)]
    pub(super) fn arrive(&self) {
        let Some(top) = self.top() else { return };
        let Some(member) = member_frame(top) else {
            return;
        };
        let number = member.barriers.get();
        member.barriers.set(number.wrapping_add(1));
        if let Some(slot) = member.slot.get().filter(|_| top.role() != Role::Untimed) {
            slot.arrivals[number as usize % 2].set(number, top.last_event());
        }
    }

    /// The barrier at whose node this thread waited is over.
    #[inline(always)]
    pub(super) fn depart(&self, node: &'static Node) {
        let member = self.top().and_then(member_frame);
        let fork = member.and_then(Frame::below);
        if let (Some(member), Some(fork)) = (member, fork.filter(|fork| fork.role() == Role::Fork))
        {
            look(member, fork, node);
        }
    }
}

impl Frame {
    /// Of a member frame: records that the member's part ends.
    pub(super) fn tell_end(&self, at: u64) {
        if let Some(slot) = self.slot.get() {
            slot.end.set(self.instance(), at);
            slot.done.set(self.instance(), at);
        }
    }

    /// Of a member frame: records when the last task after its part ended; `None` while it lasts.
    pub(super) fn tell_last_task(&self, ended: Option<u64>) {
        if let Some(slot) = self.slot.get() {
            match ended {
                Some(at) => slot.done.set(self.instance(), at),
                None => slot.done.number.set(0),
            }
        }
    }

    /// Of a member frame: when its team was released, if that was recorded.
    pub(crate) fn released(&self) -> Option<u64> {
        self.slot.get()?.release.of(self.instance())
    }
}

/// The innermost frame of a team member.
#[inline(always)]
pub(super) fn member_frame(top: &'static Frame) -> Option<&'static Frame> {
    let mut frame = top;
    while frame.role().is_construct() {
        frame = frame.below()?;
    }
    frame.role().is_member().then_some(frame)
}

/// Finds the member that came last, and adds it to the record of the barrier's node.
#[inline(never)]
fn look(member: &'static Frame, fork: &'static Frame, node: &'static Node) {
    let size = fork.team_size();
    let Some(team) = fork.team.get().filter(|_| size > 1) else {
        return;
    };
    let number = member.barriers.get().wrapping_sub(1);
    let arrivals = (0..size).map(|member| arrival(team, member, number));
    if let Some(last) = Last::of(arrivals)
        && let Some(waits) = node.waits()
    {
        waits.add_late(last.member, 1, [last.after_others, last.after_first]);
    }
}

fn arrival(team: &Team, member: u32, number: u64) -> Option<u64> {
    let at = team.slots.get(member)?.arrivals[number as usize % 2].of(number)?;
    Some(pause::without(0, at))
}
