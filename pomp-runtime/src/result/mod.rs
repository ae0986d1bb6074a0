//! What is made of the records of all threads when a profile is written: a snapshot of each
//! thread, and from all of them the saved profile. It reads what `measure` has recorded
//! and knows nothing of when or why it is asked.

mod coarse_times;
mod contention;
mod holds;
pub(crate) mod merge;
mod node_merge;
mod samples;
mod snapshot;
mod waits;
