//! Completes a trace when the program has ended: names the constructs of regions that were known
//! by their machine code only.
//!
//! The definitions are appended as a further page, and the pages before it stay as they are.
//! If the system refuses, the file gets its old length back: it is then as it was before.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use profile::descriptor::Descriptor;

use crate::layout::{
    Definition, HEADER_BYTES_AT, Meaning, PAYLOAD_WORDS, SLOT_BYTES, SlotHead, SlotKind,
};
use crate::read::{State, Trace};

/// The construct of a region in the source.
#[derive(Clone, Debug)]
pub struct Construct {
    /// The number of the region in the trace.
    pub region: u32,
    /// The meaning of its events for the construct.
    pub meaning: Meaning,
    /// The construct.
    pub descriptor: Descriptor,
}

/// Appends constructs to the file of a trace whose program has ended, or has replaced itself by
/// another one.
///
/// # Errors
/// If the file was cut or changed, or the system refuses. The file is then as it was.
pub fn complete(trace: &Trace, constructs: &[Construct]) -> io::Result<()> {
    if !matches!(trace.state(), State::Complete | State::BrokenOff) {
        return Err(io::Error::other(format!("it is {}", trace.state())));
    }
    if constructs.is_empty() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(trace.path())?;
    let before = trace.bytes();
    append(&file, trace, constructs).inspect_err(|_| {
        // The header still has this length.
        let _ = file.set_len(before);
    })
}

fn append(file: &File, trace: &Trace, constructs: &[Construct]) -> io::Result<()> {
    let mut words = Vec::new();
    for construct in constructs {
        let text = construct.descriptor.to_text();
        Definition::Construct(construct.region, construct.meaning, text).write(&mut words);
    }
    let mut at = trace.bytes().next_multiple_of(SLOT_BYTES as u64);
    let mut end = at;
    for (part, sequence) in words.chunks(PAYLOAD_WORDS).zip(trace.defined_pages()..) {
        let head = SlotHead {
            kind: SlotKind::Definitions,
            stream: 0,
            sequence,
            used: part.len(),
            base: 0,
            dropped: 0,
        };
        let mut bytes = Vec::new();
        head.write(part.iter().copied(), &mut bytes);
        file.write_all_at(&bytes, at)?;
        end = at + bytes.len() as u64;
        at += SLOT_BYTES as u64;
    }
    if !trace.header.is_complete {
        return Ok(());
    }
    // With the new length the file is complete again.
    file.write_all_at(&end.to_le_bytes(), HEADER_BYTES_AT)
}

/// The trace that a program left beside its profile, if it left one.
#[must_use]
pub fn beside(profile: &Path, pid: u32) -> Option<Trace> {
    let trace = Trace::open(&profile.with_extension("trace")).ok()?;
    (trace.header.pid == pid).then_some(trace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Header;
    use profile::descriptor::SourceLines;
    use profile::model::Code;

    /// The file of a trace with one region, which is known by its machine code.
    fn traced(path: &Path, is_complete: bool) {
        let region = Descriptor {
            region_type: "parallel".to_owned(),
            code: Some(Code {
                module: "/bin/app".to_owned(),
                offset: 0x1189,
                symbol: None,
            }),
            ..Descriptor::default()
        };
        let mut words = Vec::new();
        Definition::Region(0, region.to_text()).write(&mut words);
        let mut slot = Vec::new();
        let head = SlotHead {
            kind: SlotKind::Definitions,
            stream: 0,
            sequence: 0,
            used: words.len(),
            base: 0,
            dropped: 0,
        };
        head.write(words, &mut slot);
        let bytes = (SLOT_BYTES + slot.len()) as u64;
        let header = Header {
            is_complete,
            pid: 7,
            bytes: if is_complete { bytes } else { 0 },
            ..Header::default()
        };
        let mut all = header.to_bytes();
        all.resize(SLOT_BYTES, 0);
        all.extend(slot);
        std::fs::write(path, all).unwrap();
    }

    fn found(files: usize) -> Construct {
        let lines = SourceLines {
            file: "a/".repeat(files) + "a.c",
            first: 5,
            last: 5,
        };
        Construct {
            region: 0,
            meaning: Meaning::Itself,
            descriptor: Descriptor {
                region_type: "parallel".to_owned(),
                begin: lines.clone(),
                end: lines,
                ..Descriptor::default()
            },
        }
    }

    #[test]
    fn regions_get_their_lines_and_the_trace_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.0.romp.trace");
        for is_complete in [true, false] {
            traced(&path, is_complete);
            let trace = Trace::open(&path).unwrap();
            assert_eq!(crate::export::region(&trace, 0), "parallel at app+0x1189");
            assert_eq!((trace.unplaced(), trace.is_complete()), (1, is_complete));
            // More than one page has room for.
            complete(&trace, &[found(1 << 19)]).unwrap();
            let trace = Trace::open(&path).unwrap();
            assert!(crate::export::region(&trace, 0).ends_with("a/a.c:5"));
            assert_eq!((trace.unplaced(), trace.is_complete()), (0, is_complete));
            complete(&trace, &[found(0)]).unwrap();
            let trace = Trace::open(&path).unwrap();
            assert_eq!(crate::export::region(&trace, 0), "parallel a.c:5");
            assert_eq!((trace.torn(), trace.is_complete()), (0, is_complete));
        }
    }

    #[test]
    fn a_file_that_was_cut_or_cannot_be_written_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app.0.romp.trace");
        traced(&path, true);
        let all = std::fs::read(&path).unwrap();
        std::fs::write(&path, &all[..all.len() - 8]).unwrap();
        let trace = Trace::open(&path).unwrap();
        let refused = complete(&trace, &[found(0)]).unwrap_err().to_string();
        assert!(refused.contains("the file was cut"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), all[..all.len() - 8]);
        // A write fails, as on a full disk.
        std::fs::write(&path, &all).unwrap();
        let trace = Trace::open(&path).unwrap();
        let only_read = File::open(&path).unwrap();
        assert!(append(&only_read, &trace, &[found(0)]).is_err());
        assert!(Trace::open(&path).unwrap().is_complete());
    }

    #[test]
    fn the_trace_of_another_process_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        traced(&folder.path().join("app.0.romp.trace"), true);
        let profile = folder.path().join("app.0.romp.json");
        assert!(beside(&profile, 7).is_some());
        assert!(beside(&profile, 8).is_none());
    }
}
