//! Finds the program to be run, and tells beforehand why it can't be measured.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::cli::ELF;
use crate::cli::executable::{in_path, is_program};

/// Why a program is not run.
#[derive(Debug)]
pub(super) struct Refusal {
    /// A line for the user.
    pub(super) message: String,
    /// Whether the program does not exist.
    pub(super) is_missing: bool,
}

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;

/// Finds a program as a shell does.
pub(super) fn find(name: &OsStr) -> Result<PathBuf, Refusal> {
    let shown = name.to_string_lossy();
    let refused = |why: &str| Refusal {
        message: format!("'{shown}' can't be measured: {why}"),
        is_missing: false,
    };
    let beside = Path::new(name);
    if beside.is_dir() && (shown.contains('/') || in_path(name).is_none()) {
        return Err(refused("it is a folder: give the program in it"));
    }
    let why = match beside.is_file() && !shown.contains('/') {
        true => format!("it is not in PATH: say ./{shown}"),
        false if shown.starts_with('-') => {
            "romp run has no such option, see 'romp run --help'".to_owned()
        }
        false => "there is no such file".to_owned(),
    };
    let missing = || Refusal {
        message: format!("cannot run '{shown}': {why}"),
        is_missing: true,
    };
    let path = match name.as_bytes().contains(&b'/') {
        true => PathBuf::from(name),
        false => in_path(name).ok_or_else(missing)?,
    };
    let about = path.metadata().map_err(|_| missing())?;
    if !is_program(&about) {
        return Err(refused("it is not a program, or 'chmod +x' is missing"));
    }
    if is_lent(&about) {
        return Err(refused(
            "it is set-user-id or set-group-id, and the system loads nothing into such programs",
        ));
    }
    match Executable::read(&path) {
        Some(Executable::Static) => Err(refused(
            "it is linked statically: nothing can be loaded before it; build it with rompcc",
        )),
        Some(Executable::Other) => Err(refused("it is a program for another kind of machine")),
        Some(Executable::Dynamic) | None => Ok(path),
    }
}

/// Why the system did not start a program that exists.
pub(super) fn not_started(path: &Path, error: &std::io::Error) -> String {
    let shown = path.display();
    match interpreter(path).filter(|_| error.kind() == std::io::ErrorKind::NotFound) {
        Some(interpreter) => format!(
            "cannot run '{shown}': its first line asks for '{interpreter}', which does not exist"
        ),
        None => format!("cannot run '{shown}': {error}"),
    }
}

/// The program that the first line of a script names.
fn interpreter(script: &Path) -> Option<String> {
    /// As much of the line as the kernel reads.
    const BEGINNING: u64 = 256;
    let mut bytes = Vec::new();
    let file = File::open(script).ok()?;
    file.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n');
    let line = String::from_utf8_lossy(line.into_iter().next()?).into_owned();
    line.split([' ', '\t'])
        .find(|word| !word.is_empty())
        .map(|word| word.escape_debug().to_string())
}

/// Whether the system would run it with privileges that the user does not have.
fn is_lent(about: &Metadata) -> bool {
    let us = File::open("/proc/self").and_then(|own| own.metadata());
    let (user, group) = us.map_or((0, 0), |own| (own.uid(), own.gid()));
    let mode = about.permissions().mode();
    mode & SET_USER != 0 && about.uid() != user || mode & SET_GROUP != 0 && about.gid() != group
}

/// The kind of an ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Executable {
    /// The dynamic linker starts it.
    Dynamic,
    /// The kernel starts it.
    Static,
    /// This machine's dynamic linker does not start it.
    Other,
}

impl Executable {
    /// The kind of a file; none if it is not an ELF file, such as a script.
    fn read(path: &Path) -> Option<Self> {
        /// Larger than header and program headers of any program.
        const BEGINNING: u64 = 1 << 16;
        let mut bytes = Vec::new();
        let file = File::open(path).ok()?;
        file.take(BEGINNING).read_to_end(&mut bytes).ok()?;
        Self::of(&bytes)
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        const CLASS_64: u8 = 2;
        const LITTLE_ENDIAN: u8 = 1;
        const THIS_MACHINE: u64 = 62;
        const INTERPRETER: u64 = 3;
        if !bytes.starts_with(ELF) {
            return None;
        }
        let word = |at: usize, size: usize| -> u64 {
            let bytes = bytes.get(at..).and_then(|rest| rest.get(..size));
            let bytes = bytes.unwrap_or_default().iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte))
        };
        if word(4, 1) != u64::from(CLASS_64)
            || word(5, 1) != u64::from(LITTLE_ENDIAN)
            || word(18, 2) != THIS_MACHINE
        {
            return Some(Self::Other);
        }
        let (table, size, count) = (word(32, 8), word(54, 2), word(56, 2));
        let headers = (0..count).map(|number| table.saturating_add(number * size));
        let mut types = headers.map(|at| word(usize::try_from(at).unwrap_or(usize::MAX), 4));
        match types.any(|kind| kind == INTERPRETER) {
            true => Some(Self::Dynamic),
            false => Some(Self::Static),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(machine: u8, interpreter: bool) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18] = machine;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = if interpreter { 3 } else { 1 };
        bytes
    }

    #[test]
    fn only_what_the_dynamic_linker_starts_can_be_measured() {
        for (bytes, expected) in [
            (program(62, true), Some(Executable::Dynamic)),
            (program(62, false), Some(Executable::Static)),
            (program(183, true), Some(Executable::Other)),
            (b"#!/bin/sh\n".to_vec(), None),
            (b"\x7fELF".to_vec(), Some(Executable::Other)),
            (program(62, true)[..64].to_vec(), Some(Executable::Static)),
        ] {
            assert_eq!(Executable::of(&bytes), expected);
        }
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for (name, is_missing) in [
            ("no-such-program-of-ours", true),
            ("./no/such/program", true),
            ("/etc/passwd", false),
            ("/", false),
        ] {
            let refusal = find(OsStr::new(name)).unwrap_err();
            assert_eq!(refusal.is_missing, is_missing, "{name}");
            assert!(refusal.message.contains(name));
        }
        assert!(find(OsStr::new("ls")).unwrap().is_absolute());
    }
}
