//! The constructs that a thread is in when its records are read.

use super::records::Frame;
use super::records::frame::Role;
use super::thread::Thread;

/// The frames that are open, innermost first, each with the time when it was
/// left if that is known.
pub(crate) fn open_frames(
    thread: &'static Thread,
) -> impl Iterator<Item = (&'static Frame, Option<u64>)> {
    let is_open = |frame: &&'static Frame| frame.role() != Role::Base;
    let top = thread.top().filter(is_open);
    std::iter::successors(top, move |frame| frame.below().filter(is_open))
        .filter(|open| !thread.has_begun_in_pause(open))
        .map(|open| (open, left_at(open)))
}

/// When a frame that never closed was left, if that is known: at the latest when the team of the
/// member around it was joined.
fn left_at(frame: &'static Frame) -> Option<u64> {
    let mut at = frame;
    while at.role().is_construct() {
        at = at.below()?;
    }
    if at.role().is_member() {
        at.stale_since()
    } else {
        None
    }
}
