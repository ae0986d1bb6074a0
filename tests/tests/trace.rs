//! Traces of real programs: what must be true of every trace, that it says the
//! same as the profile of the same run, and what happens at its limits.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use profile::load::load;
use tests::fixture::Fixture;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use trace::check::check;
use trace::read::Trace;
use trace::stats::{differences, stats};

/// What is in them, with both compilers: nesting, tasks, locks, regions that are
/// left early, several initial threads, pauses.
const FIXTURES: &[&str] = &[
    "c/nested_constructs.c",
    "c/tasks.c",
    "c/locks.c",
    "c/cancel.c",
    "c/pthreads.c",
    "c/inst_switches.c",
];

#[test]
fn a_trace_says_what_the_profile_says() {
    for name in FIXTURES {
        let fixture = Fixture::read(name).unwrap();
        for compiler in ["gcc", "clang"] {
            let bin = romp_bin_dir().unwrap();
            let compiler = Compiler::find(compiler).unwrap();
            let std = fixture.header.standards.last().unwrap();
            let program = build(&fixture, &compiler, std, Build::Instrumented(&bin)).unwrap();
            let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")]).unwrap();
            ran.must_be_right().unwrap();
            let path = ran.profiles[0].with_extension("trace");
            let trace = Trace::open(&path).unwrap();
            assert!(trace.header.is_complete);
            let findings = check(&trace).unwrap();
            assert_eq!(findings.described, Vec::<String>::new(), "{name}");
            let stats = stats(&trace).unwrap();
            assert!(stats.events >= 10, "{name}");
            let profile = load(&ran.profiles[0]).unwrap();
            assert_eq!(differences(&trace, &stats, &profile), [], "{name}");
        }
    }
}

#[test]
fn without_being_asked_nothing_is_traced() {
    let events = Events::build();
    let output = events.run(&["1000"], &[]);
    assert!(output.status.success());
    assert_eq!(events.files("trace"), Vec::<PathBuf>::new());
}

/// How many of the events of 100000 flushes on each thread are missing.
const FLUSHES: u64 = 200_000;

#[test]
fn a_trace_that_is_full_keeps_the_first_events_and_says_how_many_are_missing() {
    let events = Events::build();
    let settings = [("ROMP_TRACE", "on"), ("ROMP_TRACE_LIMIT", "1M")];
    let output = events.run(&["100000"], &settings);
    let trace = events.trace();
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    let stats = stats(&trace).unwrap();
    assert!(events.size() <= 1 << 20);
    assert!(trace.header.dropped > 0);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = format!("{} events are not in the trace", trace.header.dropped);
    assert!(message.contains(&said), "{message}");
    // Fork, join and what each of two threads has: begin, end, flushes, barrier.
    let happened = 2 + 2 * (2 + FLUSHES + 2) + 1;
    assert!(stats.events + trace.header.dropped >= happened);
}

#[test]
fn the_last_events_can_be_kept_instead() {
    let events = Events::build();
    let settings = [
        ("ROMP_TRACE", "on"),
        ("ROMP_TRACE_LIMIT", "1M"),
        ("ROMP_TRACE_KEEP", "last"),
        ("ROMP_TRACE_MEMORY", "256M"),
    ];
    events.run(&["100000"], &settings);
    let trace = events.trace();
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    assert!(events.size() <= 1 << 20);
    assert!(trace.header.replaced > 0 && trace.header.is_complete);
    let stats = stats(&trace).unwrap();
    assert!(stats.missing > 0);
}

#[test]
fn a_program_that_is_killed_leaves_a_trace_that_can_be_read() {
    let events = Events::build();
    let output = events.run(&["kill"], &[("ROMP_TRACE", "on")]);
    assert_eq!(output.status.code(), None);
    let trace = events.trace();
    assert!(!trace.header.is_complete);
    let findings = check(&trace).unwrap();
    assert_eq!(findings.described, Vec::<String>::new());
    assert!(findings.events > 30_000, "{}", findings.events);
}

/// A program with many events, and what its latest run left.
struct Events {
    folder: tempfile::TempDir,
}

impl Events {
    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/trace/events.c");
        let status = Command::new(romp_bin_dir().unwrap().join("rompcc"))
            .args(["-O1", "-fopenmp", "-o", "events"])
            .arg(std::fs::canonicalize(source).unwrap())
            .env("ROMP_STRICT", "1")
            .current_dir(&folder)
            .status();
        assert!(status.unwrap().success());
        Self { folder }
    }

    fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
        Command::new(self.folder.path().join("events"))
            .args(arguments)
            .envs(settings.iter().copied())
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    fn files(&self, extension: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let ending = format!(".romp.{extension}");
        paths
            .filter(|path| path.to_string_lossy().ends_with(&ending))
            .collect()
    }

    fn trace(&self) -> Trace {
        let [path] = self.files("trace").try_into().unwrap();
        Trace::open(&path).unwrap()
    }

    fn size(&self) -> u64 {
        let [path] = self.files("trace").try_into().unwrap();
        path.metadata().unwrap().len()
    }
}
