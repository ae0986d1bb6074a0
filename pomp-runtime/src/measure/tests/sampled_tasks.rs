//! Small tasks that their creation executes at once, of which some are passed over.

use super::sampling::{MANY, event, row, sampled_thread};
use super::*;
use Event::*;

/// A task that its creation executes at once, for `work` ticks; and what happens in it.
fn task(t: &'static Thread, task: &'static Region, at: u64, work: u64, within: impl FnOnce()) {
    let execution = task.execution().unwrap();
    event(t, TaskCreateEnter, task, at);
    if !t.knows_place_for(|| Some(execution)) || !t.passes_over_execution(execution) {
        t.enter(|t| t.begin_task(execution, 1, 0, || at + 2));
    }
    within();
    if !t.knows_place_for(|| Some(execution)) || !t.passes_over_end_of_execution(execution) {
        t.enter(|t| t.end_task(execution, || at + 2 + work));
    }
    event(t, TaskCreateExit, task, at + 4 + work);
}

#[test]
fn a_task_is_passed_over_with_the_creation_that_executes_it() {
    let t = sampled_thread();
    let (create, user) = (region("task", 1), region("userRegion", 2));
    let (mut at, mut worked) = (10, 0);
    for number in 0..MANY as u64 {
        // In the second half one in a thousand is much longer, and something happens in it.
        let is_long = number % 1000 == 999 && number > MANY as u64 / 2;
        let work = if is_long { 5000 } else { 1 + number % 7 };
        task(t, create, at, work, || {
            if is_long {
                event(t, UserBegin, user, at + 4);
                event(t, UserEnd, user, at + 5000);
            }
        });
        worked += work;
        at += 6 + work;
    }
    let execution = create.execution().unwrap();
    let profile = profile_at(at, &[t], &[create, execution, user]);
    let [created, executed, inner] = ["task", "taskexec", "userRegion"].map(|it| row(&profile, it));
    assert_eq!(
        (created.main.count, executed.main.count),
        (MANY as u64, MANY as u64)
    );
    assert_eq!(
        (inner.main.count, inner.main.ns),
        (MANY as u64 / 2000, 4996 * MANY as u64 / 2000)
    );
    let (of_creation, of_execution) = (created.estimate().unwrap(), executed.estimate().unwrap());
    assert!(of_creation.timed < MANY as u64 / 2, "{of_creation:?}");
    // The time of long parts of a creation is known, and makes its estimate no worse.
    assert!(
        of_creation.error_ns < MANY as u64 * 2 / 5,
        "{of_creation:?}"
    );
    let off = executed.main.ns.abs_diff(worked);
    assert!(off <= 3 * of_execution.error_ns, "{off} {of_execution:?}");
    // Two ticks before the task and two behind it are the creation's own.
    let off = created.main.ns.abs_diff(worked + 4 * MANY as u64);
    assert!(
        off <= 3 * (of_creation.error_ns + of_execution.error_ns),
        "{off} {of_creation:?}"
    );
}

#[test]
fn what_is_open_at_the_end_is_in_the_creation_that_is_passed_over() {
    let t = sampled_thread();
    let (create, user) = (region("task", 1), region("userRegion", 2));
    let mut at = 10;
    for _ in 0..MANY {
        task(t, create, at, 3, || {});
        at += 9;
    }
    let execution = create.execution().unwrap();
    let end = 100 * at;
    let mut profile = None;
    task(t, create, at, 3, || {
        event(t, UserBegin, user, at + 4);
        profile = Some(profile_at(end, &[t], &[create, execution, user]));
    });
    let profile = profile.unwrap();
    let [created, executed, inner] = ["task", "taskexec", "userRegion"].map(|it| row(&profile, it));
    assert_eq!(inner.main.ns, end - at - 4);
    assert!(created.main.ns >= executed.main.ns && executed.main.ns >= inner.main.ns);
}
