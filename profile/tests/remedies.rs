//! Advice considers the clauses and directives in the source.

mod by_hand;
mod team;

use by_hand::{SECOND, node, row};
use profile::analysis::{CauseKind, Report};
use profile::model::{Distribution, Node, Profile};
use profile::region_kind::{PseudoRegion, RegionKind as Kind};
use team::{causes, found, loop_of, team, times};

use PseudoRegion::{Body, Enter, Exit, Ibarr, Main, Seq};

#[test]
fn a_loop_whose_turns_come_soon_is_not_told_to_let_them_come_soon() {
    let remedy = |schedule: &str| {
        let queue = row(2, &[(Main, 60), (Enter, 40), (Body, 20)]);
        let ordered = node(Some(1), 2, Body, vec![queue]);
        let mut profile = team(
            &[Kind::Loop, Kind::Ordered],
            vec![loop_of(1, [[80, 0], [80, 0]]), ordered],
        );
        profile.regions[1].schedule = Some(schedule.to_owned());
        let cause = causes(&profile).remove(0);
        assert_eq!(cause.kind, CauseKind::Ordered);
        cause.remedy
    };
    for schedule in ["static", "", "guided", "dynamic,8"] {
        assert!(
            remedy(schedule).contains("schedule(static,1)"),
            "{schedule}"
        );
    }
    for schedule in ["static,1", "monotonic: dynamic", "DYNAMIC, 1"] {
        assert!(!remedy(schedule).contains("schedule"), "{schedule}");
    }
}

/// The first chunk of a guided loop is as large as the first thread's part of a static one.
#[test]
fn only_a_loop_that_does_not_begin_with_its_longest_iterations_may_become_guided() {
    let remedies = |first: u64, second: u64| {
        let wait = |work: u64| 60 - work;
        let times = [[first, wait(first)], [second, wait(second)]];
        let profile = team(&[Kind::Loop], vec![loop_of(1, times)]);
        let report = Report::new(&profile);
        let [property, ..] = &report.properties[..] else {
            panic!("no property holds");
        };
        let of_property = property.remedy.to_string();
        [causes(&profile).remove(0).remedy, of_property]
    };
    for remedy in remedies(20, 60) {
        assert!(remedy.contains("or schedule(guided)"), "{remedy}");
    }
    for remedy in remedies(60, 20) {
        assert!(remedy.contains("not guided"), "{remedy}");
    }
    // A thread without any work may have no iteration, whatever the schedule.
    for remedy in [remedies(60, 0), remedies(0, 60)].concat() {
        let (_, schedules) = remedy
            .split_once("f it has fewer iterations than threads")
            .unwrap();
        assert!(schedules.contains("schedule(static,CHUNK)"), "{remedy}");
    }
}

/// A single in which one thread creates tasks for a second. Both then wait.
fn single_with_tasks() -> Node {
    let rows = vec![
        row(1, &[(Main, 80), (Body, 1), (Ibarr, 79)]),
        row(2, &[(Main, 80), (Ibarr, 80)]),
    ];
    node(Some(0), 1, Body, rows)
}

#[test]
fn tasks_that_depend_on_each_other_are_not_only_to_be_more() {
    let profile = |directive: &str| -> Profile {
        let executed = node(Some(1), 3, Ibarr, vec![row(1, &[(Main, 79)])]);
        let kinds = [Kind::Single, Kind::Task, Kind::TaskExec];
        let mut profile = team(&kinds, vec![single_with_tasks(), executed]);
        profile.regions[2].directive = Some(directive.to_owned());
        profile
    };
    let remedy = |directive| causes(&profile(directive)).remove(0).remedy;
    assert_eq!(found(&profile("omp task"))[0].0, CauseKind::TooFewTasks);
    assert!(!remedy("omp task").contains("depend"));
    assert!(remedy("OMP TASK DEPEND(INOUT: A)").contains("let fewer tasks depend on each other"));
}

