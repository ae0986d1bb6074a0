//! The stack of frames: where a thread is, from the outermost region in.
//!
//! ```text
//! base -> construct -> fork -> member -> construct -> ...     (top)
//! ```
//!
//! The frame below a team's member frame is the fork frame on the thread that forked, and the base
//! on every other thread. Exits pop to their frame. The frames above it were left by `cancel`, an
//! exception or a jump; they are closed and counted. No search crosses a team member's frame.

use profile::event::{Action, Event};
use profile::region_kind::{PseudoRegion, RegionKind};

use super::attention;
use super::coarse_times;
use super::collector;
use super::counters;
use super::records::Frame;
use super::records::Node;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;
use super::{sampling, untimed};

/// Considers whether a node is to be recorded with less effort from now on. The thread's instances
/// come at this `interval` in ticks.
fn consider(node: &'static Node, interval: u64) {
    if node.passed_teams.get().is_some() {
        return;
    }
    untimed::consider(node);
    sampling::consider(node);
    coarse_times::consider(node, interval);
}

impl Thread {
    /// An event of a region.
    #[inline(always)]
    pub(crate) fn on_event(
        &'static self,
        event: Event,
        region: &'static Region,
        now: impl Fn() -> u64,
    ) {
        let event = event.representative();
        match attention::is_needed() {
            true => self.on_event_specially(event, region, &now),
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
                    region.reports_barrier();
                }
                self.act(event.action(), region, || self.begin_of_wait(&now));
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
            _ => match self.untimed_top(event.action(), region) {
                Some(frame) => self.go_on_untimed(frame, event.action()),
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
        let roles = [Role::Construct, Role::Member, Role::Sampled];
        top.node()
            .filter(|_| roles.into_iter().any(|role| top.is(role, region)))
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
            Action::SwitchPhase(phase) => self.switch_phase(region, phase, now()),
            Action::Close => self.close(region, now),
            Action::OpenWork => match self.combined_member(region) {
                Some(frame) => {
                    let at = frame.begin_of_work().unwrap_or_else(now);
                    self.switch_phase_of(frame, PseudoRegion::Body, at);
                }
                None => self.open(region, PseudoRegion::Body, now),
            },
            Action::CloseWork => {
                if self.reduction_part.is_open() {
                    self.separate_wait(region);
                }
                self.close_work(region, self.begin_of_wait(now));
            }
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

    /// Opens a frame. The clock is read last, so that our own work counts for the region around
    /// this one.
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
        let start = node.time_of_begin(now);
        self.trace_enter(frame, node, phase, start);
        frame.begin(role, node, start);
        frame.start_phase(phase, start);
        self.set_top(frame);
    }

    /// Opens a frame whose instance is not timed, or belongs to a node above (deep in a recursion).
    /// Deep in a recursion, the node of the entry gets the time as well, so that the time that both
    /// nodes have recorded is known.
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
                self.open_timed(frame, Role::Recursive, around, phase, now);
            }
            (Some((frame, node)), None) if node.sample().is_some() => {
                self.open_sampled(frame, node, phase, now);
            }
            _ => {
                self.folded.add(u64::from(node.is_none()));
                self.open_untimed(region, phase, node);
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
        Some((top.frame_above()?, node))
    }

    /// As `next_frame`, but even beyond the memory limit: without a node the team would be lost.
    pub(super) fn next_frame_for_team(
        &'static self,
        region: &'static Region,
    ) -> Option<(&'static Frame, &'static Node)> {
        match self.next_frame(region) {
            Some(next) => Some(next),
            None => self.tree.beyond_limit(|| self.next_frame(region)),
        }
    }

    /// Ends the phase of a region's frame and starts another.
    #[inline(always)]
    fn switch_phase(&'static self, region: &'static Region, phase: PseudoRegion, at: u64) {
        match self.top() {
            Some(top) if top.is(Role::Construct, region) => self.switch_phase_of(top, phase, at),
            _ => self.switch_outer_phase(region, phase, at),
        }
    }

    #[inline(never)]
    fn switch_outer_phase(&'static self, region: &'static Region, phase: PseudoRegion, at: u64) {
        if let Some(frame) = self.uncover(region, true, at) {
            self.switch_phase_of(frame, phase, at);
        }
    }

