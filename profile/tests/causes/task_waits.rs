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

/// A thread works 60 s in a region and creates tasks meanwhile. The other one executes them for 20 s of the 60 s
/// for which it waits. With a barrier it waits there, else at the end of the region. `around`: the construct in which
/// the first thread does so, if it is seen.
fn creator(around: Option<Kind>, has_barrier: bool) -> Profile {
    let kinds = [
        around.unwrap_or(Kind::Master),
        Kind::Task,
        Kind::TaskExec,
        Kind::Barrier,
    ];
    let mut profile = team(&kinds, vec![]);
    let other = match has_barrier {
        true => [(Main, 80), (Body, 80), (Ibarr, 0)],
        false => [(Main, 80), (Body, 20), (Ibarr, 60)],
    };
    profile.nodes[0].rows[2] = row(2, &other);
    let mut add = |parent, region, within, rows| {
        profile.nodes.push(node(Some(parent), region, within, rows));
        profile.nodes.len() - 1
    };
    let creates = match around {
        Some(_) => add(0, 1, Body, vec![row(1, &[(Main, 60), (Body, 60)])]),
        None => 0,
    };
    let within = if around == Some(Kind::Master) {
        Main
    } else {
        Body
    };
    add(creates, 2, within, vec![times(1, Main, 1000, 0)]);
    let executed = vec![times(2, Main, 1000, 20)];
    match has_barrier {
        true => {
            let waits = vec![row(1, &[(Main, 0)]), row(2, &[(Main, 60)])];
            let barrier = add(0, 4, Body, waits);
            add(barrier, 3, Main, executed);
        }
        false => {
            add(0, 3, Ibarr, executed);
        }
    }
    profile
}

#[test]
fn a_thread_that_works_while_it_creates_tasks_is_found_wherever_it_does_so() {
    for (around, kind) in [
        (Some(Kind::Single), CauseKind::Single),
        (Some(Kind::Master), CauseKind::Master),
        (None, CauseKind::Master),
    ] {
        for (has_barrier, place) in [(true, 4), (false, 0)] {
            let case = format!("{around:?}, {has_barrier}");
            let cause = causes(&creator(around, has_barrier)).remove(0);
            let at = cause.place.regions.first().copied();
            assert_eq!((cause.kind, at), (kind, Some(place)), "{case}");
            let what = &cause.what;
            assert!(what.contains("besides creating tasks"), "{case}: {what}");
        }
    }
}

/// Behind another wait all threads start anew.
#[test]
fn what_a_thread_did_before_another_wait_explains_nothing() {
    let mut profile = creator(Some(Kind::Master), false);
    let waits = vec![row(1, &[(Main, 0)]), row(2, &[(Main, 20)])];
    profile.nodes.push(node(Some(0), 4, Body, waits));
    let list = causes(&profile);
    let is_creator = |what: &str| what.contains("besides creating tasks");
    assert!(
        !list.iter().any(|cause| is_creator(&cause.what)),
        "{list:?}"
    );
}

/// Both threads execute a million taskloops, each with one task, which takes half of the time.
#[test]
fn tasks_of_taskloops_that_make_one_each_are_too_small() {
    const TIMES: u64 = 1_000_000;
    let kinds = [Kind::Taskloop, Kind::TaskExec];
    let of_both = |seconds| {
        [1, 2]
            .map(|thread| times(thread, Main, TIMES, seconds))
            .to_vec()
    };
    let nodes = vec![
        node(Some(0), 1, Body, of_both(80)),
        node(Some(1), 2, Main, of_both(40)),
    ];
    let mut profile = team(&kinds, nodes);
    let loop_at = profile.regions[1].begin;
    profile.regions[2].begin = loop_at;
    assert_eq!(found(&profile), [(CauseKind::SmallTasks, Some(1), 40)]);
    let cause = causes(&profile).remove(0);
    assert!(
        cause.remedy.contains("without taskloop"),
        "{}",
        cause.remedy
    );
    assert!(!cause.remedy.contains("if clause"), "{}", cause.remedy);
    assert!(
        cause.what.starts_with("2000000 tasks worked"),
        "{}",
        cause.what
    );
}
