//! Waits for tasks that could not run at the same time.

use super::*;

/// A `master` in which a thread creates tasks and waits for them, for 40 s, and a barrier at which the other
/// thread waits meanwhile. The threads execute tasks for so many seconds.
fn master_with_tasks(by_creator: u64, by_other: u64) -> Profile {
    let kinds = [Kind::Master, Kind::Taskgroup, Kind::TaskExec, Kind::Barrier];
    let waits = vec![row(1, &[(Main, 0)]), row(2, &[(Main, 40)])];
    let in_group = (by_creator + by_other).min(39);
    let group = [(Main, 40), (Body, 40 - in_group), (Ibarr, in_group)];
    let nodes = vec![
        node(Some(0), 1, Body, vec![row(1, &[(Main, 40)])]),
        node(Some(1), 2, Main, vec![row(1, &group)]),
        node(Some(0), 4, Body, waits),
    ];
    let mut profile = team(&kinds, nodes);
    let tasks = [(2, Ibarr, 1, by_creator), (3, Main, 2, by_other)];
    for (around, part, thread, seconds) in tasks {
        if seconds > 0 {
            let executed = vec![times(thread, Main, 10, seconds)];
            profile.nodes.push(node(Some(around), 3, part, executed));
        }
    }
    profile
}

#[test]
fn tasks_that_their_creator_executes_one_after_the_other_are_too_few() {
    let alone = master_with_tasks(39, 0);
    assert_eq!(found(&alone), [(CauseKind::TooFewTasks, Some(4), 20)]);
    let what = causes(&alone).remove(0).what;
    assert!(what.contains("executed the tasks one after"), "{what}");
    // Where the tasks are only a small part of what it does, the rest is to blame.
    let busy = found(&master_with_tasks(5, 0));
    assert_eq!(busy, [(CauseKind::Master, Some(1), 20)]);
}

#[test]
fn waits_for_each_others_tasks_are_one_cause() {
    let in_turn = found(&master_with_tasks(20, 20));
    assert_eq!(in_turn, [(CauseKind::TooFewTasks, Some(4), 20)]);
    let at_once = found(&master_with_tasks(39, 39));
    assert_eq!(at_once, []);
}
