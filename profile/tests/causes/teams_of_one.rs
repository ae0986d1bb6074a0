//! Regions that threads of other teams start, with teams of one thread.

use super::*;

/// Two threads of a region each start another one for a million times. Its teams cost `cost` seconds for each of
/// them, and work for `work` seconds. `members`: the threads of the teams that each of them forks.
fn library_in_team(cost: u64, work: u64, members: &[usize]) -> Profile {
    const TIMES: u64 = 1_000_000;
    let threads: &[&[u32]] = &[
        &[0],
        &[0, 0],
        &[0, 1],
        &[0, 0, 0],
        &[0, 0, 1],
        &[0, 1, 0],
        &[0, 1, 1],
    ];
    let mut profile = run(&[Kind::Parallel, Kind::ParallelLoop], threads);
    let outer = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    let forks = |thread| Row::of(thread).with(Seq, span_of(TIMES, cost + work));
    let inner = |&thread: &usize| {
        let row = times(thread, Main, TIMES, cost + work);
        row.with(Enter, span_of(TIMES, cost))
            .with(Body, span_of(TIMES, work))
    };
    let mut rows = vec![forks(1), forks(2)];
    rows.extend(members.iter().map(inner));
    profile.nodes = vec![
        node(
            None,
            0,
            Body,
            vec![row(0, &[(Seq, 80)]), outer(1), outer(2)],
        ),
        node(Some(0), 1, Body, rows),
    ];
    profile.run.processors = 4;
    profile
}

#[test]
fn a_region_that_is_called_within_another_one_is_worth_a_serial_copy() {
    let profile = library_in_team(60, 10, &[3, 5]);
    // Both threads lose 60 s at the same time.
    assert_eq!(found(&profile), [(CauseKind::TeamsOfOne, Some(1), 60)]);
    let cause = causes(&profile).remove(0);
    // Of a body, LLVM's runtime may have needed 300 ns.
    let said = "started it 2000000 times, each time with a team of one thread and 9.70 us of work";
    assert!(cause.what.contains(said), "{}", cause.what);
    assert!(
        cause.remedy.contains("omp_in_parallel()"),
        "{}",
        cause.remedy
    );
}

#[test]
fn teams_of_one_that_cost_little_and_larger_ones_are_no_such_cause() {
    assert_eq!(found(&library_in_team(0, 70, &[3, 5])), []);
    let two_each = library_in_team(60, 10, &[3, 4, 5, 6]);
    assert!(!kinds_of(&two_each).contains(&CauseKind::TeamsOfOne));
}
