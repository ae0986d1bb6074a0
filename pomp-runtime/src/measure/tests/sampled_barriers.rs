//! What a whole team executes, often and quickly: some instances are passed over, and the threads time
//! the same ones.

use super::passed_teams::two_sampled_threads;
use super::sampling::{MANY, event, row};
use super::*;
use crate::measure::sampling;
use Event::*;

/// Two members of a team.
fn team(parallel: &'static Region) -> [&'static Thread; 2] {
    let threads = two_sampled_threads();
    let team = threads[0].forks(parallel, 5);
    for (number, thread) in threads.iter().enumerate() {
        thread.begins(team, number as u32, 2, 5);
    }
    threads
}

fn ends(threads: [&'static Thread; 2], parallel: &'static Region, at: u64) {
    for thread in threads {
        thread.enter(|thread| thread.end_member(parallel, at));
    }
    threads[0].enter(|thread| thread.join(parallel, at));
}

const WORK: [u64; 2] = [10, 30];
const WHOLE: u64 = 35;

/// Both threads execute a loop, whose barrier they leave together. The one that forked goes on last,
/// and looks who came last.
fn execute_loop(threads: [&'static Thread; 2], region: &'static Region, at: u64) {
    for (thread, work) in threads.into_iter().zip(WORK) {
        event(thread, LoopEnter, region, at);
        event(thread, ImplicitBarrierEnter, region, at + work);
    }
    for thread in threads.into_iter().rev() {
        event(thread, ImplicitBarrierExit, region, at + WHOLE);
        event(thread, LoopExit, region, at + WHOLE);
    }
}

#[test]
fn loops_are_counted_exactly_and_their_waits_are_near() {
    let (parallel, work) = (region("parallel", 1), region("for", 2));
    let threads = team(parallel);
    let mut at = 10;
    for _ in 0..MANY {
        execute_loop(threads, work, at);
        at += WHOLE + 5;
    }
    ends(threads, parallel, at);
    let profile = profile_at(at, &threads, &[parallel, work]);
    let many = MANY as u64;
    let loops = row(&profile, "for");
    for part in [PseudoRegion::Main, PseudoRegion::Body, PseudoRegion::Ibarr] {
        assert_eq!(loops.span(part).count, 2 * many, "{part:?}");
    }
    let timed = loops.estimate().unwrap().timed;
    assert!(timed < many / 4, "{timed}");
    // With a sample of each thread's own, no arrivals could be compared.
    let of_loop = profile.arrivals.iter().filter(|of| of.region == 1);
    let of_loop: Vec<_> = of_loop.collect();
    let [arrival] = *of_loop else {
        panic!("{of_loop:?}");
    };
    assert_eq!(arrival.thread, 2);
    assert!(arrival.last.abs_diff(many) < many / 20, "{arrival:?}");
    assert_eq!(arrival.late_ns, arrival.last * (WORK[1] - WORK[0]));
    let waits = many * (2 * WHOLE - WORK.iter().sum::<u64>());
    assert!(
        loops.ibarr.ns.abs_diff(waits) < waits / 5,
        "{}",
        loops.ibarr.ns
    );
}

#[test]
fn one_thread_executes_a_single_construct() {
    let (parallel, single) = (region("parallel", 1), region("single", 2));
    let threads = team(parallel);
    let mut at = 10;
    for number in 0..MANY {
        let executing = threads[usize::from(number % 5 == 0)];
        for thread in threads {
            event(thread, SingleEnter, single, at);
        }
        event(executing, SingleBegin, single, at + 1);
        event(executing, SingleEnd, single, at + 9);
        for thread in threads {
            event(thread, ImplicitBarrierEnter, single, at + 10);
        }
        for thread in threads.into_iter().rev() {
            event(thread, ImplicitBarrierExit, single, at + 20);
            event(thread, SingleExit, single, at + 20);
        }
        at += 25;
    }
    ends(threads, parallel, at);
    let profile = profile_at(at, &threads, &[parallel, single]);
    let of_single = |node: &&Node| profile.regions[node.region].region_type == "single";
    let rows = profile.nodes.iter().filter(of_single);
    let rows: Vec<_> = rows.flat_map(|node| &node.rows).collect();
    let counts: Vec<_> = rows
        .iter()
        .map(|row| [row.main.count, row.body.count, row.ibarr.count])
        .collect();
    let (many, few) = (MANY as u64, MANY as u64 / 5);
    assert_eq!(counts, [[many, many - few, many], [many, few, many]]);
    assert!(rows.iter().all(|row| row.estimate().is_some()));
}

#[test]
fn where_something_else_happens_all_are_timed_from_then_on() {
    let (parallel, barrier, user) = (
        region("parallel", 1),
        region("barrier", 2),
        region("userRegion", 3),
    );
    let threads = team(parallel);
    let mut at = 10;
    let mut timed_before = 0;
    for number in 0..MANY {
        for (thread, work) in threads.into_iter().zip(WORK) {
            event(thread, BarrierEnter, barrier, at + work);
        }
        if number == MANY / 2 {
            event(threads[0], UserBegin, user, at + WORK[1]);
            event(threads[0], UserEnd, user, at + WORK[1] + 1);
        }
        for thread in threads.into_iter().rev() {
            event(thread, BarrierExit, barrier, at + WHOLE);
        }
        at += WHOLE + 5;
        if number == MANY / 2 - 1 {
            let profile = profile_at(at, &threads, &[parallel, barrier]);
            timed_before = row(&profile, "barrier").estimate().unwrap().timed;
        }
    }
    ends(threads, parallel, at);
    let profile = profile_at(at, &threads, &[parallel, barrier, user]);
    let barriers = row(&profile, "barrier");
    assert_eq!(barriers.main.count, 2 * MANY as u64);
    assert!(timed_before < MANY as u64 / 4, "{timed_before}");
    let timed = barriers.estimate().unwrap().timed - timed_before;
    assert!(timed > 9 * MANY as u64 / 10, "{timed}");
    let marked = lines(&profile);
    let line = "userRegion@3 in main/barrier@2 in body/parallel@1 0->0: main 1x1";
    assert!(marked.iter().any(|it| it == line), "{marked:?}");
}

/// Barriers that are too long to be passed over. If they are short for a look at the cache lines of all
/// members, those that are looked at stand for the others.
#[test]
fn who_came_last_is_known_of_all_long_barriers_and_of_some_short_ones() {
    const TIMES: u64 = 4 * MANY as u64;
    for (pairs, unknown) in [(1000, 0), (100, 256)] {
        let (parallel, barrier) = (region("parallel", 1), region("barrier", 2));
        let threads = team(parallel);
        let long = pairs * sampling::cost_of_pair();
        let mut at = 10;
        for _ in 0..TIMES {
            for (thread, work) in threads.into_iter().zip([0, long / 2]) {
                event(thread, BarrierEnter, barrier, at + work);
            }
            for thread in threads.into_iter().rev() {
                event(thread, BarrierExit, barrier, at + long);
            }
            at += long;
        }
        ends(threads, parallel, at);
        let profile = profile_at(at, &threads, &[parallel, barrier]);
        let mut arrivals = profile.arrivals.iter();
        let of_barrier = arrivals.find(|of| of.region == 1).unwrap();
        assert_eq!(of_barrier.thread, 2);
        assert!(TIMES - of_barrier.last <= unknown, "{of_barrier:?}");
        assert_eq!(of_barrier.late_ns, of_barrier.last * (long / 2));
    }
    let skipped = |done, pairs| {
        let interval = pairs * sampling::cost_of_pair();
        sampling::barriers_to_skip(done, 1, interval)
    };
    assert_eq!(skipped(1, 100), 0, "the first are looked at");
    assert_eq!(skipped(TIMES, 1000), 0);
    assert!(skipped(TIMES, 100) > 1);
}
