//! The time of instances that are passed over, as the work between them leaves it.

use profile::model::Row;
use profile::region_kind::RegionKind;

use super::sampling::{MANY, passes_over_lock, row, sampled_thread};
use super::*;
use crate::hash::spread;
use crate::measure::cost::{ticks_of_passing, ticks_of_updates};
use crate::measure::sampling;
use Event::*;

/// The events of an atomic update, and of a critical section.
const UPDATE: &[Event] = &[AtomicEnter, AtomicExit];
const SECTION: &[Event] = &[CriticalEnter, CriticalBegin, CriticalEnd, CriticalExit];

/// Reports an instance that begins `at` this time. If it is passed over, it takes `passed` ticks and
/// what that costs, and else `timed` ticks. Returns the time at which the work behind it begins.
fn once(
    t: &'static Thread,
    of: &'static Region,
    events: &[Event],
    at: u64,
    [passed, timed]: [u64; 2],
) -> u64 {
    if t.knows_place_for(|| Some(of)) && t.passes_over(events[0], || Some(of)) {
        for event in &events[1..] {
            t.passes_over(*event, || Some(of));
        }
        return at + passed + ticks_of_passing(of.kind, false).round() as u64;
    }
    t.end_work_between(of, || at);
    let last = events.len() as u64 - 1;
    for (part, event) in (0..).zip(events) {
        t.enter(|t| t.on(*event, of, at + timed * part / last));
    }
    let end = at + timed + sampling::cost_of_pair();
    t.begin_work_between(|| end);
    end
}

/// As `once`, of a lock that is set and unset.
fn once_locked(t: &'static Thread, of: &'static Region, at: u64, [passed, timed]: [u64; 2]) -> u64 {
    const LOCK: usize = 0x1000;
    if passes_over_lock(t, of, LOCK) {
        t.has_set_passed_lock(LOCK);
        assert!(t.unsets_passed_lock(LOCK));
        return at + passed + ticks_of_passing(of.kind, false).round() as u64;
    }
    t.end_work_between(of, || at);
    t.enter(|t| t.lock_got(of, LOCK, None, || at));
    let end = at + timed;
    t.enter(|t| {
        let unset = t.lock_release(LOCK, end).unwrap();
        t.lock_released(unset, end, end);
    });
    let end = end + sampling::cost_of_pair();
    t.begin_work_between(|| end);
    end
}

/// Reports `all` instances. One that is passed over takes `passed` ticks and what that costs, and one
/// that is timed takes `timed` ticks. `work` is the time between two instances. Returns the row.
fn in_sequence(
    of: &'static Region,
    events: &[Event],
    [all, passed, timed]: [u64; 3],
    work: impl Fn(u64) -> u64,
) -> Row {
    let t = sampled_thread();
    let mut at = 10;
    for number in 0..all {
        at = match of.kind {
            RegionKind::Lock => once_locked(t, of, at, [passed, timed]),
            _ => once(t, of, events, at, [passed, timed]),
        };
        at += work(number);
    }
    row(&profile_at(at, &[t], &[of]), &of.descriptor.region_type)
}

/// Two reads of the clock keep the variable from other threads, or make the thread wait that would
/// go on. So the time of timed updates says little.
#[test]
fn the_time_of_updates_that_are_passed_over_is_what_the_work_between_them_leaves() {
    // Few are timed if an event takes long on the machine, and of those every fourth tells the work.
    const ALL: u64 = 10 * MANY as u64;
    let atomic = region("atomic", 1);
    let row = in_sequence(atomic, UPDATE, [ALL, 15, 300], |_| 60);
    assert_eq!(row.main.count, ALL);
    let timed = row.estimate().unwrap().timed;
    assert!(timed < ALL / 4, "{timed}");
    let each = (row.main.ns - timed * 300) as f64 / (ALL - timed) as f64;
    assert!((each - 15.0).abs() < 5.0, "{each}");
}

/// A thread that reads the clock leaves the lock to the others, and waits less.
#[test]
fn so_is_the_time_of_critical_sections_that_are_passed_over() {
    const ALL: u64 = 10 * MANY as u64;
    let each = |passed, work: fn(u64) -> u64| {
        let row = in_sequence(region("critical", 1), SECTION, [ALL, passed, 90], work);
        let timed = row.estimate().unwrap().timed;
        assert!(row.main.count == ALL && timed < ALL / 4, "{row:?}");
        let parts = [row.main, row.enter(), row.body, row.exit()];
        parts.map(|part| part.ns as f64 / ALL as f64)
    };
    let [main, enter, body, exit] = each(200, |_| 60);
    assert!((main - 195.0).abs() < 20.0, "{main}");
    // What is added was spent on waiting.
    assert!((enter - main + 60.0).abs() < 10.0, "{enter} of {main}");
    assert!([body, exit].iter().all(|part| (part - 30.0).abs() < 2.0));
    // They take no longer than the intervals leave. What is beyond is taken off their waiting, and off their
    // end.
    let [main, enter, body, exit] = each(20, |_| 60);
    assert!((main - 30.0).abs() < 10.0, "{main}");
    assert!([enter, exit].iter().all(|part| *part < 5.0) && (body - 30.0).abs() < 2.0);
    // A few pieces of work take much longer than the others.
    let uneven = |number: u64| {
        if spread(number) >> 57 == 0 {
            50_000
        } else {
            60
        }
    };
    let main = each(90, uneven)[0];
    assert!(main < 150.0, "{main}");
    // So few of them that hardly one is timed.
    let rarely = |number: u64| match spread(number) >> 51 {
        0 => 5_000_000,
        _ => 60,
    };
    let main = each(90, rarely)[0];
    let most = 90.0 + 2.0 * (30.0 + ticks_of_updates(128) as f64);
    assert!(main < most, "{main} of {most}");
}

