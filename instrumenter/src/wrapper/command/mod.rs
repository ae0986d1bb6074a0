//! The command line: its arguments, the files that it makes, and the decision what to do with it.

pub(crate) mod classify;
pub(crate) mod functions;
pub(crate) mod layout;
pub(crate) mod outputs;
pub(crate) mod response;
pub(crate) mod steps;
