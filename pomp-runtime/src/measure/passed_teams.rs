//! The forks and joins of teams whose members are passed over ([`passed_members`]).
//!
//! Such a team is timed as a whole. Its fork and its join find everything as the team before left
//! it, so they write the two times and the counts, and nothing else.
//!
//! [`passed_members`]: super::passed_members

use std::sync::atomic::Ordering;

use profile::region_kind::PseudoRegion;

use super::clock::now;
use super::records::Frame;
use super::records::PassedTeams;
use super::records::Region;
use super::records::frame::Role;
use super::records::team::TeamHandle;
use super::sampling;
use super::shared::leak;
use super::thread::{self, Thread};
use super::{attention, coarse_clock, pause, state};
use crate::measure::records::{Node, Team};

/// Forks a team whose members are passed over, if nothing else is to be done at the fork. Sources
/// ask this first.
#[inline(never)]
pub(crate) fn fork(region: Option<&'static Region>) -> Option<TeamHandle> {
    at_once(|thread| thread.forks_at_once(region?, false, now))
}

/// As `fork`, if the members get no handle. Whether nothing else is to be done.
#[inline(never)]
pub(crate) fn fork_announced(region: Option<&'static Region>) -> bool {
    at_once(|thread| thread.forks_at_once(region?, true, now)).is_some()
}

/// Joins the team on top of the stack, if its members were passed over and nothing else is to be
/// done. Sources ask this first.
#[inline(never)]
pub(crate) fn join(region: Option<&'static Region>) -> bool {
    at_once(|thread| thread.joins_at_once(region?, now)).is_some()
}

/// Runs `action` on the current thread if that may be all that there is to do for an event.
#[inline(always)]
fn at_once<R: Copy>(action: impl FnOnce(&'static Thread) -> Option<R> + Copy) -> Option<R> {
    let thread = thread::current().filter(|thread| state::is_quick() && !thread.is_busy())?;
    // The mark comes first, as in `Thread::enter`: who has the thread stand still looks for it.
    thread.set_busy(true);
    let result = match thread.only_records_events() {
        true => action(thread),
        false => None,
    };
    thread.set_busy(false);
    result
}

impl Thread {
    /// Whether the next event of this thread only has to be recorded: the thread has nothing to
    /// catch up with, measurement is not paused, and there is neither a collector nor a trace.
    #[inline(always)]
    pub(super) fn only_records_events(&self) -> bool {
        self.is_up_to_date(pause::mark())
            && !attention::is_needed()
            && self.paused().is_none()
            && !self.trace.is_on()
    }

    /// As `fork`, of a team whose members get a handle. `may_pass`: they may be passed over.
    pub(crate) fn fork_for_handle(
        &'static self,
        region: &'static Region,
        may_pass: bool,
        now: impl Fn() -> u64,
    ) -> Option<TeamHandle> {
        let team = self.fork(region, now)?;
        if !may_pass {
            return Some(TeamHandle::Team(team));
        }
        let fork = self.top().and_then(Frame::node)?;
        // In a region that holds others no team is passed over any more. The next one still stands for
        // those that were.
        let teams = fork.passed_teams.get();
        let is_in_use = |teams: &PassedTeams| !region.holds_others() || teams.since.get() > 0;
        let Some(teams) = teams.filter(|teams| is_in_use(teams)) else {
            return Some(TeamHandle::Team(team));
        };
        self.pass_table.teams.add(1);
        let left = teams.left.load(Ordering::Relaxed);
        let needs_events = attention::is_needed() || self.paused().is_some();
        if left == 0 || needs_events || region.holds_others() {
            team.weight.set(teams.since.get() + 1);
            teams.since.set(0);
            return Some(TeamHandle::Team(team));
        }
        teams.passes_one_over(team, left);
        team.set_passed(true);
        Some(TeamHandle::PassedOver(fork))
    }

    #[inline(always)]
    pub(super) fn forks_at_once(
        &'static self,
        region: &'static Region,
        is_announced: bool,
        now: impl Fn() -> u64,
    ) -> Option<TeamHandle> {
        let top = self.top()?;
        let node = self
            .tree
            .last_or_next_child(top.node()?, region, top.within())?;
        let teams = node.passed_teams.get()?;
        let left = teams.left.load(Ordering::Relaxed);
        let frame = top.above()?;
        let team = frame.team.get()?;
        let is_as_before = team.was_forked_by_node(node, self.initial.get())
            && team.is_announced() == is_announced;
        if left == 0 || region.holds_others() || !is_as_before {
            return None;
        }
        self.pass_table.teams.add(1);
        teams.passes_one_over(team, left);
        frame.team_size.store(0, Ordering::Relaxed);
        let at = now();
        self.team_opens(frame, region, at);
        frame.instance.set(team.opens_passed(node, at));
        frame.begin(Role::Fork, node, at);
        frame.start_phase(PseudoRegion::Seq, at);
        self.set_top(frame);
        Some(TeamHandle::PassedOver(node))
    }

    #[inline(always)]
    pub(super) fn joins_at_once(
        &'static self,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) -> Option<()> {
        let frame = self.top().filter(|top| top.is(Role::Fork, region))?;
        let node = frame.node()?;
        let below = frame.below()?;
        let team = frame.team.get().filter(|team| team.is_passed())?;
        let is_alone = matches!(below.role(), Role::Base | Role::Construct | Role::Member);
        // Else a part was put on the stack.
        if !is_alone || !self.passed_member.has_ended() {
            return None;
        }
        let at = now();
        self.team_closes(frame, at);
        frame.end_phase(node, at);
        let ticks = at.wrapping_sub(frame.start());
        self.add_to_log(node, ticks);
        self.passed_member.leave();
        node.teams.add_passed_join(frame.team_size(), at, ticks);
        team.closes_passed();
        self.set_top(below);
        Some(())
    }

    /// A team whose members recorded is joined; it stands for `weight` teams. Decides how many
    /// teams of the fork node are passed over next.
    #[inline(never)]
    pub(super) fn has_timed_team(
        &'static self,
        fork: &'static Node,
        teams: &PassedTeams,
        weight: u64,
        [begin, at]: [u64; 2],
    ) {
        let weight = weight.max(1);
        let interval = at.wrapping_sub(teams.last.get()) / weight;
        // Regions that take turns share the budget.
        let forked = self.pass_table.teams.get();
        let regions = forked.wrapping_sub(teams.forked.get()) / weight;
        teams.last.set(at);
        teams.forked.set(forked);
        teams.timed.add(1);
        let ticks = at.wrapping_sub(begin);
        teams.compare(ticks, fork.teams.passed(), sampling::most_longer());
        let longer = teams.longer_ticks();
        let left = match sampling::teams_to_pass_over(teams.timed.get(), interval, regions, longer)
        {
            0 | 1 => 0,
            many => self.pass_table.about(many),
        };
        teams.left.store(left as u32, Ordering::Relaxed);
    }
}

impl PassedTeams {
    /// One more team is passed over, of those that are `left`.
    #[inline(always)]
    fn passes_one_over(&self, team: &'static Team, left: u32) {
        self.left.store(left - 1, Ordering::Relaxed);
        self.since.add(1);
        self.team.set(Some(team));
    }
}

impl Node {
    /// From now on members of its teams may be passed over.
    pub(super) fn passes_over_teams(&self) {
        if self.passed_teams.get().is_none() {
            self.passed_teams.set(leak(PassedTeams::default()));
            coarse_clock::start();
        }
    }
}
