//! How the threads of a process got processors.

use serde::{Deserialize, Serialize};

/// How the threads of a process got processors. Threads that had ended before the kernel was
/// asked are not included. A thread that waits actively is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scheduling {
    /// Number of threads.
    pub threads: u32,
    /// Time that they ran, in nanoseconds.
    pub run_ns: u64,
    /// Time that they were ready to run and had no processor, in nanoseconds.
    pub ready_ns: u64,
    /// Time that the process's first thread ran, in nanoseconds.
    pub first_run_ns: u64,
    /// Time that the process's first thread was ready and had no processor, in
    /// nanoseconds.
    pub first_ready_ns: u64,
    /// The longest time that one thread was ready and had no processor, in nanoseconds.
    pub most_ready_ns: u64,
    /// Time that the library's own thread ran, in nanoseconds. It counts nowhere else here.
    pub helper_run_ns: u64,
    /// Number of processors that the threads which ran may use altogether, according to their
    /// affinity; 0 if unknown.
    pub processors: u32,
}
