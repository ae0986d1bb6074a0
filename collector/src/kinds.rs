//! The kinds of times of which call stacks are taken.

use std::ffi::c_int;

/// Each kind has its name in the environment, its name in the report, and the event that begins
/// it. The event with the next number ends it.
pub(crate) const KINDS: &[(&str, &str, c_int)] = &[
    ("join", "parallel region", 1),
    ("ibar", "implicit barrier", 5),
    ("ebar", "barrier", 7),
    ("lkwt", "wait for a lock", 9),
    ("ctwt", "critical section entered", 11),
    ("odwt", "ordered region entered", 13),
    ("atwt", "atomic operation", 21),
];

/// The index of implicit barriers in the table.
pub(crate) const IMPLICIT_BARRIER: usize = 1;

const _: () = assert!(KINDS[IMPLICIT_BARRIER].2 == 5);
