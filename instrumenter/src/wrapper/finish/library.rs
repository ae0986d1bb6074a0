//! Finds the measurement library, and makes the words that link it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::flags::Meaning;

/// The archive that measured programs are linked with.
const ARCHIVE: &str = "libpomp.a";

/// A file beside the archive: the symbols that an executable must export, in the form of the
/// linker's `--dynamic-list`. All linkers know that option. It is used for executables alone,
/// since in a shared library it would also bind symbols.
const EXPORTS: &str = "pomp.exports";

/// The system libraries that the archive itself needs.
pub(crate) const NATIVE_LIBRARIES: [&str; 2] = ["-lpthread", "-ldl"];

/// Finds the library: where `ROMP_LIB` says, or else beside the command or in
/// the `lib` directory next to it. An error is a sentence for the user.
pub(crate) fn find(chosen: Option<&OsStr>) -> Result<PathBuf, String> {
    let Some(chosen) = chosen else {
        return find_installed();
    };
    let path = Path::new(chosen);
    let file = if path.is_dir() {
        path.join(ARCHIVE)
    } else {
        path.to_owned()
    };
    if file.is_file() {
        Ok(file)
    } else {
        Err(format!("ROMP_LIB={} has no {ARCHIVE}", path.display()))
    }
}

/// The library that is loaded before programs that were not built with Romp.
const LOADED_BEFORE: &str = "libromp_run.so";

/// Finds the library that is loaded before programs, beside the command or in the `lib` directory next to
/// it. An error is a sentence for the user.
pub(crate) fn find_loaded_before() -> Result<PathBuf, String> {
    let mut files = places().map(|place| place.join(LOADED_BEFORE));
    let found = files.find(|file| file.is_file());
    found.ok_or_else(|| format!("{LOADED_BEFORE} is neither beside romp nor in ../lib"))
}

/// Directories where parts of Romp are: beside the command, and the `lib` directory next to it.
fn places() -> impl Iterator<Item = PathBuf> {
    let command = std::env::current_exe().and_then(std::fs::canonicalize);
    let command = command.unwrap_or_default();
    let directory = command.parent().map(Path::to_owned);
    let beside = command.ancestors().nth(2).map(|prefix| prefix.join("lib"));
    directory.into_iter().chain(beside)
}

fn find_installed() -> Result<PathBuf, String> {
    let found = places().find_map(|place| find_archive_in(&place));
    found.ok_or_else(|| format!("{ARCHIVE} is neither beside rompcc nor in ../lib"))
}

/// The archive in a directory. Where the library was built, `lib` may hold the archive that
/// `packaging/archive` makes of it. Programs are linked with that one in a tenth of the time.
/// It is not used if the library has been built again since.
fn find_archive_in(place: &Path) -> Option<PathBuf> {
    let built = place.join(ARCHIVE);
    let made = place.join("lib").join(ARCHIVE);
    let age = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    match (age(&built)?, age(&made)) {
        (building, Some(making)) if making > building => Some(made),
        _ => Some(built),
    }
}

/// The words that link a command with the library. They must follow the user's words: an
/// archive resolves only symbols of inputs before it.
pub(crate) fn link_words(line: &CommandLine, library: &Path) -> Vec<OsString> {
    let mut words = handed_to_the_linker(library);
    words.extend(needed_beside(library, !line.has(Meaning::Shared)));
    words
}

/// The words for builds written by hand, which link the library into an executable or into
/// something else. The archive is named as a plain file, since a tool in between may recognise
/// archives.
pub(crate) fn linking(library: &Path, executable: bool) -> Vec<OsString> {
    let mut words = vec![library.as_os_str().to_owned()];
    words.extend(needed_beside(library, executable));
    words
}

/// Hands the archive to the linker alone. As an input of the compiler it would get the language
/// that `-x` has set. And with a second input, GCC names the files that it writes beside the
/// program (`--coverage`, `-save-temps`) after both the program and the source.
fn handed_to_the_linker(library: &Path) -> Vec<OsString> {
    if library.to_string_lossy().contains(',') {
        return vec!["-Xlinker".into(), library.as_os_str().to_owned()];
    }
    let mut word = OsString::from("-Wl,");
    word.push(library);
    vec![word]
}

