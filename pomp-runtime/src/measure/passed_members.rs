//! Teams whose members are passed over: small parallel regions in which nothing else happens.
//!
//! Recording the begin and the end of a member costs more than a read of the clock: the member
//! reads data of the thread that forked, and that thread reads data of the members. A region that
//! proves to be executed often, to be short, and to hold no constructs but loops and `workshare` is
//! timed as a whole in each instance, from fork to join. Its members record their begin and end only
//! in as many instances as the budget allows. In all others they count, in memory of their own, and
//! touch nothing that another thread writes: the handle that they get is the node of the fork.
//!
//! At the end of the run the time of the instances whose members only counted, which is known, is
//! divided in the same proportions as that of instances whose members recorded their events. A
//! member's part that lasts for two steps of the [`coarse_clock`] is recorded with its own time. If
//! something else happens in a member's part after all, the part is put on the stack, marked as
//! already counted, and the members of the region record from then on.

use profile::event::{Action, Event};
use profile::region_kind::{PseudoRegion, RegionKind};

use super::clock::{self, now};
use super::node_sample::Sample;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::records::team::TeamHandle;
use super::shared::leak;
use super::thread::{self, Thread};
use super::{coarse_clock, pause, sampling, state};
use crate::measure::records::Node;
use crate::measure::records::node::Origin;

/// Member `number` of a team begins. True if it is passed over, so that there is no more to do.
#[inline(always)]
pub(crate) fn begins(
    team: TeamHandle,
    number: impl FnOnce() -> u32 + Copy,
    size: impl FnOnce() -> u32 + Copy,
) -> bool {
    let TeamHandle::PassedOver(fork) = team else {
        return false;
    };
    let thread = thread::current().filter(|_| state::is_quick());
    thread.is_some_and(|thread| !thread.is_busy() && thread.begins_part(fork, number(), size))
}

/// An event of what can be the work of a region ([`is_of_work`]). Whether it is passed over, with the
/// part that it is in: the work of a combined region, or a construct that may be counted in a part
/// ([`Region::may_be_counted_in_part`]).
#[inline(always)]
pub(crate) fn is_work_passed_over(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    holds_in_part(find, |thread, region| match event.action() {
        Action::OpenWork => {
            thread.does_part_of(region) || !thread.is_busy() && thread.counts_construct(region)
        }
        Action::CloseWork => thread.does_part_of(region) || thread.ends_counted(region),
        _ if event == Event::ImplicitBarrierEnter => thread.waits_in_counted(region),
        _ => thread.ends_counted(region),
    })
}

/// Whether an event begins or ends what can be the whole work of a parallel region, or its barrier.
#[inline(always)]
pub(crate) const fn is_of_work(event: Event) -> bool {
    matches!(event.action(), Action::OpenWork | Action::CloseWork) || event.is_of_implicit_barrier()
}

/// The part of a member ends. Whether it is passed over.
#[inline(always)]
pub(crate) fn ends(find: impl FnOnce() -> Option<&'static Region> + Copy) -> bool {
    let is_passed_over = holds_in_part(find, |thread, region| thread.does_part_of(region));
    if is_passed_over && let Some(thread) = thread::current() {
        thread.ends_part();
    }
    is_passed_over
}

/// As `ends`, of the part that this thread executes, whatever its region.
#[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
pub(crate) fn ends_this() -> bool {
    ends(|| thread_in_part()?.passed_member.root.get()?.region())
}

/// The loop that is counted in the part that this thread executes, if that part is passed over.
#[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
pub(crate) fn loop_passed_over() -> Option<&'static Region> {
    let thread = thread_in_part().filter(|_| state::is_quick())?;
    thread.passed_member.inner.get()?.region()
}

/// The current thread, if it executes a part that is passed over.
#[inline(always)]
fn thread_in_part() -> Option<&'static Thread> {
    thread::current().filter(|thread| thread.passed_member.is_in())
}

/// Whether the current thread executes a part that is passed over, and this `holds` for it and the region
/// that `find` gives.
#[inline(always)]
fn holds_in_part(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    holds: impl FnOnce(&'static Thread, &'static Region) -> bool + Copy,
) -> bool {
    thread_in_part().is_some_and(|thread| {
        state::is_quick() && find().is_some_and(|region| holds(thread, region))
    })
}

/// Whether a loop that ends is the work of a combined region whose member is passed over.
#[cfg_attr(
    any(test, not(target_arch = "x86_64")),
    allow(dead_code, reason = "its users are not built")
)]
#[inline(always)]
pub(crate) fn passes_over_end_of_loop() -> bool {
    let region = thread_in_part().and_then(|thread| thread.passed_member.root.get()?.region());
    state::is_quick() && region.is_some_and(|region| region.kind == RegionKind::ParallelLoop)
}

/// A loop begins that may be counted in a part ([`Region::may_be_counted_in_part`]). Whether it is
/// passed over, with the part that it is in.
#[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
#[inline(always)]
pub(crate) fn passes_over_begin_of_loop(
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    holds_in_part(find, |thread, region| {
        !thread.is_busy() && thread.counts_construct(region)
    })
}

impl Thread {
    #[inline(always)]
    pub(super) fn begins_part(
        &'static self,
        fork: &'static Node,
        number: u32,
        size: impl FnOnce() -> u32 + Copy,
    ) -> bool {
        // Else there is something to do first.
        let is_free = !self.pass_table.is_passing() && self.pauses() == pause::mark();
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
        size: impl FnOnce() -> u32 + Copy,
    ) {
        if let Some(fork) = self.top().filter(|top| top.role() == Role::Fork)
            && fork.node().is_some_and(|node| root.is_below(node))
        {
            self.has_size(fork, size());
        }
        sample.add_passed(1);
        self.passed_member.begin(root, coarse_clock::mark());
        // The next event in the part runs `catch_up` first, which puts the member on the stack.
        self.pass_table.forget_place();
        self.request_catch_up();
    }

