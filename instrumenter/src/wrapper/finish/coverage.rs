//! Coverage (`--coverage`): lines of ours are none of the user's. With it, what is added
//! is of a file of its own, and this takes that line out of the notes (`*.gcno`) which the
//! compiler writes beside an object, so that gcov shows the user's files and lines alone.
//!
//! Notes are records, each with a tag and the length of what follows, after a header
//! that differs between versions. GCC counts lengths in bytes since version 12, and in
//! words of four bytes before, as Clang does. What can't be read so stays as it is. In
//! functions of the user's our line is known by its number: Clang counts no line behind one
//! of another file, or takes it for the user's.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::spell::{OWN_FILE, OWN_LINE};
use crate::wrapper::command::classify::{CommandLine, Role};
use crate::wrapper::command::flags::Meaning;
use crate::wrapper::command::outputs;
use crate::wrapper::unit::Unit;

/// The flags that have notes written.
const FLAGS: [&str; 3] = ["--coverage", "-coverage", "-ftest-coverage"];

/// Whether a command writes notes.
pub(crate) fn is_asked(line: &CommandLine) -> bool {
    line.arguments.iter().any(|argument| {
        let is_known = matches!(argument.role, Role::Known(Meaning::SideFiles, _));
        is_known && FLAGS.iter().any(|flag| argument.name() == *flag)
    })
}

/// Why a source is not measured where the compiler maps coverage.
pub(crate) const MAPPED: &str = "-fcoverage-mapping names places in the text that is compiled, \
                                 whatever #line says (--coverage does not)";

/// Whether a command has the compiler map coverage (`llvm-cov show`).
pub(crate) fn is_mapped(line: &CommandLine) -> bool {
    let words = line.words();
    let mut flags = words.iter().rev().filter_map(|word| match word.to_str()? {
        "-fcoverage-mapping" => Some(true),
        "-fno-coverage-mapping" => Some(false),
        _ => None,
    });
    flags.next().unwrap_or(false)
}

/// Corrects the notes of a command that has succeeded.
pub(crate) fn correct(line: &CommandLine, units: &[&Unit]) -> std::io::Result<()> {
    if !is_asked(line) {
        return Ok(());
    }
    let files: HashSet<PathBuf> = units.iter().flat_map(|unit| notes(line, unit)).collect();
    for file in files {
        let Ok(old) = std::fs::read(&file) else {
            continue;
        };
        if let Some(new) = without_ours(&old).filter(|new| *new != old) {
            replace(&file, &new)?;
        }
    }
    Ok(())
}

/// Who reads the file meanwhile sees the old or the new one.
fn replace(file: &Path, text: &[u8]) -> std::io::Result<()> {
    let directory = file.parent().filter(|dir| !dir.as_os_str().is_empty());
    let mut fresh = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
    fresh.write_all(text)?;
    let permissions = std::fs::metadata(file)?.permissions();
    fresh.as_file().set_permissions(permissions)?;
    fresh.persist(file)?;
    Ok(())
}

/// What the notes of a unit may be called: after the output, the source, or both.
fn notes(line: &CommandLine, unit: &Unit) -> Vec<PathBuf> {
    let source = Path::new(&unit.name).file_stem().unwrap_or_default();
    let outputs = outputs::outputs(line).into_iter();
    let names = outputs.flat_map(|output| {
        let [mut both, mut whole] = [output.file_stem(), output.file_name()]
            .map(|name| name.unwrap_or_default().to_owned());
        both.push("-");
        both.push(source);
        whole.push("-");
        whole.push(source);
        let stem = output.file_stem().unwrap_or_default().to_owned();
        [stem, both, whole, source.to_owned()].map(|name: OsString| {
            let mut name = name;
            name.push(".gcno");
            output.with_file_name(name)
        })
    });
    names.collect()
}

/// The tag of a record that says which lines a block has.
const LINES: u32 = 0x0145_0000;

/// All tags of notes: a function, its blocks, the arcs between them, and lines.
const TAGS: [u32; 4] = [0x0100_0000, 0x0141_0000, 0x0143_0000, LINES];

/// The longest header, with the name of a directory.
const LONGEST_HEADER: usize = 8192;

/// Reads notes whose lengths count parts of so many bytes.
#[derive(Clone, Copy)]
struct Format {
    unit: usize,
}

const FORMATS: [Format; 2] = [Format { unit: 1 }, Format { unit: 4 }];

/// Notes without the lines of our file; none if they can't be read.
fn without_ours(notes: &[u8]) -> Option<Vec<u8>> {
    if !notes.starts_with(b"oncg") {
        return None;
    }
    let (format, header, records) = FORMATS.iter().find_map(|format| {
        let mut begins = 8..notes.len().min(LONGEST_HEADER);
        begins.find_map(|at| Some((format, at, format.records(notes, at)?)))
    })?;
    let mut new = notes[..header].to_vec();
    let mut at = header;
    for record in records {
        new.extend(&notes[at..record.start]);
        at = record.end;
        match word(notes, record.start) {
            Some(LINES) => format.lines(&notes[record], &mut new)?,
            _ => new.extend(&notes[record]),
        }
    }
    new.extend(&notes[at..]);
    Some(new)
}