fn needed_beside(library: &Path, executable: bool) -> Vec<OsString> {
    let mut words = Vec::from(NATIVE_LIBRARIES.map(OsString::from));
    if executable {
        words.extend(exporting(library));
        words.extend(found_at_run_time(library));
    }
    words
}

/// The word that lets a program find the shared library at run time, if a shared library was
/// chosen (`ROMP_LIB`). The directory is a default: another one can be named at run time.
fn found_at_run_time(library: &Path) -> Option<OsString> {
    let is_shared = library.extension().is_some_and(|suffix| suffix == "so");
    let directory = library.parent()?.canonicalize().ok()?;
    is_shared.then(|| for_the_linker("-Wl,-rpath,", &directory))?
}

/// The word that makes an executable export the symbols that tools look up in it at run time.
/// None if the list is missing or its path has a comma, at which the compiler would split the
/// word.
fn exporting(library: &Path) -> Option<OsString> {
    let list = library.with_file_name(EXPORTS);
    list.is_file()
        .then(|| for_the_linker("-Wl,--dynamic-list=", &list))?
}

/// A flag for the linker with a path; none if the path has a comma, at which the compiler would
/// split the word.
fn for_the_linker(flag: &str, path: &Path) -> Option<OsString> {
    let is_word = !path.as_os_str().as_encoded_bytes().contains(&b',');
    is_word.then(|| [flag.as_ref(), path.as_os_str()].join(OsStr::new("")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    #[test]
    fn the_library_is_taken_from_a_file_or_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join(ARCHIVE);
        std::fs::write(&archive, "").unwrap();
        assert_eq!(find(Some(dir.path().as_os_str())).unwrap(), archive);
        assert_eq!(find(Some(archive.as_os_str())).unwrap(), archive);
        let absent = dir.path().join("absent");
        assert!(
            find(Some(absent.as_os_str()))
                .unwrap_err()
                .contains("ROMP_LIB=")
        );
    }

    #[test]
    fn of_a_library_that_was_built_what_was_made_of_it_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let (built, made) = (dir.path().join(ARCHIVE), dir.path().join("lib/libpomp.a"));
        assert_eq!(find_archive_in(dir.path()), None);
        std::fs::create_dir(dir.path().join("lib")).unwrap();
        std::fs::write(&made, "").unwrap();
        assert_eq!(find_archive_in(dir.path()), None);
        std::fs::write(&built, "").unwrap();
        let age = |path: &Path, seconds| {
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let file = std::fs::File::options().write(true).open(path);
            file.unwrap().set_modified(time).unwrap();
        };
        age(&built, 2);
        for (making, taken) in [(3, &made), (2, &built), (1, &built)] {
            age(&made, making);
            assert_eq!(find_archive_in(dir.path()).as_ref(), Some(taken));
        }
    }

    #[test]
    fn executables_export_what_tools_look_for() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join(ARCHIVE);
        let list = dir.path().join(EXPORTS);
        let last = |text| link_words(&classified(text), &library).pop().unwrap();
        assert_eq!(last("a.o"), "-ldl");
        std::fs::write(&list, "").unwrap();
        assert_eq!(
            last("a.o"),
            *format!("-Wl,--dynamic-list={}", list.display())
        );
        assert_eq!(last("-shared a.o"), "-ldl");
    }

    #[test]
    fn programs_find_the_shared_library() {
        let dir = tempfile::tempdir().unwrap();
        let last = |name| link_words(&classified("a.o"), &dir.path().join(name)).pop();
        let directory = dir.path().canonicalize().unwrap();
        let path = format!("-Wl,-rpath,{}", directory.display());
        assert_eq!(last("libpomp.so").unwrap(), *path);
        assert_eq!(last(ARCHIVE).unwrap(), "-ldl");
    }

    #[test]
    fn the_archive_is_the_linker_s_alone() {
        let words = |path| link_words(&classified("-x c a.c"), Path::new(path));
        assert_eq!(
            words("/l/libpomp.a"),
            ["-Wl,/l/libpomp.a", "-lpthread", "-ldl"]
        );
        assert_eq!(words("/l,m/libpomp.a")[..2], ["-Xlinker", "/l,m/libpomp.a"]);
    }
}
