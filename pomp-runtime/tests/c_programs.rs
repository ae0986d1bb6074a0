//! C programs with probes written by hand, linked with the static library by
//! each compiler there is, and run. What they print and how they end must be
//! their own; what was counted must be exact.
//!
//! Nothing here may name the library crate: its symbols belong in programs with
//! an OpenMP runtime.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use programs::{Program, compile, compilers, counts};

#[test]
fn nested_teams_are_counted_exactly() {
    for compiler in compilers() {
        let run = Program::build(compiler, "teams.c", &[]).run(&[], &[]);
        assert_eq!(run.stdout(), "1200 600\n");
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new());
        assert_eq!(profile.run.max_threads, 6);
        let mut expected = vec!["parallel@1 0: seq 300".to_owned()];
        let members = [300, 200, 100];
        let parts = |n| format!("main {n} enter {n} body {n} ibarr {n} exit {n}");
        for (t, n) in members.iter().enumerate() {
            expected.push(format!("parallel@1 0->{t}: {}", parts(n)));
        }
        for (t, n) in members.iter().enumerate() {
            expected.push(format!("parallel@2 0->{t}: seq {n}"));
            expected.push(format!("parallel@2 0->{t}->0: {}", parts(n)));
            expected.push(format!("parallel@2 0->{t}->1: {}", parts(n)));
        }
        for (t, n) in members.iter().enumerate() {
            expected.push(format!("atomic@3 0->{t}->0: main {n}"));
            expected.push(format!("atomic@3 0->{t}->1: main {n}"));
        }
        for (t, n) in members.iter().enumerate() {
            expected.push(format!(
                "critical@4 0->{t}: main {n} enter {n} body {n} exit {n}"
            ));
        }
        assert_eq!(counts(profile), expected, "{compiler}");
    }
}

const WORK: [&str; 5] = [
    "parallel@1 0: seq 1",
    "parallel@1 0->0: main 1 enter 1 body 1 ibarr 1 exit 1",
    "parallel@1 0->1: main 1 enter 1 body 1 ibarr 1 exit 1",
    "atomic@2 0->0: main 1",
    "atomic@2 0->1: main 1",
];

#[test]
fn exit_status_and_profile_survive_every_end() {
    for compiler in compilers() {
        let program = Program::build(compiler, "ends.c", &[]);
        for (way, status) in [("return", 3), ("quick_exit", 5), ("chdir", 3)] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(status));
            assert_eq!(counts(run.profile()), WORK, "{compiler} {way}");
        }
    }
}

#[test]
fn events_of_exit_handlers_count() {
    for compiler in compilers() {
        let run = Program::build(compiler, "ends.c", &[]).run(&["late"], &[]);
        assert_eq!(counts(run.profile()).last().unwrap(), "atomic@2 0: main 1");
    }
}

#[test]
fn exit_inside_a_region_closes_what_is_open() {
    for compiler in compilers() {
        let program = Program::build(compiler, "ends.c", &[]);
        for way in ["worker-exit", "master-exit"] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(7), "{compiler} {way}");
            let notes = &run.profile().run.notes;
            assert!(
                notes[0].starts_with("regions that were still open"),
                "{notes:?}"
            );
            assert_eq!(counts(run.profile())[0], "parallel@1 0: seq 1");
        }
    }
}

#[test]
fn the_profile_is_written_though_all_threads_exit_at_once() {
    for compiler in compilers() {
        let program = Program::build(compiler, "ends.c", &[]);
        for _ in 0..10 {
            let run = program.run(&["everywhere"], &[]);
            assert_eq!(run.output.status.code(), Some(7), "{compiler}");
            assert_eq!(counts(run.profile())[0], "parallel@1 0: seq 1");
        }
    }
}

#[test]
fn threads_of_the_program_may_fork_teams() {
    for compiler in compilers() {
        let run = Program::build(compiler, "ends.c", &[]).run(&["pthreads"], &[]);
        let profile = run.profile();
        let names: Vec<String> = profile.threads.iter().map(ToString::to_string).collect();
        let expected: Vec<String> = (0..4)
            .flat_map(|n| [format!("{n}"), format!("{n}->0"), format!("{n}->1")])
            .collect();
        assert_eq!(names, expected, "{compiler}");
        assert_eq!(
            profile.run.notes,
            [
                "regions that were left without an exit event, and were closed with the region around them: 3"
            ]
        );
    }
}

