//! Sources: each translates the calls of one foreign interface into events. A
//! source decides nothing; every entry point passes [`boundary`].

mod boundary;
mod by_address;
#[cfg(not(test))]
mod called;
mod chunk_entries;
#[cfg(not(test))]
mod chunk_requests;
mod chunks;
mod collector;
mod control;
#[cfg(not(test))]
mod created_tasks;
mod dependences;
mod descriptor;
#[cfg(not(test))]
mod ends;
#[cfg(all(target_arch = "x86_64", not(test)))]
mod exec;
mod fortran;
mod fortran_locks;
mod functions;
#[cfg(not(test))]
pub mod gomp;
mod literal;
mod locks;
#[cfg(not(test))]
pub mod ompt;
mod opari1;
mod opari1_table;
#[cfg(not(test))]
mod own_code;
mod passable;
mod pomp;
mod pomp2;
#[cfg(not(test))]
mod reductions;
mod regions;
mod routine;
mod spelling;
#[cfg(all(target_arch = "x86_64", not(test)))]
mod stubs;
mod tables;
#[cfg(not(test))]
mod task_functions;
#[cfg(not(test))]
mod taskloops;
#[cfg(not(test))]
pub mod uninstrumented;
mod unplaced_locks;
mod unreached;
#[cfg(not(test))]
mod unsplit_barriers;
#[cfg(not(test))]
mod weak;
