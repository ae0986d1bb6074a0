//! The house in order: what review would otherwise have to look for in every change.
//! How long files and functions are, that each module says what it is, and that the
//! modules of a crate don't form circles.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/sources.rs"]
mod sources;

use std::collections::BTreeMap;

use sources::{Function, Source, sources};

/// Lines of a file. Who reads it should see what it is about without searching.
const LONGEST_FILE: usize = 600;

/// Lines of a function, from its name to its last brace.
const LONGEST_FUNCTION: usize = 80;

/// Functions that were longer when the limit was set, with their lines then: they may only
/// become shorter, and leave this list with the limit.
const LONGER_FUNCTIONS: &[(&str, &str, usize)] = &[
    ("instrumenter/src/cli/run/constructs.rs", "find_calls", 116),
    ("instrumenter/src/cli/trace/dump.rs", "describe", 103),
    (
        "instrumenter/src/plan/split.rs",
        "clauses_go_where_the_specification_sends_them",
        93,
    ),
    (
        "pomp-runtime/src/measure/tests/constructs.rs",
        "each_construct_has_its_pseudo_regions",
        81,
    ),
    ("profile/tests/schema.rs", "full", 101),
];

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

/// What is wrong with the length of something that may have been too long before.
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

#[test]
fn modules_form_no_circles() {
    let found = circles::circles(sources()).into_iter();
    let wrong: Vec<String> = found
        .map(|(krate, circle)| format!("{krate}: {}", circle.in_words()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
