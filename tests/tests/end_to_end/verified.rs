//! Every fixture is instrumented with each option that changes what is inserted, and the
//! results are verified.

use std::path::{Path, PathBuf};

use instrumenter::api::Api;
use instrumenter::source::UndefinedMacros;
use instrumenter::{Options, Source};
use tests::fuzz::sources::instrumented_and_checked;
use tests::processors;

const SOURCES: &[&str] = &["c", "cpp", "f", "f90", "F", "F90"];

/// The sources in a folder and those in it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            found.extend(sources(&path));
        } else if extension.is_some_and(|extension| SOURCES.contains(&extension)) {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_fixture_is_verified_with_chunks_and_for_each_interface() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let all = sources(&root);
    for extension in ["c", "cpp", "f", "f90", "F90"] {
        let has = |path: &PathBuf| path.extension().is_some_and(|e| e == extension);
        assert!(all.iter().any(has), "no fixture is a .{extension}");
    }
    processors::for_each(&all, |path| {
        let source = Source {
            name: path.display().to_string(),
            language: Source::language_of(path),
            text: std::fs::read(path).unwrap(),
            layout: Source::layout_of(path),
            undefined: UndefinedMacros::new(),
        };
        for (chunks, api) in [
            (false, Api::Pomp),
            (true, Api::Pomp),
            (false, Api::Pomp2),
            (true, Api::Pomp2),
        ] {
            let options = Options {
                unique: "u".into(),
                chunks,
                api,
                ..Options::default()
            };
            println!("{}: {options:?}", source.name);
            instrumented_and_checked(&source, &options);
        }
    });
}
