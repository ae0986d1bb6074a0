//! Measuring: an event gets its time, its thread and its region here, and is recorded: in
//! the thread's call paths, in the trace, or by a collector's callback. Nothing here knows
//! how an event was reported, nor what becomes of the records.
//!
//! The records are in `records` and `calls`. They refer to one another: a region to its open teams,
//! a team to the node and the frame of its fork, and these to their region. The block of a `thread`
//! consists of these and of `holds`, `pass_table`, `counters`, `collector_counts` and `trace_stream`.
//!
//! Words with one meaning here:
//! - *passed over*: an instance is counted, but neither timed nor put on the stack (`passed`);
//! - *coarse clock*: a counter of milliseconds, which times such instances (`coarse_clock`);
//! - *part* of a member: its execution from the begin of the member to its end (`ended`).
//!
//! Code that runs while the program is measured takes no lock, allocates only when it sees a call
//! path, a depth or a thread for the first time, and writes to no cache line that another thread
//! writes to.

pub(crate) mod active;
pub(crate) mod allocator;
pub(crate) mod annotations;
mod arrival;
pub(crate) mod attention;
pub(crate) mod calls;
pub(crate) mod cancellation;
pub(crate) mod chunk_requests;
pub(crate) mod chunks;
pub(crate) mod clock;
pub(crate) mod coarse_clock;
pub(crate) mod coarse_times;
pub(crate) mod collector;
mod collector_counts;
pub(crate) mod config;
pub(crate) mod cost;
pub(crate) mod counters;
pub(crate) mod counting;
mod crowding;
pub(crate) mod cxx;
#[cfg(not(test))]
pub(crate) mod dynamic;
mod ended;
pub(crate) mod errno;
pub(crate) mod estimate;
pub(crate) mod facts;
pub(crate) mod fortran_omp;
pub(crate) mod function;
pub(crate) mod gaps;
#[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
pub(crate) mod handed_out;
pub(crate) mod helper_requests;
pub(crate) mod holds;
pub(crate) mod joined_chunks;
mod lateness;
pub(crate) mod lending;
pub(crate) mod limits;
pub(crate) mod lock;
pub(crate) mod lock_history;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod modules;
pub(crate) mod mutex;
pub(crate) mod node_sample;
mod notify;
pub(crate) mod omp;
pub(crate) mod open_frames;
pub(crate) mod own_file;
pub(crate) mod own_time;
pub(crate) mod pace;
pub(crate) mod pass_table;
pub(crate) mod passed;
pub(crate) mod passed_locks;
pub(crate) mod passed_members;
pub(crate) mod passed_teams;
pub(crate) mod pause;
mod paused_events;
pub(crate) mod pausing;
pub(crate) mod quiesce;
pub(crate) mod records;
mod reduction;
mod reduction_part;
pub(crate) mod request_count;
pub(crate) mod rights;
#[cfg_attr(
    any(test, not(target_arch = "x86_64")),
    allow(dead_code, reason = "its users are not built")
)]
pub(crate) mod run_list;
pub(crate) mod sampling;
mod scheduling;
pub(crate) mod shared;
#[cfg_attr(test, allow(dead_code, reason = "its users are not built"))]
pub(crate) mod shared_loop;
mod shortest;
pub(crate) mod signal_mask;
mod slots;
mod span;
pub(crate) mod stack;
pub(crate) mod state;
pub(crate) mod stderr;
pub(crate) mod task;
mod team;
mod team_lookup;
pub(crate) mod thread;
pub(crate) mod thread_word;
mod timed_work;
pub(crate) mod trace;
mod trace_pages;
pub(crate) mod trace_stream;
mod unsplit_barrier;
pub(crate) mod untimed;
pub(crate) mod work_between;
mod work_in_chunks;

#[cfg(test)]
mod tests;
