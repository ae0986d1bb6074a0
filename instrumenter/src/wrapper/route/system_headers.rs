//! The text of system headers: used to tell whether they may define certain macros.
//!
//! The headers are looked up in all directories that compilers search by default, including
//! those of other versions and targets, and conditionals are not evaluated. So files are read
//! that the compiler does not include. At worst, a macro is wrongly taken as possibly defined.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::find::c::conditions::definitions;
use crate::find::c::scan::{self, Include};
use crate::openmp::Language;
use crate::wrapper::included::environment_directories;

/// The largest number of headers that are read. Reading more takes as long as preprocessing.
const MOST_FILES: usize = 1_500;

/// Directories of system headers. A star matches any text at that end of a name.
const PLACES: &[&str] = &[
    "/usr/local/include",
    "/usr/include",
    "/usr/include/*-linux-*",
    "/usr/lib/gcc/*/*/include",
];

/// More such directories for C++ only: some of its headers have the same names as C's.
const CXX_PLACES: &[&str] = &["/usr/include/c++/*", "/usr/include/*-linux-*/c++/*"];

/// The text of system headers.
pub(super) struct SystemHeaders(Vec<Vec<u8>>);

impl SystemHeaders {
    /// Reads the given headers and the headers that they include. None if there are too many of
    /// them or a macro names an included file. Also None if one of `headers` is not found,
    /// unless `all_known` says that all directories are known.
    pub(super) fn read(
        headers: &BTreeSet<String>,
        language: Language,
        all_known: bool,
    ) -> Option<Self> {
        let places = places(language);
        let mut pending = Vec::new();
        for header in headers {
            let found = found(&places, header);
            if found.is_empty() && !all_known {
                return None;
            }
            pending.extend(found);
        }
        let mut known: HashSet<PathBuf> = pending.iter().cloned().collect();
        let mut asked = HashSet::new();
        let mut texts = Vec::new();
        while let Some(file) = pending.pop() {
            if known.len() > MOST_FILES {
                return None;
            }
            let text = std::fs::read(&file).ok()?;
            for include in scan::includes(&text) {
                let (name, own) = match include {
                    Include::Angled(name) => (name, None),
                    Include::Quoted(name) => {
                        let own = file.parent().map(|parent| parent.join(&name));
                        (name, own.filter(|file| file.is_file()))
                    }
                    Include::Computed => return None,
                };
                let elsewhere = asked.insert(name.clone()).then(|| found(&places, &name));
                let files = own.into_iter().chain(elsewhere.into_iter().flatten());
                pending.extend(files.filter(|file| known.insert(file.clone())));
            }
            texts.push(text);
        }
        Some(Self(texts))
    }

    /// Whether one of the headers may define a macro.
    pub(super) fn define(&self, name: &str) -> bool {
        let may_define = |text: &Vec<u8>| {
            let is_named = |(defined, _): (&[u8], usize)| defined == name.as_bytes();
            memmem::find(text, name.as_bytes()).is_some() && definitions(text).any(is_named)
        };
        self.0.iter().any(may_define)
    }
}

/// A directory and the names of its entries.
type SearchFolder = (PathBuf, HashSet<OsString>);

fn places(language: Language) -> Vec<SearchFolder> {
    let environment = environment_directories(&["C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"]);
    let cxx: &[&str] = match language {
        Language::Cxx => CXX_PLACES,
        Language::C | Language::Fortran => &[],
    };
    let standard = cxx.iter().chain(PLACES);
    let standard = standard.flat_map(|pattern| matching(pattern));
    let with_entries = |directory: PathBuf| {
        let entries = directory.read_dir().ok()?.flatten();
        let names = entries.map(|entry| entry.file_name()).collect();
        Some((directory, names))
    };
    environment
        .into_iter()
        .chain(standard)
        .filter_map(with_entries)
        .collect()
}

/// The directories that a pattern stands for. A star may only stand at the begin or the end of
/// a name.
fn matching(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let next = |directory: &PathBuf| -> Vec<PathBuf> {
            if !part.contains('*') {
                return vec![directory.join(part)];
            }
            let literal = part.trim_matches('*');
            let entries = directory.read_dir().into_iter().flatten().flatten();
            let fits = |name: &OsString| name.to_string_lossy().contains(literal);
            let names = entries.map(|entry| entry.file_name()).filter(fits);
            names.map(|name| directory.join(name)).collect()
        };
        found = found.iter().flat_map(next).collect();
    }
    found
}

/// The files of this name in all of the places.
fn found(places: &[SearchFolder], name: &str) -> Vec<PathBuf> {
    let first = Path::new(name).components().next();
    let first = first
        .map(|part| part.as_os_str().to_owned())
        .unwrap_or_default();
    let holding = places
        .iter()
        .filter(|(_, entries)| entries.contains(&first));
    let files = holding.map(|(directory, _)| directory.join(name));
    files.filter(|file| file.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_system_headers_are_found() {
        let headers = |names: &[&str], all_known| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            SystemHeaders::read(&names, Language::C, all_known)
        };
        let some = headers(&["stdio.h", "math.h"], false).unwrap();
        assert!(some.define("EOF") && some.define("M_PI"));
        assert!(!some.define("ROMP_IS_NOT_DEFINED"));
        let absent = ["stdio.h", "absent/of/all.h"];
        assert!(headers(&absent, false).is_none());
        let some = headers(&absent, true).unwrap();
        assert!(some.define("EOF") && !some.define("M_PI"));
        let vector = || ["vector".to_owned()].into();
        assert!(SystemHeaders::read(&vector(), Language::C, false).is_none());
        let some = SystemHeaders::read(&vector(), Language::Cxx, false).unwrap();
        assert!(some.define("_GLIBCXX_VECTOR"));
    }
}