#[test]
fn tasks_that_a_clause_keeps_with_their_creator_are_told_from_too_few() {
    let cause = |directive: &str| {
        let single = vec![
            row(1, &[(Main, 80), (Body, 79), (Ibarr, 1)]),
            row(2, &[(Main, 80), (Ibarr, 80)]),
        ];
        let executed = node(Some(1), 3, Body, vec![times(1, Main, 10, 79)]);
        let kinds = [Kind::Single, Kind::Task, Kind::TaskExec];
        let mut profile = team(&kinds, vec![node(Some(0), 1, Body, single), executed]);
        profile.regions[3].begin = profile.regions[2].begin;
        for task in 2..=3 {
            profile.regions[task].directive = Some(directive.to_owned());
        }
        causes(&profile).remove(0)
    };
    let kept = cause("omp task if(n > 100)");
    assert_eq!(kept.kind, CauseKind::TooFewTasks);
    assert!(
        kept.what.contains("each of the 10 tasks of the TASK at"),
        "{kept:?}"
    );
    assert!(kept.remedy.contains("if clause"), "{kept:?}");
    for other in ["omp task", "omp task if(n > 100) depend(inout: x)"] {
        let cause = cause(other);
        assert!(!cause.remedy.contains("if clause"), "{cause:?}");
    }
}

#[test]
fn a_task_that_is_much_longer_than_the_others_is_to_come_first() {
    let with = |longest: u64, inside: Kind| {
        let rows = vec![times(1, Main, 10, 79)];
        let kinds = [Kind::Single, Kind::Task, Kind::TaskExec, inside];
        let executed = node(Some(1), 3, Ibarr, rows);
        let inside = node(Some(2), 4, Body, vec![times(1, Main, 10, 1)]);
        let mut profile = team(&kinds, vec![single_with_tasks(), executed, inside]);
        profile.regions[3].begin = profile.regions[2].begin;
        profile.distributions.push(Distribution {
            region: 3,
            thread: Some(1),
            part: Main,
            min_ns: SECOND,
            max_ns: longest * SECOND,
            histogram: Vec::new(),
        });
        causes(&profile).remove(0)
    };
    // Both wait for 80 s in all. The mean is 8 s.
    let cause = |longest| with(longest, Kind::Critical);
    let long = cause(79);
    assert!(
        long.what.contains("The longest execution of the TASK at"),
        "{long:?}"
    );
    assert!(long.remedy.contains("longest tasks first"), "{long:?}");
    assert!(cause(31).remedy.contains("make more and smaller ones"));
    assert!(cause(39).remedy.contains("make more and smaller ones"));
    // The longest task of a recursion is the first one, which waits for all others.
    assert!(!with(79, Kind::Task).what.contains("longest"));
}

#[test]
fn tasks_that_take_long_to_hand_out_for_what_they_work_are_too_small() {
    let kind = |tasks: u64, work: u64| {
        let executed = |thread| times(thread, Main, tasks / 2, work);
        let executions = node(Some(1), 3, Ibarr, vec![executed(1), executed(2)]);
        let kinds = [Kind::Single, Kind::Task, Kind::TaskExec];
        let mut profile = team(&kinds, vec![single_with_tasks(), executions]);
        profile.regions[3].begin = profile.regions[2].begin;
        found(&profile)[0].0
    };
    // Each task takes 1.2 us of the 160 s of thread time. It works for a quarter, for more than half or
    // for most of that.
    assert_eq!(kind(130_000_000, 20), CauseKind::SmallTasks);
    assert_eq!(kind(130_000_000, 60), CauseKind::SmallTasks);
    assert_eq!(kind(130_000_000, 70), CauseKind::TooFewTasks);
    // A task of 4 us is worth handing out for 1.5 us.
    assert_eq!(kind(30_000_000, 60), CauseKind::TooFewTasks);
    // It cannot take a tenth of a second to hand out each of a thousand tasks.
    assert_eq!(kind(1_000, 20), CauseKind::TooFewTasks);
}

