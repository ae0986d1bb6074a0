//! The barrier at the end of a team, which has no events.
//!
//! Each member records when its part ended. After that it waits for the others and executes tasks.
//! So its frame stays, with the role [`Role::Ended`], and tasks hang below it. The thread that
//! forked leaves the runtime's own barrier when all parts and tasks are done. It looks at the ends
//! of the members' parts and of the tasks after them. The latest of these ends released the team. A
//! member waited from its own end until then. The rest of the time until the join is the cost of
//! leaving. When each member really woke up is unknown: a worker has no more events until it serves
//! again.

use profile::region_kind::PseudoRegion;

use super::clock;
use super::counters;
use super::pause;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::slots::Latest;
use super::thread::Thread;
use crate::measure::collector;
use crate::measure::collector::events::Event as CollectorEvent;
use profile::event::Event;

impl Thread {
    /// The part of a member ends.
    #[inline(always)]
    pub(super) fn end_part(&'static self, frame: &'static Frame, at: u64) {
        let Some(root) = frame.node() else { return };
        if frame.is_counted() {
            frame.end_counted_member();
            return self.watch_for_the_next_team();
        }
        let is_passing = self.is_passing(frame);
        let phase = if is_passing {
            PseudoRegion::Main
        } else {
            if counters::are_on() {
                self.stop_counters(frame, root, at);
            }
            self.trace_phase_switch(root, PseudoRegion::Ibarr, at);
            frame.end_phase(root, at);
            // The release and the join will be added when the run ends.
            let measured = pause::without(0, at);
            root.span(PseudoRegion::Exit).add(measured.wrapping_neg());
            root.span(PseudoRegion::Ibarr).add(0);
            if frame.weight.get() != 0 {
                self.add_member_to_sample(frame, root, at);
            }
            PseudoRegion::Ibarr
        };
        frame.barriers.set(frame.barriers.get().wrapping_add(1));
        frame.record_end(at);
        frame.start_phase(phase, at);
        frame.set_role(Role::Ended);
        self.watch_for_the_next_team();
        if self.is_notified() {
            collector::notify(CollectorEvent::BeginImplicitBarrier);
        }
    }

    /// A member whose part has ended is out of its team.
    pub(super) fn leave_barrier(&'static self, frame: &'static Frame) {
        if self.is_notified() {
            collector::phases::phase_ends(frame);
        }
        if frame.waits()
            && self.trace.is_on()
            && let Some(root) = frame.node()
        {
            let released = frame.released().or_else(|| frame.seen_release());
            self.trace_end(root, released.unwrap_or_else(clock::now));
        }
        self.drop_frame(frame);
        self.notify_of_idleness();
    }

    /// The execution of a task ends.
    #[inline(always)]
    pub(super) fn end_task(&'static self, region: &'static Region, now: impl Fn() -> u64) {
        let action = Event::TaskEnd.action();
        match self.untimed_top(action, region) {
            Some(frame) => {
                self.go_on_untimed(frame, action);
                self.end_task_behind_end(&now);
            }
            None => self.act(action, region, now),
        }
        self.watch_for_the_next_team();
    }

    /// A worker that has ended its part may serve next in a team that is not reported to it. So its
    /// next event has to check first whether the old team is gone.
    #[inline(always)]
    pub(super) fn watch_for_the_next_team(&self) {
        let ended = self.top().filter(|top| top.role() == Role::Ended);
        if ended.is_some_and(|top| top.below().is_some_and(|below| below.role() == Role::Base)) {
            self.request_catch_up();
        }
    }

    /// A team begins that is reported to this thread. So its next event need not check whether the
    /// old team is gone. The check would read a record that the thread which forked that team
    /// writes. From another processor that takes longer than all else that a begin does.
    #[inline(always)]
    pub(crate) fn begins_in_a_team(&self) {
        let serves_anew = self.top().is_some_and(|top| {
            top.role() == Role::Ended && top.below().is_some_and(|below| below.role() == Role::Base)
        });
        let was_passed = self.passed_member.has_ended() || self.passed_member.is_in();
        self.passed_member.leave();
        if (serves_anew || was_passed) && !self.pass_table.is_passing() {
            self.pass_table.forget_place();
            self.clear_catch_up_request();
        }
    }

    /// Leaves a team that is gone.
    pub(super) fn leave_old_team(&'static self) {
        if let Some(top) = self.top().filter(|top| top.is_stale()) {
            self.leave_barrier(top);
        }
    }

    /// If this thread is a member whose part has ended: notes when its task has ended.
    #[inline(always)]
    pub(super) fn end_task_behind_end(&self, now: impl FnOnce() -> u64) {
        if let Some(top) = self.top().filter(|top| top.role() == Role::Ended) {
            top.record_last_task(Some(now()));
        }
    }

    /// If this thread is a member whose part has ended: notes that it executes a task.
    #[inline(always)]
    pub(super) fn begin_task_behind_end(&self) {
        if let Some(top) = self.top().filter(|top| top.role() == Role::Ended) {
            top.record_last_task(None);
        }
    }
}

impl Frame {
    /// Whether it is a member whose part has ended and whose wait is recorded.
    pub(crate) fn waits(&self) -> bool {
        self.role() == Role::Ended && self.within() == PseudoRegion::Ibarr as u8
    }

    /// Whether it is a member whose part has ended and whose team is gone.
    pub(crate) fn is_stale(&self) -> bool {
        self.role() == Role::Ended && self.stale_since().is_some()
    }

    /// Of a member frame: when its team was released, if the runtime has let the member go, but the
    /// thread that forked is still on its way to the join.
    fn seen_release(&self) -> Option<u64> {
        let (team, fork) = (self.member_of.get()?, self.fork()?);
        let latest = team
            .slots
            .latest(fork.team_size(), self.instance(), clock::now());
        // Unless the team was joined and its record used again meanwhile.
        self.fork().map(|_| latest.release)
    }

    /// Of a fork frame, at the join: when the last member was done. Also records which member came
    /// last, at the node of the member that forked.
    pub(super) fn release(&'static self, join: u64) -> u64 {
        let Some(team) = self.team.get() else {
            return join;
        };
        let latest = team.slots.latest(self.team_size(), self.instance(), join);
        if let Some(last) = latest.last
            && let Some(waits) = self.above().and_then(Frame::node).and_then(|n| n.waits())
        {
            let times = team.weight.get().max(1);
            waits.add_late(last.member, times, [last.after_others, last.after_first]);
        }
        latest.release
    }

    /// Of a fork frame, at the join: publishes when the members were released, which they need for
    /// their traces.
    pub(super) fn publish_release(&self, join: u64) {
        if let Some(team) = self.team.get() {
            let Latest { release, .. } = team.slots.latest(self.team_size(), self.instance(), join);
            team.slots
                .publish_release(self.team_size(), self.instance(), release);
        }
    }
}
