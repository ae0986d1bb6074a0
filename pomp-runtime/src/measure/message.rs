//! Messages of the library to the user: lines on stderr, before and after the run,
//! never while it is measured.

use std::sync::atomic::{AtomicBool, Ordering};

use profile::printable::printable;

use super::stderr;

static QUIET: AtomicBool = AtomicBool::new(false);

/// Says nothing from now on.
pub(crate) fn silence() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Writes one line. A failure is ignored, since it cannot be reported.
pub(crate) fn say(text: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        stderr::write(format!("romp: {}\n", printable(text)).as_bytes());
    }
}