/// LLVM's runtime gives back the memory of tasks when their team ends.
#[test]
fn the_end_of_a_team_with_small_tasks_is_part_of_what_they_cost() {
    let executed = |thread| times(thread, Main, 65_000_000, 20);
    let executions = node(Some(1), 3, Ibarr, vec![executed(1), executed(2)]);
    let kinds = [Kind::Single, Kind::Task, Kind::TaskExec];
    let creations = node(Some(1), 2, Body, vec![times(1, Main, 130_000_000, 1)]);
    let mut profile = team(&kinds, vec![single_with_tasks(), executions, creations]);
    profile.regions[3].begin = profile.regions[2].begin;
    let ends = |thread| row(thread, &[(Main, 80), (Body, 60), (Exit, 20)]);
    profile.nodes[0].rows = vec![row(0, &[(Seq, 80)]), ends(1), ends(2)];
    let found = found(&profile);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, CauseKind::SmallTasks);
}

#[test]
fn who_came_late_is_told_from_who_had_more_to_do() {
    let what = |times| causes(&team(&[Kind::Loop], vec![loop_of(1, times)])).remove(0);
    let late = what([[40, 0], [40, 40]]);
    assert!(late.what.contains("thread 0->0 came late"), "{}", late.what);
    assert!(!late.remedy.contains("schedule"), "{}", late.remedy);
    let more = what([[80, 0], [40, 40]]);
    assert!(more.what.contains("thread 0->0 worked"), "{}", more.what);
    let turns = what([[40, 40], [40, 40]]);
    assert!(turns.what.contains("turns"), "{}", turns.what);
    assert!(turns.remedy.contains("nowait"), "{}", turns.remedy);
}

#[test]
fn a_thread_that_works_before_it_creates_each_task_keeps_the_others_waiting() {
    let profile = |created: u64| {
        let created = node(Some(1), 2, Body, vec![times(1, Main, 40_000_000, created)]);
        let executed = node(Some(1), 3, Ibarr, vec![times(2, Main, 40_000_000, 20)]);
        let rows = vec![
            row(1, &[(Main, 80), (Body, 80)]),
            row(2, &[(Main, 80), (Ibarr, 80)]),
        ];
        let single = node(Some(0), 1, Body, rows);
        let mut profile = team(
            &[Kind::Single, Kind::Task, Kind::TaskExec],
            vec![single, created, executed],
        );
        profile.regions[3].begin = profile.regions[2].begin;
        profile
    };
    // It works for 75 s, and the other thread waits for 60 s. Each task takes 1.5 us of that.
    let cause = causes(&profile(5)).remove(0);
    assert_eq!(cause.kind, CauseKind::Single);
    assert_eq!(cause.likely.ns, 30 * SECOND);
    assert!(cause.what.contains("worked 75.0 s"), "{}", cause.what);
    assert!(cause.remedy.contains("Let the tasks do that work"));
    // The runtime keeps it from its work.
    assert_eq!(found(&profile(60))[0].0, CauseKind::SmallTasks);
}

#[test]
fn one_thread_may_wait_for_tasks_that_others_execute() {
    let waits = row(1, &[(Main, 80), (Body, 1), (Ibarr, 79)]);
    let of = |kind| {
        found(&team(
            &[kind],
            vec![node(Some(0), 1, Body, vec![waits.clone()])],
        ))
    };
    assert_eq!(of(Kind::Taskgroup), [(CauseKind::TooFewTasks, Some(1), 40)]);
    // If one thread alone executed a single, no thread waited.
    assert_eq!(of(Kind::Single), []);
}

