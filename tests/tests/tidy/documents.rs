//! Documents name existing things: links and paths lead somewhere, and the README's
//! columns are those of reports.

use std::collections::BTreeSet;
use std::path::Path;

use super::sources::{files, root};

/// All documents that git knows, each with its text.
fn documents() -> impl Iterator<Item = (String, String)> {
    files("*.md").into_iter().map(|path| {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        (path, text)
    })
}

/// Targets of links that lead to no file.
pub(super) fn broken_links() -> Vec<String> {
    let mut broken = Vec::new();
    for (path, text) in documents() {
        let folder = root().join(&path);
        let folder = folder.parent().unwrap();
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let files = targets.map(|target| target.split('#').next().unwrap_or_default());
        let ours = files.filter(|target| !target.is_empty() && !target.contains("://"));
        broken.extend(
            ours.filter(|target| !folder.join(target).exists())
                .map(|target| format!("{path}: a link to {target}")),
        );
    }
    broken
}

/// The texts between single backticks, outside of blocks of code.
fn code(text: &str) -> BTreeSet<&str> {
    let outside = text.split("```").step_by(2);
    outside
        .flat_map(|text| text.split('`').skip(1).step_by(2))
        .collect()
}

/// Pages about the code. They may leave out the beginning of a path, and `.rs`.
const MAPS: &[&str] = &["ARCHITECTURE.md", "docs/adding.md"];

/// The pages that are read first, and how many words they may have.
const FIRST_PAGES: &[(&str, usize)] = &[("README.md", 1_050), ("ARCHITECTURE.md", 1_250)];

/// Of the pages that are read first, those that became long.
pub(super) fn long_pages() -> Vec<String> {
    let length = |page: &str| {
        let text = std::fs::read_to_string(root().join(page)).unwrap();
        text.split_whitespace().count()
    };
    let pages = FIRST_PAGES
        .iter()
        .map(|(page, most)| (page, length(page), most));
    let long = pages.filter(|(_, words, most)| words > *most);
    long.map(|(page, words, most)| format!("{page}: {words} words, more than {most}"))
        .collect()
}

/// Paths of files and folders that the maps name and that are not there.
pub(super) fn lost_places() -> Vec<String> {
    let there = files("*");
    let is_there = |place: &str| {
        let place = place.trim_start_matches("./").trim_end_matches('/');
        there.iter().any(|file| {
            let framed = format!("/{file}");
            framed.contains(&format!("/{place}/"))
                || framed.ends_with(&format!("/{place}"))
                || framed.ends_with(&format!("/{place}.rs"))
        })
    };
    let is_path = |word: &&str| {
        let ends = [".rs", ".js"].iter().any(|end| word.ends_with(end));
        // A word in capitals stands for any name.
        (ends || word.contains('/')) && !word.contains(|c: char| c == ' ' || c.is_uppercase())
    };
    let lost_in = |page: &&str| -> Vec<String> {
        let map = std::fs::read_to_string(root().join(page)).unwrap();
        let places = code(&map).into_iter().filter(is_path);
        let lost = places.filter(|place| !is_there(place));
        lost.map(|place| format!("{page}: {place}")).collect()
    };
    MAPS.iter().flat_map(lost_in).collect()
}

/// Columns of the README's table that no report has.
pub(super) fn unknown_columns() -> Vec<String> {
    let readme = std::fs::read_to_string(Path::new(root()).join("README.md")).unwrap();
    let (_, table) = readme.split_once("| column | meaning").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let first_cells = table.lines().filter_map(|line| line.split('|').nth(1));
    let columns: Vec<&str> = first_cells.flat_map(code).collect();
    assert!(columns.len() > 5, "{columns:?}");
    let unknown = columns
        .into_iter()
        .filter(|name| profile::explain::explain(name).is_none());
    unknown
        .map(|name| format!("README.md: the column {name}"))
        .collect()
}
