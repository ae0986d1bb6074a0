//! The Fortran text that the compiler sees: preprocessed where the compiler preprocesses, and
//! with the files of `include` lines in their places. So directives made by macros and
//! directives in included files are measured.

use std::ffi::OsString;
use std::path::PathBuf;

use memchr::memmem;

use crate::Source;
use crate::find::fortran::{jumps, scan};
use crate::names;
use crate::openmp::Language;
use crate::wrapper::command::classify::CommandLine;
use crate::wrapper::compilers::Compiler;
use crate::wrapper::included::{Search, first_file};
use crate::wrapper::unit::Unit;

/// Returns in words why the source alone does not show all directives, if it does not.
pub(crate) fn hidden(line: &CommandLine, unit: &Unit) -> Option<String> {
    let words = line.words();
    let defined = |word: &OsString| {
        let word = word.to_string_lossy().to_ascii_lowercase();
        word.starts_with("-d") && scan::makes_directives(word.as_bytes())
    };
    if unit.layout.preprocessed_by_compiler {
        let macros = scan::hidden_in_macros(&unit.original).into_iter().next();
        let macros = macros.map(|hidden| hidden.in_file(&unit.shown_name(), &unit.original));
        if macros.is_some() || words.iter().any(defined) {
            return macros.or(Some("a macro makes directives".into()));
        }
    }
    let mut search = Search::new(line, unit.directory(), &unit.original);
    let places = Places::new(line, unit);
    let mut pending = places.included(unit, &unit.original);
    let mut known = pending.clone();
    while let Some((file, text)) = next(&mut pending, &mut search) {
        if let Some(hidden) = scan::hidden_in_included(&source(unit, &text)) {
            return Some(hidden.in_file(&file.to_string_lossy(), &text));
        }
        let more = places.included(unit, &text);
        let new = more.into_iter().filter(|file| !known.contains(file));
        let new: Vec<PathBuf> = new.collect();
        known.extend(new.iter().cloned());
        pending.extend(new);
    }
    search
        .computed
        .then(|| "a macro names an included file".into())
}

/// Whether inserted lines would change the value of `__LINE__` in a source that uses it.
pub(crate) fn moved_line(compiler: &Compiler, unit: &Unit) -> Option<String> {
    let moves = compiler.family.moves_line_macro && unit.layout.preprocessed_by_compiler;
    let names_line = || memmem::find(&unit.original, b"__LINE__").is_some();
    (moves && names_line()).then(|| "it uses __LINE__".into())
}

/// Returns the next included file that can be read, from an `include` line or from an
/// `#include` of the preprocessor.
fn next(pending: &mut Vec<PathBuf>, search: &mut Search) -> Option<(PathBuf, Vec<u8>)> {
    while let Some(file) = pending.pop() {
        if let Ok(text) = std::fs::read(&file) {
            return Some((file, text));
        }
    }
    search.next_header()
}

/// Returns the text of a source with the files of `include` lines in their places.
/// `preprocessed` is the output of the compiler's preprocessor, if it ran. Returns None if
/// nothing is preprocessed and nothing is included.
pub(crate) fn whole(
    line: &CommandLine,
    unit: &Unit,
    preprocessed: Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let places = Places::new(line, unit);
    let read = |name: &str| {
        let file = places.find(name)?;
        let text = std::fs::read(&file).ok()?;
        let name = file.strip_prefix(".").unwrap_or(&file);
        Some((names::of_path(name), text))
    };
    let expanded = |text: &[u8]| {
        let mut source = source(unit, text);
        source.layout.preprocessed_by_compiler = false;
        scan::expanded(&source, &read)
    };
    if let Some(text) = preprocessed {
        let text = jumps::as_empty_lines(&text);
        return Some(expanded(&text).unwrap_or(text));
    }
    let mut text = Vec::new();
    scan::marker(&unit.text_name(), 1, &mut text);
    text.extend(expanded(&unit.original)?);
    Some(text)
}

/// The unit with another text, as a source of its own.
fn source(unit: &Unit, text: &[u8]) -> Source {
    Source {
        name: unit.text_name(),
        language: Language::Fortran,
        text: text.to_owned(),
        layout: unit.layout,
        undefined: crate::source::UndefinedMacros::new(),
    }
}

/// The directories where compilers look for the files of `include` lines.
struct Places(Vec<PathBuf>);

impl Places {
    fn new(line: &CommandLine, unit: &Unit) -> Self {
        let own = unit.directory().to_owned();
        let named = Search::directories(line);
        Self(std::iter::once(own).chain(named).collect())
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        first_file(self.0.iter().cloned(), name)
    }

    /// The files that the `include` lines of a text name.
    fn included(&self, unit: &Unit, text: &[u8]) -> Vec<PathBuf> {
        let lines = scan::include_lines(&source(unit, text));
        let files = lines.iter().filter_map(|line| self.find(&line.file));
        files.collect()
    }
}

/// Keeps the compiler from preprocessing the text once more.
pub(crate) const NOT_AGAIN: &str = "-nocpp";
