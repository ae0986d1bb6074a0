//! Reports events to the measurement, behind an end that was put off.

use std::ffi::c_void;

use profile::region_kind::RegionKind;

use super::super::boundary::event_of;
use super::super::pomp::on_event;
use super::places::region;
use super::put_off::{catch_up, may_pass_over};
use crate::measure::passed::is_done_at_once;
use crate::measure::records::Region;
use crate::measure::records::frame::Role;
use crate::measure::thread::Thread;
use profile::event::Event;

/// An address as the runtime gives it.
pub(super) type Address = *const c_void;

/// The value that is kept for the implicit task of a member that has not ended its part.
pub(super) const MEMBER: u64 = 2;

/// Reports events of a region. It has been looked up before: the lookup may ask for the thread's
/// stack, and may be made once only for an event.
#[inline(always)]
pub(super) fn report_events(region: Option<&'static Region>, events: &[Event]) {
    let events = not_done_at_once(events, || region);
    if !events.is_empty() {
        report(|_| region, events);
    }
}

#[inline(always)]
pub(super) fn report_events_at(kind: RegionKind, address: Address, events: &[Event]) {
    report_events(region((kind, 0), address.addr()), events);
}

/// Reports events of the innermost region of a kind that is open.
#[inline(always)]
pub(super) fn report_events_of_open(kind: RegionKind, events: &[Event]) {
    // An instance that is passed over is on no stack, and is known by its kind.
    let events = not_done_at_once(events, || None);
    if !events.is_empty() {
        report(
            |thread| open(thread, |role, of| role.is_construct() && of == kind),
            events,
        );
    }
}

/// Gives the events for which there is more to do, behind the first ones that are done at once.
#[inline(always)]
pub(super) fn not_done_at_once(
    events: &[Event],
    find: impl FnOnce() -> Option<&'static Region> + Copy,
) -> &[Event] {
    let mut left = events;
    if may_pass_over() {
        while let [event, rest @ ..] = left
            && is_done_at_once(*event, find)
        {
            left = rest;
        }
    }
    left
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
