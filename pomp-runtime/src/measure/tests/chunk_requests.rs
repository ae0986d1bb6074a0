//! Requests for the next chunk of a loop.

use profile::descriptor::Descriptor;
use profile::model::Span;

use super::*;
use crate::measure::region;
use Event::*;

/// What is recorded of requests of these ticks each in a loop with this schedule.
fn requests(schedule: Option<&str>, ticks: &[u64]) -> Span {
    let shared = region::unregistered(Descriptor {
        region_type: "for".to_owned(),
        schedule: schedule.map(str::to_owned),
        ..Descriptor::default()
    });
    let (t, shared) = (Thread::for_test().as_initial(0), shared.unwrap());
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
