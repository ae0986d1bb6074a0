//! Requests of a loop for its next chunk, of which a sample is timed.

use std::sync::atomic::{AtomicU64, Ordering};

use super::clock;
use super::frame::{Frame, Role};
use super::region::Region;
use super::thread::Thread;

/// Times what it takes to time nothing from which on a request was interrupted.
const LONG: u64 = 100;

/// Tries to find what it takes to time nothing.
const TRIES: usize = 16;

impl Thread {
    /// Requests for a chunk in the loop that runs, one of which took so many ticks.
    pub(crate) fn add_chunk_requests(&'static self, requests: u64, ticks: u64) {
        let frame = self.top().filter(|frame| frame.role() != Role::Untimed);
        let node = frame.and_then(Frame::node);
        let is_loop = |region: &Region| region.descriptor.schedule.is_some();
        let Some(node) = node.filter(|node| node.region().is_some_and(is_loop)) else {
            return;
        };
        let nothing = ticks_of_nothing();
        let usual = ticks
            .saturating_sub(nothing)
            .min(LONG.saturating_mul(nothing));
        node.chunk_requests.add(requests);
        node.chunk_ticks.add(usual.saturating_mul(requests));
    }
}

/// What it takes to time nothing, in ticks; at least 1.
fn ticks_of_nothing() -> u64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    let known = TICKS.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let pair = || {
        let start = clock::now_in_order();
        clock::now_in_order().wrapping_sub(start)
    };
    let least = std::iter::repeat_with(pair).take(TRIES).min();
    // Threads that ask at once find about the same.
    let ticks = least.unwrap_or(1).max(1);
    TICKS.store(ticks, Ordering::Relaxed);
    ticks
}
