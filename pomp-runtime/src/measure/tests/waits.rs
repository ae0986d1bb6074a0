//! Which threads came last to barriers, and which kept others out of locks and critical sections.

use profile::model::{Arrivals, GuardKind};
use profile::region_kind::PseudoRegion;

use super::*;
use crate::measure::records::region::tests::critical;

/// A team of three, whose threads begin at once.
fn team(parallel: &'static Region) -> [&'static Thread; 3] {
    let threads = [
        Thread::for_test().as_initial(0),
        Thread::for_test(),
        Thread::for_test(),
    ];
    let team = threads[0].forks(parallel, 5);
    for (number, thread) in threads.iter().enumerate() {
        thread.begins(team, number as u32, 3, 5);
    }
    threads
}

fn arrive(threads: [&'static Thread; 3], region: &'static Region, at: [u64; 3], until: u64) {
    for (thread, at) in threads.iter().zip(at) {
        thread.on(Event::BarrierEnter, region, at);
    }
    // The others go on before the one that looks.
    for thread in threads.iter().rev() {
        thread.on(Event::BarrierExit, region, until);
    }
}

fn arrivals(region: usize, part: PseudoRegion, thread: usize, numbers: [u64; 3]) -> Arrivals {
    Arrivals {
        region,
        part,
        thread,
        last: numbers[0],
        late_ns: numbers[1],
        after_first_ns: numbers[2],
    }
}

#[test]
fn the_last_at_a_barrier_is_known_by_how_late_it_came() {
    let (parallel, barrier) = (region("parallel", 1), region("barrier", 2));
    let threads = team(parallel);
    arrive(threads, barrier, [10, 15, 30], 40);
    arrive(threads, barrier, [50, 70, 60], 80);
    arrive(threads, barrier, [90, 95, 100], 100);
    for thread in threads.iter().rev() {
        thread.waits(parallel, if thread.is_initial() { 120 } else { 105 }, 120);
        thread.end_member(parallel, 121);
    }
    threads[0].join(parallel, 122);
    let profile = profile_at(200, &threads, &[parallel, barrier]);
    // Thread 0 is the initial one, 1 to 3 are the members.
    assert_eq!(
        profile.arrivals,
        [
            arrivals(0, PseudoRegion::Ibarr, 1, [1, 15, 15]),
            arrivals(1, PseudoRegion::Main, 2, [1, 10, 20]),
            arrivals(1, PseudoRegion::Main, 3, [2, 20, 30]),
        ]
    );
}

#[test]
fn a_barrier_that_a_member_skipped_is_left_out() {
    let (parallel, barrier) = (region("parallel", 1), region("barrier", 2));
    let threads = team(parallel);
    for thread in &threads[..2] {
        thread.on(Event::BarrierEnter, barrier, 10);
        thread.on(Event::BarrierExit, barrier, 20);
    }
    arrive(threads, barrier, [30, 31, 32], 40);
    assert_eq!(profile_at(50, &threads, &[parallel, barrier]).arrivals, []);
}

#[test]
fn who_waits_for_a_critical_section_is_told_who_had_it() {
    let parallel = region("parallel", 1);
    let (here, there, other) = (critical(1, 2), critical(1, 3), critical(2, 4));
    let threads = team(parallel);
    let enter = |thread: usize, region, times: [u64; 4]| {
        let events = [
            Event::CriticalEnter,
            Event::CriticalBegin,
            Event::CriticalEnd,
            Event::CriticalExit,
        ];
        for (event, at) in events.into_iter().zip(times) {
            threads[thread].on(event, region, at);
        }
    };
    Thread::know(&threads);
    enter(0, here, [100, 110, 5000, 5001]);
    enter(2, other, [100, 110, 9000, 9001]);
    enter(1, there, [1000, 5010, 6000, 6002]);
    let profile = profile_at(9100, &threads, &[parallel, here, there, other]);
    let guards: Vec<_> = profile
        .contention
        .iter()
        .map(|guard| (guard.kind, guard.name.as_str(), guard.sites.len()))
        .collect();
    assert_eq!(
        guards,
        [
            (GuardKind::Critical, "name1", 2),
            (GuardKind::Critical, "name2", 1)
        ]
    );
    let site = &profile.contention[0].sites[1];
    assert_eq!((site.region, site.acquisitions, site.waited), (2, 1, 1));
    assert_eq!(
        (site.wait_ns, site.max_wait_ns, site.hold_ns),
        (4010, 4010, 990)
    );
    let holders: Vec<_> = site
        .holders
        .iter()
        .map(|holder| (holder.region, holder.thread, holder.waited, holder.wait_ns))
        .collect();
    assert_eq!(holders, [(1, Some(1), 1, 4010)]);
    assert_eq!(profile.contention[0].sites[0].waited, 0);
}

#[test]
fn every_instance_is_in_the_distribution_of_its_thread() {
    let (parallel, atomic) = (region("parallel", 1), region("atomic", 2));
    let threads = team(parallel);
    for at in 0..100 {
        threads[1].on(Event::AtomicEnter, atomic, 1000 * at);
        threads[1].on(Event::AtomicExit, atomic, 1000 * at + 10 * at);
    }
    threads[2].on(Event::AtomicEnter, atomic, 5);
    let profile = profile_at((1 << 20) + 5, &threads, &[parallel, atomic]);
    let about: Vec<_> = profile
        .distributions
        .iter()
        .map(|of| (of.region, of.thread, of.min_ns, of.max_ns))
        .collect();
    assert_eq!(
        about,
        [
            (0, Some(0), 1 << 20, 1 << 20),
            (1, Some(2), 0, 990),
            (1, Some(3), 1 << 20, 1 << 20)
        ]
    );
    let counts: Vec<u64> = profile.distributions[1]
        .histogram
        .iter()
        .map(|bucket| bucket.count)
        .collect();
    // Below 32, 64, 128, 256, 512 and 1024.
    assert_eq!(counts, [4, 3, 6, 13, 26, 48]);
}
