//! Reports events to the measurement. The end of a worksharing construct is put off until the
//! thread's next event.

use std::cell::Cell;
use std::ffi::c_void;

use profile::region_kind::RegionKind;

use super::super::boundary::event_of;
use super::super::pomp::on_event;
use super::places::region;
use crate::measure::passed::is_done_at_once;
use crate::measure::records::Region;
use crate::measure::records::frame::Role;
use crate::measure::thread::Thread;
use profile::event::Event;

/// An address as the runtime gives it.
pub(super) type Address = *const c_void;

/// The value that is kept for the implicit task of a member that has not ended its part.
pub(super) const MEMBER: u64 = 2;

/// The end of a worksharing construct that was put off; or, without a construct, that a member
/// waits in the runtime before its part ends.
#[derive(Clone, Copy)]
pub(super) struct PutOff {
    /// The construct, and the event of its end.
    pub(super) construct: Option<(&'static Region, Event)>,
    pub(super) at: u64,
    /// Whether the call that began it was noted (`stated`).
    pub(super) is_noted: bool,
    pub(super) wait: Wait,
}

/// The runtime's own wait behind the work of a construct: a barrier in which it combines the parts
/// of a reduction, or hands out the values of `copyprivate`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    None,
    /// It began at this time, and lasts.
    Lasts(u64),
    /// It began at this time, and ended when the construct did.
    IsOver(u64),
    /// It is over, and its begin has been reported: a task was executed meanwhile.
    IsReported,
}

thread_local! {
    pub(super) static PUT_OFF: Cell<Option<PutOff>> = const { Cell::new(None) };
}

/// Reports the end that was put off, with the time at which it happened.
#[inline(always)]
pub(in crate::sources) fn catch_up(thread: &'static Thread) {
    if let Some(put_off) = PUT_OFF.take() {
        put_off.report(thread);
    }
}

impl PutOff {
    #[inline(always)]
    fn report(self, thread: &'static Thread) {
        let Some((region, exit)) = self.construct else {
            return;
        };
        if self.wait != Wait::None && self.report_wait(thread, region) {
            return;
        }
        thread.on_event(exit, region, || self.at);
    }

    /// Reports the wait. Returns whether it lasts.
    #[cold]
    #[inline(never)]
    fn report_wait(self, thread: &'static Thread, region: &'static Region) -> bool {
        if let Wait::Lasts(since) | Wait::IsOver(since) = self.wait {
            thread.on_event(Event::ImplicitBarrierEnter, region, || since);
        }
        let lasts = matches!(self.wait, Wait::Lasts(_));
        if !lasts {
            thread.on_event(Event::ImplicitBarrierExit, region, || self.at);
        }
        lasts
    }
}

/// Reports events of a region. It has been looked up before: the lookup may ask for the thread's
/// stack, and may be made once only for an event.
#[inline(always)]
pub(super) fn tell(region: Option<&'static Region>, events: &[Event]) {
    let events = not_done_at_once(events, || region);
    if !events.is_empty() {
        report(|_| region, events);
    }
}

#[inline(always)]
pub(super) fn tell_at(kind: RegionKind, address: Address, events: &[Event]) {
    tell(region((kind, 0), address.addr()), events);
}

/// Reports events of the innermost region of a kind that is open.
#[inline(always)]
pub(super) fn tell_open(kind: RegionKind, events: &[Event]) {
    // An instance that is passed over is on no stack, and is known by its kind.
    let events = not_done_at_once(events, || None);
    if !events.is_empty() {
        report(
            |thread| open(thread, |role, of| role.is_construct() && of == kind),
            events,
        );
    }
}

/// Whether no end is put off. Such an end has to be reported before anything is passed over.
#[inline(always)]
pub(in crate::sources) fn may_pass_over() -> bool {
    PUT_OFF.get().is_none()
}

/// Gives the events for which there is more to do, behind the first ones that are done at once.
#[inline(always)]
pub(super) fn not_done_at_once(
    events: &[Event],
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> &[Event] {
    let is_done = |event: &&Event| is_done_at_once(**event, find);
    let done = match may_pass_over() {
        true => events.iter().take_while(is_done).count(),
        false => 0,
    };
    &events[done..]
}

#[inline(always)]
fn report(find: impl FnOnce(&'static Thread) -> Option<&'static Region> + Copy, events: &[Event]) {
    event_of(find, |thread, region| {
        catch_up(thread);
        for event in events {
            on_event(*event, thread, region);
        }
    });
}

/// The innermost open region that is wanted, on this side of the team's fork.
pub(super) fn open(
    thread: &'static Thread,
    is_wanted: impl Fn(Role, RegionKind) -> bool,
) -> Option<&'static Region> {
    let mut frame = thread.top();
    while let Some(open) = frame {
        let region = open.region()?;
        if is_wanted(open.role(), region.kind) {
            return Some(region);
        }
        frame = open.below().filter(|_| open.role() != Role::Base);
    }
    None
}
