//! A frame of a thread's stack: one instance of a region that is open, with the role that
//! it has there.

use std::sync::atomic::Ordering;

use profile::region_kind::PseudoRegion;

use super::node::pseudo_region;
use super::{Frame, Node, Region, Team, Untimed};
use crate::measure::shared::leak_slice;

/// Frames that are made at once.
const SLICE: usize = 32;

/// The phase in which only `main` runs.
const MAIN: u8 = PseudoRegion::Main as u8;

/// The role of a frame: the part of the program's execution that it represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// The bottom of the stack.
    Base = 0,
    /// A construct.
    Construct = 1,
    /// A parallel region as the thread that forked sees it.
    Fork = 2,
    /// A parallel region as a member of its team sees it.
    Member = 3,
    /// A construct that is not timed.
    Untimed = 4,
    /// A construct deep in a recursion, whose node is that of one around it.
    Recursive = 5,
    /// A parallel region of which this member's part has ended: it waits for the others and
    /// executes tasks meanwhile, in a barrier that has no events.
    Ended = 6,
    /// A timed instance of a construct of which only some instances are timed.
    Sampled = 7,
    /// Another instance of such a construct: it is not timed and is counted already. It has a frame
    /// because something else happens in it.
    Counted = 8,
}

impl Role {
    /// Whether it is a construct, timed or not.
    #[inline(always)]
    pub(crate) fn is_construct(self) -> bool {
        use Role::{Construct, Counted, Recursive, Sampled, Untimed};
        matches!(self, Construct | Untimed | Recursive | Sampled | Counted)
    }

    /// Whether an instance has no times of its own.
    pub(in crate::measure) fn is_untimed(self) -> bool {
        matches!(self, Self::Untimed | Self::Counted)
    }

    /// Whether it is a member's frame.
    #[inline(always)]
    pub(crate) fn is_member(self) -> bool {
        matches!(self, Self::Member | Self::Ended)
    }
}

impl Untimed {
    pub(in crate::measure) fn set_phase(&self, phase: PseudoRegion) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(in crate::measure) fn phase(&self) -> PseudoRegion {
        pseudo_region(self.phase.load(Ordering::Relaxed))
    }

    /// Counts the phase, which ends.
    pub(in crate::measure) fn count_phase(&self) {
        let phase = self.phase.load(Ordering::Relaxed);
        if let Some(node) = self.counted.get().filter(|_| phase != MAIN) {
            node.span(pseudo_region(phase)).count.add(1);
        }
    }
}

impl Frame {
    /// The frame above, which is made if there was none.
    #[inline(always)]
    pub(in crate::measure) fn frame_above(&'static self) -> Option<&'static Frame> {
        match self.above.get() {
            Some(frame) => Some(frame),
            None => add_frames_above(self),
        }
    }

    pub(crate) fn below(&self) -> Option<&'static Frame> {
        self.below.get()
    }

