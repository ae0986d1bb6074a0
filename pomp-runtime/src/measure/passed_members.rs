//! Teams whose members are passed over: small parallel regions in which nothing else happens.
//!
//! What a member tells costs more than a read of the clock: it reads what the thread wrote
//! that forked, and that thread reads what the members wrote. A region that proves to be
//! executed often, to be short, and to hold no other constructs is timed whole in each
//! instance, from fork to join. Its members tell when they begin and end in so many instances
//! as the budget allows. In all others they count, in memory of their own, and touch nothing
//! that another thread writes: the handle that they get is the node of the fork.
//!
//! At the end of the run the time of these instances, which is known, is divided as that of
//! those in which members told. A member's part that lasts for two steps of the
//! [`coarse_clock`] is recorded with its own time. If something happens in a member's part
//! after all, it is put on the stack, as one that is counted already, and the region is timed
//! from then on.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use profile::region_kind::PseudoRegion;

use super::clock::{self, now};
use super::frame::{Frame, Role};
use super::region::Region;
use super::sample::Sample;
use super::sampling;
use super::shared::{SharedRef, SharedU64, leak};
use super::team::Team;
use super::thread::{self, Thread};
use super::{attention, coarse_clock, omp, pause, state};
use crate::measure::calls::tree::{Node, Origin};

/// Set in a handle whose team is passed over. What it leads to is aligned.
const PASSED: usize = 1;

/// How many teams must have been passed over before their mean time is used.
const ENOUGH: u64 = 256;

const OUT: u8 = 0;
const IN: u8 = 1;
const ENDED: u8 = 2;

/// The team that is passed over of which a thread is a member, or was one last.
#[derive(Debug)]
pub(crate) struct PassedMember {
    /// Its root there.
    root: SharedRef<Node>,
    state: AtomicU8,
    /// The mark of the coarse clock when it began.
    mark: SharedU64,
}

impl PassedMember {
    pub(super) const fn none() -> Self {
        Self {
            root: SharedRef::none(),
            state: AtomicU8::new(OUT),
            mark: SharedU64::new(0),
        }
    }

    #[inline(always)]
    fn is(&self, state: u8) -> bool {
        self.state.load(Ordering::Relaxed) == state
    }

    /// Whether the thread does a member's part that is passed over.
    #[inline(always)]
    pub(super) fn is_in(&self) -> bool {
        self.is(IN)
    }

    /// Whether its part in a team has ended that is passed over, and may last.
    #[inline(always)]
    pub(super) fn has_ended(&self) -> bool {
        self.is(ENDED)
    }

    /// The thread is in no such team any more.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.state.store(OUT, Ordering::Relaxed);
    }
}

/// What a fork node keeps whose teams are passed over.
#[derive(Debug, Default)]
pub(crate) struct PassedTeams {
    /// How many are to be passed over, and how many were since the last one that was not.
    left: AtomicU32,
    since: SharedU64,
    /// How many were not, their ticks from fork to join, and the time of the last join of one.
    timed: SharedU64,
    ticks: SharedU64,
    last: SharedU64,
    /// How many teams whose members may be passed over the thread had forked at that join.
    forked: SharedU64,
    /// The record of the latest.
    team: SharedRef<Team>,
}

impl PassedTeams {
    /// The mean ticks of teams whose members told, once some were passed over; 0 before.
    pub(crate) fn timed_ticks(&self) -> u64 {
        self.ticks.get() / self.timed.get().max(1)
    }
}

