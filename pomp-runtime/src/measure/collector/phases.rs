//! Reports the begin and the end of what a thread's frames are in the middle of, phase by phase.

use super::events::{Activity, Event};
use super::session::notify;
use super::waits;
use crate::measure::records::Frame;
use crate::measure::records::Region;
use crate::measure::records::frame::Role;
use crate::measure::thread::Thread;

/// The activity of a frame's construct at the moment.
fn activity(frame: &Frame) -> Option<Activity> {
    Activity::of(frame.region()?.kind, frame.phase())
}

/// The frame of a region on top is in a new phase.
pub(crate) fn phase_began(thread: &Thread, region: &'static Region) {
    let top = thread.top().filter(|top| match top.role() {
        Role::Base | Role::Fork => false,
        _ => top.region().is_some_and(|own| std::ptr::eq(own, region)),
    });
    let Some(top) = top else { return };
    if let Some(activity) = activity(top)
        && waits::begins(thread, top, activity)
    {
        notify(activity.begin());
    }
    waits::enter(top);
}

/// The phase of the frame on top is about to end.
pub(crate) fn phase_ends(frame: &Frame) {
    waits::leave(frame);
    if let Some(activity) = activity(frame)
        && waits::ends(frame)
    {
        notify(activity.end());
    }
}

/// The frame on top is about to be closed by the exit of one around it.
pub(crate) fn is_skipped(frame: &Frame) {
    match frame.role() {
        Role::Fork => notify(Event::Join),
        Role::Base => {}
        _ => phase_ends(frame),
    }
}
