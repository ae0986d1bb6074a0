//! The collector interface, asked by a collector of our own: every request, error
//! code, event and state, with each compiler.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use std::sync::OnceLock;

use programs::{Program, compilers};

/// The program, built once with each compiler.
fn built() -> &'static [(&'static str, Program)] {
    static BUILT: OnceLock<Vec<(&'static str, Program)>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let build = |compiler| (compiler, Program::build(compiler, "collector.c", &[]));
        compilers().into_iter().map(build).collect()
    })
}

/// What the program prints, one way.
fn printed(program: &Program, way: &str, environment: &[(&str, &str)]) -> String {
    let output = program.output(&[way], environment);
    assert_eq!(output.status.code(), Some(0), "{way}");
    String::from_utf8(output.stdout).unwrap()
}

/// What the program must print, one way, with each compiler.
fn prints(way: &str, expected: &str) {
    for (compiler, program) in built() {
        assert_eq!(printed(program, way, &[]), expected, "{compiler} {way}");
    }
}

#[test]
fn every_error_code_comes_in_its_situation() {
    prints("errors", include_str!("c/collector.errors"));
}

#[test]
fn every_event_comes_in_its_state_and_thread() {
    prints("constructs", include_str!("c/collector.constructs"));
}

#[test]
fn regions_have_ids_also_nested_ones() {
    let expected = "master: OK 8\nworker: THREAD_ERR 0\none team, one id: 1 1 1\n\
                    distinct: 1\nparents: 1\nanother instance: 1\n";
    prints("nested", expected);
}

#[test]
fn threads_of_the_program_are_serial_outside_of_regions() {
    let expected = "SERIAL\nCURRENT_PRID: SEQUENCE_ERR 8\nPARENT_PRID: THREAD_ERR 0\n\
                    2\nSERIAL\n";
    prints("foreign", expected);
}

#[test]
fn callbacks_come_only_within_a_session_that_is_not_paused() {
    let expected = "no session: 0\nnobody registered: 0\nall: 4\npaused: 0\n\
                    without fork: 3\nwith it again: 4\nmeasurement off: 0\nstopped: 0\n\
                    a new session knows no callbacks: 0\njoin: 1\n";
    prints("sessions", expected);
}

#[test]
fn what_exits_skip_ends_all_the_same() {
    let expected = "FORK/OVHD BEGIN_SINGLE/WORK BEGIN_ODWT/ODWT END_ODWT/ODWT \
                    BEGIN_ORDERED/WORK BEGIN_CTWT/CTWT END_CTWT/CTWT END_ORDERED/WORK \
                    END_SINGLE/WORK BEGIN_IBAR/IBAR END_IBAR/IBAR JOIN/OVHD \n";
    prints("skipped", expected);
}

#[test]
fn states_may_be_asked_for_in_signal_handlers() {
    prints("sampled", "wrong: 0\n");
}

/// A static executable has no symbols to look up; a collector in it is linked.
#[test]
fn static_executables_have_the_interface() {
    let program = Program::build("gcc", "collector.c", &["-static"]);
    assert!(printed(&program, "nested", &[]).ends_with("another instance: 1\n"));
}

/// Without measurement there is nothing to tell.
#[test]
fn a_session_does_not_start_where_nothing_is_measured() {
    for (compiler, program) in built() {
        let printed = printed(program, "sessions", &[("ROMP_MEASURE", "off")]);
        let refused = |line: &&str| line.starts_with("cannot register");
        assert_eq!(printed.lines().filter(refused).count(), 22);
        let called = |line: &&str| !refused(line) && !line.ends_with(": 0");
        assert_eq!(printed.lines().find(called), None, "{compiler}");
    }
}
