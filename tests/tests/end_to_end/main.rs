//! Programs and projects that are built, run and compared with and without Romp.
//!
//! They are one binary, since cargo runs one binary after the other: at the end of each, some
//! processors are idle. `cargo test -p tests --test end_to_end page::` runs the tests of one module.
//! What depends on time is a binary of its own (`tests/programs`): nothing is compiled beside it.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod call_sites;
mod ci;
mod clauses;
mod collector;
mod constructs;
mod counts;
mod dependences;
mod ends;
mod functions;
mod generated;
mod installation;
mod mpi;
mod otf2;
mod own_tool;
mod page;
mod ports;
mod processor_time;
mod program_folder;
mod projects;
mod readme;
mod run;
mod run_trace;
mod scale;
mod switched_off;
mod trace;
mod trace_analysis;
mod trace_damage;
mod verified;
