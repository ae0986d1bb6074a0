//! The output of the report writers for saved profiles, as whole files. To accept a change, run
//! `INSTA_UPDATE=always cargo test -p profile`, then read the diff.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use profile::analysis::Report;
use profile::file_hash::file_hash;
use profile::model::{Region, Serial, SourceFile};
use profile::region_kind::RegionKind;
use profile::report::html::Page;
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

/// Formats that have tests elsewhere: of each profile, of the saved form, in a browser, and of
/// the archive.
const HELD_ELSEWHERE: &[&str] = &["text", "csv", "json", "html", "tau"];

/// One profile is enough to test what the other formats add. The profile with the most content
/// is used.
#[test]
fn other_formats() {
    let path = saved_profiles()
        .into_iter()
        .find(|path| stem(path) == "tasks")
        .unwrap();
    let others = WRITERS.iter().map(|writer| writer.name);
    for format in others.filter(|name| !HELD_ELSEWHERE.contains(name)) {
        insta::assert_snapshot!(format!("tasks.{format}"), written(&path, format));
    }
}

/// The serial part begins where a region ends: the first screen shows these lines. The file was
/// compiled in a folder below.
#[test]
fn first_screen_shows_where_the_serial_part_begins() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (1..=200).map(|line| format!("text of {line};")).collect();
    let text = lines.join("\n");
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/serial.c"), &text).unwrap();
    let path = saved_profiles()
        .into_iter()
        .find(|path| stem(path) == "tasks")
        .unwrap();
    let mut profile = load(&path).unwrap();
    let is_team = |region: &Region| region.kind == RegionKind::Parallel;
    let team = profile.regions.iter().position(is_team).unwrap();
    profile.regions[team].file = "serial.c".to_owned();
    profile.sources.push(SourceFile {
        file: "serial.c".to_owned(),
        hash: file_hash(text.as_bytes()),
    });
    let [_, end] = profile.regions[team].end;
    profile.serial = vec![Serial {
        after: Some(team),
        before: None,
        count: 1,
        ns: profile.run.duration_ns,
    }];
    let report = Report::new(&profile);
    let mut page = Vec::new();
    Page::new(&report)
        .with_sources(&[folder.path().to_owned()])
        .write(&mut page)
        .unwrap();
    let page = String::from_utf8(page).unwrap();
    let (screen, _) = page.split_once("<main").unwrap();
    assert!(
        screen.contains(&format!(" ends at line {end}:</p>\n<pre")),
        "{screen}"
    );
    assert!(
        screen.contains(&format!("</i> text of {};</span>", end + 3)),
        "{screen}"
    );
}

/// The part of a page that is shown before any script runs. The rest is tested in a browser.
#[test]
fn first_screen_of_the_page() {
    let path = saved_profiles()
        .into_iter()
        .find(|path| stem(path) == "tasks")
        .unwrap();
    let page = written(&path, "html");
    let (_, body) = page.split_once("</style>").unwrap();
    let (screen, data) = body.split_once("<main").unwrap();
    insta::assert_snapshot!("tasks.first_screen", screen);
    assert!(!screen.contains("<script"));
    for section in ["model", "cells"] {
        assert!(
            data.contains(&format!("id=\"data-{section}\">")),
            "{section}"
        );
    }
}

/// The elements that are still open at the end of a text. They must be closed in the order in
/// which they were opened.
fn open_elements(text: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for tag in text.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("{tag}"));
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(|c| c.is_alphanumeric())
            .collect();
        let stands_alone = tag.ends_with('/') || tag.starts_with(['!', '?']);
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !stands_alone && !["meta", "br", "input"].contains(&name.as_str()) {
            open.push(name);
        }
    }
    open
}

#[test]
fn markup_is_well_formed_and_names_cannot_break_it() {
    for path in saved_profiles() {
        let mut profile = load(&path).unwrap();
        profile.run.application = "<b>&\"'\u{1}".to_owned();
        for region in &mut profile.regions {
            region.file = "a<b>&\".c".to_owned();
            region.function = Some("operator<<".to_owned());
        }
        for format in ["xml", "html"] {
            let mut out = Vec::new();
            (writer(format).unwrap().write)(&Report::new(&profile), &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            // Scripts contain the signs of comparisons.
            let text = text.split("<script").next().unwrap();
            let open = open_elements(text);
            let rest: &[&str] = if format == "html" {
                &["html", "body"]
            } else {
                &[]
            };
            assert_eq!(open, rest, "{}", path.display());
        }
    }
}

#[test]
fn folded_stacks_end_in_a_number_and_have_no_blank_frame() {
    for path in saved_profiles() {
        for line in written(&path, "folded").lines() {
            let (frames, number) = line.rsplit_once(' ').unwrap();
            assert!(number.parse::<u64>().is_ok(), "{line}");
            assert!(frames.split(';').all(|frame| !frame.is_empty()), "{line}");
        }
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
