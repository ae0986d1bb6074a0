//! The work in one or several chunks of a loop, while a thread times it. It stands in the thread's block, since the
//! space for thread-local variables is small.

use super::records::Node;
use super::shared::{SharedRef, SharedU64};

/// See the module.
#[derive(Debug)]
pub(super) struct WorkInChunks {
    /// The loop; none while no work is timed.
    pub(super) node: SharedRef<Node>,
    /// When the work began, in ticks.
    pub(super) since: SharedU64,
    /// How often the thread had lost its processor, if its team has more threads than processors.
    pub(super) switches: SharedU64,
    /// How many chunks were handed out together.
    pub(super) chunks: SharedU64,
}

impl WorkInChunks {
    pub(super) const fn none() -> Self {
        Self {
            node: SharedRef::none(),
            since: SharedU64::new(0),
            switches: SharedU64::new(0),
            chunks: SharedU64::new(0),
        }
    }
}