#[test]
fn so_is_the_time_of_locks_that_are_passed_over() {
    const ALL: u64 = 10 * MANY as u64;
    let row = in_sequence(region("lock", 1), &[], [ALL, 120, 20], |_| 60);
    let timed = row.estimate().unwrap().timed;
    assert!(row.main.count == ALL && timed < ALL / 4, "{row:?}");
    let parts = [row.main, row.enter(), row.body];
    let [main, enter, body] = parts.map(|part| part.ns as f64 / ALL as f64);
    assert!((main - 120.0).abs() < 15.0, "{main}");
    // What is added was spent on waiting.
    assert!((main - enter - body).abs() < 2.0, "{enter} and {body}");
    assert!((body - 20.0).abs() < 2.0, "{body}");
}

/// Teams of the thread lie between instances that it passes over outside of them.
#[test]
fn instances_outside_of_teams_take_no_longer_than_there_is_time_outside() {
    let (t, critical, parallel) = (
        sampled_thread(),
        region("critical", 1),
        region("parallel", 2),
    );
    let (mut at, mut outside) = (10, 10);
    for number in 0..MANY as u64 {
        let next = once(t, critical, SECTION, at, [5, 3_000]);
        outside += next - at;
        at = next;
        if number.is_multiple_of(10) {
            let team = t.forks(parallel, at);
            t.begins(team, 0, 1, at);
            t.end_member(parallel, at + 100_000);
            at += 100_000;
            t.join(parallel, at);
        }
    }
    let row = row(&profile_at(at, &[t], &[critical, parallel]), "critical");
    assert_eq!(row.main.count, MANY as u64);
    assert!(row.estimate().unwrap().timed < MANY as u64 / 4, "{row:?}");
    assert!(row.main.ns <= outside, "{} of {outside}", row.main.ns);
}

/// The longer the work, the more often does it hold an instance of another construct.
#[test]
fn work_that_holds_another_timed_instance_counts_as_well() {
    const ALL: u64 = 10 * MANY as u64;
    let (t, critical, other) = (sampled_thread(), region("critical", 1), region("flush", 2));
    let mut at = 10;
    for number in 0..ALL {
        at = once(t, critical, SECTION, at, [90, 90]);
        at += 100;
        if number.is_multiple_of(2) {
            t.end_work_between(other, || at);
            t.enter(|t| t.on(FlushEnter, other, at));
            t.enter(|t| t.on(FlushExit, other, at + 5));
            at += 2_000;
            t.begin_work_between(|| at);
        }
    }
    let row = row(&profile_at(at, &[t], &[critical, other]), "critical");
    let each = row.main.ns as f64 / ALL as f64;
    assert!(each < 150.0, "{each}");
}

/// Of two updates in one loop each would count as work of the other. If they are timed, they take much
/// longer.
#[test]
fn updates_in_turn_share_what_the_work_between_them_leaves() {
    const ALL: u64 = 10 * MANY as u64;
    let t = sampled_thread();
    let regions = [region("atomic", 1), region("atomic", 2)];
    let lengths = [[20, 300], [60, 900]];
    let mut at = 10;
    for _ in 0..ALL {
        at = once(t, regions[0], UPDATE, at, lengths[0]) + 30;
        at = once(t, regions[1], UPDATE, at, lengths[1]) + 10;
    }
    let profile = profile_at(at, &[t], &regions);
    for (line, [passed, timed]) in (1..).zip(lengths) {
        let of_line = |node: &&Node| profile.regions[node.region].begin[0] == line;
        let row = &profile.nodes.iter().find(of_line).unwrap().rows[0];
        let number = row.estimate().unwrap().timed;
        assert!(row.main.count == ALL && number < ALL / 3, "{row:?}");
        let each = (row.main.ns - number * timed) as f64 / (ALL - number) as f64;
        assert!((each / passed as f64 - 1.0).abs() < 0.25, "{each}");
    }
}

/// Where updated variables share a cache line with data of the work, the work waits for it if it is timed.
/// In most of what is passed over the update has just brought the line.
#[test]
fn work_that_waits_for_a_cache_line_is_as_long_as_work_that_does_not() {
    const ALL: u64 = 10 * MANY as u64;
    let (t, atomic) = (sampled_thread(), region("atomic", 1));
    let mut at = 10;
    for number in 0..ALL {
        at = once(t, atomic, UPDATE, at, [50, 300]);
        let is_timed = t.pass_table.work_between.begin.get() != 0;
        at += match is_timed && spread(number) >> 62 != 0 {
            true => 400,
            false => 10,
        };
    }
    let row = row(&profile_at(at, &[t], &[atomic]), "atomic");
    let timed = row.estimate().unwrap().timed;
    let each = (row.main.ns - timed * 300) as f64 / (ALL - timed) as f64;
    assert!((each - 50.0).abs() < 10.0, "{each}");
}
