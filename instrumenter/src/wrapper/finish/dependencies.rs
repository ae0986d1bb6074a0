//! Dependency files: finds those that the compiler wrote, and replaces the temporary file's
//! name by the user's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::flags::Meaning;
use crate::wrapper::finish::replace_file;
use crate::wrapper::unit::Renamed;

/// Replaces every occurrence of a text.
pub(crate) fn replace(text: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    if from.is_empty() || !text.windows(from.len()).any(|part| part == from) {
        return text;
    }
    let mut new = Vec::with_capacity(text.len());
    let mut rest = text.as_slice();
    while let Some(&first) = rest.first() {
        if let Some(after) = rest.strip_prefix(from) {
            new.extend(to);
            rest = after;
        } else {
            new.push(first);
            rest = &rest[1..];
        }
    }
    new
}

/// Puts the user's names into a text that the compiler wrote: a dependency file or messages.
pub(crate) fn rename_in(mut text: Vec<u8>, renamed: &[Renamed]) -> Vec<u8> {
    for Renamed { from, to } in renamed {
        let from = from.as_os_str().as_bytes();
        let prerequisite = prerequisite(to);
        if quoted(from) != from {
            text = replace(text, &quoted(from), &quoted(prerequisite));
        }
        text = replace(text, from, to);
    }
    text
}

/// A name as GCC writes it into a dependency file: `./a.c` as `a.c`.
fn prerequisite(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    name
}

/// Corrects the dependency files of a command that has succeeded.
pub(crate) fn correct(line: &CommandLine, renamed: &[Renamed]) -> std::io::Result<()> {
    if renamed.is_empty() {
        return Ok(());
    }
    for file in files(line) {
        // Output to a device such as /dev/stdout can't be corrected afterwards.
        if file.is_file() {
            correct_file(&file, renamed)?;
        }
    }
    Ok(())
}

fn correct_file(file: &Path, renamed: &[Renamed]) -> std::io::Result<()> {
    let old = std::fs::read(file)?;
    let mut new = old.clone();
    for Renamed { from, to } in renamed {
        let to = quoted(prerequisite(to));
        new = replace(new, &quoted(from.as_os_str().as_bytes()), &to);
    }
    if new == old {
        return Ok(());
    }
    // Make may read the file at any time.
    replace_file(file, &new)
}

/// Files where the command may have written dependencies. The default name differs between
/// versions of the compilers, so this lists all possible names. Only files that name a
/// temporary file are changed.
fn files(line: &CommandLine) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = line
        .values(Meaning::DependencyFile)
        .map(Into::into)
        .collect();
    files.extend(
        line.values(Meaning::Preprocessor)
            .filter_map(preprocessor_file),
    );
    files.extend(
        ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"]
            .iter()
            .filter_map(|name| {
                let value = std::env::var_os(name)?;
                let first = value.as_bytes().split(|b| *b == b' ').next()?;
                Some(PathBuf::from(OsStr::from_bytes(first)))
            }),
    );
    if line.has(Meaning::WritesDependencies) {
        files.extend(default_files(line));
    }
    files
}

/// The file of `-Wp,-MD,FILE`.
fn preprocessor_file(value: &OsStr) -> Option<PathBuf> {
    let mut words = value.as_bytes().split(|byte| *byte == b',');
    words.find(|word| matches!(*word, b"-MD" | b"-MMD" | b"-MF"))?;
    words
        .next()
        .map(|file| PathBuf::from(OsStr::from_bytes(file)))
}

fn default_files(line: &CommandLine) -> Vec<PathBuf> {
    let output = line.output().map(Path::new);
    let mut files: Vec<PathBuf> = output.iter().map(|path| path.with_extension("d")).collect();
    for source in line.sources() {
        let stem = Path::new(source.name()).file_stem().unwrap_or_default();
        let mut name = stem.to_owned();
        name.push(".d");
        files.push(PathBuf::from(&name));
        if let Some(output) = output {
            let mut prefixed = OsString::from(output.file_stem().unwrap_or_default());
            prefixed.push("-");
            prefixed.push(&name);
            files.push(output.with_file_name(prefixed));
        }
    }
    files
}

/// A file name as it stands in a makefile.
fn quoted(name: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b' ' | b'\t' | b'#' => text.push(b'\\'),
            b'$' => text.push(b'$'),
            _ => {}
        }
        text.push(byte);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::command::classify::classified;

    #[test]
    fn every_place_of_a_dependency_file_is_known() {
        let files = |text| files(&classified(text));
        let has = |text, file: &str| files(text).contains(&PathBuf::from(file));
        assert!(has("-c src/a.c -MF x.d -MD", "x.d"));
        assert!(has("-c src/a.c -MFx.d", "x.d"));
        assert!(has("-c src/a.c -MD", "a.d"));
        assert!(has("-c src/a.c -MMD -o obj/b.o", "obj/b.d"));
        assert!(has("-c src/a.c -Wp,-MMD,obj/.a.d", "obj/.a.d"));
        assert!(has("src/a.c b.c -MD -o bin/app", "bin/app-a.d"));
        assert!(files("-c src/a.c").is_empty());
    }

    #[test]
    fn the_user_s_name_replaces_the_temporary_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.d");
        std::fs::write(&file, "a.o: /tmp/romp-1/x/my\\ a.c x.h\nx.h:\n").unwrap();
        let renamed = [Renamed {
            from: "/tmp/romp-1/x/my a.c".into(),
            to: "./d$/my a.c".into(),
        }];
        correct_file(&file, &renamed).unwrap();
        assert_eq!(
            std::fs::read(&file).unwrap(),
            b"a.o: d$$/my\\ a.c x.h\nx.h:\n"
        );
    }

    #[test]
    fn replacing_handles_repeats_and_absence() {
        assert_eq!(replace(b"aXbXX".to_vec(), b"X", b"yy"), b"ayybyyyy");
        assert_eq!(replace(b"abc".to_vec(), b"X", b"y"), b"abc");
    }
}
