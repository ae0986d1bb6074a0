//! The notes of a compiler (`*.gcno`): the blocks of each function, the arcs between them, and
//! the lines of each block.
//!
//! Notes begin with a header that differs between versions. Records follow it; each has a tag
//! and the length of its contents. GCC counts lengths in bytes since version 12. Before, it
//! counted them in words of four bytes, as Clang does. Notes that can't be read in one of these
//! ways are left unchanged.

use std::collections::BTreeMap;
use std::ops::Range;

/// The tag of the record that begins a function.
pub(super) const FUNCTION: u32 = 0x0100_0000;
/// The tag of a record that says which arcs leave a block.
pub(super) const ARCS: u32 = 0x0143_0000;
/// The tag of a record that says which lines a block has.
pub(super) const LINES: u32 = 0x0145_0000;

/// All tags of notes. The third is that of a function's blocks.
const TAGS: [u32; 4] = [FUNCTION, ARCS, 0x0141_0000, LINES];

/// The longest header, with the name of a directory.
const LONGEST_HEADER: usize = 8192;

/// The possible units of lengths, in bytes.
const UNITS: [usize; 2] = [1, 4];

/// The flag of an arc without a counter.
const ON_TREE: u32 = 1;
/// The flag of an arc for a call that may not return.
const FAKE: u32 = 2;

/// A line: the name of its file as in the notes, with its length in front, and its number.
pub(super) type Line<'n> = (&'n [u8], u32);

/// Notes as records.
pub(super) struct Notes<'n> {
    bytes: &'n [u8],
    unit: usize,
    /// The bytes in front of the first function.
    pub(super) header: &'n [u8],
    /// The records of each function.
    pub(super) functions: Vec<Vec<Range<usize>>>,
    /// The bytes behind the last record.
    pub(super) rest: &'n [u8],
}

/// An arc from a block to another.
#[derive(Clone, Copy)]
pub(super) struct Arc {
    pub(super) to: u32,
    flags: u32,
}

impl Arc {
    /// Whether the arc stands for a call that may not return.
    pub(super) fn is_fake(self) -> bool {
        self.flags & FAKE != 0
    }

    /// Whether the arc has a counter in the data of a run.
    pub(super) fn is_counted(self) -> bool {
        self.flags & ON_TREE == 0
    }
}

/// The contents of a function's records.
#[derive(Default)]
pub(super) struct Function<'n> {
    /// The arcs that leave each block.
    pub(super) arcs: BTreeMap<u32, Vec<Arc>>,
    /// The lines of each block, in the order of its code.
    pub(super) lines: BTreeMap<u32, Vec<Line<'n>>>,
}

impl<'n> Notes<'n> {
    /// Reads notes; none if `bytes` are not notes.
    pub(super) fn read(bytes: &'n [u8]) -> Option<Self> {
        if !bytes.starts_with(b"oncg") {
            return None;
        }
        UNITS.iter().find_map(|unit| {
            let mut begins = 8..bytes.len().min(LONGEST_HEADER);
            begins.find_map(|at| Self::from(bytes, *unit, at))
        })
    }

    fn from(bytes: &'n [u8], unit: usize, begin: usize) -> Option<Self> {
        // The first record must be that of a function.
        (word(bytes, begin)? == FUNCTION).then_some(())?;
        let mut functions: Vec<Vec<Range<usize>>> = Vec::new();
        let mut at = begin;
        while bytes[at..].iter().any(|byte| *byte != 0) {
            let length = (word(bytes, at + 4)? as usize).checked_mul(unit)?;
            let end = at.checked_add(8)?.checked_add(length)?;
            let tag = word(bytes, at)?;
            (TAGS.contains(&tag) && end <= bytes.len()).then_some(())?;
            if tag == FUNCTION {
                functions.push(Vec::new());
            }
            functions.last_mut()?.push(at..end);
            at = end;
        }
        let (header, rest) = (&bytes[..begin], &bytes[at..]);
        Some(Self {
            bytes,
            unit,
            header,
            functions,
            rest,
        })
    }

    pub(super) fn tag(&self, record: &Range<usize>) -> Option<u32> {
        word(self.bytes, record.start)
    }

    pub(super) fn bytes(&self, record: &Range<usize>) -> &'n [u8] {
        &self.bytes[record.clone()]
    }

    /// The contents of a function's records; none if they can't be read.
    pub(super) fn function(&self, records: &[Range<usize>]) -> Option<Function<'n>> {
        let mut function = Function::default();
        for record in records {
            let tag = self.tag(record);
            let content = &self.bytes(record)[8..];
            if tag == Some(ARCS) {
                let words = content.chunks_exact(4).map(|bytes| word(bytes, 0));
                let words = words.collect::<Option<Vec<u32>>>()?;
                let (block, arcs) = words.split_first()?;
                let arcs = arcs.chunks_exact(2).map(|arc| Arc {
                    to: arc[0],
                    flags: arc[1],
                });
                function.arcs.entry(*block).or_default().extend(arcs);
            } else if tag == Some(LINES) {
                let (block, lines) = self.lines(content)?;
                function.lines.entry(block).or_default().extend(lines);
            }
        }
        Some(function)
    }

    fn lines(&self, content: &'n [u8]) -> Option<(u32, Vec<Line<'n>>)> {
        let block = word(content, 0)?;
        let mut lines = Vec::new();
        let mut file: &[u8] = &[];
        let mut at = 4;
        loop {
            let number = word(content, at)?;
            at += 4;
            if number != 0 {
                lines.push((file, number));
                continue;
            }
            let length = (word(content, at)? as usize).checked_mul(self.unit)?;
            let end = at.checked_add(4)?.checked_add(length)?;
            file = content.get(at..end)?;
            at = end;
            if length == 0 {
                return Some((block, lines));
            }
        }
    }

    /// Writes the record of the arcs that leave a block.
    pub(super) fn write_arcs(&self, block: u32, arcs: &[Arc], out: &mut Vec<u8>) -> Option<()> {
        let words = arcs.iter().flat_map(|arc| [arc.to, arc.flags]);
        let content = [block].into_iter().chain(words);
        let content: Vec<u8> = content.flat_map(u32::to_le_bytes).collect();
        self.write(ARCS, &content, out)
    }

    /// Writes the record of a block's lines.
    pub(super) fn write_lines(
        &self,
        block: u32,
        lines: &[Line<'_>],
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let mut content = block.to_le_bytes().to_vec();
        let mut written: &[u8] = &[];
        for (file, number) in lines {
            if *file != written {
                content.extend([0; 4]);
                content.extend(*file);
                written = file;
            }
            content.extend(number.to_le_bytes());
        }
        content.extend([0; 8]);
        self.write(LINES, &content, out)
    }

    fn write(&self, tag: u32, content: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let length = u32::try_from(content.len() / self.unit).ok()?;
        out.extend(tag.to_le_bytes());
        out.extend(length.to_le_bytes());
        out.extend(content);
        Some(())
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}
