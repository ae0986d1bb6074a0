//! The list in which `romp run` learns what became of the processes that it measures. The library
//! that is loaded before a program appends entries; `romp run` reads them when the program has
//! ended.
//!
//! An entry is one letter, the process in decimal digits, and a path where there is one; a zero
//! byte ends it. A path has no zero byte.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// The environment variable with the path of the list. Only `romp run` sets it.
pub const VARIABLE: &str = "_ROMP_RUN_LIST";

/// The statement of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// The library was loaded into a process: a program begins.
    Loaded = b'L',
    /// The program uses an OpenMP runtime that is measured.
    Runtime = b'R',
    /// A profile was written; the entry has its path.
    Saved = b'P',
    /// A profile could not be written. The library has said why.
    Lost = b'X',
    /// The program, or this part of it, reached no construct that is measured.
    Nothing = b'N',
    /// The program was built with Romp and measures itself.
    Itself = b'S',
    /// The program calls LLVM's runtime, which `OMP_TOOL` forbids to report events.
    NoTool = b'T',
    /// The program was built with ThreadSanitizer, and is not measured.
    Sanitized = b'Z',
    /// Another program is about to take this one's place in the process.
    Replaced = b'E',
}

impl Mark {
    const ALL: [Self; 9] = [
        Self::Loaded,
        Self::Runtime,
        Self::Saved,
        Self::Lost,
        Self::Nothing,
        Self::Itself,
        Self::NoTool,
        Self::Sanitized,
        Self::Replaced,
    ];
}

/// An entry of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its statement.
    pub mark: Mark,
    /// The process that wrote it.
    pub process: u32,
    /// The profile; empty if there is none.
    pub path: PathBuf,
}

/// The entries of a list. Text that is not an entry is ignored.
#[must_use]
pub fn read(list: &[u8]) -> Vec<Entry> {
    list.split(|byte| *byte == 0).filter_map(entry).collect()
}

fn entry(bytes: &[u8]) -> Option<Entry> {
    let (letter, rest) = bytes.split_first()?;
    let mark = Mark::ALL.into_iter().find(|mark| *mark as u8 == *letter)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (process, path) = rest.split_at(digits);
    Some(Entry {
        mark,
        process: std::str::from_utf8(process).ok()?.parse().ok()?,
        path: PathBuf::from(OsString::from_vec(path.to_vec())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_read_and_other_bytes_are_left_out() {
        let entry = |mark, process, path: &str| Entry {
            mark,
            process,
            path: path.into(),
        };
        assert_eq!(
            read(b"L7\0P7/a\nb/1.json\0?8\0P\0\0X12\0"),
            [
                entry(Mark::Loaded, 7, ""),
                entry(Mark::Saved, 7, "/a\nb/1.json"),
                entry(Mark::Lost, 12, ""),
            ]
        );
    }
}
