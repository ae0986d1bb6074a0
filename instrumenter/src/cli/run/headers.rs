//! The files that a source of a measured program includes: their macros may make directives.
//!
//! Which folders the compiler was told to look in is not known. Debug information names those of the
//! files from which it took anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::find::c::scan::{Include, includes};

/// Where headers of the system are, which make no directives.
const SYSTEM: &str = "/usr";

/// The texts of the files that a source includes, directly or by another one, and whether all of the
/// user's own were found that are included in any case. One that is included on a condition may not
/// be there.
pub(super) fn included_by(source: &Path, folders: &BTreeSet<PathBuf>) -> (Vec<Vec<u8>>, bool) {
    let mut texts = Vec::new();
    let mut are_all = true;
    let mut seen = BTreeSet::from([source.to_owned()]);
    let mut open = vec![source.to_owned()];
    while let Some(file) = open.pop() {
        let Ok(text) = fs::read(&file) else { continue };
        let is_source = file == source;
        let unconditional = if is_source {
            includes(&outside_conditionals(&text))
        } else {
            Vec::new()
        };
        for include in includes(&text) {
            match place(&file, &include, folders) {
                Some(path) if seen.insert(path.clone()) => open.push(path),
                Some(_) => {}
                None => {
                    let is_system = matches!(include, Include::Angled(_));
                    are_all &= is_system || !unconditional.contains(&include);
                }
            }
        }
        if !is_source {
            texts.push(text);
        }
    }
    (texts, are_all)
}

/// Where an included file is, unless it is one of the system.
fn place(file: &Path, include: &Include, folders: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let own = file.parent();
    let (name, own) = match include {
        Include::Quoted(name) => (name, own),
        Include::Angled(name) => (name, None),
        Include::Computed => return None,
    };
    let known = folders.iter().map(PathBuf::as_path);
    let known = known.filter(|folder| !folder.starts_with(SYSTEM));
    let mut places = own.into_iter().chain(known).map(|folder| folder.join(name));
    places.find(|path| path.is_file())
}

/// The lines of a text that are in no conditional of the preprocessor.
fn outside_conditionals(text: &[u8]) -> Vec<u8> {
    let mut depth = 0_u32;
    let mut kept = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let word = line.trim_ascii_start().strip_prefix(b"#");
        let word = word.map(<[u8]>::trim_ascii_start).unwrap_or_default();
        if word.starts_with(b"if") {
            depth += 1;
        } else if word.starts_with(b"endif") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 {
            kept.extend(line);
        }
    }
    kept
}
