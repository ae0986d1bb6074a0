//! Checks of the code that review would otherwise have to make for every change: the lengths
//! of files and functions, that each module has documentation, that modules don't form
//! circles, what a part of the code must not know, that each file belongs to a crate, that lists of
//! variants are complete, that JSON has no key twice, and that documents name existing things.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

#[path = "tidy/borders.rs"]
mod borders;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/json.rs"]
mod json;
#[path = "tidy/lists.rs"]
mod lists;
#[path = "tidy/orphans.rs"]
mod orphans;
#[path = "tidy/paths.rs"]
mod paths;
#[path = "tidy/sources.rs"]
mod sources;

use sources::{Function, Source, sources};

/// Lines of a file. A reader should see the subject of a file without searching.
const LONGEST_FILE: usize = 600;

/// Lines of a function, from its name to its last brace.
const LONGEST_FUNCTION: usize = 80;

#[test]
fn files_and_functions_are_short() {
    let over = |what: String, lines: usize, limit: usize| {
        (lines > limit).then(|| format!("{what} has {lines} lines, more than {limit}: divide it"))
    };
    let mut wrong = Vec::new();
    for source in sources() {
        wrong.extend(over(source.path.clone(), source.lines, LONGEST_FILE));
        for Function { name, lines } in &source.functions {
            let what = format!("{}: {name}", source.path);
            wrong.extend(over(what, *lines, LONGEST_FUNCTION));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
    let sources: Vec<Source> = sources().collect();
    let found = circles::circles(&sources).into_iter();
    let wrong: Vec<String> = found
        .map(|(folder, circle)| format!("{folder}: {}", circle.in_words()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_module_knows_what_it_must_not() {
    let sources: Vec<Source> = sources().collect();
    let wrong = borders::crossings(&sources);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_file_is_a_module_of_a_crate() {
    let sources: Vec<Source> = sources().collect();
    let orphans = orphans::orphans(&sources);
    assert!(
        orphans.is_empty(),
        "no module declares these:\n{}",
        orphans.join("\n")
    );
}

#[test]
fn lists_of_variants_are_complete() {
    let sources: Vec<Source> = sources().collect();
    let lists: usize = sources.iter().map(lists::count).sum();
    assert!(lists >= 7, "only {lists} lists were found");
    let wrong: Vec<String> = sources.iter().flat_map(lists::incomplete).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn objects_of_json_have_each_key_once() {
    assert!(json::check(r#"{"a": {"b": [1, null]}, "c": -1.5}"#).is_ok());
    assert!(json::check(r#"{"a": [{"b": 1, "b": 2}]}"#).is_err());
    let wrong = json::repeated_keys();
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

#[test]
fn the_first_pages_stay_short() {
    let long = documents::long_pages();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
