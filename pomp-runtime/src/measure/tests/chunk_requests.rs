//! Requests for the next chunk of a loop.

use profile::descriptor::Descriptor;
use profile::model::Span;

use super::*;
use crate::measure::chunk_requests::{Look, count_anew, is_free_to_join, is_work_timed, look};
use crate::measure::cost::ticks_of_read_in_order;
use crate::measure::joined_chunks;
use crate::measure::records::region;
use crate::measure::request_count::{PERIOD, is_looked_at};
use Event::*;

/// A loop with this schedule.
fn loop_with(schedule: Option<&str>) -> &'static Region {
    let descriptor = Descriptor {
        region_type: "for".to_owned(),
        schedule: schedule.map(str::to_owned),
        ..Descriptor::default()
    };
    region::unregistered(descriptor).unwrap()
}

/// What is recorded of requests of these ticks each in a loop with this schedule.
fn requests(schedule: Option<&str>, ticks: &[u64]) -> Span {
    let shared = loop_with(schedule);
    let t = Thread::for_test().as_initial(0);
    t.on(LoopEnter, shared, 10);
    for ticks in ticks {
        t.add_chunk_requests(61, *ticks);
    }
    t.on(LoopExit, shared, 1000);
    let profile = profile_at(2000, &[t], &[shared]);
    profile.nodes[0].rows[0].chunk_requests()
}

#[test]
fn one_that_is_timed_stands_for_all() {
    let base = 1 << 40;
    let both = requests(Some("dynamic"), &[base, 0]);
    assert_eq!(both.count, 122);
    // The cost of reading the clock is left out, so the second request took nothing. One that was
    // interrupted counts as less.
    let one = requests(Some("dynamic"), &[base]);
    assert_eq!((one.count, one.ns), (61, both.ns));
    assert!(one.ns > 0);
    assert_eq!(one.ns, requests(Some("dynamic"), &[u64::MAX]).ns);
}

#[test]
fn requests_that_were_not_timed_took_as_long_as_others() {
    let region = loop_with(Some("dynamic"));
    let t = Thread::for_test().as_initial(0);
    t.on(LoopEnter, region, 10);
    t.add_chunk_requests(61, 500 + ticks_of_read_in_order());
    t.add_untimed_chunk_requests(69);
    t.on(LoopExit, region, 100_000);
    let profile = profile_at(200_000, &[t], &[region]);
    let requests = profile.nodes[0].rows[0].chunk_requests();
    assert_eq!((requests.count, requests.ns), (130, 130 * 500));
}

#[test]
fn only_loops_with_a_schedule_have_some() {
    assert_eq!(requests(None, &[1 << 40]), Span::default());
}

/// The time of requests of which the timed one took 500 ticks, in a loop of 1,000,000 ticks with 61
/// requests. Each work is that in this many chunks, takes this many ticks beside the cost of timing it, and is timed
/// this many times.
fn with_works(works: &[(u64, u64, u64)]) -> u64 {
    let region = loop_with(Some("dynamic"));
    let t = in_loop(region, works);
    t.on(LoopExit, region, 10 + 1_000_000);
    let profile = profile_at(1_100_000, &[t], &[region]);
    profile.nodes[0].rows[0].chunk_requests().ns
}

