//! The user's source files. If a file has changed since the program was built, a note says so.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::moved_sources::MovedSources;
use crate::analysis::Report;
use crate::file_hash::file_hash;
use crate::model::{Region, words_of_source};

/// Size of the largest file that is shown, in bytes.
const MOST_FILE_BYTES: u64 = 2_000_000;
/// Size of all files together, in bytes.
const MOST_SOURCE_BYTES: usize = 4_000_000;
/// Number of lines before and after the line of an excerpt.
const AROUND: usize = 3;

/// One file of the program.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its lines; none if it cannot be shown.
    pub text: Option<String>,
    /// A fact that a reader must know about the file.
    pub note: Option<String>,
}

/// The files of a program, by their names in the regions.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: BTreeMap<String, File>,
}

impl Sources {
    /// Reads the source files of the regions: under their names in the profile, as they are or
    /// inside one of these folders. Files that are too large for a page are left out.
    #[must_use]
    pub fn read(report: &Report<'_>, folders: &[PathBuf]) -> Self {
        let mut names: BTreeMap<&str, u64> = BTreeMap::new();
        for table in &report.flat {
            let region = &report.profile.regions[table.region];
            let ns = table.sum.first().copied().unwrap_or(0);
            let sum = names.entry(&region.file).or_default();
            *sum = sum.saturating_add(ns);
        }
        let mut order: Vec<(&str, u64)> = names.into_iter().collect();
        order.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        let mut files = BTreeMap::new();
        let mut room = MOST_SOURCE_BYTES;
        // Looks below the folders only if a file is missing.
        let moved = LazyCell::new(|| MovedSources::below(folders));
        let is_built_of = |name: &str, hash: &str| {
            let mut sources = report.profile.sources.iter();
            sources.any(|source| source.file == name && source.hash == hash)
        };
        for (name, _) in order {
            let found = place(name, folders).or_else(|| {
                let path = moved.find(name, |hash| is_built_of(name, hash))?;
                let facts = std::fs::metadata(&path).ok()?;
                Some((path, facts))
            });
            let file = read(name, found, room, report);
            room -= file.text.as_ref().map_or(0, String::len);
            files.insert(name.to_owned(), file);
        }
        Self { files }
    }

    /// The files by name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }

    /// The fact that a reader must know about the file of a region.
    #[must_use]
    pub fn note(&self, region: &Region) -> Option<&str> {
        self.files.get(&region.file)?.note.as_deref()
    }

    /// Some lines around a line of a region's file, each with its number; none if the file's text
    /// is not known.
    #[must_use]
    pub fn excerpt(&self, region: &Region, line: u32) -> Vec<(usize, &str)> {
        let file = self.files.get(&region.file);
        let Some(text) = file.and_then(|file| file.text.as_deref()) else {
            return Vec::new();
        };
        let line = line as usize;
        if line == 0 {
            return Vec::new();
        }
        let first = line.saturating_sub(AROUND).max(1);
        let lines = text.lines().enumerate().skip(first - 1);
        lines
            .take(line + AROUND + 1 - first)
            .map(|(index, text)| (index + 1, text))
            .collect()
    }
}

/// The file under its name in the profile, as it is or inside one of these folders.
fn place(name: &str, folders: &[PathBuf]) -> Option<(PathBuf, Metadata)> {
    let places = std::iter::once(PathBuf::from(name));
    let places = places.chain(folders.iter().map(|folder| folder.join(name)));
    places
        .filter_map(|path| Some((path.clone(), std::fs::metadata(&path).ok()?)))
        .find(|(_, facts)| facts.is_file())
}

fn read(name: &str, found: Option<(PathBuf, Metadata)>, room: usize, report: &Report<'_>) -> File {
    let note = |note: &str| File {
        text: None,
        note: Some(note.to_owned()),
    };
    let Some((path, facts)) = found else {
        return note(
            "The file was not found: write the page in the folder in which the program was compiled, or in one \
             above it.",
        );
    };
    if facts.len() > MOST_FILE_BYTES.min(room as u64) {
        return note("The file is left out, since the page would be too large.");
    }
    let Ok(bytes) = std::fs::read(&path) else {
        return note("The file can't be read.");
    };
    let text = String::from_utf8_lossy(&bytes).into_owned();
    File {
        note: changed_after(name, &path, &bytes, report)
            .map(|what| format!("The file was changed after {what}: its lines may have moved.")),
        text: Some(text),
    }
}

/// After what the file was changed; none if it is as it was. If its hash is not known, the places
/// of directives and the time of its last change tell as much as can be known.
fn changed_after(
    name: &str,
    path: &Path,
    content: &[u8],
    report: &Report<'_>,
) -> Option<&'static str> {
    let sources = report.profile.sources.iter();
    let mut known = sources.filter(|source| source.file == name).peekable();
    if known.peek().is_some() {
        let hash = file_hash(content);
        return known
            .any(|source| source.hash != hash)
            .then_some("the program was built");
    }
    let text = String::from_utf8_lossy(content);
    (is_other_text(name, &text, report) || is_newer(path, report)).then_some("the run")
}

/// Whether most directives are not at their recorded lines. Some directives may come from
/// macros.
fn is_other_text(name: &str, text: &str, report: &Report<'_>) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let regions = report.profile.regions.iter();
    let regions = regions.filter(|region| region.file == name && region.begin[0] > 0);
    let (mut there, mut moved) = (0, 0);
    for region in regions {
        let Some(word) = region.directive.as_deref().and_then(first_word) else {
            continue;
        };
        let [first, last] = region.begin.map(|line| line as usize);
        let lines = lines.get(first - 1..last.max(first)).unwrap_or_default();
        match words_of_source(&lines.join(" ")).any(|found| found == word) {
            true => there += 1,
            false => moved += 1,
        }
    }
    moved > there
}

/// The name of a directive.
fn first_word(directive: &str) -> Option<String> {
    words_of_source(directive).find(|word| !matches!(word.as_str(), "pragma" | "omp"))
}

/// Whether the file was written after the run began.
fn is_newer(path: &Path, report: &Report<'_>) -> bool {
    let written = std::fs::metadata(path).and_then(|facts| facts.modified());
    let began = super::clock::seconds(&report.profile.run.start);
    match (written, began) {
        (Ok(written), Some(began)) => {
            let since = written.duration_since(SystemTime::UNIX_EPOCH);
            since.is_ok_and(|since| since.as_secs() > began)
        }
        _ => false,
    }
}
