//! The end of a build: links the library, and puts the user's names into the files that the
//! compiler wrote.

pub(crate) mod coverage;
pub(crate) mod database;
pub(crate) mod dependencies;
pub(crate) mod library;

use std::io::Write;
use std::path::Path;

use crate::names;

/// Replaces a file's contents and keeps its permissions. A process that reads the file
/// meanwhile sees either the old or the new contents. A link, such as `/dev/stdout`, stays one: the file
/// that it names is written.
fn replace_file(file: &Path, text: &[u8]) -> std::io::Result<()> {
    if std::fs::symlink_metadata(file)?.is_symlink() {
        return std::fs::write(file, text);
    }
    let mut fresh = tempfile::NamedTempFile::new_in(names::directory(file))?;
    fresh.write_all(text)?;
    let permissions = std::fs::metadata(file)?.permissions();
    fresh.as_file().set_permissions(permissions)?;
    fresh.persist(file)?;
    Ok(())
}