    #[inline(always)]
    pub(super) fn switch_phase_of(
        &'static self,
        frame: &'static Frame,
        phase: PseudoRegion,
        at: u64,
    ) {
        match frame.role() {
            Role::Untimed => return Self::switch_phase_untimed(frame, phase),
            Role::Counted => return Self::switch_phase_counted(frame, phase),
            Role::Member if frame.is_counted() => return frame.set_within(phase as u8),
            _ => {}
        }
        if let Some(node) = frame.node() {
            self.trace_phase_switch(node, phase, at);
            frame.end_phase(node, at);
            frame.start_phase(phase, at);
        }
    }

    fn switch_phase_counted(frame: &'static Frame, phase: PseudoRegion) {
        let node = frame.node();
        if let Some(node) = node.filter(|node| !node.has_in_each_instance(phase)) {
            node.span(phase).count.add(1);
        }
        frame.set_within(phase as u8);
    }

    /// Closes a construct.
    #[inline(always)]
    fn close(&'static self, region: &'static Region, now: impl Fn() -> u64) {
        match self.top() {
            Some(top) if top.is(Role::Construct, region) => {
                self.close_construct(top, top.time_of_end(now));
            }
            _ => self.close_outer(region, &now),
        }
    }

    #[cold]
    #[inline(never)]
    fn close_outer(&'static self, region: &'static Region, now: &dyn Fn() -> u64) {
        let deep = self.top().filter(|top| top.is(Role::Recursive, region));
        let at = deep.map_or_else(now, |deep| deep.time_of_end(now));
        if let Some(frame) = deep.or_else(|| self.uncover(region, false, at)) {
            self.close_any_construct(frame, at);
        }
    }

    pub(super) fn close_any_construct(&'static self, frame: &'static Frame, at: u64) {
        match frame.role() {
            Role::Untimed => return self.close_untimed(frame),
            Role::Counted => return self.drop_frame(frame),
            Role::Sampled => {
                if let Some(node) = frame.node() {
                    frame.end_phase(node, at);
                    self.close_sampled(node, frame.start(), at);
                }
                return self.drop_timed_frame(frame, at);
            }
            Role::Recursive => {
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
            if counters::are_on() {
                self.stop_counters(frame, node, at);
            }
            self.trace_exit(frame, node, at);
            frame.end_phase(node, at);
            self.add_instance(node, at.wrapping_sub(frame.start()));
        }
        self.drop_timed_frame(frame, at);
    }

    /// Takes a frame whose instance ended at that time from the stack. After the end of a member's
    /// part the instance was in a task, which may have no events of its own (`taskloop`).
    #[inline(always)]
    pub(super) fn drop_timed_frame(&'static self, frame: &'static Frame, at: u64) {
        if let Some(below) = frame.below() {
            self.set_top(below);
            match below.role() {
                Role::Ended => below.record_last_task(Some(frame.exact_time_of_end(at))),
                Role::Sampled | Role::Counted => {
                    below.add_inner_time(at.wrapping_sub(frame.start()));
                }
                _ => {}
            }
        }
    }

    /// Takes a frame from the stack without recording anything.
    #[inline(always)]
    pub(super) fn drop_frame(&'static self, frame: &'static Frame) {
        if let Some(below) = frame.below() {
            self.set_top(below);
        }
    }

    /// Adds one instance of a whole region.
    #[inline(always)]
    pub(super) fn add_instance(&self, node: &'static Node, ticks: u64) {
        node.span(PseudoRegion::Main).add(ticks);
        match node.coarse_times() {
            None => self.add_to_log(node, ticks),
            Some(times) => node.add_coarse_instance(times, ticks),
        }
    }

    /// Adds the time of one instance to be sorted later.
    #[inline(always)]
    pub(super) fn add_to_log(&self, node: &'static Node, ticks: u64) {
        self.log.add(node, ticks, consider);
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
            self.switch_phase_of(frame, PseudoRegion::Main, at);
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

    /// Finds the open frame of a region within the current team, and closes the frames above it. If
    /// there is none, the event matches nothing.
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

    /// The open frame of a region within the current team.
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

    /// Closes all frames above a frame, whose own exits did not come.
    pub(super) fn close_above(&'static self, frame: &'static Frame, at: u64) {
        while let Some(top) = self.top().filter(|top| !std::ptr::eq(*top, frame)) {
            let Some(below) = top.below() else { return };
            if top.role() == Role::Ended {
                self.leave_barrier(top);
                continue;
            }
            // Functions are not counted: it is normal that an exception leaves them.
            self.skipped.add(u64::from(!top.is_function()));
            if !self.is_passing(top) {
                collector::phases::is_skipped(top);
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
                self.notify_of_idleness();
            }
        }
    }
}
