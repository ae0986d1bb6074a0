//! Every fixture's rewritten text and listing, as reviewed snapshots.
//!
//! `INSTA_UPDATE=always cargo test -p tests --test golden` rewrites them; read
//! the difference before you commit it.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::path::{Path, PathBuf};

use instrumenter::api::Api;
use instrumenter::list::{listing, write_text};
use instrumenter::verify::verify;
use instrumenter::{Instrumented, Options, Source, instrument};

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures")
        .join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| tests::fixture::is_program(path))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no fixtures", root.display());
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn instrumented(path: &Path, folder: &str) -> (Source, Instrumented) {
    instrumented_as(path, folder, &Options::default())
}

fn instrumented_as(path: &Path, folder: &str, options: &Options) -> (Source, Instrumented) {
    let name = format!("fixtures/{folder}/{}", file_name(path));
    let source = Source {
        name,
        language: Source::language_of(path),
        text: std::fs::read(path).unwrap(),
        layout: Source::layout_of(path),
        undefined: instrumenter::source::UndefinedMacros::new(),
    };
    let result = instrument(
        &source,
        &Options {
            unique: "u".into(),
            ..options.clone()
        },
    );
    (source, result)
}

#[test]
fn instrumented_text_with_chunks() {
    let options = Options {
        chunks: true,
        ..Options::default()
    };
    for (folder, name) in [
        ("trace", "listing.c"),
        ("trace", "listing.f90"),
        ("trace", "rows.c"),
        ("trace", "ranges.cpp"),
        ("fortran", "tasks_handed_on.f90"),
    ] {
        let path = tests::fixture::fixtures().join(folder).join(name);
        let (_, result) = instrumented_as(&path, folder, &options);
        let text = String::from_utf8_lossy(result.text()).into_owned();
        insta::assert_snapshot!(format!("chunks_{}", name.replace('.', "_")), text);
    }
}

#[test]
fn instrumented_text_for_a_partial_library() {
    let options = Options {
        partial_library: true,
        ..Options::default()
    };
    for (folder, name, chunks) in [
        ("ports", "all_of_pomp2.c", false),
        ("ports", "all_of_pomp2.f90", false),
        ("ports", "chunks.c", true),
        ("ports", "chunks.f90", true),
        ("cxx", "templates.cpp", false),
        ("fortran", "fixed_form.f", false),
        ("fortran", "implicit_none_external.f90", false),
    ] {
        let path = tests::fixture::fixtures().join(folder).join(name);
        let options = Options {
            chunks,
            ..options.clone()
        };
        let (source, result) = instrumented_as(&path, folder, &options);
        assert_eq!(verify(&source, &result), Ok(()), "{name}");
        let text = String::from_utf8_lossy(result.text()).into_owned();
        insta::assert_snapshot!(format!("partial_library_{}", name.replace('.', "_")), text);
    }
}

/// What can't be asked for is called as in other text.
#[test]
fn where_nothing_can_be_asked_nothing_is() {
    let without_blocks = Options {
        without_blocks: true,
        ..Options::default()
    };
    let apart = Options {
        apart: true,
        ..Options::default()
    };
    let pomp2 = Options {
        api: Api::Pomp2,
        ..Options::default()
    };
    for (name, options) in [
        ("all_of_pomp2.f90", &without_blocks),
        ("all_of_pomp2.f90", &apart),
        ("all_of_pomp2.f90", &pomp2),
        ("all_of_pomp2.c", &apart),
        ("all_of_pomp2.c", &pomp2),
    ] {
        let path = tests::fixture::fixtures().join("ports").join(name);
        let asking = Options {
            partial_library: true,
            ..options.clone()
        };
        let [asking, other] =
            [&asking, options].map(|options| instrumented_as(&path, "ports", options).1);
        assert_eq!(asking.text(), other.text(), "{name}");
    }
}

#[test]
fn instrumented_text_of_every_construct() {
    for folder in ["c", "cxx", "fortran"] {
        for path in fixtures(folder) {
            let (_, result) = instrumented(&path, folder);
            let text = String::from_utf8_lossy(result.text()).into_owned();
            insta::assert_snapshot!(format!("{folder}_{}", stem(&path)), text);
        }
    }
}

#[test]
fn listing_of_every_construct() {
    for folder in ["c", "cxx", "fortran"] {
        for path in fixtures(folder) {
            let (source, result) = instrumented(&path, folder);
            let mut text = Vec::new();
            write_text(&[listing(&source, &result)], &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            insta::assert_snapshot!(format!("{folder}_{}_list", stem(&path)), text);
        }
    }
}

#[test]
fn every_fixture_and_program_is_verified() {
    for folder in ["c", "cxx", "fortran", "programs"] {
        for path in fixtures(folder) {
            let (source, result) = instrumented(&path, folder);
            assert_eq!(verify(&source, &result), Ok(()), "{}", source.name);
        }
    }
}