#[test]
fn a_region_that_holds_teams_is_not_small() {
    let member = |thread| row(thread, &[(Main, 80), (Enter, 60), (Body, 20)]);
    let kinds = |holds: bool| -> Vec<CauseKind> {
        let mut profile = team(&[Kind::Parallel], Vec::new());
        let nested = vec![times(1, Seq, 20, 20)];
        if holds {
            profile.nodes.push(node(Some(0), 1, Body, nested));
        }
        profile.nodes[0].rows = vec![times(0, Seq, 1_000_000, 80), member(1), member(2)];
        found(&profile).into_iter().map(|(kind, ..)| kind).collect()
    };
    assert!(kinds(false).contains(&CauseKind::SmallRegions));
    assert!(!kinds(true).contains(&CauseKind::SmallRegions));
}

#[test]
fn a_taskwait_for_each_task_is_one_cause_with_the_barrier_around_it() {
    let profile = |waits: u64| {
        let created = node(Some(1), 2, Body, vec![times(1, Main, 100, 1)]);
        let waited = node(Some(1), 3, Body, vec![times(1, Main, waits, 79)]);
        let executed = node(Some(1), 4, Ibarr, vec![times(2, Main, 100, 40)]);
        let rows = vec![
            row(1, &[(Main, 80), (Body, 80)]),
            row(2, &[(Main, 80), (Ibarr, 80)]),
        ];
        let single = node(Some(0), 1, Body, rows);
        let kinds = [Kind::Single, Kind::Task, Kind::Taskwait, Kind::TaskExec];
        let mut profile = team(&kinds, vec![single, created, waited, executed]);
        profile.regions[4].begin = profile.regions[2].begin;
        profile
    };
    // 79 s in the taskwait and 40 s at the barrier, of two threads.
    let expected = [(CauseKind::TooFewTasks, Some(3), 60)];
    assert_eq!(found(&profile(100)), expected);
    assert_eq!(found(&profile(4)), expected);
    let is_for_one = |profile: &Profile| {
        let remedy = causes(profile).remove(0).remedy;
        remedy.contains("waits for only one task")
    };
    assert!(is_for_one(&profile(100)) && !is_for_one(&profile(4)));
    // Tasks wait in the same place: a recursion.
    let mut recursive = profile(100);
    let inner = node(Some(4), 3, Body, vec![times(2, Main, 50, 1)]);
    recursive.nodes.push(inner);
    assert!(!is_for_one(&recursive));
}

#[test]
fn a_small_region_costs_one_thread_its_team_too() {
    let small = |instances: u64| {
        let mut profile = team(&[], Vec::new());
        let member = row(1, &[(Main, 80), (Enter, 30), (Body, 50)]);
        profile.nodes[0].rows = vec![times(0, Seq, instances, 80), member];
        let mut found = found(&profile);
        found.retain(|it| it.0 == CauseKind::SmallRegions);
        found
    };
    // Of 50 s of work, each of a million bodies needs 1 us for getting its part. Of the rest, 85 % are won.
    let expected = [(CauseKind::SmallRegions, Some(0), 26)];
    assert_eq!(small(1_000_000), expected);
    // Regions of 40 s are not small.
    assert_eq!(small(2), []);
}

/// The thread that gets the longest of the last iterations is another one each time.
#[test]
fn late_threads_of_a_loop_that_is_handed_out_had_the_longest_iterations() {
    let cause = |schedule: Option<&str>| {
        let mut profile = team(
            &[Kind::ParallelLoop],
            vec![loop_of(1, [[40, 40], [40, 40]])],
        );
        profile.regions[1].schedule = schedule.map(str::to_owned);
        causes(&profile).remove(0)
    };
    let dynamic = cause(Some("dynamic,1"));
    assert_eq!(dynamic.kind, CauseKind::Imbalance);
    assert!(dynamic.what.ends_with("longest of the last iterations"));
    assert!(dynamic.remedy.contains("one iteration at a time already"));
    let fixed = cause(Some("static"));
    assert!(fixed.what.ends_with("took turns in being late"));
    assert!(fixed.remedy.contains("No thread is always the last"));
}
