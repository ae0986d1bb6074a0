//! Tasks: where they are executed, and from which regions their time is taken.

use super::*;
use Event::*;
use profile::analysis::Report;

/// A region and that of its executions.
fn task(region_type: &str, line: u32) -> [&'static Region; 2] {
    let task = region(region_type, line);
    [task, task.execution().unwrap()]
}

fn initial() -> &'static Thread {
    Thread::for_test().as_initial(0)
}

/// A team of one, at work from time 10.
fn at_work(parallel: &'static Region) -> &'static Thread {
    let t = initial();
    let team = t.forks(parallel, 10);
    t.begins(team, 0, 1, 10);
    t
}

fn ends(t: &'static Thread, parallel: &'static Region, at: u64) {
    t.end_member(parallel, at);
    t.join(parallel, at);
}

/// A cell of the flat profile, summed over the threads.
fn cell(report: &Report<'_>, line: u32, kind: &str, column: &str) -> u64 {
    let table = report
        .flat
        .iter()
        .find(|table| {
            let region = &report.profile.regions[table.region];
            region.begin[0] == line && region.region_type == kind
        })
        .unwrap();
    let column = table
        .columns
        .iter()
        .position(|shown| shown.name == column)
        .unwrap();
    table.sum[column]
}

#[test]
fn a_task_that_is_executed_in_a_barrier_is_no_waiting() {
    let parallel = region("parallel", 1);
    let [task, execution] = task("task", 720);
    let barrier = region("barrier", 3);
    let t = at_work(parallel);
    for at in [11, 14] {
        t.on(TaskCreateEnter, task, at);
        t.on(TaskCreateExit, task, at + 2);
    }
    t.on(BarrierEnter, barrier, 20);
    t.begins_task(task, 5, 22);
    t.ends_task(task, 27);
    t.on(BarrierExit, barrier, 30);
    t.on(ImplicitBarrierEnter, parallel, 40);
    t.begins_task(task, 5, 43);
    t.ends_task(task, 50);
    t.on(ImplicitBarrierExit, parallel, 60);
    ends(t, parallel, 60);
    let profile = profile_at(70, &[t], &[parallel, task, execution, barrier]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 1x50",
            "parallel@1 0->0: main 1x50 enter 1x0 body 1x30 ibarr 1x20 exit 1x0",
            "barrier@3 in body/parallel@1 0->0: main 1x10",
            "taskexec@720 in main/barrier@3 in body/parallel@1 0->0: main 1x5",
            "task@720 in body/parallel@1 0->0: main 2x4",
            "taskexec@720 in ibarr/parallel@1 0->0: main 1x7",
        ]
    );
    assert_eq!(profile.run.notes, Vec::<String>::new());
    let report = Report::new(&profile);
    assert_eq!(cell(&report, 1, "parallel", "exitBarT"), 13);
    assert_eq!(cell(&report, 1, "parallel", "taskT"), 7);
    assert_eq!(cell(&report, 3, "barrier", "execT"), 10);
    assert_eq!(cell(&report, 3, "barrier", "taskT"), 5);
    assert_eq!(cell(&report, 720, "taskexec", "execC"), 2);
    // Synch: 10 - 5 in the barrier; Imbal: 20 - 7 in the implicit one; Mgmt: both tasks'
    // creation.
    let lost = report.overheads.whole_sum.by_category;
    assert_eq!(lost.map(|share| share.ns), [5, 13, 0, 4]);
}

