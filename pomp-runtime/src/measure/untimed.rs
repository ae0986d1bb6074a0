//! Regions that are open but not timed. An untimed region has a frame, so that its exit finds its
//! entry. Its time counts for the region around it.
//!
//! There are two kinds. If the memory for records is used up, regions with a new call path are not
//! timed, and only their number is known. If the user asks for it, regions that prove to be
//! frequent and short are not timed, but are counted exactly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use profile::region_kind::{PseudoRegion, RegionKind};
use profile::units::Nanoseconds;

use super::clock;
use super::records::Frame;
use super::records::Region;
use super::records::frame::Role;
use super::thread::Thread;
use crate::measure::records::Node;
use profile::event::Action;

/// A node can be throttled after this many instances.
const THROTTLED_FROM_INSTANCES: u64 = 100_000;
/// How long it takes to learn how fast the clock ticks.
const CALIBRATION: Duration = Duration::from_millis(1);

/// The mean time in ticks under which nodes are throttled; 0 if none is.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Has regions that are frequent, and shorter than a limit, counted rather than timed.
pub(crate) fn throttle(limit: Nanoseconds) {
    let start = (Instant::now(), clock::now());
    while start.0.elapsed() < CALIBRATION {
        std::hint::spin_loop();
    }
    let ticks = clock::now().wrapping_sub(start.1);
    let ns = u64::try_from(start.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let limit = u128::from(ticks) * u128::from(limit.0) / u128::from(ns.max(1));
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    LIMIT.store(limit.max(1), Ordering::Relaxed);
}

/// Throttles a node if it is hot and tiny. Called now and then.
#[inline]
pub(crate) fn consider(node: &Node) {
    let limit = LIMIT.load(Ordering::Relaxed);
    // A region with others inside stays timed: they would lose their call path.
    if limit == 0 || node.is_throttled() || !node.is_leaf() {
        return;
    }
    let main = node.span(PseudoRegion::Main);
    let (count, ticks) = (main.count.get(), main.ticks.get());
    if count >= THROTTLED_FROM_INSTANCES
        && ticks / count < limit
        && node.region().is_some_and(may_be_throttled)
    {
        node.set_throttled();
    }
}

/// Constructs that end with a barrier or are one are always timed: the user wants to see waits.
fn may_be_throttled(region: &Region) -> bool {
    matches!(
        region.kind,
        RegionKind::Atomic
            | RegionKind::Critical
            | RegionKind::Flush
            | RegionKind::Master
            | RegionKind::Ordered
            | RegionKind::Section
            | RegionKind::Taskyield
            | RegionKind::User
            | RegionKind::Function
    )
}

impl Thread {
    /// Opens a frame that is not timed; `counted` is the node if there is one.
    #[inline(never)]
    pub(super) fn open_untimed(
        &'static self,
        region: &'static Region,
        phase: PseudoRegion,
        counted: Option<&'static Node>,
    ) {
        let Some(top) = self.top() else { return };
        let (Some(parent), Some(frame)) = (top.node(), top.frame_above()) else {
            return;
        };
        frame.begin(Role::Untimed, parent, 0);
        // A region that is entered in it counts as entered in the region around it.
        frame.set_within(top.within());
        frame.untimed.region.set(Some(region));
        frame.untimed.counted.set(counted);
        frame.untimed.set_phase(phase);
        self.set_top(frame);
    }

    /// The frame on top that goes on or ends by this action, if it is not timed.
    #[inline(always)]
    pub(super) fn untimed_top(
        &self,
        action: Action,
        region: &'static Region,
    ) -> Option<&'static Frame> {
        let goes_on = matches!(action, Action::SwitchPhase(_) | Action::Close);
        let is_untimed = |top: &&'static Frame| top.role() == Role::Untimed;
        self.top()
            .filter(|_| goes_on)
            .filter(is_untimed)
            .filter(|top| top.untimed.region.is(region))
    }

    /// Switches the phase of an untimed frame, or closes it, without reading the clock.
    #[inline(never)]
    pub(super) fn go_on_untimed(&'static self, frame: &'static Frame, action: Action) {
        match action {
            Action::SwitchPhase(phase) => Self::switch_phase_untimed(frame, phase),
            _ => self.close_untimed(frame),
        }
    }

    pub(super) fn switch_phase_untimed(frame: &Frame, phase: PseudoRegion) {
        frame.untimed.count_phase();
        frame.untimed.set_phase(phase);
    }

    pub(super) fn close_untimed(&'static self, frame: &'static Frame) {
        frame.untimed.count_phase();
        if let Some(node) = frame.untimed.counted.get() {
            node.span(PseudoRegion::Main).count.add(1);
        }
        self.drop_frame(frame);
    }
}
