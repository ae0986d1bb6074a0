//! Loops whose end no call marks, in parts of members that are passed over.

use super::passed_teams::{forks_for_handle, joins, two_sampled_threads};
use super::sampling::{MANY, event, row};
use super::*;
use crate::measure::records::region::tests::loop_at_head;
use crate::measure::records::team::TeamHandle;
use Event::*;

const WORK: u64 = 20;

/// A team of two, whose members execute a loop each. Returns the time behind the join.
fn team_with_loop(
    [a, b]: [&'static Thread; 2],
    [parallel, head]: [&'static Region; 2],
    at: u64,
    inside: impl Fn(&'static Thread),
) -> u64 {
    let handle = forks_for_handle(a, parallel, at).unwrap();
    for (t, number) in [(a, 0), (b, 1)] {
        t.begins_in_a_team();
        match handle {
            TeamHandle::Team(team) => {
                t.enter(|t| t.begins(team, number, 2, at + 1));
            }
            TeamHandle::PassedOver(fork) => assert!(t.begins_part(fork, number, || 2)),
        }
        if !t.does_part_of(parallel) || !t.counts_construct(head) {
            t.enter(|t| t.on(LoopEnter, head, at + 2));
        }
        inside(t);
        match t.does_part_of(parallel) {
            true => t.ends_part(),
            false => {
                t.enter(|t| {
                    t.on(LoopExit, head, at + 2 + WORK);
                    t.end_member(parallel, at + 2 + WORK);
                });
            }
        }
    }
    joins(a, parallel, at + 10 + WORK);
    at + 15 + WORK
}

#[test]
fn loops_are_counted_exactly_and_their_time_fits_into_that_of_the_team() {
    let threads = two_sampled_threads();
    let regions = [region("parallel", 1), loop_at_head(2)];
    let at = (0..MANY).fold(10, |at, _| team_with_loop(threads, regions, at, |_| ()));
    let profile = profile_at(at, &threads, &regions);
    let (member, loops) = (row(&profile, "parallel"), row(&profile, "for"));
    let many = 2 * MANY as u64;
    assert_eq!((loops.main.count, loops.body.count), (many, many));
    let timed = loops.estimate().unwrap().timed;
    assert!(timed < many / 4, "{timed}");
    assert!(loops.main.ns <= member.body.ns);
    let (true_time, off) = (many * WORK, loops.main.ns.abs_diff(many * WORK));
    assert!(off * 10 < true_time, "{} {true_time}", loops.main.ns);
}

#[test]
fn what_happens_in_a_loop_that_is_passed_over_keeps_its_call_path() {
    let threads = two_sampled_threads();
    let regions = [region("parallel", 1), loop_at_head(2)];
    let user = region("userRegion", 3);
    let at = (0..MANY).fold(10, |at, number| {
        team_with_loop(threads, regions, at, |t| {
            if number == MANY / 2 {
                event(t, UserBegin, user, 0);
                event(t, UserEnd, user, 0);
            }
        })
    });
    let profile = profile_at(at, &threads, &[regions[0], regions[1], user]);
    let marked = lines(&profile);
    for member in 0..2 {
        let line = format!("userRegion@3 in body/for@2 in body/parallel@1 0->{member}: main 1x0");
        assert!(marked.contains(&line), "{marked:?}");
    }
    assert_eq!(row(&profile, "for").main.count, 2 * MANY as u64);
    assert_eq!(profile.remarks().len(), 1, "{:?}", profile.remarks());
}
