//! The counts of the counters in regions. The counters are read outside of the region's time: at its begin
//! before the clock is read, at its end after.

use profile::counters::MOST_COUNTERS;

use super::counters::{self, Counting, Values};
use super::errno;
use super::records::Frame;
use super::records::frame::Role;
use super::shared::{SharedRef, SharedU64, leak};
use super::thread::Thread;
use crate::measure::records::Node;

impl Thread {
    /// A region begins: its values start here.
    #[cold]
    #[inline(never)]
    pub(super) fn start_counters(&'static self, frame: &'static Frame) {
        errno::keep(|| {
            // If there are no values, nothing is counted: no later value is greater.
            let values = self.counters.read().unwrap_or([u64::MAX; MOST_COUNTERS]);
            let Some(place) = frame.counters.get().or_else(|| counting(frame)) else {
                return;
            };
            set(&place.start, values);
            set(&place.inner, [0; MOST_COUNTERS]);
        });
    }

    /// A region that is traced begins, whose values have started.
    #[inline(always)]
    pub(super) fn trace_counters_at_begin(&'static self, frame: &Frame, at: u64) {
        if counters::are_on() {
            let values = frame.counters.get().map(|counting| &counting.start);
            if let Some(values) = values.filter(|values| values[0].get() != u64::MAX) {
                self.trace_counters(std::array::from_fn(|at| values[at].get()), at);
            }
        }
    }

    /// A region ends: adds its values to its node, and writes those of the counters to the trace.
    ///
    /// Deep in a recursion the node is that of an instance around this one. That instance, and
    /// those between the two, leave these values out, since the node has them already. So a node
    /// has the values of its outermost instances, as it has their times.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_counters(
        &'static self,
        frame: &'static Frame,
        node: &'static Node,
        at: u64,
    ) {
        errno::keep(|| {
            let place = node.counters.get().or_else(|| new_values(&node.counters));
            let (Some(values), Some(counting), Some(place)) =
                (self.counters.read(), frame.counters.get(), place)
            else {
                return;
            };
            self.trace_counters(values, at);
            // Scaled values may run backwards.
            let all = from(values, |at| counting.start[at].get());
            let own = from(all, |at| counting.inner[at].get());
            add(place, own);
            if frame.role() == Role::Recursive {
                leave_out(frame, node, all);
            }
        });
    }
}

/// Frames below an instance deep in a recursion leave out its values, down to the first frame of
/// its node.
fn leave_out(again: &'static Frame, node: &'static Node, values: [u64; MOST_COUNTERS]) {
    let below = std::iter::successors(again.below(), |frame| frame.below());
    for frame in below.take_while(|frame| frame.role().is_construct()) {
        if frame.role() == Role::Untimed {
            continue;
        }
        if let Some(counting) = frame.counters.get() {
            add(&counting.inner, values);
        }
        if frame.node().is_some_and(|own| std::ptr::eq(own, node)) {
            return;
        }
    }
}

fn from(values: [u64; MOST_COUNTERS], start: impl Fn(usize) -> u64) -> [u64; MOST_COUNTERS] {
    std::array::from_fn(|at| values[at].saturating_sub(start(at)))
}

fn set(to: &Values, values: [u64; MOST_COUNTERS]) {
    to.iter()
        .zip(values)
        .for_each(|(word, value)| word.set(value));
}

fn add(to: &Values, values: [u64; MOST_COUNTERS]) {
    to.iter()
        .zip(values)
        .for_each(|(word, value)| word.add(value));
}

#[cold]
fn counting(frame: &'static Frame) -> Option<&'static Counting> {
    frame.counters.set(leak(Counting {
        start: [const { SharedU64::new(0) }; MOST_COUNTERS],
        inner: [const { SharedU64::new(0) }; MOST_COUNTERS],
    }));
    frame.counters.get()
}

fn new_values(link: &SharedRef<Values>) -> Option<&'static Values> {
    link.set(leak([const { SharedU64::new(0) }; MOST_COUNTERS]));
    link.get()
}

/// The values of the counters at a node; empty if there are none.
pub(crate) fn counted(node: &Node) -> Vec<u64> {
    let values = node.counters.get().into_iter().flatten();
    values
        .map(SharedU64::get)
        .take(counters::number())
        .collect()
}
