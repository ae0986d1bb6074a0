//! The temporary directory of a build, which is removed however the process ends.
//!
//! Safe Rust can't handle signals, so a second process of ours does the cleaning when we are
//! killed. It waits for the end of a pipe that only we hold open, then removes the directory.
//! It has its own process group, so it outlives an interrupt from the terminal.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The start of the directory's name; the cleaner refuses any other.
const NAME: &str = "romp-";

/// The first argument that makes a call the cleaner.
const CLEANER: &str = "--romp-remove-after-end-of-input";

/// A temporary directory and the process that guards it.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    cleaner: Option<Child>,
}

impl Scratch {
    /// Makes a directory that nobody else uses.
    pub(crate) fn new() -> std::io::Result<Self> {
        // The compiler records paths, so the directory's path must not depend on the current
        // directory.
        let place = std::path::absolute(std::env::temp_dir())?;
        let directory = tempfile::Builder::new().prefix(NAME).tempdir_in(place)?;
        let cleaner = start_cleaner(directory.path());
        Ok(Self { directory, cleaner })
    }

    /// Writes `text` to a file called `name` in a directory of its own. So no quoted `#include`
    /// can find another file of ours.
    pub(crate) fn write(&self, name: &OsStr, text: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.place(name)?;
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// A path for a file called `name`, in a directory of its own.
    pub(crate) fn place(&self, name: &OsStr) -> std::io::Result<PathBuf> {
        let inner = tempfile::Builder::new()
            .prefix("")
            .tempdir_in(self.directory.path())?;
        Ok(inner.keep().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Closing the pipe makes the cleaner remove the directory and end. We wait for it, so
        // that no process of ours is left behind.
        if let Some(mut cleaner) = self.cleaner.take() {
            drop(cleaner.stdin.take());
            let _ = cleaner.wait();
        }
    }
}

/// Starts the cleaner. If it can't be started, an interrupted build leaves its directory; that
/// is no reason to fail.
fn start_cleaner(directory: &Path) -> Option<Child> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg(CLEANER).arg(directory).process_group(0);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().ok()
}

/// Does the cleaner's work if the arguments ask for it, and returns whether they do. Each of our
/// commands that build can be called as its own cleaner.
#[must_use]
pub fn clean_if_asked(arguments: &[OsString]) -> bool {
    let [word, directory] = arguments else {
        return false;
    };
    if word != CLEANER {
        return false;
    }
    // If `Command` had to change the directory at the start, it would first copy our whole
    // memory.
    let _ = std::env::set_current_dir("/");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let directory = Path::new(directory);
    let name = directory.file_name().unwrap_or_default();
    if name.to_string_lossy().starts_with(NAME) {
        let _ = std::fs::remove_dir_all(directory);
    }
    true
}