#[test]
fn signal_handlers_may_hit_probes_anywhere() {
    for compiler in compilers() {
        let run = Program::build(compiler, "ends.c", &[])
            .run(&["interrupted"], &[("ROMP_BUDGET", "none")]);
        assert_eq!(run.output.status.code(), Some(3));
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new(), "{compiler}");
    }
}

#[test]
fn null_pointers_are_harmless_and_errno_is_kept() {
    for compiler in compilers() {
        let run = Program::build(compiler, "ends.c", &[]).run(&["nulls"], &[]);
        assert_eq!(run.output.status.code(), Some(3), "{compiler}");
        let counts = counts(run.profile());
        assert!(
            counts.contains(&"lock@3 0: main 2 enter 1 body 1 exit 1".into()),
            "{counts:?}"
        );
    }
}

#[test]
fn a_table_of_another_version_turns_measurement_off() {
    let run = Program::build(compilers()[0], "ends.c", &[]).run(&["mismatch"], &[]);
    assert_eq!((run.output.status.code(), run.profiles.len()), (Some(3), 0));
    assert_eq!(
        run.stderr(),
        "romp: nothing is measured: a source was instrumented for version 99 of the interface, \
         this library has version 1; build the program again with one version of Romp\n"
    );
}

#[test]
fn a_run_without_a_probe_says_so() {
    let run = Program::build(compilers()[0], "ends.c", &[]).run(&["nothing"], &[]);
    assert_eq!((run.output.status.code(), run.profiles.len()), (Some(3), 0));
    assert_eq!(
        run.stderr(),
        "romp: the run reached no measured OpenMP construct; no profile is written\n"
    );
}

#[test]
fn the_environment_steers_the_run() {
    let program = Program::build(compilers()[0], "ends.c", &[]);
    let run = program.run(&[], &[("ROMP_MEASURE", "off")]);
    assert_eq!((run.profiles.len(), run.stderr()), (0, ""));
    let run = program.run(&[], &[("ROMP_QUIET", "1"), ("ROMP_MEASSURE", "off")]);
    assert_eq!((run.profiles.len(), run.stderr()), (1, ""));
    let run = program.run(
        &[],
        &[
            ("ROMP_OUTPUT", "a/b"),
            ("ROMP_APPNAME", "app"),
            ("PMI_RANK", "2"),
        ],
    );
    assert!(
        run.stderr().contains("a/b/app.r2.0.romp.json"),
        "{}",
        run.stderr()
    );
    assert!(
        program
            .directory
            .path()
            .join("a/b/app.r2.0.romp.txt")
            .exists()
    );
    let run = program.run(&[], &[("ROMP_CLOCK", "monotonic")]);
    assert_eq!(run.profile().run.clock, "monotonic");
    let run = program.run(&[], &[("ROMP_CLOCK", "sundial")]);
    assert!(
        run.stderr().starts_with(
            "romp: ROMP_CLOCK=sundial is ignored; say ROMP_CLOCK=tsc or ROMP_CLOCK=monotonic\n"
        ),
        "{}",
        run.stderr()
    );
}

#[test]
fn objects_of_opari_1_need_no_table() {
    for compiler in compilers() {
        let run = Program::build(compiler, "opari1.c", &[]).run(&[], &[]);
        assert_eq!(run.stdout(), "5\n");
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new());
        let counts = counts(profile);
        assert_eq!(
            counts[1],
            "parallel@1 0->0: main 5 enter 5 body 5 ibarr 5 exit 5"
        );
        assert_eq!(counts[4], "sections@3 0->1: main 5 body 5 ibarr 5");
        assert!(counts[5].starts_with("section@3 0->"), "{counts:?}");
    }
}

#[test]
fn objects_of_opari_2_need_no_registration() {
    for compiler in compilers() {
        let run = Program::build(compiler, "pomp2.c", &["-Wno-uninitialized"]).run(&[], &[]);
        assert_eq!(run.stdout(), "530\n");
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new());
        let counts = counts(profile);
        for expected in [
            "parallel@1 0: seq 5",
            "parallel@1 0->1: main 5 enter 5 body 5 ibarr 5 exit 5",
            "for@2 0->0: main 5 body 5 ibarr 5",
        ] {
            assert!(counts.iter().any(|line| line == expected), "{counts:#?}");
        }
        // Which thread gets the single, the task and the lock is up to the run.
        let sum = |kind: &str, part: &str| -> u64 {
            let lines = counts.iter().filter(|line| line.starts_with(kind));
            let number = |line: &String| {
                let mut words = line.split_whitespace().skip_while(|word| *word != part);
                words.nth(1)?.parse::<u64>().ok()
            };
            lines.filter_map(number).sum()
        };
        assert_eq!(sum("single@4", "body"), 5, "{counts:#?}");
        assert_eq!(sum("task@5", "main"), 5, "{counts:#?}");
        let schedule = profile.regions.iter().find_map(|it| it.schedule.as_deref());
        assert_eq!(schedule, Some("monotonic:dynamic,3"));
    }
}

