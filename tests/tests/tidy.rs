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

type Check = fn(&[Source]) -> Vec<String>;

/// The checks of all sources, each with the heading of what it finds. Reading the sources takes most of
/// the time, so all checks share one reading.
const CHECKS: &[(&str, Check)] = &[
    ("these are too long: divide them", too_long),
    (
        "these lack documentation: begin them with `//!`",
        without_documentation,
    ),
    ("modules form circles", circles),
    ("modules know what they must not", borders::crossings),
    ("no module declares these", orphans::orphans),
    ("lists of variants are not complete", incomplete_lists),
];

#[test]
fn sources_keep_the_rules() {
    let sources: Vec<Source> = sources().collect();
    let lists: usize = sources.iter().map(lists::count).sum();
    assert!(lists >= 7, "only {lists} lists were found");
    let wrong: Vec<String> = CHECKS
        .iter()
        .map(|(what, check)| (what, check(&sources)))
        .filter(|(_, found)| !found.is_empty())
        .map(|(what, found)| format!("{what}:\n{}", found.join("\n")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn too_long(sources: &[Source]) -> Vec<String> {
    let over = |what: String, lines: usize, limit: usize| {
        (lines > limit).then(|| format!("{what} has {lines} lines, more than {limit}"))
    };
    let mut wrong = Vec::new();
    for source in sources {
        wrong.extend(over(source.path.clone(), source.lines, LONGEST_FILE));
        for Function { name, lines } in &source.functions {
            let what = format!("{}: {name}", source.path);
            wrong.extend(over(what, *lines, LONGEST_FUNCTION));
        }
    }
    wrong
}

fn without_documentation(sources: &[Source]) -> Vec<String> {
    let mute = sources.iter().filter(|source| !source.has_docs);
    mute.map(|source| source.path.clone()).collect()
}

fn circles(sources: &[Source]) -> Vec<String> {
    let found = circles::circles(sources).into_iter();
    found
        .map(|(folder, circle)| format!("{folder}: {}", circle.in_words()))
        .collect()
}

fn incomplete_lists(sources: &[Source]) -> Vec<String> {
    sources.iter().flat_map(lists::incomplete).collect()
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
