//! GCC's runtime, for programs that were not built with Romp: the runtime's entry points, in a
//! library that is loaded before the runtime (`pomp-run`, which `romp run` loads).
//!
//! ```text
//! table     a row an entry: its name, its shape, its events
//! shapes    what is done around the runtime's function: most entries; sections, single
//! teams     entries that make a team, and what its members run instead
//! tasks     entries that make tasks
//! locks     lock routines
//! chunks    loops and chunks, where the runtime hands them out
//! heads     loops that are known by what is asked at their head
//! unmarked  constructs whose end no call marks: these loops, and single
//! site      what is known of a call by where it stands: region, function of the runtime
//! runtime   the runtimes in this process, and which of them a module calls
//! ```
//!
//! Each entry calls, exactly once and with the same words, the runtime's function that the caller
//! would have called without Romp, and returns its result. Entries without events
//! (`GOMP_loop_dynamic_next`, ...) have no row: they are replaced only if the user wants to see chunks.

mod chunks;
mod heads;
mod locks;
mod runtime;
mod shapes;
mod site;
mod table;
mod tasks;
mod teams;
mod unmarked;

pub use chunks::request;
pub use heads::{head_begins, head_ends};
pub use locks::{
    lock_call, lock_set, lock_test, lock_unset, nest_lock_set, nest_lock_test, nest_lock_unset,
};
pub use runtime::asked;
pub use shapes::{around, around_many, sections, single};
pub use table::{Request, entries};
pub use tasks::task;
pub use teams::{parallel, parallel_end, parallel_start};
