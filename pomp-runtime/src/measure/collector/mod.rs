//! The collector interface (ORA, the "OpenMP Runtime API for Profiling" of the
//! OpenMP architecture review board's white paper): a tool in the program's
//! address space asks for callbacks at events, and for the state of threads.
//!
//! ```text
//! requests    the messages of `__omp_collector_api`, and their answers
//! session     started, paused, who is called back
//! events      the 24 events, and which of them a construct is in the middle of
//! phases      reports these of a thread's frames
//! waits       ids of waits; waits where nobody is in the way
//! states      the 11 states, and what is waited for, read off the frames
//! ```
//!
//! While a program is measured without a collector, nothing is kept for one. The state of a thread
//! is read off its frames when it is asked for. The one flag that is read at an event says whether
//! there is a session.

pub(crate) mod events;
pub(crate) mod phases;
pub(crate) mod requests;
mod session;
mod states;
pub(crate) mod waits;

pub(crate) use session::{Session, is_listening, locked, notify};
