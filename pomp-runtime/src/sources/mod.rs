//! Sources: each translates the calls of one foreign interface into events. A
//! source decides nothing; every entry point passes [`boundary`].

mod boundary;
mod chunks;
mod collector;
mod control;
mod descriptor;
#[cfg(not(test))]
mod ends;
mod fortran;
mod fortran_locks;
mod functions;
mod literal;
mod locks;
mod opari1;
mod pomp;
mod pomp2;
mod routine;
mod unplaced_locks;
#[cfg(not(test))]
mod weak;
