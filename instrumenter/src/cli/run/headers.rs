//! The files that a source of a measured program includes: their macros may make directives.
//!
//! Which folders the compiler was told to look in is not known. Debug information names those of the
//! files from which it took anything.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use crate::find::c::scan::{Include, includes};

/// Where headers of the system are, which make no directives.
const SYSTEM: &str = "/usr";

/// The texts of the files that a source includes, directly or by another one, and whether all of the
/// user's own were found that are included in any case. One that is included on a condition may not
/// be there.
pub(super) fn included_by(source: &Path, folders: &Folders) -> (Vec<Vec<u8>>, bool) {
    let mut texts = Vec::new();
    let mut are_all = true;
    let mut seen = BTreeSet::from([file_at(source).unwrap_or_else(|| source.to_owned())]);
    let mut open = vec![source.to_owned()];
    while let Some(file) = open.pop() {
        let Ok(text) = fs::read(&file) else { continue };
        let is_source = file == source;
        let unconditional = if is_source {
            includes(&outside_conditionals(&text))
        } else {
            Vec::new()
        };
        for include in includes(&text) {
            match place(&file, &include, folders) {
                Some(path) if seen.insert(path.clone()) => open.push(path),
                Some(_) => {}
                None => {
                    let is_system = matches!(include, Include::Angled(_));
                    are_all &= is_system || !unconditional.contains(&include);
                }
            }
        }
        if !is_source {
            texts.push(text);
        }
    }
    (texts, are_all)
}

/// Where an included file is, unless it is one of the system.
fn place(file: &Path, include: &Include, folders: &Folders) -> Option<PathBuf> {
    let (name, own) = match include {
        Include::Quoted(name) => (name, file.parent()),
        Include::Angled(name) => (name, None),
        Include::Computed => return None,
    };
    own.and_then(|folder| file_at(&folder.join(name)))
        .or_else(|| folders.find(name))
}

/// The one path of a file: headers that include each other by `../other/` would have ever longer ones.
fn file_at(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    path.is_file().then_some(path)
}

/// Folders in which headers may be. A program of many sources includes the same headers again and again, so
/// each is looked for once.
#[derive(Debug, Default)]
pub(super) struct Folders {
    all: BTreeSet<PathBuf>,
    found: RefCell<HashMap<String, Option<PathBuf>>>,
}

impl Folders {
    /// Adds folders, except those of the system.
    pub(super) fn extend(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        let folders = folders.into_iter();
        self.all
            .extend(folders.filter(|folder| !folder.starts_with(SYSTEM)));
        self.found.get_mut().clear();
    }

    /// The file of this name in the first folder that has one.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let mut found = self.found.borrow_mut();
        let find = || {
            let mut places = self.all.iter().map(|folder| folder.join(name));
            places.find_map(|path| file_at(&path))
        };
        found.entry(name.to_owned()).or_insert_with(find).clone()
    }
}

/// The lines of a text that are in no conditional of the preprocessor.
fn outside_conditionals(text: &[u8]) -> Vec<u8> {
    let mut depth = 0_u32;
    let mut kept = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let word = line.trim_ascii_start().strip_prefix(b"#");
        let word = word.map(<[u8]>::trim_ascii_start).unwrap_or_default();
        if word.starts_with(b"if") {
            depth += 1;
        } else if word.starts_with(b"endif") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 {
            kept.extend(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_include_each_other_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write("a/x.h", "#include \"../b/y.h\"\n");
        write("b/y.h", "#include \"../a/x.h\"\n#include <z.h>\n");
        write("c/z.h", "#include \"../a/x.h\"\n");
        let source = write("a/main.c", "#include \"x.h\"\n#include \"../b/../a/x.h\"\n");
        let mut folders = Folders::default();
        folders.extend([folder.path().join("c")]);
        let (texts, are_all) = included_by(&source, &folders);
        assert_eq!((texts.len(), are_all), (3, true));
    }
}