/// Threads keep their places while measurement is switched off in a region; what they
/// do meanwhile is not counted.
const IN_REGIONS: [(&str, &[&str]); 4] = [
    ("one-in-region", &TWICE),
    ("all-in-region", &TWICE),
    (
        "begins-off",
        &[
            "parallel@2 0: seq 1",
            "parallel@2 0->0: main 1 enter 1 body 1 ibarr 1 exit 1",
            "parallel@2 0->1: main 1 enter 1 body 1 ibarr 1 exit 1",
            "userRegion@1 0->0: main 1",
            "userRegion@1 0->1: main 1",
            "atomic@3 0->0: main 1",
            "atomic@3 0->1: main 1",
        ],
    ),
    (
        "ends-off",
        &[
            "parallel@2 0: seq 1",
            "parallel@2 0->0: main 1 enter 1 body 1 ibarr 1 exit 1",
            "parallel@2 0->1: main 1 enter 1 body 1 ibarr 1 exit 1",
            "atomic@3 0->0: main 1",
            "atomic@3 0->1: main 1",
            "atomic@3 0: main 1",
        ],
    ),
];

const TWICE: [&str; 5] = [
    "parallel@2 0: seq 1",
    "parallel@2 0->0: main 1 enter 1 body 1 ibarr 1 exit 1",
    "parallel@2 0->1: main 1 enter 1 body 1 ibarr 1 exit 1",
    "atomic@3 0->0: main 2",
    "atomic@3 0->1: main 2",
];

#[test]
fn the_program_steers_its_measurement() {
    let paused =
        "times that the program switched measurement off; what it did meanwhile is not known";
    for compiler in compilers() {
        let program = Program::build(compiler, "pauses.c", &[]);
        for (way, teams) in [
            ("", 2),
            ("end-while-off", 1),
            ("finalize", 2),
            ("stay-off", 1),
        ] {
            let run = program.run(&[way], &[]);
            assert_eq!(run.output.status.code(), Some(3), "{compiler} {way}");
            let expected = [
                "userRegion@1 0: main 1".to_owned(),
                format!("parallel@2 0: seq {teams}"),
            ];
            assert_eq!(counts(run.profile())[..2], expected, "{compiler} {way}");
            let notes = &run.profile().run.notes;
            assert_eq!(*notes, [format!("{paused}: 1")], "{compiler} {way}");
        }
        for (way, expected) in IN_REGIONS {
            let run = program.run(&[way], &[]);
            assert_eq!(counts(run.profile()), expected, "{compiler} {way}");
        }
        let run = program.run(&["across-teams"], &[]);
        let profile = run.profile();
        assert_eq!(profile.run.notes, [format!("{paused}: 101")], "{compiler}");
        assert_eq!(profile.threads.len(), 3, "{compiler}");
        assert!(profile.nodes.len() < 20, "{compiler}");
    }
}

#[test]
fn libraries_may_come_and_go() {
    for compiler in compilers() {
        let program = Program::build(compiler, "loader.c", &["-rdynamic", "-ldl"]);
        let plugin = program.directory.path().join("plugin.so");
        compile(compiler, "plugin.c", &plugin, &["-fPIC", "-shared"]);
        // The plugin's probes are found in the program, or in the plugin where
        // it brings the library along.
        let run = program.run(&[plugin.to_str().unwrap()], &[]);
        assert_eq!(run.stdout(), "9\n", "{}", run.stderr());
        let counts = counts(run.profile());
        assert_eq!(counts[0], "atomic@1 0: main 3");
        assert_eq!(counts[1], "parallel@20 0: seq 3", "{compiler}");
    }
}

#[test]
fn static_programs_are_measured_too() {
    // GCC warns of `dlopen` in its own runtime; the warning is no error.
    let program = Program::build(compilers()[0], "ends.c", &["-static", "-Wl,--no-warnings"]);
    assert_eq!(counts(program.run(&[], &[]).profile()), WORK);
}
