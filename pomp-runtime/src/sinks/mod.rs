//! What becomes of events: the call-path profile, the trace, and a collector's
//! callbacks. A sink knows threads, regions and ticks; it does not know who
//! reported an event.

pub(crate) mod collector;
mod contention;
mod distribution;
mod index;
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod node_waits;
mod placing;
pub(crate) mod profile;
mod snapshot;
mod spread;
mod totals;
pub(crate) mod trace;
mod waits;
