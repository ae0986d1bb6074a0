//! The collector interface, asked by a collector of our own: every request, error
//! code, event and state, with each compiler.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use std::sync::OnceLock;

use programs::{Program, compilers};

/// A program, built with each compiler.
type Built = Vec<(&'static str, Program)>;

fn build(source: &str) -> Built {
    let build = |compiler| (compiler, Program::build(compiler, source, &[]));
    compilers().into_iter().map(build).collect()
}

/// The collector that does as the interface says, built once.
fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| build("collector.c"))
}

/// The one that asks at odd moments and in odd ways.
fn misuse() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| build("collector_misuse.c"))
}

/// What the program prints, one way.
fn printed(program: &Program, way: &str, environment: &[(&str, &str)]) -> String {
    let output = program.output(&[way], environment);
    assert_eq!(output.status.code(), Some(0), "{way}");
    String::from_utf8(output.stdout).unwrap()
}

/// What the first program must print, one way, with each compiler.
fn prints(way: &str, expected: &str) {
    all_print(built(), way, expected);
}

fn all_print(built: &Built, way: &str, expected: &str) {
    for (compiler, program) in built {
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
    let expected = "master: OK 8\nworker: OK 8\none team, one id: 1 1 1\n\
                    distinct: 1\nparents: 1\nanother instance: 1\n";
    prints("nested", expected);
}

#[test]
fn threads_of_the_program_are_serial_outside_of_regions() {
    let expected = "SERIAL\nCURRENT_PRID: SEQUENCE_ERR 8\nPARENT_PRID: SEQUENCE_ERR 8\n\
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

/// It is known only when a worker serves again that it has left the barrier: it was idle then.
#[test]
fn the_barrier_of_a_team_is_told_of_where_no_event_is() {
    let team = "FORK/OVHD BEGIN_IBAR/IBAR END_IBAR/IBAR JOIN/OVHD ";
    let expected = format!(
        "0: {team}{team}\n1: BEGIN_IDLE/IDLE END_IDLE/IDLE BEGIN_IBAR/IBAR END_IBAR/IDLE \
         BEGIN_IDLE/IDLE END_IDLE/IDLE BEGIN_IBAR/IBAR \n"
    );
    prints("ended", &expected);
}

/// A runtime may end a worker whose barrier has not been said to be over. A new thread that gets its
/// block has had no such barrier.
#[test]
fn no_thread_is_told_of_what_another_thread_began() {
    all_print(misuse(), "reborn", "ends without a begin: 0\n");
}

#[test]
fn states_may_be_asked_for_in_signal_handlers() {
    prints("sampled", "wrong: 0\n");
}

#[test]
fn a_request_that_fails_keeps_none_behind_it_from_being_answered() {
    let expected = "good: 0: OK/0 SEQUENCE_ERR/0 UNKNOWN/0 ERROR/0 OK/0 OK/0 MEM_TOO_SMALL/8 \
                    UNKNOWN/0 ERROR/0 OK/0 OK/4 OK/0 OK/0\nforks: 1\ncut: -1 0 -1 -1\n\
                    at the end of a page: 0 OK\n";
    all_print(misuse(), "batches", expected);
}

/// Calls of FORK (and how often its callback counted itself), BEGIN_MASTER and JOIN in
/// two regions.
#[test]
fn callbacks_may_ask_for_everything() {
    let expected = "stop: OK, 1 0 0\nstop, start: OK, 1 0 2\nunregister: OK, 1 2 0\n\
                    pause: OK, 1 0 0\nregister: OK, 2 2 0\nfork: -1, 4 2 0\n";
    all_print(misuse(), "callbacks", expected);
}

#[test]
fn signal_handlers_may_ask_wherever_a_thread_is() {
    let expected = "no session: ? SEQUENCE_ERR 0 SEQUENCE_ERR\n\
                    before any region: SERIAL SEQUENCE_ERR 0 SEQUENCE_ERR\n\
                    another thread: SERIAL SEQUENCE_ERR 0 SEQUENCE_ERR\n\
                    worker, behind the region: IDLE SEQUENCE_ERR 0 SEQUENCE_ERR\n\
                    master, behind the region: SERIAL SEQUENCE_ERR 0 SEQUENCE_ERR\n\
                    worker, paused: IDLE SEQUENCE_ERR 0 SEQUENCE_ERR\n\
                    in a region, paused: OK 1\n";
    all_print(misuse(), "signalled", expected);
}

#[test]
fn the_id_of_a_wait_needs_room_and_the_state_does_not_need_the_id() {
    let expected = "MEM_TOO_SMALL ? 12 0\nOK IBAR 4 0\nOK IBAR 4 0\nOK IBAR 12 1\n";
    all_print(misuse(), "rooms", expected);
}

#[test]
fn many_threads_may_ask_and_be_told_at_once() {
    all_print(misuse(), "crowd", "wrong: 0\n");
}

#[test]
fn a_forked_child_goes_on_with_its_parents_session() {
    let expected = "START: SEQUENCE_ERR 0\nSTOP: OK 0\n2\nchild: 0\n";
    all_print(misuse(), "forked", expected);
}

#[test]
fn a_child_may_ask_whatever_other_threads_did_as_it_was_made() {
    all_print(misuse(), "forked in a crowd", "unanswered: 0\n");
}

#[test]
fn behind_the_end_of_measurement_nothing_is_told_nor_started() {
    let expected = "told: 1\nSTATE: OK 4\ntold: 0\nSTOP: OK 0\nSTART: SEQUENCE_ERR 0\n";
    all_print(misuse(), "late", expected);
}

#[test]
fn the_id_of_a_wait_counts_the_threads_waits_of_its_kind() {
    prints("waits", "wrong: 0\nof the worker: 21\n");
}

/// Waiting for a lock, for a critical section: begins and ends; atomic operations.
#[test]
fn waits_are_told_only_where_another_thread_is_in_the_way_if_so_wished() {
    let found = "after another session: 0\nmeeting: 1 1 1 1\n";
    for (compiler, program) in built() {
        let printed = printed(program, "contended", &[("ROMP_ORA_WAITS", "contended")]);
        assert_eq!(
            printed,
            format!("alone: 0 0 0 0 0 0\n{found}"),
            "{compiler}"
        );
    }
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
        assert_eq!(printed.lines().filter(refused).count(), 24);
        let called = |line: &&str| !refused(line) && !line.ends_with(": 0");
        assert_eq!(printed.lines().find(called), None, "{compiler}");
    }
}
