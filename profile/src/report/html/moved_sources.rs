//! Looks for a source file below some folders, where a program was compiled in another folder than
//! it ran in. A file is only taken if its hash is that of the file that was compiled.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::file_hash::file_hash;

/// The most entries of folders that are looked at: more take longer than users want to wait.
const MOST_ENTRIES: usize = 20_000;
/// The depth down to which folders are searched.
const DEEPEST: usize = 6;

/// The files below some folders, by the last parts of their paths.
#[derive(Debug, Default)]
pub(super) struct MovedSources {
    files: HashMap<OsString, Vec<PathBuf>>,
}

impl MovedSources {
    /// Searches the folders, those nearest to the top first.
    pub(super) fn below(folders: &[PathBuf]) -> Self {
        let mut found = Self::default();
        let mut left = MOST_ENTRIES;
        let mut level: Vec<PathBuf> = folders.iter().map(|folder| here_if_empty(folder)).collect();
        level.dedup();
        for _ in 0..DEEPEST {
            let mut next = Vec::new();
            for folder in &level {
                let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
                for entry in entries {
                    if left == 0 {
                        return found;
                    }
                    left -= 1;
                    let name = entry.file_name();
                    match entry.file_type() {
                        Ok(kind) if kind.is_file() => {
                            found.files.entry(name).or_default().push(entry.path());
                        }
                        Ok(kind) if kind.is_dir() && !is_hidden(&name) => next.push(entry.path()),
                        _ => {}
                    }
                }
            }
            level = next;
        }
        found
    }

    /// The file with this name that has one of these hashes.
    pub(super) fn find(&self, name: &str, is_known: impl Fn(&str) -> bool) -> Option<PathBuf> {
        let last = Path::new(name).file_name()?;
        let has_hash = |path: &&PathBuf| {
            std::fs::read(path).is_ok_and(|content| is_known(&file_hash(&content)))
        };
        self.files.get(last)?.iter().find(has_hash).cloned()
    }
}

fn here_if_empty(folder: &Path) -> PathBuf {
    match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    }
}

fn is_hidden(name: &OsString) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two files have the name, and one of them was compiled.
    #[test]
    fn a_file_is_found_by_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("mpi", "other"), ("openmp", "compiled")] {
            let below = folder.path().join("src").join(name);
            std::fs::create_dir_all(&below).unwrap();
            std::fs::write(below.join("eam.c"), text).unwrap();
        }
        let below = MovedSources::below(&[folder.path().to_owned()]);
        let find = |text: &str| below.find("./eam.c", |hash| hash == file_hash(text.as_bytes()));
        let compiled = folder.path().join("src/openmp/eam.c");
        assert_eq!(find("compiled"), Some(compiled));
        assert_eq!(find("changed since"), None);
    }
}