#[test]
fn a_task_may_be_executed_inside_its_creation() {
    let [outer, execution] = task("task", 721);
    let t = initial();
    t.on(TaskCreateEnter, outer, 10);
    t.begins_task(outer, 5, 12);
    // The same construct again, compiled into the function around it.
    t.on(TaskCreateEnter, outer, 13);
    t.begins_task(outer, 5, 14);
    t.ends_task(outer, 16);
    t.on(TaskCreateExit, outer, 17);
    t.ends_task(outer, 20);
    t.on(TaskCreateExit, outer, 21);
    let profile = profile_at(30, &[t], &[outer, execution]);
    let inner = "taskexec@721 in main/task@721";
    assert_eq!(
        lines(&profile),
        [
            "task@721 0: main 1x11".to_owned(),
            format!("{inner} 0: main 1x8"),
            format!("task@721 in main/{inner} 0: main 1x4"),
            format!("{inner} in main/{inner} 0: main 1x2"),
        ]
    );
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

#[test]
fn tasks_nest_in_waits_for_tasks() {
    let [task, execution] = task("task", 722);
    let (wait, group) = (region("taskwait", 2), region("taskgroup", 3));
    let (pause, t) = (region("taskyield", 4), initial());
    t.on(TaskgroupEnter, group, 10);
    t.on(TaskgroupBegin, group, 11);
    t.on(TaskyieldEnter, pause, 12);
    t.on(TaskyieldExit, pause, 13);
    t.on(TaskgroupEnd, group, 15);
    t.begins_task(task, 5, 17);
    t.on(TaskwaitEnter, wait, 18);
    t.begins_task(task, 9, 19);
    t.ends_task(task, 24);
    t.on(TaskwaitExit, wait, 25);
    t.ends_task(task, 30);
    t.on(TaskgroupExit, group, 40);
    let profile = profile_at(50, &[t], &[task, execution, wait, group, pause]);
    let outer = "taskexec@722 in ibarr/taskgroup@3";
    assert_eq!(
        lines(&profile),
        [
            "taskgroup@3 0: main 1x30 body 1x4 ibarr 1x25".to_owned(),
            "taskyield@4 in body/taskgroup@3 0: main 1x1".to_owned(),
            format!("{outer} 0: main 1x13"),
            format!("taskwait@2 in main/{outer} 0: main 1x7"),
            format!("taskexec@722 in main/taskwait@2 in main/{outer} 0: main 1x5"),
        ]
    );
    let report = Report::new(&profile);
    assert_eq!(cell(&report, 3, "taskgroup", "waitT"), 12);
    assert_eq!(cell(&report, 3, "taskgroup", "taskT"), 13);
    // In the taskgroup, and 7 - 5 in the taskwait.
    let lost = report.overheads.whole_sum.by_category;
    assert_eq!(lost.map(|share| share.ns), [12 + 2, 0, 0, 0]);
}

#[test]
fn an_untied_task_may_end_on_another_thread() {
    let parallel = region("parallel", 1);
    let [task, execution] = task("taskuntied", 723);
    let wait = region("taskwait", 3);
    let (a, b) = (initial(), Thread::for_test());
    let team = a.forks(parallel, 10);
    a.begins(team, 0, 2, 10);
    b.begins(team, 1, 2, 10);
    a.on(ImplicitBarrierEnter, parallel, 20);
    b.on(ImplicitBarrierEnter, parallel, 20);
    a.begins_task(task, 5, 21);
    a.on(TaskwaitEnter, wait, 25);
    b.on(TaskwaitExit, wait, 30);
    b.ends_task(task, 35);
    // The first part has returned: the next task is not in it.
    a.begins_task(task, 5, 40);
    a.ends_task(task, 45);
    for t in [a, b] {
        t.on(ImplicitBarrierExit, parallel, 50);
        t.end_member(parallel, 50);
    }
    a.join(parallel, 50);
    let profile = profile_at(60, &[a, b], &[parallel, task, execution, wait]);
    assert_eq!(
        lines(&profile)[3..],
        [
            "taskuntiedexec@723 in ibarr/parallel@1 0->0: main 2x24",
            "taskwait@3 in main/taskuntiedexec@723 in ibarr/parallel@1 0->0: main 1x15",
        ]
    );
    assert_eq!(
        profile.run.notes,
        [
            "regions that were left without an exit event, and were closed with the region around them: 2",
            "events that matched no open region and were ignored: 1",
            "tasks that did not end where they began; the rest of their time counts for the region around it: 1",
        ]
    );
}

#[test]
fn tasks_that_never_end_do_not_pile_up() {
    let parallel = region("parallel", 1);
    let [task, execution] = task("task", 724);
    let t = at_work(parallel);
    t.on(ImplicitBarrierEnter, parallel, 20);
    for at in 30..1030 {
        // Their frames differ in size.
        t.begins_task(task, 5 + at % 3, at);
    }
    t.on(ImplicitBarrierExit, parallel, 1030);
    ends(t, parallel, 1030);
    let profile = profile_at(2000, &[t], &[parallel, task, execution]);
    assert!(profile.nodes.len() <= 4, "{:?}", lines(&profile));
}
