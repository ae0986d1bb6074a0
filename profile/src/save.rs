//! Writing a run to disk: `<application>[.r<rank>].<n>.romp.json` and `.romp.txt`.
//!
//! This module knows names and files, but not their contents. `n` is the first number for which
//! neither file exists. A file only gets its final name when it is complete. It is first
//! written as a file without a name in the same directory (under a temporary name if the file
//! system does not support that), and then linked. Linking fails if the name is taken. So
//! nothing is ever overwritten, several processes that save at the same time get different
//! numbers, and a process that is killed leaves nothing behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::analysis::Report;
use crate::model::Profile;
use crate::parallel::both;
use crate::report;

pub use crate::load::{LoadError, load};

/// Large enough that a big profile needs few system calls.
const BUFFER_BYTES: usize = 1 << 18;
/// File systems allow 255 bytes. The rest is for rank, number and extension.
const LONGEST_APPLICATION: usize = 180;

/// The extension of trace files.
const TRACE: &str = "romp.trace";

/// Where to save, and under which name.
#[derive(Clone, Debug)]
pub struct SaveOptions {
    /// The directory. It is created if it does not exist.
    pub directory: PathBuf,
    /// Name of the program, the first part of the file names.
    pub application: String,
    /// Rank of the process, if it is one of an MPI program.
    pub rank: Option<u32>,
    /// The number that the run's trace already has; none if there is no trace.
    pub number: Option<u64>,
}

/// The written files.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The saved profile: everything that was measured.
    pub json: PathBuf,
    /// The text report.
    pub text: PathBuf,
    /// One line that says where the time went.
    pub headline: String,
}

/// Why a profile could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The directory could not be created.
    #[error("cannot make the directory '{}': {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write to '{}': {source}", path.display())]
    Write {
        /// The file, or the directory that refuses new files.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// Saves a profile and its text report under new names.
///
/// # Errors
/// If the directory cannot be created, or a file cannot be written there. Neither file exists
/// then.
pub fn save(profile: &Profile, options: &SaveOptions) -> Result<Saved, SaveError> {
    let (json, text, headline) = write(profile, options)?;
    let (json, text) = publish(&json, &text, options).map_err(|source| refused(options, source))?;
    Ok(Saved {
        json,
        text,
        headline,
    })
}

/// Saves a later state of the same run, and replaces the earlier files.
///
/// # Errors
/// As for [`save`]. Files that were saved earlier are kept.
pub fn save_over(
    profile: &Profile,
    options: &SaveOptions,
    earlier: &Saved,
) -> Result<Saved, SaveError> {
    let (json, text, headline) = write(profile, options)?;
    json.replace(&earlier.json)
        .and_then(|()| text.replace(&earlier.text))
        .map_err(|source| refused(options, source))?;
    Ok(Saved {
        headline,
        ..earlier.clone()
    })
}

fn refused(options: &SaveOptions, source: io::Error) -> SaveError {
    SaveError::Write {
        path: options.directory.clone(),
        source,
    }
}

/// Writes both files under temporary names, with the headline.
fn write(
    profile: &Profile,
    options: &SaveOptions,
) -> Result<(Temporary, Temporary, String), SaveError> {
    let directory = &options.directory;
    fs::create_dir_all(directory).map_err(|source| SaveError::Directory {
        path: directory.clone(),
        source,
    })?;
    let write_json = || Temporary::write(directory, |out| report::json::write(profile, out));
    let write_text = || {
        let analysed = Report::new(profile);
        let text = Temporary::write(directory, |out| report::text::write(&analysed, out))?;
        Ok((text, analysed.summary.headline))
    };
    let (json, text) = both(profile.is_large(), write_json, write_text);
    let json = json.map_err(|source| refused(options, source))?;
    let (text, headline) = text.map_err(|source| refused(options, source))?;
    Ok((json, text, headline))
}

/// Writes a file that does not exist yet, completely or not at all.
///
/// # Errors
/// If the name is taken, or the file cannot be written.
pub fn write_new(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // An early check avoids useless work. The link below decides.
    if is_taken(path) {
        return Err(taken());
    }
    let file = Temporary::write(directory_of(path), content)?;
    if file.publish(path)? {
        Ok(())
    } else {
        Err(taken())
    }
}

fn taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "it is there already")
}

