//! Saving never overwrites a file and never leaves a part of one. Loading explains errors.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use profile::model::{Node, Profile, Run, SCHEMA, VERSION};
use profile::region_kind::PseudoRegion;
use profile::save::{SaveError, SaveOptions, load, save};

fn empty() -> Profile {
    Profile {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        run: Run {
            application: "app".to_owned(),
            ..Run::default()
        },
        ..Profile::default()
    }
}

fn options(directory: &Path) -> SaveOptions {
    SaveOptions {
        number: None,
        directory: directory.to_owned(),
        application: "app".to_owned(),
        rank: None,
    }
}

fn names(directory: &Path) -> BTreeSet<String> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_saved_profile_is_loaded_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles");
    let profile = load(&folder.join("mixed.romp.json")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let saved = save(&profile, &options(directory.path())).unwrap();
    assert_eq!(load(&saved.json).unwrap(), profile);
    assert!(
        saved.headline.starts_with("Most to win"),
        "{}",
        saved.headline
    );
    assert!(
        fs::read_to_string(saved.text)
            .unwrap()
            .contains("Overhead Analysis")
    );
}

#[test]
fn files_are_named_after_program_rank_and_number() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("made/on/demand");
    let rank = SaveOptions {
        rank: Some(3),
        ..options(&inner)
    };
    save(&empty(), &rank).unwrap();
    save(&empty(), &rank).unwrap();
    save(&empty(), &options(&inner)).unwrap();
    let stems = ["app.0", "app.r3.0", "app.r3.1"];
    let expected = stems
        .iter()
        .flat_map(|s| [format!("{s}.romp.json"), format!("{s}.romp.txt")]);
    assert_eq!(names(&inner), expected.collect());
}

#[test]
fn a_number_is_taken_if_either_file_exists() {
    let directory = tempfile::tempdir().unwrap();
    let mine = ["app.0.romp.json", "app.1.romp.txt"].map(|name| directory.path().join(name));
    for path in &mine {
        fs::write(path, "mine").unwrap();
    }
    std::os::unix::fs::symlink("nowhere", directory.path().join("app.2.romp.json")).unwrap();
    let saved = save(&empty(), &options(directory.path())).unwrap();
    assert_eq!(saved.json, directory.path().join("app.3.romp.json"));
    assert_eq!(saved.text, directory.path().join("app.3.romp.txt"));
    for path in &mine {
        assert_eq!(fs::read_to_string(path).unwrap(), "mine");
    }
    assert_eq!(names(directory.path()).len(), 5);
}

#[test]
fn savers_at_the_same_time_get_numbers_of_their_own() {
    const SAVERS: usize = 16;
    let directory = tempfile::tempdir().unwrap();
    let saved: BTreeSet<PathBuf> = std::thread::scope(|scope| {
        let one = |number: usize| {
            let mut profile = empty();
            profile.run.pid = number as u32;
            save(&profile, &options(directory.path())).unwrap().json
        };
        let savers: Vec<_> = (0..SAVERS)
            .map(|number| scope.spawn(move || one(number)))
            .collect();
        savers
            .into_iter()
            .map(|saver| saver.join().unwrap())
            .collect()
    });
    assert_eq!(saved.len(), SAVERS);
    let pids: BTreeSet<u32> = saved
        .iter()
        .map(|path| load(path).unwrap().run.pid)
        .collect();
    assert_eq!(pids.len(), SAVERS, "a profile was overwritten");
    assert_eq!(
        names(directory.path()).len(),
        2 * SAVERS,
        "something was left behind"
    );
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "mine").unwrap();
    let error = save(&empty(), &options(&file.join("below"))).unwrap_err();
    assert!(matches!(error, SaveError::Directory { .. }), "{error}");
    assert!(error.to_string().contains("file/below"), "{error}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_takes_no_files_is_named() {
    // Everyone is refused here. Permissions would not stop a superuser.
    let error = save(&empty(), &options(Path::new("/proc/self/task"))).unwrap_err();
    assert!(matches!(error, SaveError::Write { .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("cannot write to '/proc/self/task'"),
        "{error}"
    );
}

/// The error message for a file with this content, without the folder's name.
fn refusal(content: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.romp.json");
    fs::write(&path, content).unwrap();
    let message = load(&path).unwrap_err().to_string();
    message.replace(&format!("{}/", directory.path().display()), "")
}

#[test]
fn what_cannot_be_loaded_is_explained() {
    let mut lost = empty();
    lost.nodes = vec![Node {
        parent: Some(0),
        region: 0,
        within: PseudoRegion::Body,
        rows: Vec::new(),
    }];
    let cases = [
        "".to_owned(),
        "Romp report".to_owned(),
        "{\"schema\": \"romp-profile\", \"version\": 1, \"run\": {".to_owned(),
        "[1, 2]".to_owned(),
        "{\"traceEvents\": []}".to_owned(),
        "{\"schema\": \"romp-profile\"}".to_owned(),
        "{\"schema\": \"romp-profile\", \"version\": 99}".to_owned(),
        "{\"schema\": \"romp-profile\", \"version\": 1}".to_owned(),
        serde_json::to_string(&lost).unwrap(),
    ];
    let messages: Vec<String> = cases.iter().map(|content| refusal(content)).collect();
    insta::assert_snapshot!(messages.join("\n"));
    let missing = load(Path::new("/nonexistent/x.romp.json"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("cannot read '/nonexistent/x.romp.json': "),
        "{missing}"
    );
}