impl Format {
    /// The records from an offset to the end; none if something else stands there.
    fn records(self, notes: &[u8], mut at: usize) -> Option<Vec<Range<usize>>> {
        // The first record of all is a function.
        (word(notes, at)? == TAGS[0]).then_some(())?;
        let mut records = Vec::new();
        while at < notes.len() {
            let rest = &notes[at..];
            if rest.iter().all(|byte| *byte == 0) {
                break;
            }
            let length = (word(notes, at + 4)? as usize).checked_mul(self.unit)?;
            let end = at.checked_add(8)?.checked_add(length)?;
            let is_record = TAGS.contains(&word(notes, at)?) && end <= notes.len();
            is_record.then_some(())?;
            records.push(at..end);
            at = end;
        }
        Some(records)
    }

    /// Writes a record of lines without ours; nothing if no line is left.
    fn lines(self, record: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut kept = record.get(8..12)?.to_vec();
        let mut at = 12;
        let mut file: &[u8] = &[];
        let mut written: &[u8] = &[];
        let mut known = HashSet::new();
        loop {
            let number = word(record, at)?;
            at += 4;
            if number == 0 {
                let length = (word(record, at)? as usize).checked_mul(self.unit)?;
                let end = at.checked_add(4)?.checked_add(length)?;
                file = record.get(at..end)?;
                at = end;
                if length == 0 {
                    break;
                }
            } else if !Self::is_ours(file, number) && known.insert((file, number)) {
                if file != written {
                    kept.extend([0; 4]);
                    kept.extend(file);
                    written = file;
                }
                kept.extend(number.to_le_bytes());
            }
        }
        if known.is_empty() {
            return Some(());
        }
        kept.extend([0; 8]);
        out.extend(LINES.to_le_bytes());
        let length = u32::try_from(kept.len() / self.unit).ok()?;
        out.extend(length.to_le_bytes());
        out.extend(kept);
        Some(())
    }

    /// Whether a line is ours. The file's name stands behind its length, may have a
    /// directory in front, and is filled up with zeros.
    fn is_ours(name: &[u8], number: u32) -> bool {
        let name = name.get(4..).unwrap_or_default();
        let end = name.iter().rposition(|byte| *byte != 0);
        let name = &name[..end.map_or(0, |end| end + 1)];
        let base = name.rsplit(|byte| *byte == b'/').next();
        base == Some(OWN_FILE.as_bytes()) || number == OWN_LINE
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name as notes have it.
    fn name(text: &str, unit: usize) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        while !bytes.len().is_multiple_of(unit) {
            bytes.push(0);
        }
        let length = u32::try_from(bytes.len() / unit).unwrap();
        [&length.to_le_bytes(), bytes.as_slice()].concat()
    }

    fn record(tag: u32, content: &[u8], unit: usize) -> Vec<u8> {
        let length = u32::try_from(content.len() / unit).unwrap();
        [&tag.to_le_bytes()[..], &length.to_le_bytes(), content].concat()
    }

    /// Notes with a record of lines: a name is in front of each change of the file.
    fn notes(lines: &[&[(&str, u32)]], unit: usize) -> Vec<u8> {
        let mut notes = b"oncg*22Bstamp...".to_vec();
        notes.extend(record(TAGS[0], &[7; 8], unit));
        for lines in lines {
            let mut content = 3u32.to_le_bytes().to_vec();
            for (file, number) in *lines {
                if !file.is_empty() {
                    content.extend([0; 4]);
                    content.extend(name(file, unit));
                }
                content.extend(number.to_le_bytes());
            }
            content.extend([0; 8]);
            notes.extend(record(LINES, &content, unit));
        }
        notes
    }

    #[test]
    fn lines_of_ours_are_taken_out() {
        for unit in [1, 4] {
            let given: &[&[(&str, u32)]] = &[
                &[("a.c", 3), ("", 4), (OWN_FILE, 1), ("a.c", 4), ("", 5)],
                &[(OWN_FILE, 1)],
                &[(OWN_FILE, 1), ("h.h", 2)],
                &[("/home/u/<romp>", 7)],
                &[("a.c", OWN_LINE)],
            ];
            let expected: &[&[(&str, u32)]] = &[&[("a.c", 3), ("", 4), ("", 5)], &[("h.h", 2)]];
            let made = without_ours(&notes(given, unit)).unwrap();
            assert_eq!(made, notes(expected, unit));
            assert_eq!(without_ours(&made).unwrap(), made);
        }
    }

    #[test]
    fn what_is_no_notes_stays() {
        let whole = notes(&[&[("a.c", 3)]], 1);
        assert_eq!(without_ours(&whole[..whole.len() - 3]), None);
        assert_eq!(without_ours(b"oncg*22B"), None);
        assert_eq!(without_ours(b"gcno"), None);
    }
}
