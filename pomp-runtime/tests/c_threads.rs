//! How threads end: `main` before the others, and threads that are cancelled. Built
//! and run as in `c_programs`.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use programs::{Program, compilers, library};

const SIGTERM: i32 = 15;

/// LLVM's runtime keeps its threads, and so the process, when `main` has ended.
const KEEPS_ITS_THREADS: &str = "clang";

#[test]
fn the_last_thread_of_the_program_ends_it() {
    for compiler in compilers() {
        let program = Program::build(compiler, "threads.c", &["-pthread"]);
        for way in ["team-of-one", "team", "worker-forks"] {
            if way != "team-of-one" && compiler == KEEPS_ITS_THREADS {
                continue;
            }
            let run = program.run_in_time(&[way]);
            assert_eq!(run.output.status.code(), Some(0), "{compiler} {way}");
            assert_eq!(run.stdout(), "done\n", "{compiler} {way}");
            assert!(!run.profile().run.incremental, "{compiler} {way}");
        }
    }
}

#[test]
fn a_signal_ends_a_program_without_its_main() {
    for compiler in compilers() {
        let program = Program::build(compiler, "threads.c", &["-pthread"]);
        let run = program.run_in_time(&["SIGTERM"]);
        assert_eq!(run.output.status.signal(), Some(SIGTERM), "{compiler}");
        assert!(!run.profile().run.incremental, "{compiler}");
    }
}

#[test]
fn threads_are_cancelled_within_events() {
    for compiler in compilers() {
        let program = Program::build(compiler, "threads.c", &["-pthread"]);
        // What is done once in a process is done in the first threads.
        for way in ["cancel-anywhere", "cancel-deferred"] {
            for _ in 0..4 {
                let run = program.run_in_time(&[way]);
                let output = (run.output.status.code(), run.stdout());
                let errors = run.stderr();
                assert_eq!(output, (Some(0), "done\n"), "{compiler} {way}: {errors}");
            }
        }
    }
}

/// A thread that is cancelled is unwound. The frames between the program and the place where
/// cancellation is held off must have no handlers.
#[test]
fn entry_points_have_nothing_that_unwinding_must_see() {
    let out = tempfile::tempdir().unwrap();
    let program = out.path().join("program");
    programs::compile(
        compilers()[0],
        "threads.c",
        &program,
        &["-pthread", library().to_str().unwrap()],
    );
    let text = |tool: &str, option: &str| {
        let output = Command::new(tool).arg(option).arg(&program).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let functions = text("nm", "--defined-only");
    let frames = text("readelf", "--debug-dump=frames");
    let handlers = handlers(&frames);
    let (mut talkative, mut silent) = (Vec::new(), 0);
    for line in functions.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [address, _, name] = words[..] else {
            continue;
        };
        if !name.starts_with("POMP") && !name.starts_with("pompf_") {
            continue;
        }
        match handlers.get(address) {
            Some(true) => talkative.push(name),
            Some(false) => silent += 1,
            None => {}
        }
    }
    assert_eq!(talkative, Vec::<&str>::new());
    assert!(silent > 100, "{silent}");
}

/// For the address of each function, whether it has a table of handlers for unwinding: its common
/// entry has an `L` in its augmentation.
fn handlers(frames: &str) -> HashMap<&str, bool> {
    let (mut with_table, mut handlers) = (HashMap::new(), HashMap::new());
    let mut common = "";
    for line in frames.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [entry, _, _, "CIE"] => common = entry,
            ["Augmentation:", letters] => {
                with_table.insert(common, letters.contains('L'));
            }
            [_, _, _, "FDE", of, range] => {
                let of = of.strip_prefix("cie=").and_then(|of| with_table.get(of));
                let address = range.strip_prefix("pc=").and_then(|it| it.split_once(".."));
                if let (Some(has), Some((address, _))) = (of, address) {
                    handlers.insert(address, *has);
                }
            }
            _ => {}
        }
    }
    handlers
}
