//! A comparison as JSON.

use std::io::{self, Write};

use super::Diff;

/// Writes one object.
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, diff)?;
    writeln!(out)
}
