//! The hashes of the files that a source was made of. A descriptor names the file that the user
//! wrote. The text that is instrumented may be another one, such as what the preprocessor made
//! of several files, so the files themselves are read.

use std::collections::HashMap;
use std::path::Path;

use profile::file_hash::file_hash;

use crate::names;

/// The hashes that are known so far, by the names of the files.
#[derive(Debug, Default)]
pub(crate) struct FileHashes {
    known: HashMap<String, Option<String>>,
}

impl FileHashes {
    /// The hash of a file; none if there is no file of this name.
    pub(crate) fn of(&mut self, name: &str) -> Option<&str> {
        if !self.known.contains_key(name) {
            self.known.insert(name.to_owned(), read(name));
        }
        self.known.get(name)?.as_deref()
    }
}

fn read(name: &str) -> Option<String> {
    let path = names::joined(Path::new(""), name);
    // Nothing waits for a pipe.
    let is_file = std::fs::metadata(&path).is_ok_and(|facts| facts.is_file());
    let content = is_file.then(|| std::fs::read(&path))?;
    Some(file_hash(&content.ok()?))
}
