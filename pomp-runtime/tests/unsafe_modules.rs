//! Where `unsafe` may stand: the list in the library's first page names each module.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::path::{Path, PathBuf};

#[test]
fn the_list_of_modules_with_unsafe_is_complete_and_no_longer() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let page = std::fs::read_to_string(sources.join("lib.rs")).unwrap();
    let (_, list) = page.split_once("`unsafe` stands only in").unwrap();
    let (list, _) = list.split_once("A test holds").unwrap();
    let named: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let mut found = Vec::new();
    let recording = [
        "measure",
        "measure/calls",
        "measure/records",
        "measure/collector",
        "measure/trace",
    ];
    for folder in recording.into_iter().chain(["result", "run", "."]) {
        for file in std::fs::read_dir(sources.join(folder)).unwrap() {
            found.extend(module_with_unsafe(&file.unwrap().path()));
        }
    }
    let missing: Vec<&String> = found
        .iter()
        .filter(|m| !named.contains(&m.as_str()))
        .collect();
    assert!(missing.is_empty(), "not in the list: {missing:?}");
    let is_found =
        |name: &&&str| **name == "sources" || found.iter().any(|module| module == **name);
    let gone: Vec<&&str> = named.iter().filter(|name| !is_found(name)).collect();
    assert!(gone.is_empty(), "without `unsafe`: {gone:?}");
}

/// The module in a file that has `unsafe` in its code.
fn module_with_unsafe(file: &PathBuf) -> Option<String> {
    if file.extension()? != "rs" {
        return None;
    }
    let text = std::fs::read_to_string(file).unwrap();
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let has_unsafe = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    has_unsafe
        .into_iter()
        .any(|word| word == "unsafe")
        .then(|| file.file_stem().unwrap().to_string_lossy().into_owned())
}
