//! OMPT, OpenMP's interface for tools, for programs that were not built with Romp: LLVM's runtime
//! and its kin report their events themselves.
//!
//! ```text
//! abi        the interface: numbers, records, signatures of callbacks
//! start      the runtime asks for a tool, and gets the callbacks
//! events     a call of the runtime -> an event
//! tasks      tasks, their groups, and loops that make tasks
//! links      the data of a task: its region, and its label in the trace
//! report     gives events to the measurement
//! put_off    ends of constructs, until it is known whether a barrier follows
//! places     regions by where the runtime was called from
//! stated     the call that a thread makes: its place, as the compiler states it, and its events
//! entries    the entries that note it, in front of the runtime's own
//! outlived   a runtime whose first thread ends before the process
//! chunks     loops and chunks, where the runtime hands them out
//! around     entries that record the end of a creation, or of a part of a reduction
//! ```

mod abi;
#[cfg(target_arch = "x86_64")]
pub mod around;
pub mod chunks;
#[cfg(target_arch = "x86_64")]
pub mod entries;
mod events;
mod links;
pub mod outlived;
mod places;
mod put_off;
mod report;
mod start;
mod stated;
mod tasks;

pub(super) use put_off::{catch_up, may_pass_over};
pub use start::{StartResult, start};
pub use stated::kinds;
