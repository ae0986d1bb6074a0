//! Checks of the code that review would otherwise have to make for every change: the lengths
//! of files and functions, that each module has documentation, that modules don't form
//! circles, what a part of the code must not know, and that documents name existing things.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

#[path = "tidy/borders.rs"]
mod borders;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/sources.rs"]
mod sources;

use std::collections::{BTreeMap, BTreeSet};

use sources::{Function, Source, sources};

/// Lines of a file. A reader should see the subject of a file without searching.
const LONGEST_FILE: usize = 600;

/// Lines of a function, from its name to its last brace.
const LONGEST_FUNCTION: usize = 80;

/// Functions that were longer when the limit was set, with their lines then. They may only
/// become shorter, and are removed from this list when they are within the limit.
const LONGER_FUNCTIONS: &[(&str, &str, usize)] =
    &[("instrumenter/src/cli/run/constructs.rs", "find_calls", 116)];

#[test]
fn files_and_functions_are_short() {
    let mut wrong = Vec::new();
    let mut allowed: BTreeMap<(&str, &str), usize> = LONGER_FUNCTIONS
        .iter()
        .map(|(file, function, lines)| ((*file, *function), *lines))
        .collect();
    let sources: Vec<Source> = sources().collect();
    for source in &sources {
        wrong.extend(over(&source.path, source.lines, None, LONGEST_FILE));
        for Function { name, lines } in &source.functions {
            let key = (source.path.as_str(), name.as_str());
            let limit = allowed.remove(&key);
            let what = format!("{}: {name}", source.path);
            wrong.extend(over(&what, *lines, limit, LONGEST_FUNCTION));
        }
    }
    let gone = allowed.keys();
    wrong.extend(gone.map(|(file, name)| format!("{file}: {name} is gone: take it off the list")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A complaint about the length of something that may have been too long before.
fn over(what: &str, lines: usize, before: Option<usize>, limit: usize) -> Option<String> {
    match before {
        Some(_) if lines <= limit => {
            Some(format!("{what} is short enough now: take it off the list"))
        }
        Some(before) if lines > before => {
            Some(format!("{what} grew from {before} to {lines} lines"))
        }
        None if lines > limit => Some(format!(
            "{what} has {lines} lines, more than {limit}: divide it"
        )),
        _ => None,
    }
}

#[test]
fn every_module_says_what_it_is() {
    let mute = |source: &Source| !source.has_docs;
    let mute: Vec<String> = sources().filter(mute).map(|source| source.path).collect();
    assert!(
        mute.is_empty(),
        "begin these with `//!`:\n{}",
        mute.join("\n")
    );
}

/// Folders whose modules used each other in circles when this check was introduced. The
/// top-level modules of a crate never do. A folder is removed from this list with its last circle.
const FOLDERS_WITH_CIRCLES: &[&str] = &[
    "instrumenter/wrapper",
    "instrumenter/wrapper/route",
    // Records that lead to one another: regions, nodes, frames, teams.
    "pomp-runtime/measure",
    "profile/analysis",
];

#[test]
fn modules_form_no_circles() {
    let sources: Vec<Source> = sources().collect();
    let mut allowed: BTreeSet<&str> = FOLDERS_WITH_CIRCLES.iter().copied().collect();
    let mut wrong = Vec::new();
    for (folder, circle) in circles::circles(&sources) {
        allowed.remove(folder.as_str());
        if !FOLDERS_WITH_CIRCLES.contains(&folder.as_str()) {
            wrong.push(format!("{folder}: {}", circle.in_words()));
        }
    }
    let gone = allowed.into_iter();
    wrong.extend(gone.map(|folder| format!("{folder} has no circle: take it off the list")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_module_knows_what_it_must_not() {
    let sources: Vec<Source> = sources().collect();
    let wrong = borders::crossings(&sources);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_name_what_is_there() {
    let wrong = [
        documents::broken_links(),
        documents::lost_places(),
        documents::unknown_columns(),
    ]
    .concat();
    assert!(wrong.is_empty(), "not there:\n{}", wrong.join("\n"));
}
