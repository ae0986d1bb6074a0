//! Coverage (`--coverage`): gcov must show the user's files and lines, and nothing else. With
//! this flag the added code belongs to a file of its own. This module removes that file from
//! the notes (`*.gcno`) that the compiler writes beside an object. Clang does not count lines
//! behind a line of another file, or counts them as the user's. So in the user's functions the
//! added lines have a line number that no line of the user has.

mod notes;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use self::notes::{Arc, Function, Line, Notes};
use crate::spell::{OWN_FILE, OWN_LINE};
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::command::outputs;
use crate::wrapper::finish::replace_file;
use crate::wrapper::unit::Unit;

/// The reason given when the compiler maps coverage, so that a source is not measured.
pub(crate) const MAPPED: &str = "-fcoverage-mapping names places in the text that is compiled, \
                                 whatever #line says (--coverage does not)";

/// Whether a command makes the compiler map coverage (`llvm-cov show`).
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
    if !outputs::has_coverage_notes(line) {
        return Ok(());
    }
    let files: HashSet<PathBuf> = units.iter().flat_map(|unit| notes(line, unit)).collect();
    for file in files {
        let Ok(old) = std::fs::read(&file) else {
            continue;
        };
        if let Some(new) = without_ours(&old).filter(|new| *new != old) {
            replace_file(&file, &new)?;
        }
    }
    Ok(())
}

/// The possible names of a unit's notes: after the output, the source, or both.
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

/// The notes without the lines of our file; none if the notes can't be read.
fn without_ours(notes: &[u8]) -> Option<Vec<u8>> {
    let notes = Notes::read(notes)?;
    let mut new = notes.header.to_vec();
    for records in &notes.functions {
        let mut function = notes.function(records)?;
        join_blocks(&mut function);
        for record in records {
            match notes.tag(record)? {
                notes::ARCS | notes::LINES => {}
                _ => new.extend(notes.bytes(record)),
            }
        }
        for (block, arcs) in &function.arcs {
            notes.write_arcs(*block, arcs, &mut new)?;
        }
        for (block, lines) in &function.lines {
            if !lines.is_empty() {
                notes.write_lines(*block, lines, &mut new)?;
            }
        }
    }
    new.extend(notes.rest);
    Some(new)
}

/// Removes our lines from a function's blocks, and our calls from its arcs.
///
/// GCC ends a block at a call, since a call may not return. gcov adds up the counts of a line
/// in all its blocks. If only our calls divide some blocks, the last block therefore gets
/// the lines of all of them. For the line with the highest number in a block, gcov counts how
/// often control enters it from blocks without this line. So the other blocks keep this one
/// line.
fn join_blocks(function: &mut Function<'_>) {
    let mut entries: HashMap<u32, usize> = HashMap::new();
    for arc in function.arcs.values().flatten() {
        *entries.entry(arc.to).or_default() += 1;
    }
    let mut joined: Vec<Vec<u32>> = Vec::new();
    let mut of_block: HashMap<u32, usize> = HashMap::new();
    for (block, lines) in &function.lines {
        let next = function.arcs.get_mut(block).and_then(|arcs| {
            lines.last().filter(|line| is_ours(line))?;
            come_back(arcs).filter(|next| entries[next] == 1)
        });
        let Some(next) = next else { continue };
        let [first, second] = [*block, next].map(|block| of_block.get(&block).copied());
        match (first, second) {
            (Some(first), Some(second)) if first != second => {
                let moved = std::mem::take(&mut joined[second]);
                of_block.extend(moved.iter().map(|block| (*block, first)));
                joined[first].extend(moved);
            }
            (Some(_), Some(_)) => {}
            (Some(at), None) => joined[at].push(next),
            (None, Some(at)) => joined[at].insert(0, *block),
            (None, None) => joined.push(vec![*block, next]),
        }
        let at = first.or(second).unwrap_or(joined.len() - 1);
        of_block.extend([(*block, at), (next, at)]);
    }
    for lines in function.lines.values_mut() {
        lines.retain(|line| !is_ours(line));
        only_first(lines);
    }
    for mut blocks in joined {
        let lines = blocks.iter().filter_map(|block| function.lines.get(block));
        let mut all: Vec<Line<'_>> = lines.flatten().copied().collect();
        only_first(&mut all);
        let file = all.last().map(|(file, _)| *file);
        let of_file = all.iter().rev().take_while(|line| file == Some(line.0));
        let line = of_file.max_by_key(|line| line.1).copied();
        let last = blocks.pop();
        let others = blocks
            .into_iter()
            .map(|block| (block, line.into_iter().collect()));
        function.lines.extend(others);
        function.lines.extend(last.map(|block| (block, all)));
    }
}

/// Keeps the first of equal lines, as in the notes of a block.
fn only_first(lines: &mut Vec<Line<'_>>) {
    let mut known = HashSet::new();
    lines.retain(|line| known.insert(*line));
}

/// Returns the block where a call that ends a block returns to. The arc for a call that does
/// not return is removed from `arcs`, unless it has a counter.
fn come_back(arcs: &mut Vec<Arc>) -> Option<u32> {
    let mut back = arcs.iter().filter(|arc| !arc.is_fake());
    let next = back.next().filter(|_| back.next().is_none())?.to;
    (arcs.len() > 1).then_some(())?;
    arcs.retain(|arc| !arc.is_fake() || arc.is_counted());
    Some(next)
}

/// Whether a line is ours. A file name in the notes follows its length, may begin with a
/// directory, and is padded with zeros.
fn is_ours(&(name, number): &Line<'_>) -> bool {
    let name = name.get(4..).unwrap_or_default();
    let end = name.iter().rposition(|byte| *byte != 0);
    let name = &name[..end.map_or(0, |end| end + 1)];
    let base = name.rsplit(|byte| *byte == b'/').next();
    base == Some(OWN_FILE.as_bytes()) || number == OWN_LINE
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
        notes.extend(record(notes::FUNCTION, &[7; 8], unit));
        for (block, lines) in (2u32..).zip(lines) {
            let mut content = block.to_le_bytes().to_vec();
            for (file, number) in *lines {
                if !file.is_empty() {
                    content.extend([0; 4]);
                    content.extend(name(file, unit));
                }
                content.extend(number.to_le_bytes());
            }
            content.extend([0; 8]);
            notes.extend(record(notes::LINES, &content, unit));
        }
        notes
    }

    #[test]
    fn lines_of_ours_are_taken_out() {
        for unit in [1, 4] {
            let given: &[&[(&str, u32)]] = &[
                &[("a.c", 3), ("", 4), (OWN_FILE, 1), ("a.c", 4), ("", 5)],
                &[(OWN_FILE, 1), ("h.h", 2)],
                &[(OWN_FILE, 1)],
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
