//! How programs end and what may happen to them before: signals, `_exit`,
//! `fork`, dumps. Built and run as in `c_programs`.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use std::os::unix::process::ExitStatusExt;

use programs::{Program, Run, compilers, counts};
use trace::read::Trace;
use trace::stats::{differences, stats};

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;

/// The count of `work` that was done so often.
fn work(times: u32) -> Vec<String> {
    vec![
        format!("parallel@1 0: seq {times}"),
        format!(
            "parallel@1 0->0: main {times} enter {times} body {times} ibarr {times} exit {times}"
        ),
        format!(
            "parallel@1 0->1: main {times} enter {times} body {times} ibarr {times} exit {times}"
        ),
        format!("atomic@2 0->0: main {times}"),
        format!("atomic@2 0->1: main {times}"),
    ]
}

fn each_compiler(test: impl Fn(&str, &Program)) {
    for compiler in compilers() {
        test(compiler, &Program::build(compiler, "signals.c", &[]));
    }
}

/// What each profile counts, in the order of the files' names.
fn all_counts(run: &Run) -> Vec<Vec<String>> {
    run.profiles.iter().map(counts).collect()
}

#[test]
fn a_deadly_signal_kills_after_the_profile_is_written() {
    each_compiler(|compiler, program| {
        for (way, signal) in [
            ("SIGTERM", SIGTERM),
            ("SIGINT", SIGINT),
            ("SIGXCPU", SIGXCPU),
        ] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.signal(), Some(signal), "{compiler} {way}");
            assert_eq!(counts(run.profile()), work(1), "{compiler} {way}");
            assert!(!run.profile().run.incremental);
        }
        let run = program.run(&["SIGTERM"], &[("ROMP_SIGNALS", "off")]);
        assert_eq!(run.output.status.signal(), Some(SIGTERM));
        assert_eq!((run.profiles.len(), run.stderr()), (0, ""), "{compiler}");
    });
}

#[test]
fn threads_in_regions_are_closed_at_a_deadly_signal() {
    each_compiler(|compiler, program| {
        let run = program.run(&["in-region"], &[]);
        assert_eq!(run.output.status.signal(), Some(SIGTERM), "{compiler}");
        let notes = &run.profile().run.notes;
        assert!(
            notes[0].starts_with("regions that were still open"),
            "{notes:?}"
        );
    });
}

#[test]
fn handlers_of_the_program_are_its_own() {
    each_compiler(|compiler, program| {
        for way in ["own-handler", "own-handler-later", "own-usr1"] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(3), "{compiler} {way}");
            assert_eq!(run.stdout(), "1\n", "{compiler} {way}");
            assert_eq!(counts(run.profile()), work(2), "{compiler} {way}");
        }
        let run = program.run(&["ignored"], &[]);
        assert_eq!(run.output.status.code(), Some(3), "{compiler}");
        let run = program.run(&["leaving-handler"], &[]);
        assert_eq!(run.output.status.code(), Some(8), "{compiler}");
        assert_eq!(counts(run.profile()), work(1), "{compiler}");
    });
}

#[test]
fn ends_without_exit_handlers_are_caught() {
    each_compiler(|compiler, program| {
        for (way, status) in [("_exit", 6), ("_Exit", 7)] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(status), "{compiler} {way}");
            assert_eq!(counts(run.profile()), work(1), "{compiler} {way}");
        }
    });
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_profile_is_written_before_another_program_takes_the_place() {
    const WAYS: [(&str, i32); 9] = [
        ("execve", 9),
        ("execv", 7),
        ("execvp", 7),
        ("execvpe", 9),
        ("execl", 7),
        ("execlp", 7),
        ("execle", 9),
        ("fexecve", 9),
        ("execveat", 9),
    ];
    let test = |case: &str, program: &Program| {
        for (way, status) in WAYS {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(status), "{case} {way}");
            assert_eq!(counts(run.profile()), work(1), "{case} {way}");
            assert!(run.profile().run.incremental, "{case} {way}");
        }
        let run = program.run(&["exec-fails"], &[]);
        assert_eq!(run.output.status.code(), Some(3), "{case}");
        assert_eq!(all_counts(&run), [work(2)], "{case}");
    };
    each_compiler(test);
    let options = ["-static", "-Wl,--no-warnings"];
    let program = Program::build(compilers()[0], "signals.c", &options);
    test("static", &program);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_trace_holds_what_was_before_another_program_took_the_place() {
    let program = Program::build(compilers()[0], "signals.c", &[]);
    for (way, is_complete) in [("execv", false), ("exec-fails", true)] {
        let run = program.run(&[way], &[("ROMP_TRACE", "on")]);
        let number = usize::from(is_complete);
        let path = program.directory.path();
        let trace = Trace::open(&path.join(format!("program.{number}.romp.trace"))).unwrap();
        assert_eq!(trace.header.is_complete, is_complete, "{way}");
        let stats = stats(&trace).unwrap();
        assert_eq!(run.profiles.len(), 1, "{way}");
        assert_eq!(differences(&trace, &stats, &run.profiles[0]), [], "{way}");
        assert!(stats.events >= 10, "{way}: {}", stats.events);
    }
}

