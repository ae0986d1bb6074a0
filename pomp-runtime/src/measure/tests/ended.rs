//! The barrier at the end of a team, which has no events.

use super::*;
use Event::*;

fn threads<const N: usize>() -> [&'static Thread; N] {
    let threads = [(); N].map(|()| Thread::for_test());
    threads[0].as_initial(0);
    threads
}

/// A team of two, at work since time 10.
fn team(parallel: &'static Region, [a, b]: [&'static Thread; 2]) {
    let team = a.forks(parallel, 10);
    a.begins(team, 0, 2, 10);
    b.begins(team, 1, 0, 10);
}

#[test]
fn members_wait_from_their_ends_until_the_last_one() {
    let [a, b] = threads();
    let parallel = region("parallel", 1);
    for (start, ends) in [(0, [30, 50]), (100, [70, 20])] {
        let team = a.forks(parallel, start);
        a.begins(team, 0, 2, start);
        b.begins(team, 1, 0, start);
        a.end_member(parallel, start + ends[0]);
        b.end_member(parallel, start + ends[1]);
        a.join(parallel, start + 80);
    }
    let profile = profile_at(1000, &[a, b], &[parallel]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 2x160",
            "parallel@1 0->0: main 2x160 enter 2x0 body 2x100 ibarr 2x20 exit 2x40",
            "parallel@1 0->1: main 2x160 enter 2x0 body 2x70 ibarr 2x50 exit 2x40",
        ]
    );
    let last = profile.arrivals.iter().map(|arrivals| {
        let thread = profile.threads[arrivals.thread].to_string();
        (thread, arrivals.last, arrivals.late_ns)
    });
    let expected = [("0->0".to_owned(), 1, 50), ("0->1".to_owned(), 1, 20)];
    assert_eq!(last.collect::<Vec<_>>(), expected);
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

#[test]
fn a_barrier_that_is_told_of_is_not_derived() {
    let [a, b] = threads();
    let parallel = region("parallel", 1);
    team(parallel, [a, b]);
    a.waits(parallel, 20, 41);
    b.waits(parallel, 40, 42);
    a.end_member(parallel, 41);
    b.end_member(parallel, 42);
    a.join(parallel, 50);
    let profile = profile_at(60, &[a, b], &[parallel]);
    assert_eq!(
        lines(&profile)[1..],
        [
            "parallel@1 0->0: main 1x40 enter 1x0 body 1x10 ibarr 1x21 exit 1x9",
            "parallel@1 0->1: main 1x40 enter 1x0 body 1x30 ibarr 1x2 exit 1x8",
        ]
    );
}

/// The tasks of both threads: that of the worker ends last, and lets everybody go.
#[test]
fn tasks_are_executed_in_the_barrier() {
    let [a, b] = threads();
    let (parallel, task) = (region("parallel", 1), region("task", 730));
    team(parallel, [a, b]);
    a.on(TaskCreateEnter, task, 11);
    a.on(TaskCreateExit, task, 12);
    a.end_member(parallel, 20);
    b.end_member(parallel, 15);
    b.begins_task(task, 5, 22);
    a.begins_task(task, 5, 23);
    a.ends_task(task, 33);
    b.ends_task(task, 52);
    a.join(parallel, 60);
    let execution = task.execution().unwrap();
    let profile = profile_at(70, &[a, b], &[parallel, task, execution]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 1x50",
            "parallel@1 0->0: main 1x50 enter 1x0 body 1x10 ibarr 1x32 exit 1x8",
            "parallel@1 0->1: main 1x50 enter 1x0 body 1x5 ibarr 1x37 exit 1x8",
            "task@730 in body/parallel@1 0->0: main 1x1",
            "taskexec@730 in ibarr/parallel@1 0->0: main 1x10",
            "taskexec@730 in ibarr/parallel@1 0->1: main 1x30",
        ]
    );
    assert_eq!(profile.threads.len(), 3);
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

/// Its end was skipped, so that it lasted until the team was gone at the latest.
#[test]
fn a_task_that_is_cancelled_in_the_barrier_fits_into_it() {
    let [a, b] = threads();
    let (parallel, task) = (region("parallel", 1), region("task", 731));
    team(parallel, [a, b]);
    a.end_member(parallel, 20);
    b.end_member(parallel, 15);
    b.begins_task(task, 5, 22);
    a.join(parallel, 60);
    // The team of another thread: frames that were left open are noticed.
    let next = a.forks(parallel, 70);
    a.begins(next, 0, 2, 70);
    b.begins(next, 1, 0, 70);
    a.end_member(parallel, 80);
    b.end_member(parallel, 80);
    a.join(parallel, 80);
    let execution = task.execution().unwrap();
    let profile = profile_at(90, &[a, b], &[parallel, task, execution]);
    assert_eq!(
        lines(&profile)[2..],
        [
            "parallel@1 0->1: main 2x60 enter 2x0 body 2x15 ibarr 2x45 exit 2x0",
            "taskexec@731 in ibarr/parallel@1 0->1: main 1x38",
        ]
    );
}

