//! Entries in the list of `romp run` (`profile::run_list`), which names it in the environment.
//!
//! A program may clear its environment. So the path is kept from the moment when the library is
//! loaded. Entries are written without memory of their own and without locks, since children that
//! share the program's memory write some, too.

use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use profile::run_list::{Mark, VARIABLE};

use super::{config, errno};

/// A longer path is not kept.
const LONGEST: usize = 1024;

/// The path of the list, with the zero byte that ends it.
static LIST: OnceLock<[u8; LONGEST]> = OnceLock::new();

/// Keeps the path of the list, if there is one.
pub(crate) fn remember() {
    let Some(path) = config::variable(VARIABLE) else {
        return;
    };
    let path = path.as_bytes();
    let mut kept = [0; LONGEST];
    // The last byte stays zero.
    if let Some(place) = kept[..LONGEST - 1].get_mut(..path.len()) {
        place.copy_from_slice(path);
        LIST.get_or_init(|| kept);
    }
}

/// Appends an entry. Returns whether the entry is in a list now: false if there is no list, or the
/// write failed.
pub(crate) fn note(mark: Mark, path: &[u8]) -> bool {
    LIST.get()
        .is_some_and(|list| errno::keep(|| append(list, mark, path)))
}

fn append(list: &[u8; LONGEST], mark: Mark, path: &[u8]) -> bool {
    // The letter, and the digits of a number below 2^32 from the right.
    let mut head = [0; 11];
    let mut at = head.len();
    let mut left = std::process::id();
    while left > 0 {
        at -= 1;
        head[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    at -= 1;
    head[at] = mark as u8;
    let parts = [&head[at..], path, b"\0"];
    let parts = parts.map(|part| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    });
    let size: usize = parts.iter().map(|part| part.iov_len).sum();
    // SAFETY: the path is a C string, and the system only reads the parts.
    unsafe {
        // A pipe that somebody put in the place of the list blocks nobody.
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = libc::open(list.as_ptr().cast(), flags);
        if file < 0 {
            return false;
        }
        let written = libc::writev(file, parts.as_ptr(), parts.len() as libc::c_int);
        libc::close(file);
        usize::try_from(written) == Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_as_they_were_written() {
        let path = std::env::temp_dir().join(format!("romp-list-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        let mut list = [0; LONGEST];
        let bytes = path.to_str().unwrap().as_bytes();
        list[..bytes.len()].copy_from_slice(bytes);
        assert!(append(&list, Mark::Loaded, b""));
        assert!(append(&list, Mark::Saved, b"/a\nb"));
        let entries = profile::run_list::read(&std::fs::read(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[1].path, std::path::Path::new("/a\nb"));
        assert_eq!(entries[0].process, std::process::id());
        assert!(!append(&list, Mark::Lost, b""));
    }
}
