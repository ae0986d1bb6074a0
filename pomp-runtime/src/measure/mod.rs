//! Measuring: an event gets its time, its thread and its region here, and goes
//! to the sinks. Nothing here knows how an event was reported.
//!
//! What runs while the program is measured takes no lock, allocates only when
//! it sees a call path, a depth or a thread for the first time, and writes to
//! no cache line that another thread writes to.

pub(crate) mod active;
mod allocator;
mod aloud;
pub(crate) mod annotations;
mod arrival;
mod at_end;
pub(crate) mod attention;
mod beginning;
pub(crate) mod cancellation;
pub(crate) mod chunks;
pub(crate) mod clock;
pub(crate) mod config;
mod cost;
pub(crate) mod counters;
pub(crate) mod cxx;
#[cfg(not(test))]
pub(crate) mod dynamic;
mod ended;
pub(crate) mod errno;
pub(crate) mod facts;
mod fork;
pub(crate) mod forkers;
pub(crate) mod fortran_omp;
pub(crate) mod function;
pub(crate) mod gaps;
pub(crate) mod helper;
pub(crate) mod holding;
pub(crate) mod life_cycle;
mod limits;
pub(crate) mod lock;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod modules;
pub(crate) mod mutex;
pub(crate) mod omp;
pub(crate) mod own_file;
mod passing;
pub(crate) mod pause;
pub(crate) mod region;
pub(crate) mod rights;
pub(crate) mod sampling;
mod scheduling;
pub(crate) mod shared;
mod signals;
pub(crate) mod silent;
pub(crate) mod stack;
pub(crate) mod state;
mod stderr;
mod still;
pub(crate) mod task;
pub(crate) mod team;
pub(crate) mod thread;

#[cfg(test)]
mod tests;
