//! The instances of a node that were timed as a sample, and the estimate for the others that
//! follows from them.

use std::sync::atomic::{AtomicBool, Ordering};

use profile::overheads::within_measured_time;
use profile::region_kind::PseudoRegion;

use super::coarse_clock;
use super::passed::parts;
use super::sampling::cost_of_pair;
use super::shared::SharedU64;
use crate::measure::calls::node::Node;

/// The possible error of the cost of timing that is left out, as a part of that cost. Timing adds
/// between half and all of the cost of a pair of events; three quarters are left out.
const TIMING_ERROR: f64 = 1.0 / 3.0;

/// Whether the cost of timing is left out of the time of instances that are passed over.
static LEAVES_OUT_TIMING: AtomicBool = AtomicBool::new(false);

/// Leaves the cost of timing out of the time of instances that are passed over.
pub(crate) fn leave_out_timing() {
    LEAVES_OUT_TIMING.store(true, Ordering::Relaxed);
}

/// The cost of timing that is left out of a part of an instance, in ticks.
fn timing() -> f64 {
    match LEAVES_OUT_TIMING.load(Ordering::Relaxed) {
        true => within_measured_time(u128::from(cost_of_pair())) as f64,
        false => 0.0,
    }
}

/// A sum of floating-point numbers, written by one thread.
#[derive(Debug, Default)]
pub(super) struct Sum(SharedU64);

impl Sum {
    fn add(&self, more: f64) {
        self.0.set((self.get() + more).to_bits());
    }

    pub(super) fn get(&self) -> f64 {
        f64::from_bits(self.0.get())
    }
}

/// The sample of a node of which only some instances are timed.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Instances that were passed over: all of them, and those since the last timed one.
    all_passed: SharedU64,
    pub(super) passed: SharedU64,
    /// When the last timed instance ended; and the ticks between timed instances, summed over those
    /// intervals in which some instances were passed over.
    pub(super) last: SharedU64,
    pub(super) between: SharedU64,
    /// How many were timed.
    pub(super) timed: SharedU64,
    /// Of the instance that is being timed: for how many it stands, and the ticks of each of
    /// its parts.
    pub(super) weight: SharedU64,
    current: [SharedU64; PARTS],
    /// The number of short instances that were timed as a sample, the sum of their ticks, and
    /// that of the squares of their ticks.
    pub(super) drawn: Sum,
    ticks: Sum,
    squares: Sum,
    /// The sum of their weights, the sum of the squares of the weights, and for each part the sum
    /// of weight times ticks.
    weights: Sum,
    squared_weights: Sum,
    weighted: [Sum; PARTS],
    /// Ticks of long parts of members that were passed over.
    long: SharedU64,
}

const PARTS: usize = PseudoRegion::ALL.len();

/// The estimated time of instances that were passed over, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passed {
    pub(crate) parts: [u64; PARTS],
    /// Half of the interval that holds the whole in 95 % of all cases.
    pub(crate) error: u64,
}

impl Sample {
    /// Adds to a part of the instance that is being timed.
    pub(super) fn part(&self, part: u8, ticks: u64) {
        if let Some(current) = self.current.get(usize::from(part)) {
            current.set(current.get().wrapping_add(ticks));
        }
    }

    /// Leaves out of the instance that is being timed what was timed in one of its parts.
    pub(super) fn leave_out(&self, part: PseudoRegion, ticks: u64) {
        self.part(PseudoRegion::Main as u8, ticks.wrapping_neg());
        if part != PseudoRegion::Main {
            self.part(part as u8, ticks.wrapping_neg());
        }
    }

    /// The instance that is being timed ends.
    pub(super) fn add(&self, ticks: u64) {
        self.timed.add(1);
        self.part(PseudoRegion::Main as u8, ticks);
        // The clocks of several processors differ a little, so the rest can be negative.
        let parts = self.current.each_ref().map(|current| {
            let ticks = current.get().cast_signed().max(0);
            current.set(0);
            ticks as f64
        });
        let weight = self.weight.get() as f64;
        let ticks = parts[PseudoRegion::Main as usize];
        if ticks < coarse_clock::always_noticed() as f64 {
            self.drawn.add(1.0);
            self.ticks.add(ticks);
            self.squares.add(ticks * ticks);
            self.weights.add(weight);
            self.squared_weights.add(weight * weight);
            for (sum, part) in self.weighted.iter().zip(parts) {
                sum.add(weight * part);
            }
        }
    }

    /// An instance was timed that stands for no other.
    pub(super) fn timed_besides(&self) {
        self.timed.add(1);
    }

    /// A member that was passed over took long.
    pub(super) fn add_long(&self, ticks: u64) {
        self.long.add(ticks);
    }

    /// The ticks of long parts of members that were passed over.
    pub(crate) fn long(&self) -> u64 {
        self.long.get()
    }

    /// The estimated ticks that `passed` instances spent in one of their parts.
    pub(crate) fn part_of_passed(&self, part: PseudoRegion, passed: u64) -> u64 {
        let weights = self.weights.get().max(1.0);
        let mean = self.weighted[part as usize].get() / weights - timing();
        (mean.max(0.0) * passed as f64) as u64
    }

    /// The error of `part_of_passed` for `passed` instances, in ticks.
    pub(crate) fn error_of_passed(&self, passed: u64) -> u64 {
        ((self.half_interval() + timing() * TIMING_ERROR) * passed as f64) as u64
    }

    /// So many instances were passed over.
    pub(super) fn add_passed(&self, number: u64) {
        self.passed.add(number);
        self.all_passed.add(number);
    }

    /// Instances that were timed.
    pub(crate) fn timed(&self) -> u64 {
        self.timed.get()
    }

    /// Instances that were passed over, without those that only the thread's table knows yet.
    pub(crate) fn passed(&self) -> u64 {
        self.all_passed.get()
    }

    /// The estimated time of `passed` instances of a node that were passed over.
    pub(crate) fn of_passed(&self, node: &Node, passed: u64) -> Passed {
        let weights = self.weights.get();
        if weights < 1.0 {
            return Passed::default();
        }
        let timing = timing();
        let timed_parts = match parts(node).len() {
            1 => 1,
            several => several - 1,
        };
        let main = PseudoRegion::Main as usize;
        let mut mean = [0.0; PARTS];
        for part in parts(node).iter().map(|part| *part as usize) {
            mean[part] = (self.weighted[part].get() / weights - timing).max(0.0);
        }
        if parts(node).len() > 1 {
            mean[main] = mean.iter().sum::<f64>() - mean[main];
        }
        let number = passed as f64;
        let most = self.between.get() as f64;
        let share = (most / (mean[main] * number).max(1.0)).min(1.0);
        // More instances make the statistical error smaller, but not the error of timing.
        let error = self.half_interval() + timing * TIMING_ERROR * timed_parts as f64;
        Passed {
            parts: mean.map(|mean| (mean * number * share) as u64),
            error: (error * number * share) as u64,
        }
    }

    /// Half of the interval that holds the mean in 95 % of all cases, in ticks. If the weights
    /// differ, the mean is as uncertain as that of a smaller number of instances with equal weights
    /// (Kish's effective sample size).
    fn half_interval(&self) -> f64 {
        const NINETY_FIVE: f64 = 1.96;
        let drawn = self.drawn.get().max(1.0);
        let mean = self.ticks.get() / drawn;
        let variance = (self.squares.get() / drawn - mean * mean).max(0.0);
        let weights = self.weights.get();
        let number = weights * weights / self.squared_weights.get().max(1.0);
        NINETY_FIVE * (variance / number.max(1.0)).sqrt()
    }
}