    pub(crate) fn above(&self) -> Option<&'static Frame> {
        self.above.get()
    }

    #[inline(always)]
    pub(crate) fn node(&self) -> Option<&'static Node> {
        self.node.get()
    }

    /// Of a construct deep in a recursion: the node at which it was entered.
    pub(crate) fn entry(&self) -> Option<&'static Node> {
        // The frame keeps that of an earlier instance.
        self.entry.get().filter(|_| self.role() == Role::Recursive)
    }

    pub(crate) fn start(&self) -> u64 {
        self.start.get()
    }

    /// The region that it is an instance of; none of a base.
    pub(crate) fn region(&self) -> Option<&'static Region> {
        match self.role() {
            Role::Untimed => self.untimed.region.get(),
            _ => self.node()?.region(),
        }
    }

    /// The phase that runs besides `main`, or `main`.
    pub(crate) fn phase(&self) -> PseudoRegion {
        match self.role() {
            Role::Untimed => self.untimed.phase(),
            _ => pseudo_region(self.within()),
        }
    }

    /// Of a fork or member frame: the id of this instance of the parallel region.
    pub(crate) fn instance(&self) -> u64 {
        self.instance.get()
    }

    /// Of a fork frame: how many threads its team has, 0 if unknown.
    pub(crate) fn team_size(&self) -> u32 {
        self.team_size.load(Ordering::Relaxed)
    }

    /// The phase and its start; none if only `main` runs.
    pub(crate) fn running_phase(&self) -> Option<(PseudoRegion, u64)> {
        let phase = self.phase.load(Ordering::Relaxed);
        let runs = phase != MAIN && self.role() != Role::Counted;
        runs.then(|| (pseudo_region(phase), self.phase_start.get()))
    }

    #[inline(always)]
    pub(in crate::measure) fn set_within(&self, within: u8) {
        self.phase.store(within, Ordering::Relaxed);
    }

    /// The region of its construct, timed or not; none if it is no construct.
    pub(in crate::measure) fn construct(&self) -> Option<&'static Region> {
        self.region().filter(|_| self.role().is_construct())
    }

    /// Whether it is a construct of this region, timed or not.
    pub(in crate::measure) fn is_construct_of(&self, region: &'static Region) -> bool {
        self.construct()
            .is_some_and(|own| std::ptr::eq(own, region))
    }

    /// When the frame began, or its phase if that was later; 0 if unknown.
    pub(in crate::measure) fn last_event(&self) -> u64 {
        if self.role().is_untimed() {
            return 0;
        }
        let phase = self.running_phase().map_or(0, |(_, start)| start);
        self.start().max(phase)
    }

    #[inline(always)]
    pub(crate) fn within(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn role(&self) -> Role {
        match self.role.load(Ordering::Relaxed) {
            1 => Role::Construct,
            2 => Role::Fork,
            3 => Role::Member,
            4 => Role::Untimed,
            5 => Role::Recursive,
            6 => Role::Ended,
            7 => Role::Sampled,
            8 => Role::Counted,
            _ => Role::Base,
        }
    }

    /// Whether it is a construct that is timed.
    #[inline(always)]
    pub(in crate::measure) fn is_timed_construct(&self) -> bool {
        let role = self.role.load(Ordering::Relaxed);
        role == Role::Construct as u8 || role == Role::Recursive as u8
    }

    /// Whether instances that begin and end inside it change nothing in the frame itself.
    #[inline(always)]
    pub(in crate::measure) fn is_unchanged_by_inner(&self) -> bool {
        self.is_timed_construct() || self.role.load(Ordering::Relaxed) == Role::Member as u8
    }

    #[inline(always)]
    pub(in crate::measure) fn is(&self, role: Role, region: &'static Region) -> bool {
        self.role.load(Ordering::Relaxed) == role as u8
            && self.node().is_some_and(|node| node.is_of(region))
    }

    #[inline(always)]
    pub(in crate::measure) fn set_node(&self, node: Option<&'static Node>) {
        self.node.set(node);
    }

    #[inline(always)]
    pub(in crate::measure) fn set_role(&self, role: Role) {
        self.role.store(role as u8, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(in crate::measure) fn begin(&self, role: Role, node: &'static Node, start: u64) {
        self.node.set(Some(node));
        self.role.store(role as u8, Ordering::Relaxed);
        self.start.set(start);
    }

    /// The time at which a member began, if its whole part is one construct and that construct
    /// begins now. The time counts for both, so that the clock is read once.
    #[inline(always)]
    pub(in crate::measure) fn begin_of_work(&self) -> Option<u64> {
        (self.within() == PseudoRegion::Enter as u8).then(|| self.start())
    }

    /// The time at which that construct ended, which counts for the member's end now.
    #[inline(always)]
    pub(in crate::measure) fn end_of_work(&self) -> Option<u64> {
        (self.within() == MAIN && !self.is_counted()).then(|| self.phase_start.get())
    }

    /// Of a member frame: whether the member is passed over.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_counted.load(Ordering::Relaxed)
    }

    /// A member's part that was passed over goes on as a frame on the stack.
    pub(in crate::measure) fn begin_counted_member(
        &self,
        root: &'static Node,
        team: &'static Team,
        at: u64,
    ) {
        self.begin(Role::Member, root, at);
        self.loops.set(0);
        self.slot.set(None);
        self.barriers.set(0);
        self.instance.set(team.instance());
        self.member_of.set(Some(team));
        self.weight.set(0);
        self.is_counted.store(true, Ordering::Relaxed);
        self.set_within(PseudoRegion::Body as u8);
    }

    /// Of a fork frame: whether the members of its team are passed over.
    pub(crate) fn has_passed_team(&self) -> bool {
        self.team.get().is_some_and(Team::is_passed)
    }

    /// Of a member frame: the frame of the fork, as long as the team lasts.
    pub(crate) fn fork(&self) -> Option<&'static Self> {
        let fork = self.member_of.get()?.frame.get()?;
        (fork.instance() == self.instance()).then_some(fork)
    }

    /// When the team of a member frame was joined, if it was.
    pub(crate) fn stale_since(&self) -> Option<u64> {
        let fork_node = self.node()?.parent()?;
        Some(fork_node.teams.last_join.get()).filter(|join| *join > self.start())
    }

    /// The part of such a member ends.
    pub(in crate::measure) fn end_counted_member(&self) {
        self.set_role(Role::Ended);
        self.set_within(MAIN);
    }

    /// Starts a phase; the one before must have ended.
    #[inline(always)]
    pub(in crate::measure) fn start_phase(&self, phase: PseudoRegion, at: u64) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.phase_start.set(at);
    }

    /// Ends the running phase.
    #[inline(always)]
    pub(in crate::measure) fn end_phase(&self, node: &'static Node, at: u64) {
        let phase = self.within();
        if phase != MAIN {
            let ticks = at.wrapping_sub(self.phase_start.get());
            node.add(phase, ticks);
            if self.role() == Role::Sampled
                && let Some(sample) = node.sample()
            {
                sample.part(phase, ticks);
            }
        }
    }
}

/// Makes linked frames above `below`. Returns the lowest of them.
pub(in crate::measure) fn add_frames(below: Option<&'static Frame>) -> Option<&'static Frame> {
    let frames = leak_slice(SLICE, Frame::default)?;
    let mut under = below;
    for frame in frames {
        frame.below.set(under);
        if let Some(under) = under {
            under.above.set(Some(frame));
        }
        under = Some(frame);
    }
    frames.first()
}

#[cold]
#[inline(never)]
fn add_frames_above(top: &'static Frame) -> Option<&'static Frame> {
    add_frames(Some(top))
}
