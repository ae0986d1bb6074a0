//! How often the helper advances the coarse clock: every millisecond, and less often on a busy machine.
//!
//! A helper that wakes up takes a processor for some microseconds. Where other programs wait for
//! one, the kernel may give it to them then, for milliseconds, while the thread that had it holds a
//! lock. A program with LLVM's runtime, whose threads hand on a lock in turn, took ten times as long
//! beside two other programs.

use std::time::{Duration, Instant};

use super::scheduling;

/// The time from one step to the next on a machine that is not busy.
const SHORT: Duration = Duration::from_millis(1);
/// On a busy machine.
const LONG: Duration = Duration::from_millis(16);

/// The machine is busy if the thread that started the program waited for a processor for more than
/// this part of the time in which it could have run.
const BUSY_READY_SHARE: f64 = 0.15;

/// The state of the machine at the latest look.
#[derive(Debug)]
pub(crate) struct Pace {
    looked: Option<Instant>,
    /// Time on a processor and time waiting for one, in nanoseconds.
    times: [u64; 2],
    is_busy: bool,
}

impl Pace {
    pub(crate) const fn new() -> Self {
        Self {
            looked: None,
            times: [0; 2],
            is_busy: false,
        }
    }

    /// The time until the next step.
    pub(crate) fn until_step(&mut self) -> Duration {
        let now = Instant::now();
        if self.looked.is_none_or(|looked| now - looked >= LONG) {
            if let Some(times) = scheduling::of_first_thread() {
                self.is_busy = self.looked.is_some() && self.is_busy_since(times);
                self.times = times;
            }
            self.looked = Some(now);
        }
        match self.is_busy {
            true => LONG,
            false => SHORT,
        }
    }

    fn is_busy_since(&self, times: [u64; 2]) -> bool {
        let since = |of: usize| times[of].saturating_sub(self.times[of]) as f64;
        let (run, ready) = (since(0), since(1));
        ready > BUSY_READY_SHARE * (run + ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_for_a_processor_makes_the_steps_longer() {
        let mut pace = Pace::new();
        assert_eq!(pace.until_step(), SHORT);
        pace.times = [1_000, 50];
        assert!(!pace.is_busy_since([2_000, 100]));
        assert!(pace.is_busy_since([2_000, 1_050]));
        // It neither ran nor wanted to.
        assert!(!pace.is_busy_since([1_000, 50]));
    }
}