/// Gives both files their final names with the first free number.
fn publish(
    json: &Temporary,
    text: &Temporary,
    options: &SaveOptions,
) -> io::Result<(PathBuf, PathBuf)> {
    for number in options.number.unwrap_or(0).. {
        let stem = stem(options, number);
        let is_of_others = options.number != Some(number)
            && is_taken(&options.directory.join(format!("{stem}.{TRACE}")));
        if is_of_others {
            continue;
        }
        let json_path = options.directory.join(format!("{stem}.romp.json"));
        let text_path = options.directory.join(format!("{stem}.romp.txt"));
        // The link below decides. An early check avoids creating and removing a file.
        if is_taken(&json_path) || is_taken(&text_path) || !json.publish(&json_path)? {
            continue;
        }
        match text.publish(&text_path) {
            Ok(true) => return Ok((json_path, text_path)),
            Ok(false) => fs::remove_file(&json_path)?,
            Err(error) => {
                let _ = fs::remove_file(&json_path);
                return Err(error);
            }
        }
    }
    Err(io::Error::other("every file number is taken"))
}

/// Creates an empty file for the trace of a run that is not saved yet, under the first free
/// number. Returns the file, its path and the number.
///
/// # Errors
/// If the directory or the file cannot be created.
pub fn reserve_trace(options: &SaveOptions) -> io::Result<(File, PathBuf, u64)> {
    fs::create_dir_all(&options.directory)?;
    for number in 0u64.. {
        let stem = stem(options, number);
        let path = |extension: &str| options.directory.join(format!("{stem}.{extension}"));
        if is_taken(&path("romp.json")) || is_taken(&path("romp.txt")) {
            continue;
        }
        let trace = path(TRACE);
        match OpenOptions::new().write(true).create_new(true).open(&trace) {
            Ok(file) => return Ok((apart(file)?, trace, number)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("every file number is taken"))
}

/// Whether a name is taken. A dangling symbolic link takes a name too, so links are not
/// followed.
fn is_taken(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The part of the file names before the extension.
fn stem(options: &SaveOptions, number: u64) -> String {
    let application = file_name(&options.application);
    match options.rank {
        Some(rank) => format!("{application}.r{rank}.{number}"),
        None => format!("{application}.{number}"),
    }
}

/// The application's name in a form that is valid in a file name.
fn file_name(application: &str) -> String {
    let mut name = String::new();
    for c in application.chars() {
        if name.len() + c.len_utf8() > LONGEST_APPLICATION {
            break;
        }
        name.push(if c == '/' || c.is_control() { '_' } else { c });
    }
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name
    }
}

/// A complete file without its final name. It is removed when this value is dropped.
enum Temporary {
    /// A file without any name, so that nothing remains however the process ends.
    Unnamed(File),
    /// A named file, if the file system does not support files without a name.
    Named(Named),
}

/// A file under a temporary name.
struct Named {
    path: PathBuf,
}

impl Temporary {
    fn write(
        directory: &Path,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Self> {
        let (name, file) = match unnamed(directory) {
            Some(file) => (None, file),
            None => Named::create(directory).map(|(name, file)| (Some(name), file))?,
        };
        let file = apart(file)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, &file);
        content(&mut out)?;
        out.flush()?;
        drop(out);
        Ok(name.map_or(Self::Unnamed(file), Self::Named))
    }

    /// Gives the file its final name; false if that name is taken.
    fn publish(&self, path: &Path) -> io::Result<bool> {
        match self {
            Self::Named(named) => named.publish(path),
            Self::Unnamed(file) => match link(file, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                Ok(()) => Ok(true),
                Err(_) => Named::copy(file, directory_of(path))?.publish(path),
            },
        }
    }

    /// Replaces another file in one step. That requires a temporary name.
    fn replace(&self, path: &Path) -> io::Result<()> {
        let named = match self {
            Self::Named(named) => return fs::rename(&named.path, path),
            Self::Unnamed(file) => Named::link(file, directory_of(path))?,
        };
        fs::rename(&named.path, path)
    }
}

/// A file without a name, if the file system of this directory supports such files and they can
/// be linked.
fn unnamed(directory: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)).ok()?;
    fs::symlink_metadata(place_of(&file)).ok()?;
    Some(File::from(file))
}

