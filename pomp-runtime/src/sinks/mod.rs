//! What becomes of events: the call-path profile, and the trace. A sink knows threads,
//! regions and ticks; it does not know who reported an event.

mod contention;
mod distribution;
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod node_waits;
pub(crate) mod profile;
mod shortcuts;
mod snapshot;
mod spread;
pub(crate) mod trace;
mod waits;
