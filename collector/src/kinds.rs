//! What call stacks are taken of.

use std::ffi::c_int;

/// Each has its name in the environment, what the report calls it, and the event that begins
/// it. The one behind ends it.
pub(crate) const KINDS: &[(&str, &str, c_int)] = &[
    ("join", "parallel region", 1),
    ("ibar", "implicit barrier", 5),
    ("ebar", "barrier", 7),
    ("lkwt", "wait for a lock", 9),
    ("ctwt", "critical section entered", 11),
    ("odwt", "ordered part entered", 13),
    ("atwt", "atomic operation", 21),
];
