//! A program that is a tool of its own OpenMP runtime (OMPT), and so sees how its constructs
//! were changed.

use std::process::{Command, Output};

use tests::fixture::fixtures;
use tests::toolchain::romp_bin_dir;

fn built_and_run(command: &mut Command) -> Output {
    let here = tempfile::tempdir().unwrap();
    let program = here.path().join("program");
    let source = fixtures().join("tools/own_tool.c");
    let built = command
        .args(["-O1", "-fopenmp"])
        .arg(source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let run = Command::new(&program).current_dir(here.path()).output();
    run.unwrap()
}

/// Only with Clang, since GCC's runtime does not support tools.
#[test]
fn a_tool_of_its_own_ends_as_it_does_without() {
    let plain = built_and_run(&mut Command::new("clang"));
    let wrapper = romp_bin_dir().unwrap().join("rompcc");
    let measured = built_and_run(Command::new(&wrapper).arg("clang"));
    assert_eq!(measured.status, plain.status);
    assert_eq!(measured.stdout, plain.stdout);
    assert_eq!(String::from_utf8_lossy(&plain.stdout), "1\nend\n");
}