    /// Counts a loop or `workshare` in a part that is passed over. False if it has to be recorded.
    #[inline(always)]
    pub(super) fn counts_construct(&'static self, region: &'static Region) -> bool {
        let root = self.passed_member.root.get();
        let body = PseudoRegion::Body as u8;
        let Some(node) = root.and_then(|root| self.tree.last_or_next_child(root, region, body))
        else {
            return false;
        };
        let Some(sample) = node.sample().or_else(|| sampling::sample_from_now_on(node)) else {
            return false;
        };
        for part in node.parts_of_each() {
            node.span(part).count.add(1);
        }
        sample.add_passed(1);
        self.passed_member.begin_inner(node);
        true
    }

    /// The barrier of a construct that is counted in a part begins. False if it has to be recorded.
    #[inline(always)]
    fn waits_in_counted(&self, region: &'static Region) -> bool {
        let is_counted = self.has_counted(region);
        if is_counted {
            self.passed_member.set_inner_phase(PseudoRegion::Ibarr);
        }
        is_counted
    }

    /// A construct that is counted in a part ends. False if its end has to be recorded.
    #[inline(always)]
    fn ends_counted(&self, region: &'static Region) -> bool {
        let is_counted = self.has_counted(region);
        if is_counted {
            self.passed_member.inner.set(None);
        }
        is_counted
    }

    #[inline(always)]
    fn has_counted(&self, region: &'static Region) -> bool {
        let inner = self.passed_member.inner.get();
        inner.is_some_and(|node| node.is_of(region))
    }

    /// Member `number` of a team begins, and there may be more to do than to pass it over. Whether its
    /// part is recorded.
    #[inline(always)]
    pub(crate) fn begin_in(
        &'static self,
        team: TeamHandle,
        number: u32,
        size: impl FnOnce() -> u32 + Copy,
        now: impl Fn() -> u64,
    ) -> bool {
        match team {
            TeamHandle::Team(team) => self.begin_member(team, number, size, now),
            TeamHandle::PassedOver(fork) => self.begins_another_part(fork, number, size()),
        }
        matches!(team, TeamHandle::Team(_))
    }

    /// As `begins_part`, if the member's root has to be searched for or made.
    fn begins_another_part(&'static self, fork: &'static Node, number: u32, size: u32) {
        let root = self.tree.member_root(fork, number);
        if let Some(root) = root
            && let Some(sample) = root.sample_of_member()
        {
            self.counts_part(root, sample, || size);
        }
    }

    /// Whether the thread is executing a part of this region that is passed over.
    #[inline(always)]
    pub(super) fn does_part_of(&self, region: &'static Region) -> bool {
        let member = &self.passed_member;
        member.is_in() && member.root.get().is_some_and(|root| root.is_of(region))
    }

    #[inline(always)]
    pub(super) fn ends_part(&'static self) {
        let member = &self.passed_member;
        if member.mark.get() != coarse_clock::mark() {
            self.adds_long_part_of_member();
        }
        member.end();
        // A worker goes on looking: its next team may be one that is not reported to it.
        if self.top().is_some_and(|top| top.role() == Role::Fork) {
            self.clear_catch_up_request();
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
        {
            root.add_known_body(ticks);
        }
    }

    /// The part of a member ends. If it was passed over and then put on the stack, it gets the time
    /// from then on, as what has happened in it did.
    #[inline(always)]
    pub(super) fn add_rest_of_part(&self, frame: &Frame, at: u64) {
        if frame.is_counted()
            && !self.is_paused()
            && let Some(root) = frame.node()
        {
            root.add_known_body(pause::between(frame.start(), at.max(frame.start())));
        }
    }

    /// Something happens in a member's part that is passed over, or after its end. Puts the member
    /// on the stack.
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
        // After the join the thread is in no team that was reported to it.
        if !team.is_passed() {
            return;
        }
        if !team.is_forked_by(self.address()) {
            self.leave_stale_frames(clock::now);
            self.initial.set(team.initial());
        }
        if let Some(frame) = self.top().and_then(Frame::frame_above) {
            frame.begin_counted_member(root, team, clock::now());
            self.set_top(frame);
            if has_ended {
                frame.end_counted_member();
                self.watch_for_the_next_team();
            } else if let Some(inner) = self.passed_member.inner.get() {
                self.put_counted_on_stack(inner, self.passed_member.inner_phase());
            }
        }
    }

    /// A timed member has ended: its times stand for those of the members that were passed over.
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
    /// Adds time that was measured of a member's part that is passed over.
    fn add_known_body(&self, ticks: u64) {
        if let Some(sample) = self.sample() {
            self.span(PseudoRegion::Body).ticks.add(ticks);
            sample.add_long(ticks);
        }
    }

    fn is_below(&self, fork: &'static Node) -> bool {
        self.parent()
            .is_some_and(|parent| std::ptr::eq(parent, fork))
    }

    /// The sample of a member root, made if there is none.
    fn sample_of_member(&self) -> Option<&'static Sample> {
        debug_assert!(matches!(self.place(), Origin::Member(_)));
        if self.sample().is_none() {
            self.set_sample_of_member(leak(Sample::default())?);
        }
        self.sample()
    }
}
