//! The estimated time of instances that were passed over, as it follows from a sample.

use std::sync::atomic::{AtomicBool, Ordering};

use profile::descriptor::has_read_clause;
use profile::overheads::within_measured_time;
use profile::region_kind::{PseudoRegion, RegionKind};

use super::node_sample::{PARTS, Sample, half_interval};
use super::sampling::cost_of_pair;
use super::work_between::is_changed_by_timing;
use crate::measure::cost::{ticks_of_empty_instance, ticks_of_updates};
use crate::measure::records::Node;
use crate::measure::records::node::pseudo_region;

/// The possible error of the cost of timing that is left out, as a part of that cost. Timing adds
/// between four ninths and eight ninths of the cost of a pair of events; two thirds are left out.
const TIMING_ERROR: f64 = 1.0 / 3.0;

/// Whether the cost of timing is left out of the time of instances that are passed over.
static LEAVES_OUT_TIMING: AtomicBool = AtomicBool::new(false);

/// Leaves the cost of timing out of the time of instances that are passed over.
pub(crate) fn leave_out_timing() {
    LEAVES_OUT_TIMING.store(true, Ordering::Relaxed);
}

/// The cost of timing that is left out of a part of an instance of some kind, in ticks, and its
/// possible error.
fn timing_of_kind(kind: Option<RegionKind>) -> (f64, f64) {
    let ticks = match (LEAVES_OUT_TIMING.load(Ordering::Relaxed), kind) {
        (false, _) => 0,
        // Only their clock is read in order, so only for them timing always adds the same.
        (true, Some(RegionKind::Atomic)) => return (ticks_of_empty_instance() as f64, 0.0),
        (true, _) => within_measured_time(u128::from(cost_of_pair())) as u64,
    };
    (ticks as f64, ticks as f64 * TIMING_ERROR)
}

/// An update of a variable that several threads update all the time takes at least as long as this
/// many updates of a variable that one thread uses.
pub(super) const CONTENDED: u64 = 4;

/// A cache line comes from another processor in the time of this many updates at most.
const TRANSFER: u64 = 128;
/// A critical section that is passed over waits longer than a timed one for this many sections of
/// other threads at most. Time beyond that limit counts as work: a few pieces of work may be so
/// long that none of them was timed.
const MORE_SECTIONS: f64 = 2.0;

/// Whether all instances in a parallel region update the same variable. Then the time of timed
/// instances shows little: while one thread reads the clock, the other threads leave the variable
/// to it.
fn is_of_one_variable(node: &Node) -> bool {
    let region = node.region();
    region.is_some_and(|region| region.descriptor.variable.is_some())
}

/// Whether its instances only read a variable, so that none waits for an update.
fn only_reads(node: &Node) -> bool {
    let atomic = node.region().filter(|it| it.kind == RegionKind::Atomic);
    let directive = atomic.and_then(|region| region.descriptor.directive.as_deref());
    directive.is_some_and(has_read_clause)
}

/// The estimated time of instances that were passed over, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassedTime {
    pub(crate) parts: [u64; PARTS],
    /// Half of the interval that holds the whole in 95 % of all cases.
    pub(crate) error: u64,
}

impl Sample {
    /// The estimated ticks that `passed` instances spent in one of their parts.
    pub(crate) fn part_of_passed(&self, part: PseudoRegion, passed: u64) -> u64 {
        let weights = self.weights.get().max(1.0);
        let mean = self.weighted[part as usize].get() / weights - timing_of_kind(None).0;
        (mean.max(0.0) * passed as f64) as u64
    }

    /// The error of `part_of_passed` for `passed` instances, in ticks.
    pub(crate) fn error_of_passed(&self, passed: u64) -> u64 {
        ((self.half_interval() + timing_of_kind(None).1) * passed as f64) as u64
    }

    /// The cost of timing that is left out of a part of an instance of a node, in ticks, and its possible error.
    /// Events take longer in a program than in a loop of events, where other data is in the caches. The
    /// time of some constructs follows from the work between them, and needs no such correction.
    fn timing_of(&self, node: &Node) -> (f64, f64) {
        let kind = node.region().map(|region| region.kind);
        let (ticks, error) = timing_of_kind(kind);
        if ticks == 0.0 || is_changed_by_timing(node) {
            return (ticks, error);
        }
        let longer = 2 * u128::from(self.longer_event.get());
        let longer = within_measured_time(longer) as f64;
        (ticks + longer, error + longer * TIMING_ERROR)
    }

