//! Teams whose members are passed over.

use super::sampling::{MANY, event, sampled_thread};
use super::*;
use crate::measure::records::TeamPath;
use crate::measure::records::team::TeamHandle;
use crate::measure::sampling::teams_to_pass_over;
use Event::*;

/// A team of two for a combined loop, whose members work for this many ticks. Returns the time behind
/// the join.
fn team(
    threads: [&'static Thread; 2],
    region: &'static Region,
    at: u64,
    work: [u64; 2],
    inside: impl Fn(&'static Thread),
) -> u64 {
    team_handed_or_found(threads, region, at, |_| work, true, inside)
}

/// The same. `handed`: its members get a handle; otherwise they look for their team. How long they
/// work may depend on whether they record.
fn team_handed_or_found(
    [a, b]: [&'static Thread; 2],
    region: &'static Region,
    at: u64,
    work: impl Fn(bool) -> [u64; 2],
    handed: bool,
    inside: impl Fn(&'static Thread),
) -> u64 {
    let place = || TeamPath::of([].into_iter());
    let handle = match handed {
        true => forks_for_handle(a, region, at),
        false => {
            if !a.only_records_events() || a.forks_at_once(region, true, || at).is_none() {
                a.enter(|a| a.fork_announced(region, place(), true, || at));
            }
            None
        }
    };
    let is_told = match handle {
        Some(handle) => matches!(handle, TeamHandle::Team(_)),
        None => region.passed_at(place).is_none(),
    };
    let work = work(is_told);
    let join = at + 10 + work[0].max(work[1]);
    for ((t, number), work) in [(a, 0), (b, 1)].into_iter().zip(work) {
        t.begins_in_a_team();
        let team = handle
            .or_else(|| t.announced(region, number == 0, place))
            .unwrap();
        let passed_at = region.passed_at(place);
        assert_eq!(
            passed_at.is_some(),
            !handed && matches!(team, TeamHandle::PassedOver(_))
        );
        let is_passed = match team {
            TeamHandle::Team(team) => t.enter(|t| t.begins(team, number, 2, at + 2)).is_none(),
            TeamHandle::PassedOver(fork) => t.begins_part(fork, number, || 2),
        };
        assert_eq!(is_passed, matches!(team, TeamHandle::PassedOver(_)));
        let reports = |event, at| {
            if !t.does_part_of(region) {
                t.enter(|t| t.on(event, region, at));
            }
        };
        reports(LoopEnter, at + 2);
        inside(t);
        reports(LoopExit, at + 2 + work);
        match t.does_part_of(region) {
            true => t.ends_part(),
            false => {
                t.enter(|t| t.end_member(region, at + 2 + work));
            }
        }
    }
    joins(a, region, join);
    join + 5
}

pub(super) fn forks_for_handle(
    t: &'static Thread,
    region: &'static Region,
    at: u64,
) -> Option<TeamHandle> {
    let at_once = match t.only_records_events() {
        true => t.forks_at_once(region, false, || at),
        false => None,
    };
    at_once.or_else(|| {
        t.enter(|t| t.fork_for_handle(region, true, || at))
            .flatten()
    })
}

pub(super) fn joins(t: &'static Thread, region: &'static Region, at: u64) {
    if !t.only_records_events() || t.joins_at_once(region, || at).is_none() {
        t.enter(|t| t.join(region, at));
    }
}

pub(super) fn two_sampled_threads() -> [&'static Thread; 2] {
    let a = sampled_thread();
    [a, Thread::for_test()]
}

#[test]
fn small_teams_are_timed_whole_and_their_members_by_sample() {
    small_teams(true);
}

#[test]
fn small_teams_that_their_members_look_for_are_too() {
    small_teams(false);
}

fn small_teams(handed: bool) {
    let threads = two_sampled_threads();
    let region = region("parallelfor", 1);
    let mut at = 10;
    let mut worked = [0, 0];
    for number in 0..MANY as u64 {
        let work = [20 + number % 7, 40 - number % 5];
        worked = [worked[0] + work[0], worked[1] + work[1]];
        at = team_handed_or_found(threads, region, at, |_| work, handed, |_| ());
    }
    let profile = profile_at(at, &threads, &[region]);
    let rows = &profile.nodes[0].rows;
    let many = MANY as u64;
    let whole = at - 10 - 5 * many;
    assert_eq!((rows[0].seq().count, rows[0].seq().ns), (many, whole));
    for (member, row) in rows[1..].iter().enumerate() {
        use PseudoRegion::{Body, Enter, Exit, Ibarr};
        for part in [Enter, Body, Ibarr, Exit] {
            assert_eq!(row.span(part).count, many, "{part:?}");
        }
        assert!(row.main.ns.abs_diff(whole) < 10, "{} {whole}", row.main.ns);
        let estimate = row.estimate().unwrap();
        assert!(estimate.timed < many / 4, "{estimate:?}");
        let off = row.body.ns.abs_diff(worked[member]);
        assert!(off <= 3 * estimate.error_ns, "{off} {estimate:?}");
    }
    assert_eq!(profile.remarks().len(), 1, "{:?}", profile.remarks());
    assert!(profile.remarks()[0].contains("estimates"));
}

/// What recording takes is found by comparing teams that are near in time. The work of a region may grow while the
/// program runs, and the first teams are all timed.
#[test]
fn more_work_later_or_earlier_costs_nothing() {
    for works in [[20, 1000], [1000, 20]] {
        let threads = two_sampled_threads();
        let region = region("parallelfor", 1);
        let mut at = 10;
        for number in 0..2 * MANY {
            let work = works[usize::from(number >= MANY)];
            // A team whose members record takes 3 ticks more.
            let work = |is_told| [work + 3 * u64::from(is_told); 2];
            at = team_handed_or_found(threads, region, at, work, true, |_| ());
        }
        let profile = profile_at(at, &threads, &[region]);
        let estimate = profile.nodes[0].rows[1].estimate().unwrap();
        let each = estimate.cost_ns / estimate.timed;
        assert!((2..=3).contains(&each), "{works:?}: {estimate:?}");
    }
}

/// A team that stands for many, in which one member came very late.
#[test]
fn lateness_is_no_more_than_what_was_waited() {
    let threads = two_sampled_threads();
    let region = region("parallelfor", 1);
    let mut at = 10;
    for number in 0..MANY {
        let work = |is_told| match is_told && number > MANY / 2 {
            true => [20, 400],
            false => [20, 40],
        };
        at = team_handed_or_found(threads, region, at, work, true, |_| ());
    }
    let profile = profile_at(at, &threads, &[region]);
    let rows = &profile.nodes[0].rows;
    let waited: u64 = rows.iter().map(|row| row.ibarr.ns).sum();
    let late: u64 = profile.arrivals.iter().map(|of| of.after_first_ns).sum();
    assert!(0 < late && late <= waited, "{late} {waited}");
    assert!(
        profile
            .arrivals
            .iter()
            .all(|of| of.late_ns <= of.after_first_ns)
    );
}

#[test]
fn regions_that_take_turns_share_the_budget() {
    let _ = sampled_thread();
    let to_pass = |regions, longer| teams_to_pass_over(2000, 1000, regions, longer);
    let one = to_pass(1, None);
    let is_about = |many: u64, times: u64| many.abs_diff(times * one) <= times;
    assert!(one > 1 && is_about(to_pass(4, None), 4), "{one}");
    // The measured extra time counts, but no less than the expected one, and no more than chance
    // allows.
    assert_eq!(to_pass(1, Some(0)), one);
    assert!(is_about(to_pass(1, Some(u64::MAX)), 8));
    assert_eq!(teams_to_pass_over(10, 1000, 1, None), 0);
}

/// As when the profile is written while the program runs.
#[test]
fn a_team_that_is_passed_over_may_be_open() {
    let [a, b] = two_sampled_threads();
    let region = region("parallelfor", 1);
    let mut at = 10;
    let mut teams = 1;
    let fork = loop {
        match a
            .enter(|a| a.fork_for_handle(region, true, || at))
            .flatten()
        {
            Some(TeamHandle::PassedOver(fork)) => break fork,
            _ => a.enter(|a| a.join(region, at)),
        };
        at = team([a, b], region, at, [20, 30], |_| ());
        teams += 2;
    };
    assert!(a.begins_part(fork, 0, || 2) && b.begins_part(fork, 1, || 2));
    let profile = profile_at(at + 40, &[a, b], &[region]);
    let rows = &profile.nodes[0].rows;
    assert_eq!(rows[0].seq().count, teams);
    for row in &rows[1..] {
        assert!(row.exit().ns > 0, "{row:?}");
    }
    let notes = &profile.run.notes;
    assert!(
        !notes.iter().any(|note| note.contains("shutdown")),
        "{notes:?}"
    );
}

#[test]
fn what_happens_in_a_team_that_is_passed_over_keeps_its_call_path() {
    let threads = two_sampled_threads();
    let (region, user) = (region("parallelfor", 1), region("userRegion", 2));
    let mut at = 10;
    for number in 0..MANY as u64 {
        at = team(threads, region, at, [20, 30], |t| {
            if number == MANY as u64 / 2 {
                event(t, UserBegin, user, 0);
                event(t, UserEnd, user, 0);
            }
        });
    }
    let profile = profile_at(at, &threads, &[region, user]);
    let marked = lines(&profile);
    for member in 0..2 {
        let line = format!("userRegion@2 in body/parallelfor@1 0->{member}: main 1x0");
        assert!(marked.contains(&line), "{marked:?}");
    }
    for row in &profile.nodes[0].rows[1..] {
        assert_eq!(row.body.count, MANY as u64);
        let timed = row.estimate().unwrap().timed;
        assert!(timed >= MANY as u64 / 2, "{timed}");
    }
    assert_eq!(profile.remarks().len(), 1, "{:?}", profile.remarks());
}
