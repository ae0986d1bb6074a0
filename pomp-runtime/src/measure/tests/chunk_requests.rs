//! Requests for the next chunk of a loop.

use profile::descriptor::Descriptor;
use profile::model::Span;

use super::*;
use crate::measure::chunk_requests::{Look, PERIOD, is_looked_at, look};
use crate::measure::cost::ticks_of_read_in_order;
use crate::measure::records::region;
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
fn only_loops_with_a_schedule_have_some() {
    assert_eq!(requests(None, &[1 << 40]), Span::default());
}

/// The time of requests of which the timed one took 500 ticks, in a loop of 1,000,000 ticks with 61
/// requests, if the work in a chunk takes this long beside the cost of timing it.
fn with_work(ticks: u64) -> u64 {
    let region = loop_with(Some("dynamic"));
    let t = Thread::for_test().as_initial(0);
    let read = ticks_of_read_in_order();
    t.on(LoopEnter, region, 10);
    t.add_chunk_requests(61, 500 + read);
    t.begin_chunk_work(|| 2000);
    t.add_chunk_work(2000 + read + ticks);
    t.on(LoopExit, region, 10 + 1_000_000);
    let profile = profile_at(1_100_000, &[t], &[region]);
    profile.nodes[0].rows[0].chunk_requests().ns
}

#[test]
fn what_little_work_leaves_are_requests() {
    assert_eq!(with_work(0), 1_000_000);
    assert_eq!(with_work(1000), 1_000_000 - 61 * 1000);
    // Such work varies too much for a difference.
    assert_eq!(with_work(3000), 61 * 500);
    assert_eq!(with_work(900_000), 61 * 500);
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
                Look::Times => t.begin_chunk_work(|| 20),
                _ => t.add_chunk_work(21),
            }
            seen
        })
        .collect();
    let pair = [Look::Times, Look::EndsWork];
    assert_eq!(seen, [pair, pair, pair].concat());
}
