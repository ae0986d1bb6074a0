//! Teams: how the threads of a parallel region find the call path that they
//! belong to.
//!
//! The fork gives out a [`Team`], which each member gets at its begin. It says which node forked
//! and when. No thread writes to it while the region runs. A member's call paths hang below a root
//! of its own, (fork node, number), so that members never share what they write.

use std::sync::atomic::{AtomicU64, Ordering};

use profile::region_kind::PseudoRegion;

use super::counters;
use super::pause;
use super::records::Frame;
use super::records::Region;
use super::records::Team;
use super::records::frame::Role;
use super::shared::leak;
use super::thread::Thread;
use crate::measure::collector;
use crate::measure::helper_requests;

impl Thread {
    /// A team is about to be made by this thread.
    pub(crate) fn fork(
        &'static self,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) -> Option<&'static Team> {
        let (frame, node) = self.next_frame_for_team(region)?;
        let team = team_of(frame)?;
        team.frame.set(Some(frame));
        team.node.set(Some(node));
        team.thread.set(self.address() as u64);
        team.initial.set(self.initial.get());
        team.forker.set(None);
        team.weight.set(0);
        team.set_passed(false);
        frame.team_size.store(0, Ordering::Relaxed);
        let at = self.time_of_begin(now);
        self.team_opens(frame, region, at);
        team.fork.set(at);
        team.label.set(match self.paused() {
            Some(_) => 0,
            None => self.trace_fork(frame, node, at),
        });
        frame.instance.set(team.next_instance());
        frame.begin(Role::Fork, node, at);
        frame.start_phase(PseudoRegion::Seq, at);
        self.set_top(frame);
        if self.is_notified() {
            collector::notify(collector::events::Event::Fork);
        }
        Some(team)
    }

    /// This thread starts as member `number` of a team. The size is asked for
    /// on the thread that forked, and only there.
    pub(crate) fn begin_member(
        &'static self,
        team: &'static Team,
        number: u32,
        size: impl FnOnce() -> u32,
        now: impl Fn() -> u64,
    ) {
        let Some(fork_node) = team.node.get() else {
            return;
        };
        if team.is_forked_by(self.address()) {
            if let Some(fork_frame) = team.frame.get() {
                self.has_size(fork_frame, size());
            }
        } else {
            self.leave_stale_frames(|| self.time_of_begin(&now));
            self.initial.set(team.initial.get());
        }
        let Some(top) = self.top() else { return };
        let Some(root) = self.tree.member_root(fork_node, number) else {
            return;
        };
        let Some(frame) = top.frame_above() else {
            return;
        };
        if counters::are_on() {
            self.start_counters(frame);
        }
        let fork = team.fork.get();
        let (at, passes) = match self.paused() {
            None => (now(), false),
            Some(paused) => (fork.max(paused), fork > paused),
        };
        if !passes {
            self.trace_begin(frame, root, team.label.get(), fork, at);
        }
        frame.begin(Role::Member, root, at);
        frame.loops.set(0);
        frame.slot.set(team.slots.of(number));
        // The thread that forked has read the slot at the last join: this brings its cache
        // line back while the member works.
        frame.record_last_task(None);
        frame.barriers.set(fork);
        frame.instance.set(team.instance.get());
        frame.member_of.set(Some(team));
        if self.trace.is_on() {
            frame.await_release();
        }
        frame.weight.set(team.weight.get());
        frame.is_counted.store(false, Ordering::Relaxed);
        if root.region().is_some_and(Region::is_combined) {
            let since_fork = pause::between(fork, at);
            frame.start_phase(PseudoRegion::Enter, at.wrapping_sub(since_fork));
        } else {
            if !passes {
                root.span(PseudoRegion::Enter).add(pause::between(fork, at));
            }
            frame.start_phase(PseudoRegion::Body, at);
        }
        self.set_top(frame);
        if self.is_notified() && top.role() == Role::Base {
            self.notify_awake();
        }
    }

    /// The size of the team that this thread has forked is known.
    #[inline(always)]
    pub(super) fn has_size(&'static self, fork: &'static Frame, size: u32) {
        fork.team_size.store(size, Ordering::Relaxed);
        self.team_has(fork, size);
    }

    /// This thread leaves a team, now.
    #[inline(always)]
    pub(crate) fn end_member_now(&'static self, region: &'static Region, now: impl Fn() -> u64) {
        // Where the region's loop could not be split, more is recorded behind its barrier.
        let member = self
            .combined_member(region)
            .filter(|_| !region.is_unsplit());
        let work = member.and_then(Frame::end_of_work);
        self.end_member(region, work.unwrap_or_else(now));
    }

    /// This thread leaves a team.
    pub(crate) fn end_member(&'static self, region: &'static Region, at: u64) {
        let at = self.time_of_end(at);
        let mut frame = self.top();
        while let Some(candidate) = frame {
            if candidate.is(Role::Member, region) {
                self.close_above(candidate, at);
                self.add_rest_of_part(candidate, at);
                if self.is_notified() {
                    collector::phases::phase_ends(candidate);
                }
                if region.hides_barrier() {
                    return self.end_part(candidate, at);
                }
                self.close_member(candidate, at);
                return self.notify_of_idleness();
            }
            frame = candidate
                .below()
                .filter(|_| candidate.role().is_construct());
        }
        self.unmatched.add(1);
    }

    /// The team that this thread forked is gone.
    pub(crate) fn join(&'static self, region: &'static Region, at: u64) {
        let at = self.time_of_end(at);
        match self.fork_frame(region) {
            Some(frame) => {
                if self.trace.is_on() {
                    frame.publish_release(at);
                }
                self.close_above(frame, at);
                if self.is_notified() {
                    collector::notify(collector::events::Event::Join);
                }
                self.close_fork(frame, at);
            }
            None => self.unmatched.add(1),
        }
    }

    /// The fork frame of a region: on top, or below a member frame of the same
    /// team, whose end `cancel` has skipped.
    fn fork_frame(&self, region: &'static Region) -> Option<&'static Frame> {
        let mut frame = self.top();
        while let Some(candidate) = frame {
            if candidate.is(Role::Fork, region) {
                return frame;
            }
            let within_team = candidate.role().is_construct()
                || candidate.is(Role::Member, region)
                || candidate.is(Role::Ended, region);
            frame = candidate.below().filter(|_| within_team);
        }
        None
    }

    pub(super) fn close_member(&'static self, frame: &'static Frame, at: u64) {
        let is_recorded = !self.is_passing(frame) && !frame.is_counted();
        if let Some(root) = frame.node().filter(|_| is_recorded) {
            if counters::are_on() {
                self.stop_counters(frame, root, at);
            }
            self.trace_end(root, at);
            frame.end_phase(root, at);
            // The join will be added when the run ends.
            let measured = pause::without(0, at);
            root.span(PseudoRegion::Exit).add(measured.wrapping_neg());
        }
        self.drop_frame(frame);
    }

    pub(super) fn close_fork(&'static self, frame: &'static Frame, at: u64) {
        self.team_closes(frame, at);
        if let Some(node) = frame.node().filter(|_| !self.is_passing(frame)) {
            self.trace_join(node, frame.team_size(), at);
            frame.end_phase(node, at);
            self.add_to_log(node, at.wrapping_sub(frame.start()));
            self.passed_member.leave();
            if frame.has_passed_team() {
                node.teams
                    .add_passed_join(frame.team_size(), at, at.wrapping_sub(frame.start()));
            } else {
                let hides_barrier = node.region().is_some_and(Region::hides_barrier);
                let release = if hides_barrier { frame.release(at) } else { 0 };
                node.teams.add_join(frame.team_size(), at, release);
                if let (Some(teams), Some(team)) = (node.passed_teams.get(), frame.team.get())
                    && team.weight.get() > 0
                {
                    let times = [frame.start(), at];
                    self.has_timed_team(node, teams, team.weight.get(), times);
                }
            }
        }
        if let Some(team) = frame.team.get() {
            // Brings back its cache line, which the members have read, before the next fork.
            team.fork.set(0);
            team.set_passed(false);
            if let Some(forker) = team.forker.get() {
                forker.close(team);
            }
        }
        self.drop_timed_frame(frame, at);
    }

    /// A worker that starts in a team is in no other one. Frames that are still open were left by
    /// `cancel`, and ended at the latest when their team was joined.
    #[inline(always)]
    pub(super) fn leave_stale_frames(&'static self, now: impl Fn() -> u64) {
        let Some(top) = self.top().filter(|top| top.role() != Role::Base) else {
            return;
        };
        match top.below().map(Frame::role) {
            Some(Role::Base) if top.role() == Role::Ended => self.leave_barrier(top),
            _ => self.leave_frames(top, now()),
        }
    }

    /// Closes every frame, at the time of its team's join if that is known.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_frames(&'static self, top: &'static Frame, now: u64) {
        let mut frame = Some(top);
        let mut at = now;
        while let Some(candidate) = frame {
            if candidate.role().is_member() {
                at = candidate.stale_since().unwrap_or(now);
                break;
            }
            frame = candidate.below();
        }
        let Some(base) = self.base() else { return };
        self.close_above(base, at);
    }
}

/// The team that belongs to a frame's depth.
#[inline(always)]
fn team_of(frame: &'static Frame) -> Option<&'static Team> {
    match frame.team.get() {
        Some(team) => Some(team),
        None => new_team(frame),
    }
}

/// The bits of an instance's id that tell the instances of one record apart.
const INSTANCES: u32 = 40;

#[cold]
#[inline(never)]
fn new_team(frame: &'static Frame) -> Option<&'static Team> {
    helper_requests::ensure();
    static TEAMS: AtomicU64 = AtomicU64::new(1);
    let team = leak(Team::default())?;
    team.instance
        .set(TEAMS.fetch_add(1, Ordering::Relaxed) << INSTANCES);
    frame.team.set(Some(team));
    Some(team)
}
