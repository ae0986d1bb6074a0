//! Quick searches of a text for words that OpenMP constructs need.

use memchr::memmem;

use super::conditions::is_part;

/// Whether a text may have directives, calls of OpenMP's routines, or macros that make
/// them.
pub(super) fn may_speak(text: &[u8]) -> bool {
    mentions_openmp(text) || contains(text, b"_Pragma")
}

/// Whether a word begins with `omp` or `pomp`.
pub(super) fn mentions_openmp(text: &[u8]) -> bool {
    memmem::find_iter(text, b"omp").any(|at| {
        let before = text[..at].strip_suffix(b"p").unwrap_or(&text[..at]);
        !before.last().is_some_and(|byte| is_part(*byte))
    })
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memmem::find(text, part).is_some()
}
