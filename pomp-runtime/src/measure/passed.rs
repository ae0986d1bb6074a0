//! Instances that are passed over: counted, and neither timed nor put on the stack.
//!
//! A probe that passes over an instance reads little. The thread keeps its place on the call paths,
//! together with the mark that the [`coarse_clock`] had when the thread found that place. As long
//! as the mark is the same, no request is pending and the place is valid. The next event that is
//! recorded runs `Thread::catch_up` first, which forgets the place. The probe makes few stores,
//! since an atomic update waits for the stores in front of it.

use profile::event::{Action, Event};
use profile::region_kind::{PseudoRegion, RegionKind};

use super::clock::now;
use super::pass_table::{Passes, place_of};
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::{self, Thread};
use super::{attention, coarse_clock, coarse_times, passed_members, pause, state};
use crate::measure::lending::Passing;
use crate::measure::records::Node;

/// Whether an event of the region that `find` gives is passed over, so that nothing else is to be
/// done. Probes ask this first. The function calls no other one, so that the probes save few
/// registers. If the thread has to find its place first, the answer is no.
#[inline(always)]
pub(crate) fn is_passed_over_at_once(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    is_passed_over_by(event, find, Thread::knows_place_already)
}

/// As `is_passed_over_at_once`, but the thread finds its place if it has to.
#[inline(always)]
pub(crate) fn is_passed_over(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    is_passed_over_by(event, find, |thread| thread.knows_place_for(find))
}

/// The region of the instance that this thread passes over, if there is one.
#[cfg_attr(
    any(test, not(target_arch = "x86_64")),
    allow(dead_code, reason = "its users are not built")
)]
#[inline(always)]
pub(crate) fn open_instance() -> Option<&'static Region> {
    let thread = thread::current().filter(|_| state::is_quick())?;
    thread.pass_table.passed.region()
}

/// As `is_passed_over`, of the end of an implicit barrier, with which its construct ends.
#[inline(always)]
pub(crate) fn is_end_passed_over(find: impl FnOnce() -> Option<&'static Region> + Copy) -> bool {
    if passed_members::is_work_passed_over(Event::ImplicitBarrierExit, find) {
        return true;
    }
    let is_passed_over = is_passed_over(Event::ImplicitBarrierExit, find);
    if is_passed_over && let Some(thread) = thread::current() {
        thread.pass_table.passed.end();
    }
    is_passed_over
}

/// Whether nothing else is to be done for an event: it is passed over, or it was recorded with no
/// more than a look at the coarse clock.
#[inline(always)]
pub(crate) fn is_done_at_once(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> bool {
    is_passed_over(event, find) || coarse_times::is_recorded(event, find)
}

/// Passes over an instance in which nothing else happens, if it is to be passed over. Its end is
/// not reported then.
pub(crate) fn pass_over_and_lend(region: Option<&'static Region>) -> Passes {
    match at_known_place(region) {
        Some((thread, region)) => thread.pass_table.counts_and_lends(region),
        None => Passes::No,
    }
}

/// Whether an instance is passed over that consists of one call, in which nothing else happens. The program
/// counts no others of them itself.
pub(crate) fn is_call_passed_over(region: Option<&'static Region>) -> bool {
    at_known_place(region).is_some_and(|(thread, region)| thread.pass_table.counts_alone(region))
}

/// Passes over an instance that begins with this event, if it is to be passed over and there is a
/// record for the program, which then goes on with the instance itself. The instances of these
/// constructs do not come with a barrier.
pub(crate) fn begin_and_lend(
    event: Event,
    region: Option<&'static Region>,
) -> Option<&'static Passing> {
    let Action::Open(phase) = event.action() else {
        return None;
    };
    let (thread, region) = at_known_place(region)?;
    thread.pass_table.begins_and_lends(region, phase)
}

/// The record in which this thread counts the instances of a construct that is switched off, if it has
/// one. A thread of which nothing was measured yet has none.
pub(crate) fn lend_for_unmeasured() -> Option<&'static Passing> {
    let thread = thread::current().filter(|thread| !thread.is_busy())?;
    Some(thread.unmeasured.lend())
}

/// This thread and the region, if the thread knows its place, or finds it for that region.
#[inline(always)]
fn at_known_place(region: Option<&'static Region>) -> Option<(&'static Thread, &'static Region)> {
    let region = region.filter(|_| state::is_quick())?;
    let thread = thread::current()?;
    let knows_place = thread.knows_place_for(|| Some(region));
    knows_place.then_some((thread, region))
}

