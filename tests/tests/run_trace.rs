//! Traces of programs that were not built with Romp: their regions are those of the profile, and
//! their events hold what must hold for every trace.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

#[path = "run/program_folder.rs"]
#[allow(dead_code)] // Another test uses the rest.
mod program_folder;

use std::fs;
use std::process::Output;

use program_folder::ProgramFolder;

const COMPILERS: [&str; 2] = ["gcc", "clang"];
const TRACE: &str = "app.0.romp.trace";
const PROFILE: &str = "app.0.romp.json";

/// Builds a fixture and traces it.
fn traced(compiler: &str, fixture: &str, words: &[&str]) -> ProgramFolder {
    let folder = ProgramFolder::new();
    folder.build(compiler, fixture, &["-O1", "-g"], "app");
    let ran = folder.romp_run(
        words,
        &[("ROMP_TRACE", "on"), ("OMP_MAX_ACTIVE_LEVELS", "2")],
    );
    assert!(ran.status.success(), "{ran:?}");
    folder
}

/// What a command of `romp` says of the trace.
fn romp(folder: &ProgramFolder, words: &[&str]) -> Output {
    let romp = folder.bin.join("romp");
    let mut command = folder.command(&[romp.to_str().unwrap()]);
    command.args(words).output().unwrap()
}

fn told(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Counts and times of all regions are those of the profile, under the same names.
fn is_that_of_its_profile(compiler: &str, fixture: &str) {
    let folder = traced(compiler, fixture, &["./app"]);
    for words in [
        &["trace", "check", TRACE][..],
        &["trace", "stats", "--against", PROFILE, TRACE],
    ] {
        let output = romp(&folder, words);
        let said = told(&output);
        assert!(output.status.success(), "{compiler}, {fixture}: {said}");
    }
}

#[test]
fn a_trace_is_that_of_its_profile() {
    for compiler in COMPILERS {
        for fixture in [
            "run/traced.c",
            "run/regions.c",
            "run/static_loops.c",
            "run/reductions.c",
        ] {
            is_that_of_its_profile(compiler, fixture);
        }
    }
}

/// Most workers of nested teams, and of teams whose sizes change, never serve again in the same
/// place, or end.
#[test]
fn workers_that_serve_no_more_waited_until_their_team_was_released() {
    for compiler in ["gcc", "clang", "romp:gcc", "romp:clang"] {
        is_that_of_its_profile(compiler, "run/nested.c");
    }
}

#[test]
fn everything_that_reads_a_trace_names_the_constructs() {
    for compiler in COMPILERS {
        let folder = traced(compiler, "run/traced.c", &["./app"]);
        for (words, expected) in [
            (&["trace", "stats", TRACE][..], "parallelfor "),
            (&["trace", "dump", TRACE], "traced.c:15:"),
            (&["trace", "waits", TRACE], "run/traced.c:15"),
            (&["trace", "tasks", TRACE], "run/traced.c:33"),
            (&["trace", "periods", TRACE], "run/traced.c:33"),
        ] {
            let output = romp(&folder, words);
            let said = told(&output);
            assert!(output.status.success() && said.contains(expected), "{said}");
            assert!(!said.contains("machine code"), "{compiler}: {said}");
        }
        let export = [
            "trace", "export", "--format", "chrome", "-o", "out.json", TRACE,
        ];
        let output = romp(&folder, &export);
        assert!(output.status.success(), "{}", told(&output));
        let exported = fs::read_to_string(folder.path("out.json")).unwrap();
        assert!(exported.contains("run/traced.c:37"), "{compiler}");
        let output = romp(&folder, &["view", PROFILE, TRACE, "-o", "page.html"]);
        assert!(output.status.success(), "{}", told(&output));
    }
}

/// A trace whose program was replaced is not whole, but its regions have names.
#[test]
fn a_program_that_replaces_itself_leaves_a_trace_with_names() {
    for compiler in COMPILERS {
        let folder = traced(compiler, "run/traced.c", &["./app", "x"]);
        let said = told(&romp(&folder, &["trace", "stats", TRACE]));
        assert!(said.contains("is incomplete"), "{compiler}: {said}");
        assert!(said.contains("run/traced.c:15:"), "{compiler}: {said}");
    }
}

/// The trace of a process that was killed has no profile, so nobody says where its regions are.
#[test]
fn a_trace_without_a_profile_names_machine_code() {
    let folder = ProgramFolder::new();
    folder.build("gcc", "run/traced.c", &["-O1", "-g"], "app");
    let library = folder.bin.join("libromp_run.so");
    let mut command = folder.command(&["./app", "x"]);
    command.env("LD_PRELOAD", &library).env("ROMP_TRACE", "on");
    assert!(command.status().unwrap().success());
    let said = told(&romp(&folder, &["trace", "stats", TRACE]));
    assert!(said.contains("only known by their machine code"), "{said}");
    assert!(said.contains("parallel at app+0x"), "{said}");
    let said = told(&romp(&folder, &["trace", "info", TRACE]));
    assert!(said.contains("known by machine code"), "{said}");
}
