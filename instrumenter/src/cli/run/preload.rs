//! The library that is loaded before the program, and the list of the profiles that the program
//! writes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::Command;

use profile::save::LIST;

use crate::wrapper::library;

/// The variable with the libraries that the dynamic linker loads before a program.
const PRELOAD: &str = "LD_PRELOAD";

/// The files for one run.
#[derive(Debug)]
pub(super) struct Preload {
    library: PathBuf,
    list: tempfile::NamedTempFile,
}

/// Finds the library, and makes an empty list.
///
/// # Errors
/// A sentence for the user.
pub(super) fn prepare() -> Result<Preload, String> {
    let library = library::find_loaded_before()?;
    let is_separated = |byte: &u8| matches!(byte, b':' | b' ');
    if library.as_os_str().as_bytes().iter().any(is_separated) {
        return Err(format!(
            "the dynamic linker takes no path with blanks or colons: move '{}'",
            library.display()
        ));
    }
    let list = tempfile::NamedTempFile::new();
    let list = list.map_err(|error| format!("cannot make a temporary file: {error}"))?;
    Ok(Preload { library, list })
}

impl Preload {
    /// Makes the dynamic linker load the library before a program, in front of the libraries
    /// that the user has in this variable.
    pub(super) fn add_to(&self, command: &mut Command) {
        let before = std::env::var_os(PRELOAD).filter(|before| !before.is_empty());
        let mut words = vec![self.library.clone().into_os_string()];
        words.extend(before);
        command.env(PRELOAD, words.join(OsStr::new(":")));
        command.env(LIST, self.list.path());
    }

    /// Whether the user has not switched measurement off.
    pub(super) fn is_wanted(&self) -> bool {
        let switch = std::env::var("ROMP_MEASURE").ok();
        switch.and_then(|value| profile::environment::truth(&value)) != Some(false)
    }

    /// The profiles that were written. An entry that is not a path stands for a program that
    /// measures itself.
    pub(super) fn listed(&self) -> Vec<PathBuf> {
        let list = std::fs::read(self.list.path()).unwrap_or_default();
        let lines = list.split(|byte| *byte == b'\n');
        lines
            .filter(|line| !line.is_empty())
            .map(|line| PathBuf::from(OsString::from_vec(line.to_vec())))
            .collect()
    }
}
