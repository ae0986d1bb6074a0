//! The POMP measurement library.
//!
//! ```text
//! sources    a foreign call -> one event          pomp, fortran, pomp2, locks, control, collector,
//!                                                 chunk_requests, taskloops;
//!                                                 gomp, ompt (of programs that were not built
//!                                                 with us);
//!                                                 all pass `boundary`
//! measure    the event gets time, thread, region  clock, thread, stack, team, task, lock; pausing,
//!                                                 paused_events, quiesce, cancellation
//!            and is recorded, or passed on        records (regions, nodes, teams, frames), calls
//!                                                 (call paths), trace; collector (a tool's
//!                                                 callbacks)
//! result     a profile is made of the records     snapshot, node_merge, merge
//! run        measurement begins and ends          life_cycle, beginning, writing, helper,
//!                                                 signals, fork, at_end
//! ```
//!
//! Invariants, as absences:
//! - a source decides nothing; the code that records names no source, and knows nothing of the
//!   begin and end of the run, nor of the profile that is made from its records;
//! - while the program is measured nothing locks, allocates after warm-up, does
//!   input or output, or writes where another thread writes;
//! - nothing that a thread records is ever freed, so reading it when the run
//!   ends needs no cooperation of the threads;
//! - no panic, no error and no wrong order of events reaches the program: its
//!   output, exit status, errno and working directory are its own;
//! - a signal handler of ours does nothing but wake a thread;
//! - `unsafe` stands only in `sources`, whose callers are programs; for a collector's
//!   messages (`requests`); where memory is per thread (`team`, `shared`, `thread`, `thread_word`) or is
//!   taken from a range of our own (`allocator`); where the OpenMP and the C++ runtime
//!   are asked (`omp`, `fortran_omp`, `cxx`); where the program keeps the record of a loop
//!   (`chunks`, `chunk_requests`); and where the system is asked
//!   (`at_end`, `beginning`, `cancellation`, `clock`, `config`, `counters`, `dynamic`, `errno`,
//!   `facts`, `fork`, `limits`, `memory`, `modules`, `own_file`, `rights`, `run_list`, `scheduling`,
//!   `signal_mask`, `signals`, `stderr`, `quiesce`), with `system` for what Rust's library asks it.
//!   A test holds this list to the files.

#![deny(clippy::unwrap_used, clippy::expect_used)]

#[cfg(not(test))]
mod assembly;
mod hash;
mod measure;
mod result;
mod run;
mod sources;
mod system;

/// The parts from which `pomp-run` makes the library that is loaded before programs which were not
/// built with Romp.
#[cfg(not(test))]
pub use sources::{gomp, ompt, uninstrumented};