#[test]
fn a_nested_team_may_be_forked_by_a_task_in_the_barrier() {
    let [a, b, c] = threads();
    let (outer, inner) = (region("parallel", 1), region("parallel", 2));
    let task = region("task", 732);
    team(outer, [a, b]);
    b.end_member(outer, 15);
    b.begins_task(task, 5, 20);
    let nested = b.forks(inner, 21);
    b.begins(nested, 0, 2, 21);
    c.begins(nested, 1, 0, 22);
    c.end_member(inner, 25);
    b.end_member(inner, 27);
    b.join(inner, 28);
    b.ends_task(task, 30);
    a.end_member(outer, 29);
    a.join(outer, 33);
    let execution = task.execution().unwrap();
    let profile = profile_at(40, &[a, b, c], &[outer, inner, task, execution]);
    let nested = "parallel@2 in main/taskexec@732 in ibarr/parallel@1";
    assert_eq!(
        lines(&profile)[2..],
        [
            "parallel@1 0->1: main 1x23 enter 1x0 body 1x5 ibarr 1x15 exit 1x3".to_owned(),
            "taskexec@732 in ibarr/parallel@1 0->1: main 1x10".to_owned(),
            format!("{nested} 0->1: seq 1x7"),
            format!("{nested} 0->1->0: main 1x7 enter 1x0 body 1x6 ibarr 1x0 exit 1x1"),
            format!("{nested} 0->1->1: main 1x7 enter 1x1 body 1x3 ibarr 1x2 exit 1x1"),
        ]
    );
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

/// No note is written about frames that are open only because their thread has no more events.
#[test]
fn a_member_that_has_ended_is_not_open() {
    let [a, b] = threads();
    let parallel = region("parallel", 1);
    team(parallel, [a, b]);
    b.end_member(parallel, 15);
    let early = profile_at(25, &[a, b], &[parallel]);
    assert_eq!(
        early.run.notes,
        ["regions that were still open when this was written, and were closed at that moment: 2"]
    );
    assert_eq!(
        lines(&early)[2],
        "parallel@1 0->1: main 1x15 enter 1x0 body 1x5 ibarr 1x10 exit 1x0"
    );
    a.end_member(parallel, 30);
    a.join(parallel, 31);
    let late = profile_at(1000, &[a, b], &[parallel]);
    assert_eq!(late.run.notes, Vec::<String>::new());
    assert_eq!(
        lines(&late)[2],
        "parallel@1 0->1: main 1x21 enter 1x0 body 1x5 ibarr 1x15 exit 1x1"
    );
}

/// A construct that is executed in the barrier without a task of its own holds the others up, too.
#[test]
fn whatever_is_executed_in_the_barrier_lasts_no_longer_than_it() {
    let [a, b] = threads();
    let (parallel, atomic) = (region("parallel", 1), region("atomic", 2));
    team(parallel, [a, b]);
    a.end_member(parallel, 20);
    b.end_member(parallel, 15);
    b.on(AtomicEnter, atomic, 30);
    b.on(AtomicExit, atomic, 40);
    a.join(parallel, 41);
    let profile = profile_at(70, &[a, b], &[parallel, atomic]);
    assert_eq!(
        lines(&profile)[2..],
        [
            "parallel@1 0->1: main 1x31 enter 1x0 body 1x5 ibarr 1x25 exit 1x1",
            "atomic@2 in ibarr/parallel@1 0->1: main 1x10",
        ]
    );
}

/// A team that is not reported is no part of the one before.
#[test]
fn a_worker_is_out_of_a_team_that_was_joined() {
    let [a, b] = threads();
    let (parallel, atomic) = (region("parallel", 1), region("atomic", 2));
    state::set_on_for_test();
    team(parallel, [a, b]);
    b.enter(|b| b.end_member(parallel, 15));
    a.end_member(parallel, 20);
    a.join(parallel, 25);
    b.enter(|b| b.on(AtomicEnter, atomic, 30));
    b.enter(|b| b.on(AtomicExit, atomic, 40));
    let profile = profile_at(70, &[a, b], &[parallel, atomic]);
    let of_atomic = lines(&profile)
        .into_iter()
        .find(|line| line.starts_with("atomic"));
    assert!(of_atomic.unwrap().ends_with("main 1x10"));
    assert!(
        !lines(&profile)
            .iter()
            .any(|line| line.contains("ibarr/parallel"))
    );
}
