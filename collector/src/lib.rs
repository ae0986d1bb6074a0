//! `libromp-collector.so`: a tool for the collector interface (ORA) that takes call
//! stacks where regions end and where threads wait, and gives them as the user wrote
//! the program.
//!
//! ```text
//! LD_PRELOAD=libromp-collector.so ./app        leaves app.PID.romp-stacks.txt
//! ```
//!
//! ```text
//! api      requests to the program
//! events   callbacks: what lasted long enough gets a call stack
//! stacks   call stacks by the system's unwinder; stacks across teams
//! waiting  threads at implicit barriers, until their team is joined
//! places   addresses as functions, files and lines
//! model    the user's model: no outlined functions, no runtime
//! report   the file
//! ```
//!
//! Stacks are taken only at ends, when it is known whether it was worth it. A worker's stack ends
//! in a function that the compiler made from a region's body. When the team ends, the stack of the
//! thread that forked the team is joined to it. Addresses become lines when the program has ended.

mod api;
mod events;
mod kinds;
mod model;
mod places;
mod report;
mod stacks;
mod waiting;

/// Runs as the library is loaded: the program's other initialisers come later.
extern "C" fn begin() {
    let _ = std::panic::catch_unwind(events::begin);
}

/// Runs as the program ends.
extern "C" fn end() {
    let _ = std::panic::catch_unwind(report::write);
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static END: extern "C" fn() = end;