/// Ensures that an open file does not have the number of a closed stdout, to which the program
/// may still write.
fn apart(file: File) -> io::Result<File> {
    const STANDARD: std::ops::RangeInclusive<i32> = 0..=2;
    match STANDARD.contains(&file.as_raw_fd()) {
        true => file.try_clone(),
        false => Ok(file),
    }
}

/// The path under which the system shows an open file.
fn place_of(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Gives a name to a file without one.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let place = place_of(file);
    Ok(rustix::fs::linkat(
        CWD,
        place,
        CWD,
        path,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    directory.unwrap_or(Path::new("."))
}

impl Named {
    /// Creates an empty file under a unique name.
    fn create(directory: &Path) -> io::Result<(Self, File)> {
        Self::with(directory, |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })
    }

    /// Gives such a name to a file without a name.
    fn link(file: &File, directory: &Path) -> io::Result<Self> {
        Ok(Self::with(directory, |path| link(file, path))?.0)
    }

    /// Copies a file that cannot be linked.
    fn copy(file: &File, directory: &Path) -> io::Result<Self> {
        let (named, mut copy) = Self::create(directory)?;
        let mut file = file;
        file.rewind()?;
        io::copy(&mut file, &mut copy)?;
        Ok(named)
    }

    /// Creates something under a unique name. The name contains the process id and a counter,
    /// which differs between threads. Processes on different machines may have the same id, so
    /// existing names are skipped.
    fn with<R>(directory: &Path, make: impl Fn(&Path) -> io::Result<R>) -> io::Result<(Self, R)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let serial = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!(".romp.{}.{serial}.tmp", std::process::id()));
            match make(&path) {
                Ok(made) => return Ok((Self { path }, made)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives the file its final name; false if that name is taken.
    fn publish(&self, path: &Path) -> io::Result<bool> {
        match fs::hard_link(&self.path, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(_) => self.publish_without_links(path),
        }
    }

    /// For file systems without links: an empty file reserves the name, and the complete file
    /// replaces it in one step.
    fn publish_without_links(&self, path: &Path) -> io::Result<bool> {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => return Err(error),
        }
        fs::rename(&self.path, path).inspect_err(|_| {
            let _ = fs::remove_file(path);
        })?;
        Ok(true)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // The file no longer exists if it was renamed. Other errors cannot be handled here.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_links_a_taken_name_is_left_alone_too() {
        let directory = std::env::temp_dir().join(format!("romp-links-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let publish = |name: &str| {
            let (whole, mut file) = Named::create(&directory).unwrap();
            file.write_all(b"whole").unwrap();
            whole.publish_without_links(&directory.join(name)).unwrap()
        };
        fs::write(directory.join("taken"), "the user's").unwrap();
        assert!(!publish("taken"));
        assert!(publish("free"));
        let content = |name| fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!(
            (content("taken").as_str(), content("free").as_str()),
            ("the user's", "whole")
        );
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_being_written_has_no_name_and_takes_places_all_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("profile");
        let names = || fs::read_dir(directory.path()).unwrap().count();
        let has_such_files = unnamed(directory.path()).is_some();
        for (content, number) in [("first", 0), ("second", 1)] {
            let whole = Temporary::write(directory.path(), |out| {
                out.write_all(content.as_bytes())?;
                assert!(!has_such_files || names() == number);
                Ok(())
            });
            let whole = whole.unwrap();
            match number {
                0 => assert!(whole.publish(&path).unwrap()),
                _ => {
                    assert!(!whole.publish(&path).unwrap());
                    whole.replace(&path).unwrap();
                }
            }
            drop(whole);
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(names(), 1);
        }
        let file = File::open(&path).unwrap();
        let copied = Named::copy(&file, directory.path()).unwrap();
        assert_eq!(fs::read_to_string(&copied.path).unwrap(), "second");
        drop(copied);
        assert_eq!(names(), 1);
    }

    #[test]
    fn names_of_programs_become_names_of_files() {
        assert_eq!(file_name(""), "unknown");
        assert_eq!(file_name("../a\nb"), ".._a_b");
        assert!(file_name(&"ä".repeat(300)).len() <= LONGEST_APPLICATION);
    }
}
