//! The saved profile itself.

use std::io::{self, Write};

use crate::model::Profile;

/// Writes the profile as JSON.
///
/// # Errors
/// If `out` refuses.
pub fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, profile)?;
    out.write_all(b"\n")
}
