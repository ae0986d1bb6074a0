//! What a build leaves: the library in the link, and files that name what the user named.

pub(crate) mod coverage;
pub(crate) mod database;
pub(crate) mod dependencies;
pub(crate) mod library;
pub(crate) mod scratch;
