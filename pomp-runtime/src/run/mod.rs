//! A run as a whole: when measurement begins and ends, what forks and signals do to it, and
//! the thread of our own that writes what `result` makes of the records.

pub(crate) mod at_end;
mod beginning;
pub(crate) mod fork;
pub(crate) mod helper;
pub(crate) mod life_cycle;
mod signals;
pub(crate) mod writing;
