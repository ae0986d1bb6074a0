//! The commands `rompcc` and `rompfc` with real and with fake compilers.

#![allow(clippy::unwrap_used, reason = "a test fails where its set-up does")]

mod as_the_compiler;
mod coverage;
mod failures;
mod fortran;
mod fortran_text;
mod known;
mod messages;
mod names;
mod offload;
mod preprocessed;
mod programs;
mod support;
