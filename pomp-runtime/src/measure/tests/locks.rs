//! Locks: waiting and holding, wherever they are unset.

use super::sampling::{row, sampled_thread};
use super::*;
use crate::measure::sampling;

const LOCK: usize = 0x1000;
const OTHER: usize = 0x2000;

fn set(t: &'static Thread, region: &'static Region, lock: usize, from: u64, to: u64) {
    let call = t.lock_call(region, || from).unwrap();
    t.lock_acquired(call, lock, to);
}

fn unset(t: &'static Thread, lock: usize, from: u64, to: u64) {
    if let Some(set) = t.lock_release(lock, from) {
        t.lock_released(set, from, to);
    }
}

#[test]
fn a_hold_belongs_to_the_call_that_set_the_lock() {
    let t = Thread::for_test().as_initial(0);
    let (lock, work, later) = (region("lock", 1), region("for", 2), region("lock", 3));
    set(t, lock, LOCK, 10, 13);
    set(t, later, OTHER, 14, 15);
    // The unset calls stand elsewhere and in no order.
    t.on(Event::LoopEnter, work, 16);
    unset(t, LOCK, 20, 22);
    unset(t, OTHER, 24, 25);
    t.on(Event::LoopExit, work, 26);
    let profile = profile_at(30, &[t], &[lock, work, later]);
    assert_eq!(
        lines(&profile),
        [
            "lock@1 0: main 1x12 enter 1x3 body 1x7 exit 1x2",
            "for@2 0: main 1x10 body 1x10",
            "lock@3 0: main 1x11 enter 1x1 body 1x9 exit 1x1",
        ]
    );
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

/// Where only some calls are timed, recording one would take longer than most holds.
#[test]
fn a_hold_that_is_timed_by_sample_begins_when_the_call_returns() {
    let t = Thread::for_test().as_initial(0);
    let lock = region("lock", 1);
    let (_, node) = t.next_frame(lock).unwrap();
    sampling::sample_from_now_on(node).unwrap();
    set(t, lock, LOCK, 100, 103);
    t.begin_hold(LOCK, || 150);
    // It is held already when it is set again.
    set(t, lock, LOCK, 160, 161);
    t.begin_hold(LOCK, || 190);
    unset(t, LOCK, 200, 201);
    unset(t, LOCK, 210, 212);
    assert_eq!(
        lines(&profile_at(300, &[t], &[lock])),
        ["lock@1 0: main 2x66 enter 2x4 body 1x60 exit 1x2"]
    );
}

#[test]
fn a_lock_that_was_free_was_not_waited_for() {
    let t = Thread::for_test().as_initial(0);
    let (free, taken) = (region("lock", 1), region("lock", 2));
    t.lock_got(free, LOCK, None, || 10);
    set(t, taken, OTHER, 11, 14);
    let released = |lock, at| {
        let unset = t.lock_release(lock, at).unwrap();
        t.lock_released(unset, at, at);
        unset.was_waited_for()
    };
    assert_eq!([released(LOCK, 17), released(OTHER, 18)], [false, true]);
    assert_eq!(
        lines(&profile_at(30, &[t], &[free, taken])),
        [
            "lock@1 0: main 1x7 enter 1x0 body 1x7 exit 1x0",
            "lock@2 0: main 1x7 enter 1x3 body 1x4 exit 1x0",
        ]
    );
}

#[test]
fn entries_are_used_again() {
    let (t, lock) = (Thread::for_test().as_initial(0), region("lock", 1));
    for _ in 0..10 {
        set(t, lock, LOCK, 0, 1);
        unset(t, LOCK, 2, 3);
    }
    assert_eq!(t.held_locks().count(), 1);
}

#[test]
fn locks_that_nest_are_held_from_the_first_set_to_the_last_unset() {
    let t = Thread::for_test().as_initial(0);
    let (outer, inner) = (region("lock", 1), region("lock", 2));
    set(t, outer, LOCK, 10, 11);
    set(t, inner, LOCK, 12, 14);
    unset(t, LOCK, 15, 16);
    unset(t, LOCK, 20, 23);
    assert_eq!(
        lines(&profile_at(30, &[t], &[outer, inner])),
        [
            "lock@1 0: main 1x13 enter 1x1 body 1x9 exit 1x3",
            "lock@2 0: main 1x2 enter 1x2"
        ]
    );
}

#[test]
fn a_test_that_fails_only_waits() {
    let (t, lock) = (Thread::for_test().as_initial(0), region("lock", 1));
    let call = t.lock_call(lock, || 10).unwrap();
    t.lock_refused(call, 12);
    assert_eq!(
        lines(&profile_at(30, &[t], &[lock])),
        ["lock@1 0: main 1x2 enter 1x2"]
    );
}

#[test]
fn other_routines_take_time_only() {
    let (t, lock) = (Thread::for_test().as_initial(0), region("lock", 1));
    let call = t.lock_call(lock, || 10).unwrap();
    t.lock_called(call, 12);
    assert_eq!(
        lines(&profile_at(30, &[t], &[lock])),
        ["lock@1 0: main 1x2"]
    );
}

#[test]
fn an_unset_without_a_set_is_counted() {
    let t = Thread::for_test().as_initial(0);
    unset(t, LOCK, 1, 2);
    let notes = profile_at(30, &[t], &[]).run.notes;
    assert_eq!(
        notes,
        ["events that matched no open region and were ignored: 1"]
    );
}

#[test]
fn locks_that_are_held_at_the_end_are_closed_then() {
    let (t, lock) = (Thread::for_test().as_initial(0), region("lock", 1));
    set(t, lock, LOCK, 10, 13);
    let profile = profile_at(30, &[t], &[lock]);
    assert_eq!(lines(&profile), ["lock@1 0: main 1x20 enter 1x3 body 1x17"]);
    assert_eq!(
        profile.run.notes,
        ["locks still held when this was written: 1"]
    );
}

/// The shortest call tells how long one takes if the lock is in the processor's own cache.
#[test]
fn a_free_lock_is_waited_for_if_another_processor_has_it() {
    let t = Thread::for_test().as_initial(0);
    let (near, far) = (region("lock", 1), region("lock", 2));
    let far_away = 1_000_000;
    t.lock_got(near, LOCK, Some([10, 11]), || unreachable!());
    t.lock_got(far, OTHER, Some([20, 21 + far_away]), || unreachable!());
    for (lock, at) in [(LOCK, 2 * far_away), (OTHER, 3 * far_away)] {
        let unset = t.lock_release(lock, at).unwrap();
        t.lock_released(unset, at, at);
    }
    let profile = profile_at(4 * far_away, &[t], &[near, far]);
    let waited: Vec<u64> = profile
        .nodes
        .iter()
        .map(|it| it.rows[0].enter().ns)
        .collect();
    // Other tests may have found a shorter call.
    assert_eq!(waited[0], 0);
    assert!(waited[1].abs_diff(far_away) <= 1, "{waited:?}");
}

/// Tests that fail are counted, and one of some is timed for all of them.
#[test]
fn tests_that_fail_in_a_row_are_timed_by_sample() {
    let (t, tested) = (sampled_thread(), region("lock", 1));
    let mut at = 10;
    let mut set = 0;
    while t.leaves_call_untimed(tested).is_none() {
        t.enter(|t| t.lock_got(tested, LOCK, None, || at));
        t.enter(|t| {
            let unset = t.lock_release(LOCK, at + 2).unwrap();
            t.lock_released(unset, at + 2, at + 2);
        });
        at += 20;
        set += 1;
    }
    let mut failed = 0;
    while let Some(node) = t.leaves_call_untimed(tested) {
        node.has_failed_untimed();
        failed += 1;
    }
    assert!(failed > 10);
    let before = row(&profile_at(at, &[t], &[tested]), "lock");
    let call = t.enter(|t| t.lock_call(tested, || at)).unwrap();
    t.enter(|t| t.lock_refused(call.unwrap(), at + 5));
    let after = row(&profile_at(at + 5, &[t], &[tested]), "lock");
    assert_eq!([before.main.count, before.body.count], [set + failed, set]);
    assert_eq!(after.enter().count, before.enter().count + 1);
    assert_eq!(after.enter().ns - before.enter().ns, 5 * (failed + 1));
    assert_eq!(after.main.ns - before.main.ns, 5 * (failed + 1));
    assert!(after.estimate().unwrap().timed <= set + 1);
}

/// Calls that make or remove a lock are timed by sample, and have no parts.
#[test]
fn calls_that_set_no_lock_are_passed_over() {
    let (t, made) = (sampled_thread(), region("lock", 1));
    let mut at = 10;
    let mut timed = 0;
    let mut passed = 0;
    while passed == 0 || t.passes_over_here(made) {
        if t.knows_place_for(|| Some(made)) && t.pass_table.counts_alone(made) {
            passed += 1;
        } else {
            let call = t.enter(|t| t.lock_call(made, || at)).unwrap();
            t.enter(|t| t.lock_called(call.unwrap(), at + 5));
            timed += 1;
        }
        at += 20;
    }
    assert!(passed > 10);
    let call = t.enter(|t| t.lock_call(made, || at)).unwrap();
    t.enter(|t| t.lock_called(call.unwrap(), at + 5));
    timed += 1;
    let row = row(&profile_at(at, &[t], &[made]), "lock");
    assert_eq!(row.main.count, timed + passed);
    assert_eq!(row.estimate().unwrap().timed, timed);
    assert!(row.main.ns.abs_diff(5 * (timed + passed)) <= 1, "{row:?}");
    assert_eq!(
        [row.enter().count, row.body.count, row.exit().count],
        [0; 3]
    );
}

/// A thread may hold thousands of locks, such as those of a table that it rebuilds. None of them is looked for
/// among all others, and their entries serve again.
#[test]
fn of_many_locks_that_are_held_each_is_found_quickly() {
    const MANY: usize = 4096;
    let (t, set) = (sampled_thread(), region("lock", 1));
    let addresses = || (1..=MANY).map(|lock| 0x10_000 + 4 * lock);
    for round in 0..3 {
        let at = 10 + 1000 * round;
        for lock in addresses() {
            t.enter(|t| t.lock_got(set, lock, None, || at));
        }
        assert!(addresses().all(|lock| t.holds(lock)));
        for lock in addresses() {
            let unset = t.enter(|t| t.lock_release(lock, at + 500)).unwrap();
            t.enter(|t| t.lock_released(unset.unwrap(), at + 500, at + 500));
        }
        assert!(!addresses().any(|lock| t.holds(lock)));
    }
    assert_eq!(t.held.all().count(), MANY);
    assert!(t.held.longest() <= 64, "{}", t.held.longest());
}
