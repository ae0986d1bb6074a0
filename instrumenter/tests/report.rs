//! `romp report`, called as users call it.

// The lint lets tests unwrap, but not their helpers.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

fn romp(arguments: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles");
    Command::new(env!("CARGO_BIN_EXE_romp"))
        .arg("report")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn shown(arguments: &[&str]) -> String {
    let output = romp(arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = romp(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn filters_leave_out_what_was_not_asked_for() {
    let profile = "mixed.romp.json";
    let all = shown(&[profile]);
    let part = shown(&[profile, "--region", "stack", "--thread", "0->1"]);
    assert!(all.contains("SECTIONS: 1 region") && !part.contains("SECTIONS: 1 region"));
    assert!(part.contains("Shown below: regions like stack, threads 0->1."));
    assert!(!part.contains("\n0->0 "), "{part}");
    let top = shown(&[profile, "--sort", "enterT", "--top", "1", "-f", "csv"]);
    assert_eq!(top.matches("flat profile\n").count(), 2, "{top}");
    assert!(top.contains("##BEG R00002 flat profile"));
}

#[test]
fn what_cannot_be_shown_is_said_with_what_can() {
    let profile = "mixed.romp.json";
    assert!(refused(&[profile, "--sort", "papyrus"]).contains("exitBarT"));
    assert!(refused(&[profile, "--thread", "9"]).contains("0->0"));
    assert!(refused(&[profile, "--region", "papyrus"]).contains("no region matches"));
    assert!(refused(&[profile, "--top", "1", "-f", "json"]).contains("whole profile"));
    assert!(refused(&["--explain", "papyrus"]).contains("exitBarT"));
    assert!(refused(&[profile, "--open", "-f", "csv"]).contains("leave -f csv out"));
    assert!(refused(&[profile, "-f", "html", "--top", "1"]).contains("whole profile"));
}

/// A folder with copies of a profile; it is removed with the value.
fn folder_with(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let profile =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles/mixed.romp.json");
    for name in names {
        std::fs::copy(&profile, folder.path().join(name)).unwrap();
    }
    folder
}

fn in_folder(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_romp"))
        .arg("report")
        .args(arguments)
        .current_dir(folder)
        .env("BROWSER", "true")
        .output()
        .unwrap()
}

#[test]
fn every_format_can_go_into_a_file_and_never_over_the_profile() {
    let folder = folder_with(&["a.0.romp.json"]);
    for (arguments, begins) in [
        (
            &["a.0.romp.json", "-f", "html", "-o", "out"][..],
            "<!doctype html>",
        ),
        (&["a.0.romp.json", "-f", "csv", "-o", "out"], "##BEG"),
        (&["a.0.romp.json", "-o", "out"], "qsort ran"),
    ] {
        let output = in_folder(folder.path(), arguments);
        assert!(
            output.status.success() && output.stdout.is_empty(),
            "{arguments:?}"
        );
        let written = std::fs::read_to_string(folder.path().join("out")).unwrap();
        assert!(
            written.starts_with(begins),
            "{arguments:?}: {:.80}",
            written
        );
    }
    let before = std::fs::read(folder.path().join("a.0.romp.json")).unwrap();
    let output = in_folder(folder.path(), &["a.0.romp.json", "-o", "./a.0.romp.json"]);
    assert!(!output.status.success());
    assert_eq!(
        std::fs::read(folder.path().join("a.0.romp.json")).unwrap(),
        before
    );
}

#[test]
fn the_newest_profile_is_taken_if_none_is_given() {
    let folder = folder_with(&["a.0.romp.json", "a.1.romp.json"]);
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    let file = std::fs::File::options()
        .write(true)
        .open(folder.path().join("a.1.romp.json"))
        .unwrap();
    file.set_modified(long_ago).unwrap();
    let output = in_folder(folder.path(), &["--open"]);
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path().join("a.0.html").exists());
    assert!(!folder.path().join("a.1.html").exists());
    let elsewhere = tempfile::tempdir().unwrap();
    let written = elsewhere.path().join("a.html");
    let [from, to] = [folder.path(), &written].map(|path| path.display().to_string());
    let output = in_folder(elsewhere.path(), &[&from, "-f", "html", "-o", &to]);
    assert!(output.status.success() && written.exists(), "{output:?}");
    let nothing = tempfile::tempdir().unwrap();
    let output = in_folder(nothing.path(), &[]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no saved profile here"));
    for reason in ["simd alone", "ROMP_MEASURE=off", "ROMP_OUTPUT"] {
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn standard_input_is_a_profile_too() {
    let folder = folder_with(&["a.0.romp.json"]);
    let output = Command::new(env!("CARGO_BIN_EXE_romp"))
        .args(["report", "-"])
        .stdin(std::fs::File::open(folder.path().join("a.0.romp.json")).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        shown(&["mixed.romp.json"])
    );
}

#[test]
fn names_are_explained_without_a_profile() {
    let text = shown(&["--explain", "exitBarT"]);
    assert!(
        text.starts_with("exitBarT, in seconds: waiting at the implicit barrier"),
        "{text}"
    );
}
