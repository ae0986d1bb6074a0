//! The call paths of a thread: a tree of nodes, each with the times and distributions of a
//! region that was reached by one path. `tree` has the nodes, and finds the node of a reached
//! region by `index`.

mod index;
pub(crate) mod log;
pub(crate) mod totals;
pub(crate) mod tree;
