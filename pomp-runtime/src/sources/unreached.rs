//! Regions of Fortran that never ran. Nothing registers them: their records are
//! literals in the constant data of the program and its libraries. So they are
//! looked for there when a profile is written.
//!
//! Another thread may unmap memory meanwhile. So memory is read through the system, which reports
//! an error for unmapped memory. A profile may be written many times: each part is read once.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use memchr::memmem;
use profile::descriptor::{Descriptor, Literal};

use crate::measure::mutex::lock;
use crate::measure::records::region::register;

/// The bytes that follow the length in every record.
const BEGIN: &[u8] = b"*regionType=";

/// Bytes that are looked at in one go.
const CHUNK: usize = 1 << 20;

/// No record is longer, nor needs to be.
const LONGEST: usize = 1 << 14;

/// The lines of the parts that have been read.
static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Registers the regions of every object that is mapped.
pub(super) fn register_all() {
    let Ok(memory) = File::open("/proc/self/mem") else {
        return;
    };
    let parts = new_parts(&mut lock(&KNOWN));
    if parts.is_empty() {
        return;
    }
    let mut buffer = vec![0; CHUNK + LONGEST];
    for range in parts {
        // The last bytes of a part are read again with the next one.
        for from in range.clone().step_by(CHUNK) {
            let wanted = buffer.len().min(range.end - from);
            let read = memory.read_at(&mut buffer[..wanted], from as u64);
            register_in(&buffer[..read.unwrap_or(0)]);
        }
    }
}

/// The read-only parts of objects in memory, except those that are known. Parts with the same line
/// have the same content, since the line names the file.
fn new_parts(known: &mut BTreeSet<String>) -> Vec<Range<usize>> {
    let maps = File::open("/proc/self/maps").map(BufReader::new);
    let lines = maps.into_iter().flat_map(|maps| maps.lines());
    lines
        .map_while(Result::ok)
        .filter_map(|line| {
            let part = mapping(&line)?;
            known.insert(line).then_some(part)
        })
        .collect()
}

/// A line such as `55d0-55d4 r--p 00002000 fe:01 1234  /usr/bin/program`, if it
/// is of such a part.
fn mapping(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let permissions = words.next()?;
    let of_file = words.nth(3)?.starts_with('/');
    let constant = permissions.starts_with("r-");
    let address = |text| usize::from_str_radix(text, 16).ok();
    (of_file && constant).then_some(address(from)?..address(to)?)
}

/// Registers the regions of the records in a part of memory.
fn register_in(bytes: &[u8]) {
    for at in memmem::find_iter(bytes, BEGIN) {
        if let Some(record) = record_at(bytes, at) {
            register(record);
        }
    }
}

/// The record whose length stands in front of an offset. Only records of Fortran have an id; other
/// text that looks like a record is left alone.
fn record_at(bytes: &[u8], at: usize) -> Option<Descriptor> {
    let digits = bytes[..at].iter().rev().take_while(|b| b.is_ascii_digit());
    let most = LONGEST.ilog10() as usize + 1;
    // Other digits may stand in front.
    (1..=digits.count().min(most)).find_map(|count| {
        let start = at - count;
        let length = std::str::from_utf8(&bytes[start..at]).ok()?;
        let length = length.parse().ok()?;
        let text = std::str::from_utf8(bytes.get(start..)?.get(..length)?).ok()?;
        if !text.ends_with("**") {
            return None;
        }
        match Literal::parse(text) {
            Ok(Literal::Record(mut record)) => record.id.take().map(|_| *record),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use profile::descriptor::SourceLines;

    use super::*;

    #[test]
    fn records_are_found_between_other_bytes() {
        let lines = SourceLines {
            file: "a.f90".into(),
            first: 3,
            last: 4,
        };
        let descriptor = Descriptor {
            region_type: "parallel".into(),
            begin: lines.clone(),
            end: lines,
            ..Descriptor::default()
        };
        let with_id = Descriptor {
            id: Some("u:1".into()),
            ..descriptor.clone()
        };
        let found = |text: &str| {
            let at = memmem::find(text.as_bytes(), BEGIN).unwrap();
            record_at(text.as_bytes(), at)
        };
        let text = with_id.to_text();
        for text in [text.clone(), format!("12{text}34"), format!("\0{text}\0x")] {
            assert_eq!(found(&text), Some(descriptor.clone()), "{text}");
        }
        assert_eq!(found(&descriptor.to_text()), None);
        assert_eq!(found(&text[..text.len() - 1]), None);
        assert_eq!(found(&text[1..]), None);
    }

    #[test]
    fn only_constant_data_of_files_is_looked_at() {
        let line = "7f0-8f0 r--p 00002000 fe:01 1234   /usr/bin/a b";
        assert_eq!(mapping(line), Some(0x7f0..0x8f0));
        assert!(mapping(&line.replace("r--p", "r-xp")).is_some());
        for (from, to) in [("r--p", "rw-p"), ("r--p", "---p"), ("/usr", "[vdso]/")] {
            assert_eq!(mapping(&line.replace(from, to)), None);
        }
        assert_eq!(mapping("7f0-8f0 r--p 0 0:0 0"), None);
        let mut known = BTreeSet::new();
        assert!(!new_parts(&mut known).is_empty());
        // Other tests may load something meanwhile, but not all of that.
        assert!(new_parts(&mut known).len() < known.len());
        register_all();
    }
}
