//! Questions that only the compiler itself can answer. Asking takes longer than instrumenting,
//! so each is asked at most once for a command, and only if the answer matters.

pub(crate) mod known_directives;
pub(crate) mod offload;
