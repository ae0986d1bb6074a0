//! Files of ours that stay open while the program runs. The program may close whatever is
//! open, as daemons do, and open something of its own under the same number.

use std::fs::File;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;

use super::limits;

/// Identifies an open file, whatever its name: the numbers of its device and of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(libc::dev_t, libc::ino_t);

impl Identity {
    pub(super) fn of(about: &libc::stat) -> Self {
        Self(about.st_dev, about.st_ino)
    }

    /// The identity of the root directory.
    pub(super) fn of_root() -> Option<Self> {
        let about = std::fs::metadata("/").ok()?;
        Some(Self(about.dev(), about.ino()))
    }
}

/// The system's description of an open file; none if it is closed.
pub(super) fn about(file: RawFd) -> Option<libc::stat> {
    let mut about = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the place is valid, and all zeros is a valid `stat`.
    let (result, about) = unsafe { (libc::fstat(file, about.as_mut_ptr()), about.assume_init()) };
    (result == 0).then_some(about)
}

/// A file that is used only as long as its number is still its own.
#[derive(Debug)]
pub(crate) struct OwnFile {
    file: ManuallyDrop<File>,
    identity: Option<Identity>,
}

impl OwnFile {
    /// Takes a file, and gives it a number that the program is not likely to get: it
    /// gets the lowest ones, as without us.
    pub(crate) fn new(file: File) -> Self {
        let file = with_high_number(file);
        Self {
            identity: identity(file.as_raw_fd()),
            file: ManuallyDrop::new(file),
        }
    }

    /// The file; none if the program has closed it.
    pub(crate) fn get(&self) -> Option<&File> {
        let now = identity(self.file.as_raw_fd());
        (now.is_some() && now == self.identity).then_some(&self.file)
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if self.get().is_some() {
            // SAFETY: this is dropped once.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

fn identity(file: RawFd) -> Option<Identity> {
    about(file).as_ref().map(Identity::of)
}

fn with_high_number(file: File) -> File {
    /// Programs expect no higher numbers, and the system's table of files would become larger.
    const MOST_FILE_NUMBERS: u64 = 1024;
    let limit = limits::limit(libc::RLIMIT_NOFILE)
        .map_or(MOST_FILE_NUMBERS, |limit| limit.min(MOST_FILE_NUMBERS));
    let from = libc::c_int::try_from(limit / 4 * 3).unwrap_or(0);
    let old = file.into_raw_fd();
    // SAFETY: the old number is the file's, and is closed only if there is another one.
    unsafe {
        match libc::fcntl(old, libc::F_DUPFD_CLOEXEC, from) {
            -1 => File::from_raw_fd(old),
            new => {
                libc::close(old);
                File::from_raw_fd(new)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_number_that_is_another_file_s_is_not_used() {
        let directory = std::env::temp_dir();
        let path = |name: &str| directory.join(format!("romp-own-{name}-{}", std::process::id()));
        let own = OwnFile::new(File::create(path("a")).unwrap());
        let number = own.file.as_raw_fd();
        assert!(number > 2 && own.get().is_some());
        let mut other = File::create(path("b")).unwrap();
        // SAFETY: both numbers are open, and the first one's file is no longer used.
        unsafe { libc::dup2(other.as_raw_fd(), number) };
        assert!(own.get().is_none());
        drop(own);
        other.write_all(b"b").unwrap();
        // SAFETY: it is still open, since it is not ours.
        assert_eq!(unsafe { libc::close(number) }, 0);
        for name in ["a", "b"] {
            std::fs::remove_file(path(name)).unwrap();
        }
    }
}
