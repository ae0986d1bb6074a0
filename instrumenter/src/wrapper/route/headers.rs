//! Whether a source finds the same headers when it is compiled elsewhere.
//!
//! The compiler finds the headers beside a temporary file's source through `-iquote`. It
//! searches this directory for every quoted `#include`. A compiler that reads the source in its
//! own place searches the source's directory only for includes in the source itself. So with
//! `-iquote`, an `#include` in another header may find another file of the same name. A cheap
//! look at the directories finds the commands where that can happen; only for those the
//! compiler is asked.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::substitution::substituted;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::included::{SYSTEM, environment_directories};
use crate::wrapper::run::{Output, Runner};
use crate::wrapper::unit::Unit;

/// Variables that name directories to GCC and Clang: the directories of the first are searched
/// like those of `-I`, those of the others like those of `-isystem`.
const INCLUDE_VARIABLES: &[&str] = &["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// Directories that have the same subdirectories to more than this depth are taken as
/// ambiguous.
const DEEPEST: usize = 6;

/// Whether the source includes itself: it would include the instrumented text.
pub(crate) fn includes_itself(unit: &Unit) -> bool {
    let base = Path::new(&unit.name)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    String::from_utf8_lossy(&unit.original).lines().any(|line| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let target = directive
            .and_then(|text| text.strip_prefix("include"))
            .map(str::trim);
        target.is_some_and(|target| {
            let quoted = target
                .strip_prefix('"')
                .and_then(|rest| rest.split('"').next());
            let quoted = quoted.and_then(|name| name.rsplit('/').next());
            quoted.is_some_and(|name| name == base)
                || target.starts_with("__FILE__")
                || target.starts_with("__BASE_FILE__")
        })
    })
}

/// Whether the compiler finds the same headers for the unit's temporary file
/// as for the user's.
pub(crate) fn same_headers(runner: &Runner<'_>, line: &CommandLine, unit: &Unit) -> bool {
    let moved = !unit.renamed().is_empty();
    if !moved || line.has(Meaning::NoCurrentDirectory) || !may_differ(line, unit.directory()) {
        return true;
    }
    let line = line.only_source(unit.index).without_dependencies();
    let original = listed(runner, line.words());
    let moved = listed(runner, substituted(&line, &[unit], None));
    match (original, moved) {
        // The first file is the source itself.
        (Some(original), Some(moved)) => original[1..] == moved[1..],
        // The source can't be preprocessed: the compiler will say why.
        (None, _) => true,
        (_, None) => false,
    }
}

/// The files that the compiler reads for a command, in its order. The list is never empty.
fn listed(runner: &Runner<'_>, mut words: Vec<OsString>) -> Option<Vec<String>> {
    words.push("-M".into());
    let outcome = runner.run(&words, None, Output::HeldBack).ok()?;
    // A name may hold an escaped space.
    let text = String::from_utf8_lossy(&outcome.stdout)
        .replace("\\\n", " ")
        .replace("\\ ", "\\\0");
    let names = text.split_once(": ")?.1.split_whitespace();
    // GCC lists `./x.h` as `x.h`, Clang as it found it.
    let plain = names.map(|name| name.strip_prefix("./").unwrap_or(name).to_owned());
    // GCC lists a file once for each path that leads to it.
    let mut known = HashSet::new();
    let files: Vec<String> = plain.filter(|name| known.insert(name.clone())).collect();
    (outcome.success() && !files.is_empty()).then_some(files)
}

/// Whether a name can mean one file in `directory` and another in a directory
/// that the compiler also searches.
fn may_differ(line: &CommandLine, directory: &Path) -> bool {
    let included = line.values(Meaning::IncludeDirectory).map(PathBuf::from);
    let mut others: Vec<PathBuf> = included
        .chain(environment_directories(INCLUDE_VARIABLES))
        .chain(SYSTEM.iter().map(PathBuf::from))
        .collect();
    if line.has(Meaning::ForcedInclude) {
        // A header named by `-include` is searched in the current directory first, then as
        // usual.
        others.push(PathBuf::from("."));
        let missing = |file| !Path::new(file).exists() && directory.join(file).exists();
        if line.values(Meaning::ForcedInclude).any(missing) {
            return true;
        }
    }
    let home = directory.canonicalize().ok();
    others.retain(|other| other.canonicalize().is_ok_and(|path| Some(path) != home));
    share_a_name(directory, &others, DEEPEST)
}

fn share_a_name(directory: &Path, others: &[PathBuf], depth: usize) -> bool {
    if others.is_empty() {
        return false;
    }
    let Ok(entries) = directory.read_dir() else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        if !is_directory(&entry) {
            return may_be_included(&name.to_string_lossy())
                && others.iter().any(|other| other.join(&name).is_file());
        }
        let inner: Vec<PathBuf> = others
            .iter()
            .map(|other| other.join(&name))
            .filter(|path| path.is_dir())
            .collect();
        !inner.is_empty() && (depth == 0 || share_a_name(&entry.path(), &inner, depth - 1))
    })
}

/// The type in the directory entry mostly suffices. Only a symbolic link has to be followed.
fn is_directory(entry: &std::fs::DirEntry) -> bool {
    match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => kind.is_dir(),
        _ => entry.path().is_dir(),
    }
}

/// Build directories hold many objects and similar files; these are never included.
fn may_be_included(name: &str) -> bool {
    const EXTENSIONS_NEVER_INCLUDED: &[&str] = &[
        "o", "d", "a", "so", "lo", "mod", "gcno", "gcda", "txt", "md",
    ];
    const NAMES_NEVER_INCLUDED: &[&str] = &[
        "Makefile",
        "makefile",
        "GNUmakefile",
        "README",
        "LICENSE",
        "COPYING",
    ];
    name.rsplit_once('.')
        .is_none_or(|(_, extension)| !EXTENSIONS_NEVER_INCLUDED.contains(&extension))
        && !NAMES_NEVER_INCLUDED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    fn unit(name: &str, text: &str) -> Unit {
        Unit::for_tests(name, text)
    }

    #[test]
    fn a_source_that_includes_itself_is_seen() {
        for text in [
            "#include \"a.c\"",
            "int x;\n  # include __FILE__\n",
            "#include \"src/a.c\"",
        ] {
            assert!(includes_itself(&unit("src/a.c", text)), "{text}");
        }
        for text in [
            "#include \"ba.c\"",
            "#include <a.c>",
            "// \"a.c\"",
            "#include \"a.h\"",
        ] {
            assert!(!includes_itself(&unit("src/a.c", text)), "{text}");
        }
    }

    #[test]
    fn only_names_in_two_directories_need_the_compiler() {
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        make("src/a.h");
        make("src/sub/deep.h");
        make("inc/b.h");
        let inc = dir.path().join("inc");
        let line = classified(&format!("-c a.c -I {}", inc.display()));
        let source = dir.path().join("src");
        assert!(!may_differ(&line, &source));
        assert!(
            !may_differ(&line, &inc),
            "a directory does not conflict with itself"
        );
        make("inc/sub/deep.h");
        assert!(may_differ(&line, &source));
    }
}