    /// The estimated ticks of an instance of a node that is passed over, and of its parts.
    fn mean_of_passed(&self, node: &Node) -> [f64; PARTS] {
        let weights = self.weights.get().max(1.0);
        let kind = node.region().map(|region| region.kind);
        let (timing, _) = self.timing_of(node);
        let main = PseudoRegion::Main as usize;
        let mut mean = [0.0; PARTS];
        for part in node.parts().iter().map(|part| *part as usize) {
            let timing = match (kind, pseudo_region(part as u8)) {
                // The recorded time is beyond the shortest call, or a long wait.
                (Some(RegionKind::Lock), PseudoRegion::Enter) => 0.0,
                // It is timed as the work between two instances is.
                (Some(RegionKind::Lock), PseudoRegion::Body) if timing > 0.0 => {
                    self.sequence.work.of_empty()
                }
                _ => timing,
            };
            mean[part] = (self.weighted[part].get() / weights - timing).max(0.0);
        }
        let parts = node.parts().len() - 1;
        if parts > 0 {
            let sum = mean.iter().sum::<f64>() - mean[main];
            let whole = self.weighted[main].get() / weights - timing * parts as f64;
            mean[main] = sum.max(whole);
        }
        let least = match is_of_one_variable(node) {
            true => ticks_of_updates(CONTENDED) as f64,
            false => 0.0,
        };
        mean[main] = mean[main].max(least);
        match (self.sequence.in_passing(node), kind) {
            // While its thread reads the clock, others leave the lock to it.
            (Some((ticks, most)), Some(RegionKind::Critical | RegionKind::Lock)) => {
                let transfer = ticks_of_updates(TRANSFER) as f64;
                let longest = MORE_SECTIONS * (mean[PseudoRegion::Body as usize] + transfer);
                let more = (ticks - mean[main]).clamp(0.0, longest);
                let enter = PseudoRegion::Enter as usize;
                mean[main] += more;
                mean[enter] += more;
                // The kernel seldom took the processor away during a timed instance. So the mean is
                // scaled by the number of threads per processor.
                let threads = self.sequence.threads_per_processor();
                mean = mean.map(|part| part * threads);
                // Nor do they take longer than all intervals leave beside the work.
                for part in [enter, PseudoRegion::Exit as usize] {
                    let less = (mean[main] - most.max(ticks)).clamp(0.0, mean[part]);
                    mean[main] -= less;
                    mean[part] -= less;
                }
            }
            (Some((ticks, _)), _) => {
                let most = self.sequence.intervals.each().min(mean[main]);
                mean[main] = ticks.max(least).min(most);
            }
            (None, _) => {}
        }
        // Where a thread polls now and then, most intervals hold other work, too. The shortest ones hold
        // looks alone.
        let interval = self.interval_of_looks();
        if interval > 0.0 && only_reads(node) {
            mean[main] = mean[main].min(interval);
        }
        mean
    }

    /// So many instances of a node were passed over within an interval in ticks. They took no
    /// longer than that. If an interval is much longer than expected, the thread did something else
    /// in it. Few intervals hold all the time that a thread waited for its processor, so that is added
    /// to each.
    pub(super) fn add_interval(&self, node: &Node, passed: u64, interval: u64) {
        const MUCH_LONGER: f64 = 2.0;
        let mean = self.mean_of_passed(node)[PseudoRegion::Main as usize];
        let (_, error) = self.timing_of(node);
        let most = MUCH_LONGER * (mean + error) * passed as f64;
        let interval = interval as f64 * self.sequence.threads_per_processor();
        self.between.add(interval.min(most) as u64);
    }

    /// The estimated time of `passed` instances of a node that were passed over.
    pub(crate) fn of_passed(&self, node: &Node, passed: u64) -> PassedTime {
        if self.weights.get() < 1.0 {
            return PassedTime::default();
        }
        let (_, timing_error) = self.timing_of(node);
        let timed_parts = match node.parts().len() {
            1 => 1,
            several => several - 1,
        };
        let mean = self.mean_of_passed(node);
        let number = passed as f64;
        let most = self.between.get() as f64;
        let whole = mean[PseudoRegion::Main as usize] * number;
        let share = (most / whole.max(1.0)).min(1.0);
        // More instances make the statistical error smaller, but not the error of timing.
        let error = self.half_interval() + timing_error * timed_parts as f64;
        PassedTime {
            parts: mean.map(|mean| (mean * number * share) as u64),
            error: (error * number * share) as u64,
        }
    }

    /// Half of the interval that holds the mean in 95 % of all cases, in ticks. If the weights
    /// differ, the mean is as uncertain as that of a smaller number of instances with equal weights
    /// (Kish's effective sample size).
    fn half_interval(&self) -> f64 {
        let drawn = self.drawn.get().max(1.0);
        let mean = self.ticks.get() / drawn;
        let weights = self.weights.get();
        let number = weights * weights / self.squared_weights.get().max(1.0);
        half_interval(mean, self.squares.get() / drawn, number.max(1.0))
    }
}