/// A thread in the loop of `with_works`.
fn in_loop(region: &'static Region, works: &[(u64, u64, u64)]) -> &'static Thread {
    let t = Thread::for_test().as_initial(0);
    let read = ticks_of_read_in_order();
    t.on(LoopEnter, region, 10);
    t.add_chunk_requests(61, 500 + read);
    for (chunks, ticks, times) in works {
        for _ in 0..*times {
            t.begin_chunk_work(*chunks, || 2000);
            t.add_chunk_work(2000 + read + ticks);
        }
    }
    t
}

/// The same, if the work in a chunk takes this long.
fn with_work(ticks: u64) -> u64 {
    with_works(&[(1, ticks, 1)])
}

#[test]
fn what_little_work_leaves_are_requests() {
    assert_eq!(with_work(0), 1_000_000);
    assert_eq!(with_work(1000), 1_000_000 - 61 * 1000);
    // Such work varies too much for a difference.
    assert_eq!(with_work(3000), 61 * 500);
    assert_eq!(with_work(900_000), 61 * 500);
}

/// The same, if a chunk takes this many ticks `alone`, and `each` if eight of them are handed out together, this many
/// times.
fn with_joined(alone: u64, each: u64, times: u64) -> u64 {
    with_works(&[(1, alone, 16), (8, 8 * each, times)])
}

#[test]
fn work_that_overlaps_in_larger_chunks_is_shorter() {
    assert_eq!(with_joined(1000, 400, 100), 1_000_000 - 61 * 400);
    // Of too few nothing is known, and work does not become longer.
    assert_eq!(with_joined(1000, 400, 2), 1_000_000 - 61 * 1000);
    assert_eq!(with_joined(1000, 3000, 100), 1_000_000 - 61 * 1000);
    // Of longer work it is known how much shorter it gets, if it does.
    let timed = 61 * 500;
    assert_eq!(with_joined(3000, 2000, 100), 1_000_000 - 61 * 2000);
    assert_eq!(
        with_joined(40_000, 30_000, 100),
        timed + (1_000_000 - timed) / 4
    );
    assert_eq!(with_joined(3000, 3000, 100), timed);
}

/// Whether some of many requests of a loop of this descriptor ask for several chunks, if each of its chunks takes
/// this many ticks and a request 500.
fn joins(descriptor: Descriptor, ticks: u64) -> bool {
    let region = region::unregistered(descriptor).unwrap();
    let t = in_loop(region, &[(1, ticks, 16)]);
    (0..64).any(|_| t.joins_chunks())
}

#[test]
fn only_small_chunks_that_come_in_any_order_are_handed_out_together() {
    let of = |key: Option<&str>| Descriptor {
        region_type: "for".to_owned(),
        schedule: Some("dynamic".to_owned()),
        other: key
            .map(|key| (key.to_owned(), "1".to_owned()))
            .into_iter()
            .collect(),
        ..Descriptor::default()
    };
    assert!(joins(of(None), 100));
    assert!(!joins(of(None), 10_000));
    assert!(!joins(of(Some("hasOrdered")), 100));
    // Nothing is known of the chunks of a new loop.
    let t = Thread::for_test().as_initial(0);
    t.on(LoopEnter, loop_with(Some("dynamic")), 10);
    assert!((0..64).all(|_| !t.joins_chunks()));
}

#[test]
fn while_work_is_timed_no_chunks_are_handed_out_together() {
    joined_chunks::allow();
    let t = Thread::for_test().as_initial(0);
    t.on(LoopEnter, loop_with(Some("dynamic")), 10);
    let state = || (is_free_to_join(), is_work_timed());
    assert_eq!(state(), (true, false));
    t.begin_chunk_work(1, || 20);
    assert_eq!(state(), (false, true));
    t.add_chunk_work(30);
    assert_eq!(state(), (true, false));
    // No request is due before a whole period is over.
    count_anew();
    assert!((1..PERIOD).all(|_| !is_looked_at()) && is_looked_at());
}

#[test]
fn after_a_timed_request_the_next_one_ends_the_work() {
    let region = loop_with(Some("dynamic"));
    let t = Thread::for_test().as_initial(0);
    t.on(LoopEnter, region, 10);
    let seen: Vec<Look> = (0..4 * PERIOD - 1)
        .filter(|_| is_looked_at())
        .map(|_| {
            let seen = look();
            match seen {
                Look::Times => t.begin_chunk_work(1, || 20),
                _ => t.add_chunk_work(21),
            }
            seen
        })
        .collect();
    let pair = [Look::Times, Look::EndsWork];
    assert_eq!(seen, [pair, pair, pair].concat());
}
