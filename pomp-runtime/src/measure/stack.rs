//! The stack of frames: where a thread is, from the outermost region in.
//!
//! ```text
//! base -> construct -> fork -> member -> construct -> ...     (top)
//! ```
//!
//! Below the member frame of a team stands, on the thread that forked, the fork
//! frame; on every other thread the base. Exits pop to their frame: what stands
//! above it was left by `cancel`, an exception or a jump, and is closed and
//! counted. No search crosses a team member's frame.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use profile::region_kind::{PseudoRegion, RegionKind};

use super::active::Added;
use super::arrival::Slot;
use super::attention;
use super::counters;
use super::event::{Action, Event};
use super::region::Region;
use super::shared::{Link, Word, leak_slice};
use super::team::Team;
use super::thread::Thread;
use crate::sinks::collector;
use crate::sinks::profile::{Node, pseudo_region};

/// Frames that are made at once.
const SLICE: usize = 32;

/// The phase in which only `main` runs.
const MAIN: u8 = PseudoRegion::Main as u8;

/// What a frame stands for.
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
    Silent = 4,
    /// A construct deep in a recursion, whose node is that of one around it.
    Again = 5,
    /// A parallel region of which this member's part has ended: it waits for the
    /// others and executes tasks meanwhile, in a barrier that nobody tells of.
    Ended = 6,
    /// A construct of which only some instances are timed: one that is.
    Sampled = 7,
    /// One that is not, and is counted already: it is here for what happens in it.
    Counted = 8,
}

impl Role {
    /// Whether it is a construct, timed or not.
    #[inline(always)]
    pub(crate) fn is_construct(self) -> bool {
        use Role::{Again, Construct, Counted, Sampled, Silent};
        matches!(self, Construct | Silent | Again | Sampled | Counted)
    }

    /// Whether an instance has no times of its own.
    pub(super) fn is_untimed(self) -> bool {
        matches!(self, Self::Silent | Self::Counted)
    }

    /// Whether it is a member's frame.
    #[inline(always)]
    pub(crate) fn is_member(self) -> bool {
        matches!(self, Self::Member | Self::Ended)
    }

    /// Whether it is a construct that is timed.
    pub(crate) fn is_timed_construct(self) -> bool {
        matches!(self, Self::Construct | Self::Again)
    }
}

/// What the frame of a construct that is not timed stands for.
#[derive(Debug, Default)]
pub(super) struct Silent {
    pub(super) region: Link<Region>,
    /// The node at which it is counted, if it is.
    pub(super) counted: Link<Node>,
    phase: AtomicU8,
}

impl Silent {
    pub(super) fn set_phase(&self, phase: PseudoRegion) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    pub(super) fn phase(&self) -> PseudoRegion {
        pseudo_region(self.phase.load(Ordering::Relaxed))
    }

    /// Counts the phase, which ends.
    pub(super) fn count_phase(&self) {
        let phase = self.phase.load(Ordering::Relaxed);
        if let Some(node) = self.counted.get().filter(|_| phase != MAIN) {
            node.span(pseudo_region(phase)).count.add(1);
        }
    }
}

/// One instance of a region that is open.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    below: Link<Frame>,
    above: Link<Frame>,
    node: Link<Node>,
    pub(super) start: Word,
    pub(super) phase_start: Word,
    phase: AtomicU8,
    role: AtomicU8,
    pub(super) silent: Silent,
    /// Of a construct deep in a recursion: where it was entered.
    pub(super) entry: Link<Node>,
    /// Of a member frame: where it tells of its arrivals at barriers, and how
    /// many there were, counted from the time of the fork on, so that the next
    /// team has other numbers.
    pub(super) slot: Link<Slot>,
    pub(super) barriers: Word,
    pub(super) team_size: AtomicU32,
    /// Of a fork frame: what its team adds to the teams of all.
    pub(super) added: Added,
    /// Of a fork or member frame: the id of this instance of the parallel region.
    pub(super) instance: Word,
    /// Of a member frame: its team.
    pub(super) member_of: Link<Team>,
    /// Of a function or a task's execution: where the machine's stack was.
    pub(super) stack: Word,
    /// Of a member frame: how many loops were traced in it.
    pub(super) loops: Word,
    /// Of a team or a task that is traced: its label.
    pub(crate) label: Word,
    /// Of a function: where its caller goes on.
    pub(super) call_site: Word,
    /// Of a sampled construct: for how many instances it stands.
    pub(super) weight: Word,
    /// What is counted in it, if anything is.
    pub(super) counters: Link<counters::Counting>,
    /// The team that is forked when a fork frame is at this depth.
    pub(super) team: Link<Team>,
}

