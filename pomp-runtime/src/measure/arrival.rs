//! Who comes last to a barrier.
//!
//! Each member of a team writes when it arrived into a cache line of its own.
//! The member that forked the team looks at all of them when the barrier lets it
//! go: then everybody has arrived, and nobody can have arrived at the barrier
//! after the next one, so two places that are used in turn are enough. What a
//! member wrote carries the number of the barrier, so that one that skipped a
//! barrier (`cancel`) is noticed, and the barrier is left out.
//!
//! Where the barrier at the end of a parallel region has no events of its own,
//! members write there when they ended their part, and the thread that forked
//! looks for the latest when it joins them: until then the others waited.

use super::pause;
use super::shared::{Link, Word, leak_slice};
use super::stack::{Frame, Role};
use super::team::Team;
use super::thread::Thread;
use crate::sinks::profile::Node;

/// Slots that are made at once.
const CHUNK: usize = 8;
/// Larger teams are not looked at.
const CHUNKS: usize = 128;

/// When a member arrived at the latest two barriers.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Slot {
    arrivals: [Arrival; 2],
    /// The end of the member's part; its number is that of the team's instance.
    end: Arrival,
}

#[derive(Debug, Default)]
struct Arrival {
    number: Word,
    at: Word,
}

/// The slots of a team's members, by number.
#[derive(Debug)]
pub(super) struct Slots([Link<Chunk>; CHUNKS]);

#[derive(Debug, Default)]
struct Chunk([Slot; CHUNK]);

impl Default for Slots {
    fn default() -> Self {
        Self([const { Link::none() }; CHUNKS])
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
        if let Some(slot) = member.slot.get().filter(|_| top.role() != Role::Silent) {
            let arrival = &slot.arrivals[number as usize % 2];
            arrival.at.set(top.last_event());
            arrival.number.set(number);
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
    /// Of a member frame: the member's part ends.
    pub(super) fn tell_end(&self, at: u64) {
        if let Some(slot) = self.slot.get() {
            slot.end.at.set(at);
            slot.end.number.set(self.instance());
        }
    }

    /// Of a fork frame, at the join: when the last member's part ended. Of one
    /// that was left by `cancel` that is not known, but that it was before.
    pub(super) fn latest_end(&self, join: u64) -> u64 {
        let end = |member| {
            let end = &self.team.get()?.slots.get(member)?.end;
            (end.number.get() == self.instance()).then(|| end.at.get())
        };
        let ends = (0..self.team_size()).map(end);
        ends.map(|end| end.unwrap_or(join))
            .max()
            .unwrap_or(join)
            .min(join)
    }
}

/// The innermost frame of a team member.
#[inline(always)]
pub(super) fn member_frame(top: &'static Frame) -> Option<&'static Frame> {
    let mut frame = top;
    while frame.role().is_construct() {
        frame = frame.below()?;
    }
    (frame.role() == Role::Member).then_some(frame)
}

/// Looks who came last.
#[inline(never)]
fn look(member: &'static Frame, fork: &'static Frame, node: &'static Node) {
    let size = fork.team_size();
    let Some(team) = fork.team.get().filter(|_| size > 1) else {
        return;
    };
    let number = member.barriers.get().wrapping_sub(1);
    let (mut last, mut before_last, mut first) = ((0, 0), 0, u64::MAX);
    for member in 0..size {
        let Some(at) = arrival(team, member, number) else {
            return;
        };
        first = first.min(at);
        if at >= last.1 {
            before_last = last.1;
            last = (member, at);
        } else {
            before_last = before_last.max(at);
        }
    }
    if let Some(waits) = node.waits() {
        waits.add_late(last.0, last.1 - before_last, last.1 - first);
    }
}

fn arrival(team: &Team, member: u32, number: u64) -> Option<u64> {
    let arrival = &team.slots.get(member)?.arrivals[number as usize % 2];
    (arrival.number.get() == number).then(|| pause::without(0, arrival.at.get()))
}
