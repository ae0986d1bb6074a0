//! Files that the system or a shell can run.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shell that runs scripts which name no interpreter.
const SHELL: &str = "/bin/sh";

/// The program of this name in PATH.
pub(super) fn in_path(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let places = std::env::split_paths(&path).map(|directory| directory.join(name));
    let mut programs = places.filter(|place| is_executable(place));
    programs.next()
}

/// Whether the system does not know how to run a file, such as a script without `#!`.
pub(super) fn is_for_shell<T>(started: &std::io::Result<T>) -> bool {
    matches!(started, Err(error) if error.raw_os_error() == Some(libc::ENOEXEC))
}

/// Runs such a file as shells and `execvp` do. A name without a folder is one in PATH.
pub(super) fn by_shell(name: &Path, words: &[OsString]) -> Command {
    let is_in_path = !name.as_os_str().as_bytes().contains(&b'/');
    let found = in_path(name.as_os_str()).filter(|_| is_in_path);
    let mut shell = Command::new(SHELL);
    shell.arg(found.as_deref().unwrap_or(name)).args(words);
    shell
}

/// Whether a file may be run.
pub(super) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| is_program(&about))
}

/// Whether it is a file that may be run.
pub(super) fn is_program(about: &Metadata) -> bool {
    about.is_file() && about.permissions().mode() & 0o111 != 0
}
