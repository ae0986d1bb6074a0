//! Requests for the next chunk of a loop, of which a sample is timed.

use std::sync::atomic::AtomicU64;

use super::cost;
use super::frame::{Frame, Role};
use super::thread::Thread;

/// A request that takes longer than this many reads of the clock was interrupted: the rest is left
/// out.
const INTERRUPTED: u64 = 100;

impl Thread {
    /// Adds this many requests for chunks of the innermost loop. One of them took `ticks`, from one
    /// read of the clock to the next.
    pub(crate) fn add_chunk_requests(&'static self, requests: u64, ticks: u64) {
        static READ: AtomicU64 = AtomicU64::new(0);
        let timed = self.top().filter(|frame| frame.role() != Role::Untimed);
        let node = timed.and_then(Frame::node).filter(|node| {
            let region = node.region();
            region.is_some_and(|region| region.descriptor.schedule.is_some())
        });
        let Some(node) = node else {
            return;
        };
        let read = cost::found_once(&READ, cost::ticks_of_read_in_order);
        let most = read.saturating_mul(INTERRUPTED);
        let ticks = ticks.saturating_sub(read).min(most);
        node.chunk_requests.count.add(requests);
        node.chunk_requests
            .ticks
            .add(ticks.saturating_mul(requests));
    }
}
