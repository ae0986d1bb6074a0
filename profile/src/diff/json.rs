//! A comparison as JSON.

use std::io::{self, Write};

use super::Diff;

/// Writes one object.
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    crate::printable::write_pretty_json(&mut *out, diff)?;
    writeln!(out)
}