impl Frame {
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

    /// Where a construct was entered that is deep in a recursion.
    pub(crate) fn entry(&self) -> Option<&'static Node> {
        self.entry.get()
    }

    pub(crate) fn start(&self) -> u64 {
        self.start.get()
    }

    /// The region that it is an instance of; none of a base.
    pub(crate) fn region(&self) -> Option<&'static Region> {
        match self.role() {
            Role::Silent => self.silent.region.get(),
            _ => self.node()?.region(),
        }
    }

    /// The phase that runs besides `main`, or `main`.
    pub(crate) fn phase(&self) -> PseudoRegion {
        match self.role() {
            Role::Silent => self.silent.phase(),
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
    pub(super) fn set_within(&self, within: u8) {
        self.phase.store(within, Ordering::Relaxed);
    }

    /// Of which construct it is, timed or not.
    pub(super) fn construct(&self) -> Option<&'static Region> {
        self.region().filter(|_| self.role().is_construct())
    }

    /// Whether it is a construct of this region, timed or not.
    fn is_construct_of(&self, region: &'static Region) -> bool {
        self.construct()
            .is_some_and(|own| std::ptr::eq(own, region))
    }

    /// When the frame began, or its phase if that was later; 0 if unknown.
    pub(super) fn last_event(&self) -> u64 {
        if self.role().is_untimed() {
            return 0;
        }
        let phase = self.running_phase().map_or(0, |(_, start)| start);
        self.start().max(phase)
    }

    #[inline(always)]
    pub(super) fn within(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(crate) fn role(&self) -> Role {
        match self.role.load(Ordering::Relaxed) {
            1 => Role::Construct,
            2 => Role::Fork,
            3 => Role::Member,
            4 => Role::Silent,
            5 => Role::Again,
            6 => Role::Ended,
            7 => Role::Sampled,
            8 => Role::Counted,
            _ => Role::Base,
        }
    }

    #[inline(always)]
    pub(super) fn is(&self, role: Role, region: &'static Region) -> bool {
        self.role.load(Ordering::Relaxed) == role as u8
            && self.node().is_some_and(|node| node.is_of(region))
    }

    #[inline(always)]
    pub(super) fn set_node(&self, node: Option<&'static Node>) {
        self.node.set(node);
    }

    #[inline(always)]
    pub(super) fn set_role(&self, role: Role) {
        self.role.store(role as u8, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn begin(&self, role: Role, node: &'static Node, start: u64) {
        self.node.set(Some(node));
        self.role.store(role as u8, Ordering::Relaxed);
        self.start.set(start);
    }

    /// Starts a phase; the one before must have ended.
    #[inline(always)]
    pub(super) fn start_phase(&self, phase: PseudoRegion, at: u64) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.phase_start.set(at);
    }

    /// Ends the running phase.
    #[inline(always)]
    pub(super) fn end_phase(&self, node: &'static Node, at: u64) {
        let phase = self.within();
        if phase != MAIN {
            let ticks = at.wrapping_sub(self.phase_start.get());
            match self.role() {
                Role::Sampled => node.add(phase, ticks.wrapping_mul(self.weight.get())),
                _ => node.add(phase, ticks),
            }
        }
    }
}

/// Makes frames above `below`, linked; the lowest of them is given.
pub(super) fn add_frames(below: Option<&'static Frame>) -> Option<&'static Frame> {
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

impl Thread {
    /// An event of a region.
    #[inline(always)]
    pub(crate) fn report(
        &'static self,
        event: Event,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) {
        let event = event.alike();
        match attention::is_needed() {
            true => self.report_specially(event, region, &now),
            false => self.record(event, region, now),
        }
    }

    /// Records an event of a region.
    #[inline(always)]
    pub(super) fn record(
        &'static self,
        event: Event,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) {
        match event {
            Event::BarrierEnter | Event::ImplicitBarrierEnter => {
                if event == Event::ImplicitBarrierEnter {
                    region.tells_barrier();
                }
                self.act(event.action(), region, now);
                self.arrive();
            }
            Event::TaskEnd => {
                self.end_task(region, now);
            }
            Event::BarrierExit | Event::ImplicitBarrierExit => {
                let node = self.node_on_top(region);
                self.act(event.action(), region, now);
                if let Some(node) = node {
                    self.depart(node);
                }
            }
            _ => match self.silent_top(event.action(), region) {
                Some(frame) => self.go_on_silently(frame, event.action()),
                None => self.record_timed(event, region, now),
            },
        }
    }

    #[inline(always)]
    fn record_timed(&'static self, event: Event, region: &'static Region, now: impl Fn() -> u64) {
        match event {
            Event::CriticalEnd => self.end_critical(region, now()),
            Event::CriticalExit => self.exit_critical(region, now()),
            _ => self.act(event.action(), region, now),
        }
    }

    /// The node of the region whose frame is on top.
    #[inline(always)]
    pub(super) fn node_on_top(&self, region: &'static Region) -> Option<&'static Node> {
        let top = self.top()?;
        let is_top = top.is(Role::Construct, region) || top.is(Role::Member, region);
        top.node().filter(|_| is_top)
    }

    /// Does what the event table says.
    #[inline(always)]
    pub(super) fn act(
        &'static self,
        action: Action,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) {
        match action {
            Action::Open(phase) => self.open(region, phase, now),
            Action::Turn(phase) => self.turn(region, phase, now()),
            Action::Close => self.close(region, now()),
            Action::OpenWork => match self.combined_member(region) {
                Some(frame) => self.turn_frame(frame, PseudoRegion::Body, now()),
                None => self.open(region, PseudoRegion::Body, now),
            },
            Action::CloseWork => self.close_work(region, now()),
        }
    }

    /// Opens a construct.
    #[inline(always)]
    fn open(&'static self, region: &'static Region, phase: PseudoRegion, now: impl Fn() -> u64) {
        match self.next_frame(region) {
            Some((frame, node)) if !node.is_special() => {
                self.open_timed(frame, Role::Construct, node, phase, now);
            }
            next => self.open_specially(region, phase, next, &now),
        }
    }

    /// Opens a frame. The clock is read last, so that our own work counts for
    /// what surrounds the region.
    #[inline(always)]
    pub(super) fn open_timed(
        &'static self,
        frame: &'static Frame,
        role: Role,
        node: &'static Node,
        phase: PseudoRegion,
        now: impl Fn() -> u64,
    ) {
        if counters::are_on() {
            self.start_counters(frame);
        }
        let start = now();
        self.trace_enter(frame, node, phase, start);
        frame.begin(role, node, start);
        frame.start_phase(phase, start);
        self.set_top(frame);
    }

    /// Opens a frame whose instance is not timed, or belongs to a node above. Of
    /// the latter the entry has its time too: what both recorded of the same
    /// time is told apart by it.
    #[inline(never)]
    pub(super) fn open_specially(
        &'static self,
        region: &'static Region,
        phase: PseudoRegion,
        next: Option<(&'static Frame, &'static Node)>,
        now: &dyn Fn() -> u64,
    ) {
        let node = next.map(|(_, node)| node);
        match (next, node.and_then(Node::recursion)) {
            (Some((frame, entry)), Some(around)) => {
                frame.entry.set(Some(entry));
                self.open_timed(frame, Role::Again, around, phase, now);
            }
            (Some((frame, node)), None) if node.sample().is_some() => {
                self.open_sampled(frame, node, phase, now);
            }
            _ => {
                self.folded.add(u64::from(node.is_none()));
                self.open_silently(region, phase, node);
            }
        }
    }

    /// The frame above the top, and the node of a region entered here.
    #[inline(always)]
    pub(super) fn next_frame(
        &'static self,
        region: &'static Region,
    ) -> Option<(&'static Frame, &'static Node)> {
        let top = self.top()?;
        let parent = match top.node() {
            Some(node) => node,
            None => self.become_initial(top)?,
        };
        let node = self.tree.child(parent, region, top.within())?;
        Some((self.frame_above(top)?, node))
    }

    /// As `next_frame`, whatever memory that takes: without a node its team
    /// would be lost.
    pub(super) fn next_frame_for_team(
        &'static self,
        region: &'static Region,
    ) -> Option<(&'static Frame, &'static Node)> {
        match self.next_frame(region) {
            Some(next) => Some(next),
            None => self.tree.beyond_limit(|| self.next_frame(region)),
        }
    }

    #[inline(always)]
    pub(super) fn frame_above(&'static self, top: &'static Frame) -> Option<&'static Frame> {
        match top.above.get() {
            Some(frame) => Some(frame),
            None => more_frames(top),
        }
    }

    /// Ends the phase of a region's frame and starts another.
    #[inline(always)]
    fn turn(&'static self, region: &'static Region, phase: PseudoRegion, at: u64) {
        match self.top() {
            Some(top) if top.is(Role::Construct, region) => self.turn_frame(top, phase, at),
            _ => self.turn_outer(region, phase, at),
        }
    }

    #[inline(never)]
    fn turn_outer(&'static self, region: &'static Region, phase: PseudoRegion, at: u64) {
        if let Some(frame) = self.uncover(region, true, at) {
            self.turn_frame(frame, phase, at);
        }
    }

    #[inline(always)]
    pub(super) fn turn_frame(&'static self, frame: &'static Frame, phase: PseudoRegion, at: u64) {
        match frame.role() {
            Role::Silent => return Self::turn_silently(frame, phase),
            Role::Counted => return frame.set_within(phase as u8),
            _ => {}
        }
        if let Some(node) = frame.node() {
            self.trace_turn(node, phase, at);
            frame.end_phase(node, at);
            frame.start_phase(phase, at);
        }
    }

    /// Closes a construct.
    #[inline(always)]
    fn close(&'static self, region: &'static Region, at: u64) {
        match self.top() {
            Some(top) if top.is(Role::Construct, region) => self.close_construct(top, at),
            _ => self.close_outer(region, at),
        }
    }

    #[cold]
    #[inline(never)]
    fn close_outer(&'static self, region: &'static Region, at: u64) {
        if let Some(frame) = self.uncover(region, false, at) {
            self.close_any_construct(frame, at);
        }
    }

    pub(super) fn close_any_construct(&'static self, frame: &'static Frame, at: u64) {
        match frame.role() {
            Role::Silent => return self.close_silently(frame),
            Role::Counted => return self.drop_frame(frame),
            Role::Sampled => {
                if let Some(node) = frame.node() {
                    frame.end_phase(node, at);
                    self.close_sampled(frame, node, at);
                }
                return self.drop_frame(frame);
            }
            Role::Again => {
                if let Some(entry) = frame.entry() {
                    let main = entry.span(PseudoRegion::Main);
                    main.add(at.wrapping_sub(frame.start()));
                }
            }
            _ => {}
        }
        self.close_construct(frame, at);
    }

    #[inline(always)]
    fn close_construct(&'static self, frame: &'static Frame, at: u64) {
        if let Some(node) = frame.node() {
            self.trace_exit(frame, node, at);
            frame.end_phase(node, at);
            self.add_instance(node, at.wrapping_sub(frame.start()));
            if counters::are_on() {
                self.stop_counters(frame, node);
            }
        }
        if let Some(below) = frame.below() {
            self.set_top(below);
            if below.role() == Role::Ended {
                below.tell_last_task(Some(at));
            }
        }
    }

    /// Adds one instance of a whole region.
    #[inline(always)]
    pub(super) fn add_instance(&self, node: &'static Node, ticks: u64) {
        node.span(PseudoRegion::Main).add(ticks);
        self.log.add(node, ticks);
    }

    /// Closes a worksharing construct. In a combined region only the body ends,
    /// if it has not ended already.
    #[inline(always)]
    fn close_work(&'static self, region: &'static Region, at: u64) {
        match self.top() {
            Some(top) if top.is(Role::Construct, region) => self.close_construct(top, at),
            _ => self.close_outer_work(region, at),
        }
    }

    #[inline(never)]
    fn close_outer_work(&'static self, region: &'static Region, at: u64) {
        let Some(frame) = self.uncover(region, true, at) else {
            return;
        };
        if frame.role().is_construct() {
            self.close_any_construct(frame, at);
        } else if frame.within() == PseudoRegion::Body as u8 {
            self.turn_frame(frame, PseudoRegion::Main, at);
        }
    }

    /// The member frame on top, if it is of this region.
    #[inline(always)]
    pub(super) fn combined_member(
        &'static self,
        region: &'static Region,
    ) -> Option<&'static Frame> {
        self.top()
            .filter(|_| region.is_combined())
            .filter(|top| top.is(Role::Member, region))
    }

    /// Finds the open frame of a region on this side of the team, and closes
    /// what stands above it. If there is none, the event matches nothing.
    pub(super) fn uncover(
        &'static self,
        region: &'static Region,
        member_too: bool,
        at: u64,
    ) -> Option<&'static Frame> {
        let frame = self.open_frame(region, member_too);
        if let Some(frame) = frame {
            self.close_above(frame, at);
            return Some(frame);
        }
        match region.kind {
            kind if kind.is_task_execution() => self.migrated.add(1),
            // It was entered before there was anything to measure, or in a pause.
            RegionKind::Function => {}
            _ => self.unmatched.add(1),
        }
        None
    }

    /// The open frame of a region on this side of the team.
    pub(super) fn open_frame(
        &self,
        region: &'static Region,
        member_too: bool,
    ) -> Option<&'static Frame> {
        let mut frame = self.top();
        while let Some(candidate) = frame {
            if candidate.is_construct_of(region) || member_too && candidate.is(Role::Member, region)
            {
                return frame;
            }
            frame = candidate
                .below()
                .filter(|_| candidate.role().is_construct());
        }
        None
    }

    /// Closes everything above a frame, which its own exit did not.
    pub(super) fn close_above(&'static self, frame: &'static Frame, at: u64) {
        while let Some(top) = self.top().filter(|top| !std::ptr::eq(*top, frame)) {
            let Some(below) = top.below() else { return };
            if top.role() == Role::Ended {
                self.leave_barrier(top);
                continue;
            }
            // That an exception leaves functions is no surprise.
            self.skipped.add(u64::from(!top.is_function()));
            if !self.is_passing(top) {
                collector::events::is_skipped(top);
            }
            match top.role() {
                _ if self.paused().is_some() => self.end_in_passing(top),
                Role::Fork => self.close_fork(top, at),
                Role::Member => self.close_member(top, at),
                Role::Base | Role::Ended => return,
                _ => self.close_any_construct(top, at),
            }
            self.set_top(below);
            if top.role() == Role::Member {
                self.tell_of_idleness();
            }
        }
    }
}

#[cold]
#[inline(never)]
fn more_frames(top: &'static Frame) -> Option<&'static Frame> {
    add_frames(Some(top))
}
