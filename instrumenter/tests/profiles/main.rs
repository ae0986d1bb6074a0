//! The commands that read several profiles, run as a user runs them on a saved
//! profile and on what it could have become after a change of the program. To
//! accept a change of what they print: `INSTA_UPDATE=always cargo test -p
//! instrumenter --test profiles`, then read the diff.

// The lint lets tests unwrap, but not what helps them.
#![allow(clippy::unwrap_used)]

mod check;
mod diff;
mod merge;
mod scale;
mod support;
