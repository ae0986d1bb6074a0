//! The library that is loaded before the program, and the list that the program's processes
//! write.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use profile::run_list::{self, Entry};

use crate::wrapper::library;

/// The variable with the libraries that the dynamic linker loads before a program.
const PRELOAD: &str = "LD_PRELOAD";

/// The files for one run.
#[derive(Debug)]
pub(super) struct Preload {
    library: PathBuf,
    list: tempfile::NamedTempFile,
}

/// Whether the user has switched something on.
fn is_on(variable: &str) -> Option<bool> {
    profile::environment::truth(&std::env::var(variable).ok()?)
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
    let list = list.map_err(|error| {
        format!(
            "cannot make a file in '{}' ({}): set TMPDIR to a folder that can be written",
            std::env::temp_dir().display(),
            error.kind()
        )
    })?;
    Ok(Preload { library, list })
}

impl Preload {
    /// Makes the dynamic linker load the library before a program, in front of those that the user has
    /// in this variable.
    pub(super) fn add_to(&self, command: &mut Command) {
        let before = std::env::var_os(PRELOAD).filter(|before| !before.is_empty());
        let ours = OsString::from(&self.library);
        let words: Vec<OsString> = std::iter::once(ours).chain(before).collect();
        command.env(PRELOAD, words.join(OsStr::new(":")));
        command.env(run_list::VARIABLE, self.list.path());
    }

    /// Whether the user has not switched measurement off.
    pub(super) fn is_wanted(&self) -> bool {
        is_on("ROMP_MEASURE") != Some(false)
    }

    /// What the processes wrote into the list.
    pub(super) fn entries(&self) -> Vec<Entry> {
        run_list::read(&std::fs::read(self.list.path()).unwrap_or_default())
    }
}
