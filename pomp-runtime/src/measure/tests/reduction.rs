//! Waits in which a runtime combines the parts of a reduction.

use super::*;
use crate::measure::records::region::tests::reducing;
use profile::event::Event::*;

fn initial() -> &'static Thread {
    Thread::for_test().as_initial(0)
}

#[test]
fn the_wait_in_a_reduction_belongs_to_the_barrier() {
    let (t, work) = (initial(), reducing("for", 1));
    t.on(LoopEnter, work, 10);
    t.has_given_its_part(14, false);
    t.waits(work, 18, 20);
    t.on(LoopExit, work, 21);
    // The next instance has no such wait.
    t.on(LoopEnter, work, 30);
    t.waits(work, 38, 40);
    t.on(LoopExit, work, 41);
    assert_eq!(
        lines(&profile_at(50, &[t], &[work])),
        ["for@1 0: main 2x22 body 2x12 ibarr 2x8"]
    );
}

#[test]
fn a_loop_without_a_barrier_waits_for_its_reduction_all_the_same() {
    let (t, work) = (initial(), reducing("for", 1));
    t.on(LoopEnter, work, 10);
    t.has_given_its_part(14, false);
    t.on(LoopExit, work, 18);
    assert_eq!(
        lines(&profile_at(20, &[t], &[work])),
        ["for@1 0: main 1x8 body 1x4 ibarr 1x4"]
    );
}

#[test]
fn the_part_of_a_member_ends_before_the_reduction() {
    let (a, b) = (initial(), Thread::for_test());
    let parallel = reducing("parallelfor", 1);
    let team = a.forks(parallel, 10);
    for (number, thread) in [a, b].into_iter().enumerate() {
        thread.begins(team, number as u32, 2, 12);
        thread.on(LoopEnter, parallel, 12);
    }
    // The thread that forked combines the parts.
    b.has_given_its_part(15, false);
    a.has_given_its_part(20, true);
    for thread in [a, b] {
        thread.on(LoopExit, parallel, 22);
        thread.end_member_now(parallel, || 23);
    }
    a.join(parallel, 25);
    assert_eq!(
        lines(&profile_at(30, &[a, b], &[parallel])),
        [
            "parallelfor@1 0: seq 1x15",
            "parallelfor@1 0->0: main 1x15 enter 1x2 body 1x8 ibarr 1x0 exit 1x5",
            "parallelfor@1 0->1: main 1x15 enter 1x2 body 1x3 ibarr 1x5 exit 1x5",
        ]
    );
}

#[test]
fn the_time_to_combine_a_part_is_work_that_is_known() {
    let (t, work) = (initial(), reducing("for", 1));
    t.on(LoopEnter, work, 10);
    t.combines_its_part(14);
    assert!(t.is_combining());
    t.waits(work, 18, 20);
    assert!(!t.is_combining());
    t.on(LoopExit, work, 21);
    // In a loop that reduces nothing, the runtime's function served another purpose.
    let other = region("for", 2);
    t.on(LoopEnter, other, 30);
    t.combines_its_part(34);
    t.on(LoopExit, other, 38);
    let profile = profile_at(50, &[t], &[work, other]);
    assert_eq!(
        lines(&profile),
        [
            "for@1 0: main 1x11 body 1x8 ibarr 1x2",
            "for@2 0: main 1x8 body 1x8",
        ]
    );
    let reductions = profile.nodes.iter().map(|node| node.rows[0].reduction());
    let one = profile::model::Span { count: 1, ns: 4 };
    assert!(reductions.eq([one, profile::model::Span::default()]));
}

#[test]
fn what_is_no_wait_stays_work() {
    let cases = [
        // Every thread combined its own part.
        (reducing("for", 1), true, false),
        (region("for", 1), false, false),
        // It executed a task meanwhile.
        (reducing("for", 1), false, true),
    ];
    for (work, has_combined, executes_task) in cases {
        let (t, task) = (initial(), region("task", 2));
        t.on(LoopEnter, work, 10);
        if executes_task {
            t.begins_task(task, 1, 15);
            t.ends_task(task, 16);
        }
        t.has_given_its_part(14, has_combined);
        t.on(LoopExit, work, 18);
        let lines = lines(&profile_at(20, &[t], &[work, task]));
        assert_eq!(lines[0], "for@1 0: main 1x8 body 1x8");
    }
}