#[test]
fn a_program_with_rights_that_its_user_lacks_is_not_measured() {
    const ASKED: [(&str, &str); 6] = [
        ("ROMP_OUTPUT", "made"),
        ("ROMP_TRACE", "on"),
        ("ROMP_DUMP_INTERVAL", "0.001"),
        ("ROMP_MEASURE", "on"),
        ("ROMP_NO_SUCH_NAME", "1"),
        ("ROMP_CLOCK", "no such clock"),
    ];
    each_compiler(|compiler, _| {
        let program = Program::build(compiler, "lent.c", &[]);
        let without = program.run(&[], &[("ROMP_MEASURE", "off")]);
        assert_eq!(without.stderr(), "0\n");
        if !programs::lend_rights(&program) {
            return;
        }
        let run = program.run_with_rights(&ASKED);
        assert_eq!(run.stderr(), "1\n", "{compiler}");
        assert_eq!(run.stdout(), without.stdout(), "{compiler}");
        assert_eq!(run.output.status.code(), Some(3), "{compiler}");
        let files = std::fs::read_dir(program.directory.path()).unwrap();
        assert_eq!(files.count(), 1, "{compiler}");
    });
}

#[test]
fn a_forked_child_has_a_profile_of_its_own() {
    each_compiler(|compiler, program| {
        let atomic = "atomic@2 0: main 1".to_owned();
        let child_after = vec![atomic.clone()];
        let mut child_first = work(1);
        child_first.push(atomic);
        for (way, child, parent) in [
            ("fork", child_after, work(2)),
            ("fork-first", child_first.clone(), work(1)),
            ("fork-first-_exit", child_first, work(1)),
        ] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.stdout(), "child 5\n", "{compiler} {way}");
            // The child ends first.
            assert_eq!(all_counts(&run), [child, parent], "{compiler} {way}");
            let pids: Vec<u32> = run.profiles.iter().map(|p| p.run.pid).collect();
            assert_ne!(pids[0], pids[1], "{compiler} {way}");
        }
        for (way, status) in [("fork-silent", 5), ("fork-exec", 0), ("vfork", 6)] {
            let run = program.run(&[way], &[]);
            assert_eq!(
                run.stdout(),
                format!("child {status}\n"),
                "{compiler} {way}"
            );
            let times = if way == "vfork" { 1 } else { 2 };
            assert_eq!(counts(run.profile()), work(times), "{compiler} {way}");
        }
    });
}

#[test]
fn what_is_done_before_a_daemon_is_made_and_after_is_kept() {
    let test = |case: &str, program: &Program| {
        // The daemon has our end of the pipe, so that this waits for it too.
        let run = program.run(&["daemon"], &[]);
        assert_eq!(run.output.status.code(), Some(0), "{case}");
        let mut found = all_counts(&run);
        found.sort();
        let mut expected = [work(1), vec!["atomic@2 0: main 1".to_owned()]];
        expected.sort();
        assert_eq!(found, expected, "{case}");
    };
    each_compiler(test);
    let options = ["-static", "-Wl,--no-warnings"];
    let program = Program::build(compilers()[0], "signals.c", &options);
    test("static", &program);
}

#[test]
fn the_profile_can_be_written_while_the_program_runs() {
    each_compiler(|compiler, program| {
        for (way, annotation, paused) in [("SIGUSR1", None, 0), ("dump", Some("13"), 1)] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(3), "{compiler} {way}");
            assert_eq!(all_counts(&run), [work(1), work(2)], "{compiler} {way}");
            let incremental: Vec<bool> = run.profiles.iter().map(|p| p.run.incremental).collect();
            assert_eq!(incremental, [true, false], "{compiler} {way}");
            let annotations = &run.profiles[0].run.annotations;
            assert_eq!(annotations.get("size").map(String::as_str), annotation);
            assert_eq!(run.profiles[1].run.notes.len(), paused, "{compiler} {way}");
        }
    });
}

#[test]
fn dumps_survive_a_program_that_is_killed() {
    each_compiler(|compiler, program| {
        let run = program.run(&["interval"], &[("ROMP_DUMP_INTERVAL", "0.01")]);
        assert_eq!(run.output.status.signal(), Some(SIGKILL), "{compiler}");
        assert_eq!(run.stderr(), "");
        assert_eq!(all_counts(&run), [work(1)], "{compiler}");
    });
}

#[test]
fn the_calls_of_the_header_are_nothing_without_the_library() {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("alone.c");
    std::fs::write(
        &source,
        "#include \"romp.h\"\nint main(void) { romp_start(); romp_annotate(\"a\", \"b\"); \
         romp_dump(); romp_stop(); return 4; }\n",
    )
    .unwrap();
    for compiler in compilers() {
        for option in ["-DROMP_NO_API", "-UROMP_NO_API"] {
            let program = directory.path().join("alone");
            programs::compile(compiler, source.to_str().unwrap(), &program, &[option]);
            let status = std::process::Command::new(&program).status().unwrap();
            assert_eq!(status.code(), Some(4), "{compiler} {option}");
        }
    }
}
