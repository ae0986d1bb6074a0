//! The command line: which arguments it has, which files it makes, and what is to be done with it.

pub(crate) mod classify;
pub(crate) mod flags;
pub(crate) mod functions;
pub(crate) mod known;
pub(crate) mod layout;
pub(crate) mod offload;
pub(crate) mod outputs;
pub(crate) mod response;
pub(crate) mod split;
pub(crate) mod steps;
