//! The member that came last to a barrier. The thread that forked finds it from the arrivals of all
//! members ([`arrival`](super::arrival)).
//!
//! A look at another processor's cache line takes longer than all else that is done for a barrier. So where
//! barriers follow each other quickly, the thread looks at some of them only, each of which stands for those
//! before it.

use super::arrival::member_frame;
use super::pause;
use super::records::frame::Role;
use super::records::{Frame, Region, Team};
use super::sampling;
use super::slots::Last;
use super::thread::Thread;
use crate::measure::records::Node;
use crate::measure::records::waits::Looks;

impl Thread {
    /// The barrier at whose node this thread waited is over.
    #[inline(always)]
    pub(super) fn depart(&self, node: &'static Node) {
        let member = self.top().and_then(member_frame);
        let fork = member.and_then(Frame::below);
        if let (Some(member), Some(fork)) = (member, fork.filter(|fork| fork.role() == Role::Fork))
        {
            self.look(member, fork, node);
        }
    }

    /// Finds the member that came last, and adds it to the record of the barrier's node.
    #[inline(never)]
    fn look(&self, member: &'static Frame, fork: &'static Frame, node: &'static Node) {
        let size = fork.team_size();
        let Some(team) = fork.team.get().filter(|_| size > 1) else {
            return;
        };
        let Some(waits) = node.waits() else { return };
        // A loop that is passed over with the part that it is in has no barrier there.
        let decides_itself = node.region().is_some_and(Region::may_be_passed_over);
        let sample = node.sample().filter(|_| decides_itself);
        let instances = sample.map_or(1, |sample| sample.weight.get().max(1));
        // All timed instances of a sample are looked at.
        let looks = Some(&waits.looks).filter(|_| sample.is_none());
        if looks.is_some_and(Looks::skips) {
            return;
        }
        let number = member.barriers.get().wrapping_sub(1);
        let arrivals = (0..size).map(|member| arrival(team, member, number));
        let instances = instances + looks.map_or(0, |looks| looks.skipped.get());
        if let Some(last) = Last::of(arrivals) {
            let after = [last.after_others, last.after_first];
            waits.add_late(last.member, instances, after);
        }
        let own = member.slot.get();
        let at = own.and_then(|own| own.arrivals[number as usize % 2].of(number));
        if let (Some(looks), Some(at)) = (looks, at) {
            let interval = looks.look(at) / instances;
            let others = u64::from(size - 1);
            match sampling::barriers_to_skip(looks.done.get(), others, interval) {
                0 | 1 => {}
                many => looks.left.set(self.pass_table.about(many)),
            }
        }
    }
}

fn arrival(team: &Team, member: u32, number: u64) -> Option<u64> {
    let at = team.slots.get(member)?.arrivals[number as usize % 2].of(number)?;
    Some(pause::without(0, at))
}
