//! Every directive has a fixture: each row of the table occurs in a program of each
//! language family that has it.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::collections::BTreeSet;

use instrumenter::Source;
use instrumenter::find::front_end;
use instrumenter::openmp::Language;
use instrumenter::openmp::directives::DIRECTIVES;
use instrumenter::openmp::pomp::POMP_DIRECTIVES;
use tests::fixture::Fixture;

/// The names of all rows that the directives of some fixtures are made of.
fn rows_in(folders: &[&str]) -> BTreeSet<&'static str> {
    let fixtures = folders
        .iter()
        .flat_map(|folder| Fixture::all_in(folder).unwrap());
    let found = fixtures.flat_map(|fixture| {
        let language = Source::language_of(&fixture.path);
        let source = Source {
            name: fixture.name(),
            text: fixture.text.into_bytes(),
            language,
            layout: Source::layout_of(&fixture.path),
            undefined: instrumenter::source::UndefinedMacros::new(),
        };
        front_end(language).find(&source).directives
    });
    found
        .filter_map(|found| found.directive.ok())
        .flat_map(|directive| directive.rows)
        .map(|row| row.name)
        .collect()
}

/// Every row that a language has occurs in some fixture.
fn all_are_in(language: Language, folders: &[&str]) {
    let found = rows_in(folders);
    let missing: Vec<&str> = DIRECTIVES
        .iter()
        .chain(POMP_DIRECTIVES)
        .filter(|row| row.languages.contain(language) && !found.contains(row.name))
        .map(|row| row.name)
        .collect();
    assert!(
        missing.is_empty(),
        "no program in fixtures/{{{}}} has {missing:?}",
        folders.join(",")
    );
}

#[test]
fn c_and_cxx() {
    all_are_in(Language::C, &["c", "cxx"]);
}

#[test]
fn fortran() {
    all_are_in(Language::Fortran, &["fortran"]);
}
