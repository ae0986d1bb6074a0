//! Fortran programs with probes written by hand, linked with the static library
//! by each compiler there is, and run, as `c_programs` does for C.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use std::path::{Path, PathBuf};

use programs::{Program, Run, compile, compilers, counts, fortran_compilers};

/// Flags that change how names of subroutines are spelled, and how much a
/// compiler finds to say. The OpenMP routines have one spelling only, so the
/// programs that call them need that one.
const SPELLINGS: &[&[&str]] = &[
    &["-std=f2008", "-Wextra", "-pedantic"],
    &["-fsecond-underscore", "-O0"],
    &["-fno-underscoring", "-O2", "-fdefault-integer-8"],
];

fn run_with_threads(program: &Program, threads: &str) -> Run {
    let levels = ("OMP_MAX_ACTIVE_LEVELS", "3");
    program.run(&[], &[("OMP_NUM_THREADS", threads), levels])
}

#[test]
fn literals_are_found_in_every_spelling() {
    for compiler in fortran_compilers() {
        for flags in SPELLINGS {
            let program = Program::build(compiler, "fixed.f", &[&["-std=legacy"], *flags].concat());
            for threads in 1..=8 {
                let run = run_with_threads(&program, &threads.to_string());
                assert_eq!(run.stdout(), "60\n");
                let profile = run.profile();
                assert_eq!(profile.run.notes, Vec::<String>::new());
                assert_eq!(profile.regions[1].name.as_deref(), Some("it's"));
                let counts = counts(profile);
                assert_eq!(counts[0], "paralleldo@1 0: seq 1");
                assert_eq!(counts.len(), 1 + 2 * threads, "{flags:?} {counts:?}");
                for thread in 0..threads {
                    let main = "main 1 enter 1 body 1 ibarr 1 exit 1";
                    assert_eq!(
                        counts[1 + thread],
                        format!("paralleldo@1 0->{thread}: {main}")
                    );
                }
            }
        }
    }
}

#[test]
fn a_run_begins_with_the_process_and_not_with_the_first_construct() {
    for compiler in fortran_compilers() {
        let run = Program::build(compiler, "late.f90", &[]).run(&[], &[]);
        assert_eq!(run.stdout(), "done\n");
        let duration = run.profile().run.duration_ns;
        assert!(duration >= 300_000_000, "{duration} ns");
    }
}

#[test]
fn teams_forked_at_once_from_one_line_stand_in_their_places() {
    for compiler in fortran_compilers() {
        let program = Program::build(compiler, "nested.f90", &["-Wextra", "-pedantic"]);
        for _ in 0..3 {
            let run = run_with_threads(&program, "3");
            assert_eq!(run.stdout(), "600\n");
            let profile = run.profile();
            assert_eq!(profile.run.notes, Vec::<String>::new());
            let counts = counts(profile);
            for outer in 0..3 {
                let rounds = 25 * (outer + 1);
                for middle in 0..2 {
                    let place = format!("0->{outer}->{middle}");
                    let member = format!(
                        "main {rounds} enter {rounds} body {rounds} ibarr {rounds} exit {rounds}"
                    );
                    for line in [
                        format!("parallel@2 {place}: {member}"),
                        format!("parallel@3 {place}: seq {rounds}"),
                        format!("parallel@3 {place}->0: {member}"),
                        format!("parallel@3 {place}->1: {member}"),
                        format!("atomic@4 {place}->1: main {rounds}"),
                    ] {
                        assert!(counts.contains(&line), "{line} is not in {counts:#?}");
                    }
                }
            }
        }
    }
}

#[test]
fn locks_are_measured_in_every_statement() {
    for compiler in fortran_compilers() {
        let run = Program::build(compiler, "locks.f90", &["-Wextra"]).run(&[], &[]);
        assert_eq!(run.stdout(), "10\n");
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new());
        assert_eq!(
            counts(profile),
            [
                "lock@1 0: main 2",
                "lock@2 0: main 1",
                "lock@3 0: main 1 enter 1 body 1 exit 1",
                "lock@4 0: main 20 enter 20 body 10 exit 10",
                "lock@6 0: main 10 enter 10 body 10 exit 10",
                "lock@7 0: main 10 enter 10",
            ]
        );
    }
}