#[inline(always)]
fn is_passed_over_by(
    event: Event,
    find: impl FnOnce() -> Option<&'static Region> + Copy,
    knows_place: impl FnOnce(&'static Thread) -> bool + Copy,
) -> bool {
    if !may_be_passed_over(event) {
        return false;
    }
    // Asked first: a thread that may be cancelled at any instruction goes no further.
    if !state::is_quick() {
        return false;
    }
    let Some(thread) = thread::current() else {
        return false;
    };
    if ends_momentary(event) {
        // If the begin had been recorded, the thread would have forgotten its place.
        return thread.knows_place_already() || thread.passes_over(event, find);
    }
    // Else the thread is in no state in which it can pass over something.
    let begins = matches!(event.action(), Action::Open(_) | Action::OpenWork);
    if !begins && !thread.pass_table.is_passing() || !knows_place(thread) {
        return false;
    }
    thread.passes_over(event, find)
}

/// Whether with this event a construct ends in which nothing else can happen. Such an instance that is
/// passed over is not noted: an atomic update waits for the stores in front of it.
#[inline(always)]
const fn ends_momentary(event: Event) -> bool {
    match (event.action(), event.passed_over_with()) {
        (Action::Close, Some(kind)) => kind.is_momentary(),
        _ => false,
    }
}

/// Whether an event is of a construct that can be passed over.
#[inline(always)]
pub(crate) const fn may_be_passed_over(event: Event) -> bool {
    event.passed_over_with().is_some() || event.is_of_implicit_barrier()
}

impl Thread {
    /// Whether the thread knows its place on the call paths. Finds the place if need be, and if
    /// instances of the region that `find` gives are passed over anywhere.
    #[inline(always)]
    pub(crate) fn knows_place_for(
        &'static self,
        find: impl FnOnce() -> Option<&'static Region>,
    ) -> bool {
        match self.knows_place_already() {
            true => true,
            false if self.pass_table.is_passing() => {
                self.records_if_long();
                true
            }
            false => find().is_some_and(|region| self.finds_place_for(region)),
        }
    }

    /// Whether the thread knows its place, without looking for it.
    #[inline(always)]
    pub(super) fn knows_place_already(&self) -> bool {
        self.pass_table.seen.get() == coarse_clock::mark()
    }

    /// Whether the thread is in something that is passed over.
    #[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
    pub(crate) fn is_passing_over(&self) -> bool {
        self.pass_table.is_passing() || self.passed_member.is_in()
    }

    /// Finds the thread's place if instances of a region are passed over anywhere.
    #[inline(always)]
    pub(super) fn finds_place_for(&'static self, region: &'static Region) -> bool {
        region.is_sampled() && self.passes_over_here(region) && self.find_place()
    }

    /// Whether an instance of a region is to be passed over at the thread's place.
    #[inline(always)]
    pub(super) fn passes_over_here(&'static self, region: &'static Region) -> bool {
        let place = self
            .top()
            .and_then(|top| Some(place_of(top.node()?, top.within())));
        place.is_some_and(|place| self.pass_table.has_left(region, place))
    }

    /// Handles an event of a construct on a thread that knows its place. True if there is no more
    /// to do. If the begin of an instance was passed over, so are its other events.
    ///
    /// The next event of a construct of the same kind belongs to the instance that is open: anything
    /// else that begins in an instance is recorded, and puts the instance on the stack. So the region
    /// need not be found.
    #[inline(always)]
    pub(crate) fn passes_over(
        &'static self,
        event: Event,
        find: impl FnOnce() -> Option<&'static Region> + Copy,
    ) -> bool {
        let pass_table = &self.pass_table;
        let is_passed_over = match event.action() {
            Action::Open(phase) => {
                find().is_some_and(|region| self.passes_over_whole(region, phase))
            }
            Action::OpenWork => {
                find().is_some_and(|region| self.passes_over_whole(region, PseudoRegion::Body))
            }
            Action::SwitchPhase(phase) if self.has_open(event, find) => {
                pass_table.passed.set_phase(phase);
                true
            }
            _ if ends_momentary(event) => !self.has_on_top(event.passed_over_with(), find),
            Action::Close | Action::CloseWork if self.has_open(event, find) => {
                pass_table.passed.end();
                true
            }
            _ => false,
        };
        if is_passed_over {
            match event {
                Event::BarrierEnter => self.counts_barrier(),
                Event::ImplicitBarrierEnter => {
                    self.counts_barrier();
                    pass_table.counts_part(PseudoRegion::Ibarr);
                }
                Event::SingleBegin => pass_table.counts_part(PseudoRegion::Body),
                _ => {}
            }
        }
        is_passed_over
    }

    /// Whether an event is one of the instance that the thread passes over.
    #[inline(always)]
    fn has_open(
        &self,
        event: Event,
        find: impl FnOnce() -> Option<&'static Region> + Copy,
    ) -> bool {
        let Some(open) = self.pass_table.passed.region() else {
            return false;
        };
        event.passed_over_with() == Some(open.kind)
            || find().is_some_and(|it| std::ptr::eq(open, it))
    }

    #[inline(always)]
    fn passes_over_whole(&'static self, region: &'static Region, phase: PseudoRegion) -> bool {
        let pass_table = &self.pass_table;
        // A construct that begins inside an instance that is passed over has another place.
        if pass_table.is_passing() || !pass_table.counts_at(region, pass_table.place.get()) {
            return false;
        }
        if !region.kind.is_momentary() {
            pass_table.passed.begin(region, phase);
        }
        true
    }

    /// Whether the construct on top of the stack is the one that `find` gives, which is of this kind.
    #[inline(always)]
    fn has_on_top(
        &self,
        kind: Option<RegionKind>,
        find: impl FnOnce() -> Option<&'static Region> + Copy,
    ) -> bool {
        let Some(top) = self.top().and_then(Frame::region) else {
            return false;
        };
        Some(top.kind) == kind && find().is_none_or(|region| std::ptr::eq(region, top))
    }

    /// Finds the thread's place on the call paths. False if an event is being recorded, if there is
    /// something to do first, or if every event has to be recorded.
    #[cold]
    #[inline(never)]
    fn find_place(&'static self) -> bool {
        let pass_table = &self.pass_table;
        // The mark is read first: a request that comes meanwhile changes it.
        let mark = coarse_clock::mark_of_all_before();
        let sees_all = match pass_table.seen.get() {
            0 => self.is_up_to_date(pause::mark()),
            // `sees` compares a field that the call of `request_catch_up` below has overwritten.
            _ => self.pauses() == pause::mark(),
        };
        let Some(top) = self.top() else { return false };
        let Some(parent) = top.node() else {
            return false;
        };
        // The end of what is on top has to be recorded.
        let is_in_momentary = top.region().is_some_and(|it| it.kind.is_momentary());
        // After the end of its part a member executes tasks, whose ends have to be recorded.
        let is_behind_end = top.role() == Role::Ended || self.passed_member.has_ended();
        if is_in_momentary
            || is_behind_end
            || !sees_all
            || self.is_busy()
            || attention::is_needed()
            || self.passed_member.is_in()
        {
            return false;
        }
        pass_table.place.set(place_of(parent, top.within()));
        pass_table.seen.set(mark);
        self.request_catch_up();
        true
    }

    /// A part of an instance that is passed over ends: records it if it was long.
    #[cold]
    #[inline(never)]
    fn records_if_long(&'static self) {
        let mark = coarse_clock::mark();
        let pass_table = &self.pass_table;
        let seen = pass_table.seen.get();
        let (first, steps) = (coarse_clock::steps_of(seen), coarse_clock::steps_of(mark));
        // Only the steps are brought up to date. A request still has to be noticed.
        pass_table.seen.set(seen - first + steps);
        if self.is_paused() {
            return;
        }
        let Some(ticks) = coarse_clock::elapsed(first, steps, now()) else {
            return;
        };
        // Only the time is added: the instance is counted with all others that are passed over.
        let phase = pass_table.passed.phase();
        if let Some(node) = pass_table.open_node() {
            node.add_known_time(phase, ticks);
        }
    }

    /// Has the next `number` instances of a region passed over, to calibrate the cost of that.
    /// False if none can be passed over now.
    pub(super) fn pass_over_next(&'static self, region: &'static Region, number: u32) -> bool {
        let Some((frame, node)) = self.next_frame(region) else {
            return false;
        };
        let Some(parent) = frame.below().and_then(Frame::node) else {
            return false;
        };
        let place = place_of(parent, node.key_within());
        let entry = self.pass_table.entry(region, place);
        entry.region.set(Some(region));
        entry.place.set(place);
        entry.arm(number);
        region.set_sampled();
        self.set_pauses(pause::count());
        self.clear_catch_up_request();
        self.find_place()
    }

    /// Something happens in the instance that is passed over, so the instance is put on the stack.
    pub(super) fn put_on_stack(&'static self) {
        let pass_table = &self.pass_table;
        let phase = pass_table.passed.phase();
        let open = pass_table.open_node();
        pass_table.passed.end();
        if let Some(node) = open {
            self.put_counted_on_stack(node, phase as u8);
            if let Some(region) = node.region().filter(|it| it.kind.is_shared_by_a_team()) {
                region.hold_others();
            }
        }
    }

    /// Puts an instance on the stack that is counted already.
    pub(super) fn put_counted_on_stack(&'static self, node: &'static Node, phase: u8) {
        if let Some(frame) = self.top().and_then(Frame::frame_above) {
            frame.begin(Role::Counted, node, 0);
            frame.set_within(phase);
            self.set_top(frame);
        }
    }
}

impl Node {
    /// Adds time that was measured of an instance that is passed over, to the whole and to one
    /// part.
    pub(super) fn add_known_time(&self, part: PseudoRegion, ticks: u64) {
        self.span(PseudoRegion::Main).ticks.add(ticks);
        if part != PseudoRegion::Main {
            self.span(part).ticks.add(ticks);
        }
    }
}
