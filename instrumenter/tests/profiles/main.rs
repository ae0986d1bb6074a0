//! The commands that read several profiles. They are run as a user runs them, on a saved
//! profile and on variants that a change of the program could have produced. To accept changed
//! output: `INSTA_UPDATE=always cargo test -p instrumenter --test profiles`, then read the
//! diff.

// The lint lets tests unwrap, but not their helpers.
#![allow(clippy::unwrap_used)]

mod check;
mod diff;
mod merge;
mod scale;
mod support;
