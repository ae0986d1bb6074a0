//! Each test that the table of capabilities names exists.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../docs/capabilities.md");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of all tables: the last cell of each, which names the tests, and the first.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let cells = |line: &'static str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.split('|').collect();
        let named = cells.get(cells.len().checked_sub(2)?)?;
        Some((cells[0].trim(), named.trim()))
    };
    let is_row = |(first, last): &(&str, &str)| {
        !(first.starts_with("---") || ["test", "where"].contains(last))
    };
    PAGE.lines().filter_map(cells).filter(is_row)
}

/// The texts of all files that a name of a test may stand for.
fn texts(package: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["tests", "tests/end_to_end", "src"] {
        let place = root().join(package).join(folder);
        found.extend(std::fs::read_to_string(
            place.join(name).with_extension("rs"),
        ));
        for file in std::fs::read_dir(place.join(name)).into_iter().flatten() {
            found.extend(std::fs::read_to_string(file.unwrap().path()));
        }
    }
    found
}

/// The names in a cell that are no tests, with the reason.
fn wrong(cell: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for part in cell.split(';') {
        let Some((package, names)) = part.split_once(": ") else {
            // A script of the repository, or none.
            let script = part.trim().trim_matches('`');
            if script != "-" && !root().join(script).exists() {
                wrong.push(format!("'{part}' is neither a script nor 'package: tests'"));
            }
            continue;
        };
        let package = match package.trim() {
            "runtime" => "pomp-runtime",
            package => package,
        };
        let mut file = "";
        for name in names.split(',').map(str::trim) {
            let (of, within) = name.split_once("::").unwrap_or((name, ""));
            file = if of.is_empty() { file } else { of };
            let texts = texts(package, file);
            let steps = within.split("::").filter(|step| !step.is_empty());
            let is_there = |step: &str| {
                let heads = [format!("fn {step}("), format!("mod {step}")];
                texts
                    .iter()
                    .any(|text| heads.iter().any(|head| text.contains(head)))
            };
            let missing = steps.filter(|step| !is_there(step)).count();
            if texts.is_empty() || missing > 0 {
                wrong.push(format!("{package} has no test '{file}::{within}'"));
            }
        }
    }
    wrong
}

#[test]
fn every_row_names_tests_that_are_there() {
    let wrong: Vec<String> = rows()
        .flat_map(|(id, cell)| {
            wrong(cell)
                .into_iter()
                .map(move |why| format!("{id}: {why}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for system in [
        "OMP", "PPR", "TAU", "DPO", "KOJ", "AFT", "ORA", "OPA", "PMP",
    ] {
        let of_system = rows().filter(|(id, _)| id.starts_with(system)).count();
        assert!(of_system > 5, "{system} has {of_system} rows");
    }
}

#[test]
fn a_name_that_is_no_test_is_noticed() {
    assert!(wrong("tests: ports::every_row, golden").len() == 1);
    assert!(wrong("tests: no_such_file").len() == 1);
    assert!(wrong("runtime: c_collector::states").len() == 1);
    assert!(wrong("tests/no-such-script").len() == 1);
    let right = "tests: golden::listing_of_every_construct; `tests/opari`";
    assert!(wrong(right).is_empty());
}
