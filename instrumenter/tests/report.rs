//! `romp report` as a user calls it.

// The lint lets tests unwrap, but not what helps them.
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
    assert!(refused(&[]).contains("PROFILE"));
}

#[test]
fn names_are_explained_without_a_profile() {
    let text = shown(&["--explain", "exitBarT"]);
    assert!(
        text.starts_with("exitBarT, in seconds: waiting at the end"),
        "{text}"
    );
}