/// What the program hands on from a fork to the members of its team: whether they tell when
/// they begin and end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TeamHandle {
    /// They do, of this team.
    Team(&'static Team),
    /// They count, at the node of the fork.
    PassedOver(&'static Node),
}

impl TeamHandle {
    pub(crate) fn into_pointer(self) -> *mut c_void {
        let handle: *const c_void = match self {
            Self::Team(team) => std::ptr::from_ref(team).cast(),
            Self::PassedOver(fork) => std::ptr::from_ref(fork)
                .cast::<c_void>()
                .map_addr(|address| address | PASSED),
        };
        handle.cast_mut()
    }

    /// # Safety
    /// The handle comes from `into_pointer`, or is null.
    #[inline(always)]
    pub(crate) unsafe fn of_pointer(handle: *const c_void) -> Option<Self> {
        let pointer = handle.map_addr(|address| address & !PASSED);
        // SAFETY: as the caller promises; teams and nodes are never freed.
        unsafe {
            match handle.addr() & PASSED {
                0 => pointer.cast::<Team>().as_ref().map(Self::Team),
                _ => pointer.cast::<Node>().as_ref().map(Self::PassedOver),
            }
        }
    }
}

fn number() -> u32 {
    u32::try_from(omp::omp_get_thread_num()).unwrap_or(0)
}

fn size() -> u32 {
    u32::try_from(omp::omp_get_num_threads()).unwrap_or(0)
}

/// A member of a team begins that is passed over. Whether that is all.
#[inline(always)]
pub(crate) fn begins(fork: &'static Node) -> bool {
    let thread = thread::current().filter(|_| state::is_quick());
    thread.is_some_and(|thread| !thread.is_busy() && thread.begins_part(fork, number(), size))
}

/// The work of a combined region begins or ends. Whether its member is passed over.
#[inline(always)]
pub(crate) fn is_passed_over(find: impl FnOnce() -> Option<&'static Region> + Copy) -> bool {
    let thread = thread::current().filter(|thread| thread.passed_member.is_in());
    thread.is_some_and(|thread| {
        state::is_quick() && find().is_some_and(|region| thread.does_part_of(region))
    })
}

/// The part of a member ends. Whether it is passed over.
#[inline(always)]
pub(crate) fn ends(find: impl FnOnce() -> Option<&'static Region> + Copy) -> bool {
    let is_passed_over = is_passed_over(find);
    if is_passed_over && let Some(thread) = thread::current() {
        thread.ends_part();
    }
    is_passed_over
}

impl Thread {
    /// As `fork`, of a team whose members get a handle.
    pub(crate) fn fork_for_handle(
        &'static self,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) -> Option<TeamHandle> {
        let team = self.fork(region, now)?;
        let fork = self.top().and_then(Frame::node)?;
        let Some(teams) = fork.passed_teams.get() else {
            return Some(TeamHandle::Team(team));
        };
        self.sampler.teams.add(1);
        let left = teams.left.load(Ordering::Relaxed);
        let is_told = attention::is_needed() || self.paused().is_some();
        if left == 0 || is_told || region.holds_others() {
            team.weight.set(teams.since.get() + 1);
            teams.since.set(0);
            return Some(TeamHandle::Team(team));
        }
        teams.left.store(left - 1, Ordering::Relaxed);
        teams.since.add(1);
        teams.team.set(Some(team));
        team.set_passed(true);
        Some(TeamHandle::PassedOver(fork))
    }

    #[inline(always)]
    pub(super) fn begins_part(
        &'static self,
        fork: &'static Node,
        number: u32,
        size: impl FnOnce() -> u32,
    ) -> bool {
        // Else there is something to do first.
        let is_free = !self.sampler.is_passing() && self.pauses() == pause::mark();
        let root = self.tree.known_member_root(fork, number);
        let Some(root) = root.filter(|_| is_free) else {
            return false;
        };
        let Some(sample) = root.sample() else {
            return false;
        };
        self.counts_part(root, sample, size);
        true
    }

    #[inline(always)]
    fn counts_part(
        &'static self,
        root: &'static Node,
        sample: &Sample,
        size: impl FnOnce() -> u32,
    ) {
        if let Some(fork) = self.top().filter(|top| top.role() == Role::Fork)
            && fork.node().is_some_and(|node| root.is_below(node))
        {
            self.has_size(fork, size());
        }
        sample.add_passed(1);
        let member = &self.passed_member;
        member.root.set(Some(root));
        member.mark.set(coarse_clock::mark());
        member.state.store(IN, Ordering::Relaxed);
        // Whatever happens in it has to look first.
        self.sampler.forget_place();
        self.looks_up_next_time();
    }

    /// A team of a fork node is joined whose members told, and which stands for so many.
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
        let forked = self.sampler.teams.get();
        let regions = forked.wrapping_sub(teams.forked.get()) / weight;
        teams.last.set(at);
        teams.forked.set(forked);
        teams.timed.add(1);
        teams.ticks.add(at.wrapping_sub(begin));
        let passed = fork.passed_ticks(ENOUGH);
        let longer = passed.map(|passed| teams.timed_ticks().saturating_sub(passed));
        let left = match sampling::teams_to_pass_over(teams.timed.get(), interval, regions, longer)
        {
            0 | 1 => 0,
            many => self.sampler.about(many),
        };
        teams.left.store(left as u32, Ordering::Relaxed);
    }

    /// As `begins_part`, where its root is to be looked for.
    pub(crate) fn begins_another_part(&'static self, fork: &'static Node) {
        let root = self.tree.member_root(fork, number());
        if let Some(root) = root
            && let Some(sample) = root.sample_of_member()
        {
            self.counts_part(root, sample, size);
        }
    }

    /// Whether it does a part of a member of this region that is passed over.
    #[inline(always)]
    pub(super) fn does_part_of(&self, region: &'static Region) -> bool {
        let member = &self.passed_member;
        member.is(IN) && member.root.get().is_some_and(|root| root.is_of(region))
    }

    #[inline(always)]
    pub(super) fn ends_part(&'static self) {
        let member = &self.passed_member;
        if member.mark.get() != coarse_clock::mark() {
            self.adds_long_part_of_member();
        }
        member.state.store(ENDED, Ordering::Relaxed);
        // A worker may serve next in a team of which it is not told.
        if self.top().is_some_and(|top| top.role() == Role::Fork) {
            self.looks_no_more();
        }
    }

    #[cold]
    #[inline(never)]
    fn adds_long_part_of_member(&'static self) {
        let [first, last] =
            [self.passed_member.mark.get(), coarse_clock::mark()].map(coarse_clock::steps_of);
        let root = self.passed_member.root.get();
        if let (Some(root), Some(ticks)) = (root, coarse_clock::elapsed(first, last, now()))
            && !self.is_paused()
            && let Some(sample) = root.sample()
        {
            root.span(PseudoRegion::Body).ticks.add(ticks);
            sample.add_long(ticks);
        }
    }

    /// Something happens in a member's part that is passed over, or behind it.
    #[cold]
    #[inline(never)]
    pub(super) fn put_member_on_stack(&'static self, has_ended: bool) {
        self.passed_member.leave();
        let Some(root) = self.passed_member.root.get() else {
            return;
        };
        let teams = root.parent().and_then(|fork| fork.passed_teams.get());
        let Some(team) = teams.and_then(|teams| teams.team.get()) else {
            return;
        };
        if let Some(region) = root.region() {
            region.hold_others();
        }
        // What comes behind the join is in no team of which it was told.
        if !team.is_passed() {
            return;
        }
        if !team.is_forked_by(self) {
            self.leave_stale_frames(clock::now);
            self.initial.set(team.initial());
        }
        if let Some(frame) = self.top().and_then(Frame::frame_above) {
            frame.begin_counted_member(root, team, clock::now());
            self.set_top(frame);
            if has_ended {
                frame.end_counted_member();
                self.watch_for_the_next_team();
            }
        }
    }

    /// A member has ended that was timed: what it took stands for those that were passed over.
    #[inline(never)]
    pub(super) fn add_member_to_sample(&self, frame: &Frame, root: &'static Node, at: u64) {
        if let (Some(sample), Some(team)) = (root.sample_of_member(), frame.member_of.get()) {
            sample.weight.set(frame.weight.get());
            let enter = pause::between(team.fork_time(), frame.start());
            sample.part(PseudoRegion::Enter as u8, enter);
            let body = at.wrapping_sub(frame.start());
            sample.part(PseudoRegion::Body as u8, body);
            sample.add(body);
        }
    }
}

impl Node {
    fn is_below(&self, fork: &'static Node) -> bool {
        self.parent()
            .is_some_and(|parent| std::ptr::eq(parent, fork))
    }

    /// What a member root keeps, made if there is nothing.
    fn sample_of_member(&self) -> Option<&'static Sample> {
        debug_assert!(matches!(self.place(), Origin::Member(_)));
        if self.sample().is_none() {
            self.set_sample_of_member(leak(Sample::default())?);
        }
        self.sample()
    }

    /// From now on members of its teams may be passed over.
    pub(super) fn passes_over_teams(&self) {
        if self.passed_teams.get().is_none() {
            self.passed_teams.set(leak(PassedTeams::default()));
            coarse_clock::start();
        }
    }
}
