//! Sources: each translates the calls of one foreign interface into events. A
//! source decides nothing; every entry point passes [`boundary`].

mod boundary;
mod control;
mod descriptor;
#[cfg(not(test))]
mod ends;
mod locks;
mod pomp;
