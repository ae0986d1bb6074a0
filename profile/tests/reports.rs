//! What the report writers make of saved profiles, as whole files. To accept a
//! change: `INSTA_UPDATE=always cargo test -p profile`, then read the diff.

// The lint lets tests unwrap, but not what helps them.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use profile::analysis::Report;
use profile::report::{WRITERS, writer};
use profile::save::load;

fn saved_profiles() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".romp.json"))
        .collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    files
}

fn written(path: &Path, format: &str) -> String {
    let profile = load(path).unwrap();
    let mut out = Vec::new();
    (writer(format).unwrap().write)(&Report::new(&profile), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn stem(path: &Path) -> String {
    path.file_name()
        .unwrap()
        .to_string_lossy()
        .replace(".romp.json", "")
}

#[test]
fn text_reports() {
    for path in saved_profiles() {
        insta::assert_snapshot!(format!("{}.txt", stem(&path)), written(&path, "text"));
    }
}

#[test]
fn csv_reports() {
    for path in saved_profiles() {
        insta::assert_snapshot!(format!("{}.csv", stem(&path)), written(&path, "csv"));
    }
}

#[test]
fn headlines() {
    let headlines: Vec<String> = saved_profiles()
        .iter()
        .map(|path| {
            let profile = load(path).unwrap();
            format!("{}: {}", stem(path), Report::new(&profile).summary.headline)
        })
        .collect();
    insta::assert_snapshot!("headlines", headlines.join("\n"));
}

#[test]
fn json_is_the_profile_again() {
    for path in saved_profiles() {
        let again: profile::model::Profile = serde_json::from_str(&written(&path, "json")).unwrap();
        assert_eq!(again, load(&path).unwrap());
    }
}

#[test]
fn formats_have_names_of_their_own() {
    for (index, format) in WRITERS.iter().enumerate() {
        assert!(
            WRITERS[..index]
                .iter()
                .all(|other| other.name != format.name)
        );
        assert!(writer(format.name).is_some());
    }
    assert!(writer("papyrus").is_none());
}
