//! Programs and projects that are built, run and compared: everything that crosses crate borders.
//! One binary, whose tests share the processors to the end.
//!
//! `cargo test -p tests --test end_to_end page::` runs those of one module.

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
mod program_folder;
mod programs;
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