#[test]
fn a_malformed_literal_is_one_message_and_one_region() {
    let compiler = fortran_compilers()[0];
    let run = Program::build(compiler, "malformed.f90", &[]).run(&[], &[]);
    assert_eq!(run.stdout(), "done\n");
    let messages: Vec<&str> = run.stderr().lines().collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert_eq!(
        messages[0],
        "romp: one region is not measured, since 'nonsense' is not a descriptor; was the source \
         instrumented by another version of Romp?"
    );
    assert!(
        messages[1].contains("the key 'sscl' is missing"),
        "{messages:?}"
    );
    assert_eq!(counts(&run.profiles[0])[0], "atomic@1 0: main 5");
}

#[test]
fn c_and_fortran_share_a_profile() {
    for compiler in compilers() {
        let program = mixed(compiler);
        let run = program.run(&[], &[]);
        let profile = run.profile();
        assert_eq!(profile.run.notes, Vec::<String>::new());
        let counts = counts(profile);
        for (member, n) in [(0, 10), (1, 20)] {
            for line in [
                format!("parallel@1 0->{member}: seq {n}"),
                format!("atomic@2 0->{member}->0: main {n}"),
                format!("atomic@2 0->{member}->1: main {n}"),
            ] {
                assert!(
                    counts.contains(&line),
                    "{compiler}: {line} is not in {counts:#?}"
                );
            }
        }
    }
}

/// If threads fork the same line at once, the team of a member may be a guess, and the profile
/// says so. The counts are exact.
#[test]
fn threads_of_the_program_may_fork_teams_in_fortran() {
    for compiler in compilers() {
        let run = mixed(compiler).run(&["threads"], &[]);
        let profile = run.profile();
        let counts = counts(profile);
        let total = |end: &str| -> u64 {
            counts
                .iter()
                .filter(|line| line.starts_with("atomic@2") && line.contains(end))
                .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
                .sum()
        };
        assert_eq!(
            (total("->0:"), total("->1:")),
            (150, 150),
            "{compiler} {counts:#?}"
        );
    }
}

#[test]
fn the_program_steers_its_measurement() {
    let compiler = fortran_compilers()[0];
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let include = format!("-I{}", header.display());
    for flags in [&["-std=f2018"][..], &["-fsecond-underscore"]] {
        let flags = [&[include.as_str()], flags].concat();
        let run = Program::build(compiler, "control.f90", &flags).run(&[], &[]);
        // One for the dump, one for the end.
        assert_eq!(run.stderr().lines().count(), 2, "{}", run.stderr());
        let [profile] = run.profiles.as_slice() else {
            panic!("one run leaves one profile");
        };
        assert_eq!(counts(profile), ["atomic@1 0: main 3"]);
        assert_eq!(profile.run.annotations["size"], "small");
    }
}

/// Two libraries whose literals differ in nothing but what they say: the second
/// is loaded where the first was.
#[test]
fn another_text_at_a_known_address_is_noticed() {
    let (c, fortran) = (compilers()[0], fortran_compilers()[0]);
    // The program offers them the library's subroutines, which it calls none of.
    let offer = ["-rdynamic", "-Wl,-u,pompf_parallel_fork_", "-ldl"];
    let program = Program::build(c, "mixed.c", &offer);
    let here = program.directory.path();
    let text = std::fs::read_to_string(source("part.f90")).unwrap();
    let other = text.replace("P:", "Q:").replace("f90:", "f90:1");
    let plugins = [("one", text), ("two", other)].map(|(name, text)| {
        let file = here.join(format!("{name}.f90"));
        std::fs::write(&file, text).unwrap();
        let plugin = file.with_extension("so");
        compile(
            fortran,
            file.to_str().unwrap(),
            &plugin,
            &["-fPIC", "-shared"],
        );
        plugin.to_str().unwrap().to_owned()
    });
    let run = program.run(&[&plugins[0], &plugins[1]], &[]);
    let places: std::collections::BTreeSet<&str> = run.stdout().lines().collect();
    assert_eq!(
        places.len(),
        1,
        "the libraries were not loaded at one place"
    );
    let counts = counts(run.profile());
    for line in [
        "parallel@1 0: seq 6",
        "parallel@11 0: seq 6",
        "atomic@12 0->1: main 6",
    ] {
        assert!(
            counts.contains(&line.to_owned()),
            "{line} is not in {counts:#?}"
        );
    }
}

/// `mixed.c` with its part in Fortran, linked by the C compiler.
fn mixed(compiler: &str) -> Program {
    let objects = tempfile::tempdir().unwrap();
    let part = objects.path().join("part.o");
    compile(fortran_compilers()[0], "part.f90", &part, &["-c"]);
    Program::build(
        compiler,
        "mixed.c",
        &[part.to_str().unwrap(), "-DPART", "-ldl", "-lgfortran"],
    )
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fortran")
        .join(name)
}
