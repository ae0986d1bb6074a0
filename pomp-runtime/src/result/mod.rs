//! Makes a profile from the records of all threads: first a snapshot of each thread, and from
//! all snapshots the saved profile. It reads what `measure` has recorded
//! and knows nothing of when or why it is asked.

mod coarse_times;
mod contention;
mod holds;
pub(crate) mod merge;
mod node_merge;
mod samples;
mod snapshot;
mod waits;
