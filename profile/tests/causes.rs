//! Each kind of cause on a small run whose win is computed by hand: 100 s with two threads, of
//! which 80 s are in a parallel region. For each cause, there is a similar run without the
//! fault.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

#[path = "causes/atomics.rs"]
mod atomics;
mod by_hand;
mod generated;
#[path = "causes/locks.rs"]
mod locks;
#[path = "causes/region_ends.rs"]
mod region_ends;
#[path = "causes/sections.rs"]
mod sections;
#[path = "causes/small_loops.rs"]
mod small_loops;
#[path = "causes/small_teams.rs"]
mod small_teams;
#[path = "causes/spinning.rs"]
mod spinning;
#[path = "causes/task_waits.rs"]
mod task_waits;
mod team;
#[path = "causes/teams_of_one.rs"]
mod teams_of_one;

use by_hand::{SECOND, node, row, run};
use generated::profiles;
use profile::analysis::{CauseKind, Report};
use profile::model::{
    Contention, ContentionSite, Estimate, GuardKind, Holder, Profile, Row, Scheduling, Serial, Span,
};
use profile::overheads::Category;
use profile::region_kind::{PseudoRegion, RegionKind};
use proptest::prelude::*;
use team::{THREADS, causes, found, kinds_of, loop_of, single_with_taskloop, span_of, team, times};

use PseudoRegion::{Body, Enter, Exit, Ibarr, Main, Seq};
use RegionKind as Kind;

#[test]
fn uneven_work_wins_its_mean_wait() {
    let profile = team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
    assert_eq!(found(&profile), [(CauseKind::Imbalance, Some(1), 20)]);
    let cause = causes(&profile).remove(0);
    assert_eq!((cause.lost.ns, cause.upper.ns), (40 * SECOND, 40 * SECOND));
    assert!(
        cause.what.contains("thread 0->0 worked 60.0 s"),
        "{}",
        cause.what
    );
    let twin = team(&[Kind::Loop], vec![loop_of(1, [[40, 0], [40, 0]])]);
    assert_eq!(found(&twin), []);
}

/// Work that differs by a tenth may be equal, on processors that are not. That is said where nothing else is to
/// be won.
#[test]
fn almost_even_work_is_mentioned_if_it_is_all_there_is() {
    let with = |wait: u64| {
        let mut profile = team(
            &[Kind::Loop],
            vec![loop_of(1, [[80, 0], [80 - wait, wait]])],
        );
        profile.run.duration_ns = 80 * SECOND;
        let report = Report::new(&profile);
        assert_eq!(report.causes.list.len(), 0);
        let doubtful = report.causes.doubtful.as_ref();
        let doubtful = doubtful.map(|cause| (cause.kind, cause.likely.ns / SECOND));
        (doubtful, report.summary.headline)
    };
    let (doubtful, headline) = with(8);
    assert_eq!(doubtful, Some((CauseKind::Imbalance, 4)));
    assert!(
        headline.starts_with("Perhaps 4.00 s of 80.0 s (5.0 %) to win"),
        "{headline}"
    );
    assert!(headline.contains("chance may be the reason"), "{headline}");
    let (doubtful, headline) = with(4);
    assert_eq!(doubtful, None);
    assert!(headline.starts_with("Overhead is negligible"), "{headline}");
}

#[test]
fn a_wait_is_blamed_on_what_stands_beside_it() {
    let with = |kind: Kind, executed: u64| {
        let wait = vec![row(1, &[(Main, 0)]), row(2, &[(Main, 30)])];
        let other = vec![row(1, &[(Main, executed)])];
        let nodes = vec![node(Some(0), 1, Body, other), node(Some(0), 2, Body, wait)];
        found(&team(&[kind, Kind::Barrier], nodes))
    };
    assert_eq!(with(Kind::Master, 30), [(CauseKind::Master, Some(1), 15)]);
    assert_eq!(with(Kind::Single, 30), [(CauseKind::Single, Some(1), 15)]);
    assert_eq!(with(Kind::Master, 1), [(CauseKind::Barrier, Some(2), 15)]);
}

#[test]
fn a_barrier_between_opposite_loops_is_one_cause() {
    let loops = |second: [[u64; 2]; 2]| {
        let nodes = vec![loop_of(1, [[30, 0], [10, 20]]), loop_of(2, second)];
        found(&team(&[Kind::Loop, Kind::Loop], nodes))
    };
    let opposite = loops([[10, 20], [30, 0]]);
    assert_eq!(opposite, [(CauseKind::BarrierBetween, Some(1), 20)]);
    let alike = loops([[30, 0], [10, 20]]);
    let each = |region| (CauseKind::Imbalance, Some(region), 10);
    assert_eq!(alike, [each(1), each(2)]);
}

#[test]
fn an_explicit_barrier_between_opposite_waits_is_one_cause() {
    let barriers = |first: [u64; 2], second: [u64; 2], between: Option<profile::model::Node>| {
        let barrier = |region, [a, b]: [u64; 2]| {
            let rows = vec![row(1, &[(Main, a)]), row(2, &[(Main, b)])];
            node(Some(0), region, Body, rows)
        };
        let mut nodes = vec![barrier(1, first)];
        nodes.extend(between);
        nodes.push(barrier(2, second));
        found(&team(
            &[Kind::Barrier, Kind::Barrier, Kind::Loop, Kind::Single],
            nodes,
        ))
    };
    let nowait = |region| {
        let rows = vec![
            row(1, &[(Main, 30), (Body, 30)]),
            row(2, &[(Main, 10), (Body, 10)]),
        ];
        node(Some(0), region, Body, rows)
    };
    let one = [(CauseKind::BarrierBetween, Some(1), 20)];
    assert_eq!(barriers([0, 20], [20, 0], None), one);
    assert_eq!(barriers([0, 20], [20, 0], Some(nowait(3))), one);
    // The same thread is late at both, or something else stands between them.
    for found in [
        barriers([0, 20], [0, 20], None),
        barriers([0, 20], [20, 0], Some(nowait(4))),
    ] {
        assert_eq!(found.len(), 2);
    }
}

#[test]
fn the_ordered_regions_of_a_loop_are_one_cause() {
    let queue = |around, region| {
        node(
            Some(around),
            region,
            Body,
            vec![row(2, &[(Main, 20), (Enter, 20)])],
        )
    };
    let kinds = [Kind::Loop, Kind::Ordered, Kind::Ordered];
    let whole = loop_of(1, [[80, 0], [80, 0]]);
    let of_one_loop = team(&kinds, vec![whole.clone(), queue(1, 2), queue(1, 3)]);
    assert_eq!(found(&of_one_loop), [(CauseKind::Ordered, Some(2), 20)]);
    let kinds = [Kind::Loop, Kind::Ordered, Kind::Loop, Kind::Ordered];
    let loops = [1, 3].map(|region| loop_of(region, [[40, 0], [40, 0]]));
    let [first, second] = loops;
    let of_two_loops = team(&kinds, vec![first, queue(1, 2), second, queue(3, 4)]);
    let each = |region| (CauseKind::Ordered, Some(region), 10);
    assert_eq!(found(&of_two_loops), [each(2), each(4)]);
}

/// A region of 80 s in sum that is executed `count` times. Each of its two threads works for
/// `work` seconds; the team takes `start` seconds to start.
fn repeated(count: u64, work: u64, start: u64) -> Profile {
    let mut profile = run(&[Kind::ParallelLoop], THREADS);
    let wait = 80 - work - start;
    let member = |thread| {
        let span = |seconds| span_of(count, seconds);
        Row::of(thread)
            .with(Main, span(80))
            .with(Enter, span(start))
            .with(Body, span(work))
            .with(Ibarr, span(wait))
    };
    let rows = vec![times(0, Seq, count, 80), member(1), member(2)];
    profile.nodes = vec![node(None, 0, Body, rows)];
    profile
}

#[test]
fn regions_are_small_where_the_team_costs_more_than_it_wins() {
    let small = repeated(1_000_000, 5, 70);
    // In one region around all, two threads share 10 s of work, less 1 us for getting each part. A barrier may
    // be left of the rest.
    assert_eq!(found(&small), [(CauseKind::SmallRegions, Some(0), 65)]);
    assert!(causes(&small)[0].remedy.contains("less than about"));
    // What the members copy is a part of the team's cost.
    let mut copies = small.clone();
    copies.regions[0].directive = Some("omp parallel for copyin(table)".to_owned());
    let copies = causes(&copies).remove(0);
    assert!(copies.remedy.starts_with("Its copyin clause copies"));
    // The work of 8 us may be the way of the data from one processor to the other.
    let short = repeated(10_000_000, 40, 35);
    assert!(
        causes(&short)[0]
            .remedy
            .contains("try whether it is faster serial")
    );
    assert_eq!(found(&repeated(1_000_000, 80, 0)), []);
    let large = found(&repeated(20, 5, 70));
    assert!(
        large
            .iter()
            .all(|(kind, ..)| *kind != CauseKind::SmallRegions)
    );
}

/// A team that costs an eighth of its region is no reason to change one region alone.
#[test]
fn regions_beside_small_ones_are_joined_with_them() {
    let regions = |first_start: u64| {
        let mut profile = repeated(1_000_000, 80 - first_start, first_start);
        profile.run.duration_ns = 200 * SECOND;
        profile.regions.push(profile.regions[0].clone());
        let mut second = repeated(1_000_000, 70, 10).nodes.remove(0);
        second.region = 1;
        profile.nodes.push(second);
        let causes = causes(&profile);
        causes.first().map(|first| first.place.regions.len())
    };
    assert_eq!(regions(40), Some(2));
    assert_eq!(regions(10), None);
}

#[test]
fn all_small_regions_are_one_cause() {
    let mut profile = repeated(1_000_000, 5, 70);
    profile.regions.push(profile.regions[0].clone());
    let mut second = profile.nodes[0].clone();
    second.region = 1;
    profile.nodes.push(second);
    profile.run.duration_ns *= 2;
    let found = found(&profile);
    assert_eq!(found.len(), 1);
    assert_eq!(causes(&profile)[0].place.regions, [0, 1]);
}

#[test]
fn stretches_that_are_too_short_for_a_team_are_no_serial_part() {
    let with = |count: u64| {
        let mut profile = team(&[], Vec::new());
        profile.serial = vec![Serial {
            after: Some(0),
            before: Some(0),
            count,
            ns: 20 * SECOND,
        }];
        let causes = Report::new(&profile).causes.list;
        causes.iter().map(|cause| cause.kind).collect::<Vec<_>>()
    };
    assert_eq!(with(20_000_001), []);
    assert_eq!(with(20), [CauseKind::SerialPart]);
}

#[test]
fn what_handing_out_single_iterations_takes_is_said_to_be_unknown() {
    let with = |schedule: &str| {
        let mut profile = team(&[Kind::Loop], vec![loop_of(1, [[80, 0], [80, 0]])]);
        profile.regions[1].schedule = Some(schedule.to_owned());
        profile.serial = Vec::new();
        profile.run.duration_ns = 80 * SECOND;
        let summary = Report::new(&profile).summary;
        summary.headline + " " + &summary.lines.join(" ")
    };
    let said = with("dynamic");
    assert!(
        said.contains("The LOOP at a.c:11 hands out one iteration at a time."),
        "{said}"
    );
    assert!(
        !said.contains("negligible") && !said.contains("No one change"),
        "{said}"
    );
    let larger = with("dynamic,100");
    assert!(
        larger.contains("negligible") && !larger.contains("hands out"),
        "{larger}"
    );
}

#[test]
fn a_lock_that_is_tested_in_a_loop_is_one_as_well() {
    let calls = |call: &str, count, free| {
        let row = Row::of(2).with(
            Main,
            Span {
                count,
                ns: 11 * SECOND,
            },
        );
        let row = row.with(Enter, Span { count, ns: SECOND });
        let row = row.with(
            Body,
            Span {
                count: free,
                ns: 10 * SECOND,
            },
        );
        let calls = node(Some(0), 1, Body, vec![row]);
        let mut profile = team(&[Kind::Lock], vec![calls]);
        profile.regions[1].name = Some(call.to_owned());
        found(&profile)
    };
    let tests = |count, free| calls("omp_test_lock", count, free);
    assert_eq!(tests(10_000_000_000, 10), [(CauseKind::Lock, Some(1), 30)]);
    // A lock that was free each time, and one with 27 ns of other work for each test.
    assert_eq!(tests(10_000_000_000, 10_000_000_000), []);
    assert_eq!(tests(3_000_000_000, 10), []);
    // A call that sets a nestable lock again does not fail.
    assert_eq!(calls("omp_set_nest_lock", 10_000_000_000, 10), []);
}

#[test]
fn a_thread_with_all_the_work_explains_a_wait_that_is_a_little_longer() {
    let with = |work: [u64; 2]| {
        let [first, second] = work;
        let loops = loop_of(1, [[first, 0], [second, 80 - second]]);
        found(&team(&[Kind::Loop], vec![loops]))
    };
    assert_eq!(with([78, 0]), [(CauseKind::Imbalance, Some(1), 40)]);
    assert_eq!(with([20, 0]), [(CauseKind::LateThreads, Some(1), 40)]);
}

#[test]
fn threads_that_had_processors_were_late_for_another_reason() {
    let remedy = |scheduling| {
        let mut profile = team(&[Kind::Loop], vec![loop_of(1, [[20, 0], [0, 80]])]);
        profile.run.scheduling = scheduling;
        causes(&profile).remove(0).remedy
    };
    let had_processors = Scheduling {
        threads: 2,
        run_ns: 200 * SECOND,
        ready_ns: SECOND,
        processors: 2,
        ..Scheduling::default()
    };
    assert!(remedy(Some(had_processors)).contains("too short to be worth its team. Give"));
    assert!(remedy(None).contains("Or the threads had no processor"));
}

#[test]
fn a_short_loop_waits_for_the_uneven_one_without_a_barrier_before_it() {
    let before = [1, 2].into_iter().zip([60, 20]);
    let before = before.map(|(thread, ns)| row(thread, &[(Main, ns), (Body, ns)]));
    let nodes = vec![
        node(Some(0), 1, Body, before.collect()),
        loop_of(2, [[1, 0], [1, 40]]),
    ];
    let profile = team(&[Kind::Loop, Kind::Loop], nodes);
    assert_eq!(found(&profile), [(CauseKind::Imbalance, Some(1), 20)]);
}

#[test]
fn the_wait_around_a_taskloop_is_nobodys_fault() {
    let around = |kind: Kind| {
        let mut profile = team(&[Kind::Single, kind], vec![loop_of(1, [[40, 0], [0, 40]])]);
        profile
            .nodes
            .push(node(Some(1), 2, Body, vec![row(1, &[(Main, 40)])]));
        profile
    };
    let taskloop = around(Kind::Taskloop);
    assert_eq!(found(&taskloop), []);
    let report = Report::new(&taskloop);
    assert_eq!(report.overheads.untold.ns, 40 * SECOND);
    assert!(report.summary.headline.contains("tasks of a taskloop"));
    assert_eq!(
        found(&around(Kind::User)),
        [(CauseKind::Single, Some(1), 20)]
    );
}

#[test]
fn the_tasks_of_a_taskloop_are_told_from_the_waits_around_it() {
    let shared = single_with_taskloop(8, 39, 39);
    assert_eq!(found(&shared), []);
    assert_eq!(Report::new(&shared).overheads.untold.ns, 0);
    // One long task, for which both threads wait in turn, is not too small.
    let uneven = found(&single_with_taskloop(1, 10, 40));
    assert_eq!(uneven, [(CauseKind::TooFewTasks, Some(2), 15)]);
    let fine = found(&single_with_taskloop(10_000_000, 1, 1));
    assert_eq!(fine, [(CauseKind::SmallTasks, Some(2), 39)]);
    let remedy = |directive: &str| {
        let mut profile = single_with_taskloop(10_000_000, 1, 1);
        profile.regions[2].directive = Some(directive.to_owned());
        causes(&profile).remove(0).remedy
    };
    assert!(remedy("omp taskloop").contains("a grainsize"));
    assert!(remedy("OMP TASKLOOP GRAINSIZE(4)").contains("a larger grainsize"));
    assert!(remedy("omp taskloop num_tasks(99999)").contains("fewer tasks (num_tasks)"));
}

/// GCC's runtime executes very many tasks at once, on the thread that comes to the taskloop.
#[test]
fn a_taskloop_whose_thread_keeps_all_tasks_has_too_many() {
    let kept = |tasks, by_others: bool| {
        let mut profile = single_with_taskloop(tasks, 38, 1);
        if !by_others {
            profile.nodes.pop();
        }
        profile
    };
    let many = found(&kept(1_000_000, false));
    // The other thread waits for 40 s.
    assert_eq!(many, [(CauseKind::SmallTasks, Some(2), 20)]);
    let cause = causes(&kept(1_000_000, false)).remove(0);
    assert!(
        cause.what.contains("executed all of 1000000 tasks itself"),
        "{}",
        cause.what
    );
    assert!(cause.remedy.contains("grainsize"));
    // The measurement of the tasks took half of the loop's time.
    let mut slow = kept(1_000_000, false);
    slow.run.pair_cost_ps = 20_000_000;
    assert_eq!(found(&slow), [(CauseKind::SmallTasks, Some(2), 10)]);
    let small = |profile: &Profile| {
        let mut all = found(profile).into_iter();
        all.any(|(kind, ..)| kind == CauseKind::SmallTasks)
    };
    assert!(!small(&kept(100, false)) && !small(&kept(1_000_000, true)));
}

/// A grainsize that is larger than half of the iterations makes one task.
#[test]
fn a_taskloop_that_makes_fewer_tasks_than_there_are_threads_has_too_few() {
    let with = |tasks, directive: &str| {
        let mut profile = single_with_taskloop(tasks, 38, 1);
        profile.nodes.pop();
        profile.regions[2].directive = Some(directive.to_owned());
        profile
    };
    let few = with(1, "omp taskloop grainsize(1000)");
    assert_eq!(found(&few), [(CauseKind::TooFewTasks, Some(2), 20)]);
    let cause = causes(&few).remove(0);
    assert!(cause.what.contains("made only 1 task,"), "{}", cause.what);
    assert!(cause.remedy.contains("smaller grainsize"));
    let remedy = |directive: &str| causes(&with(1, directive)).remove(0).remedy;
    assert!(remedy("omp taskloop num_tasks(1)").contains("more tasks (num_tasks)"));
    assert!(remedy("omp taskloop").contains("collapse"));
    // How many there are does not depend on when threads run.
    let mut busy = with(1, "omp taskloop");
    busy.run.processors = 2;
    busy.run.scheduling = Some(Scheduling {
        threads: 2,
        run_ns: 80 * SECOND,
        ready_ns: 80 * SECOND,
        most_ready_ns: 40 * SECOND,
        processors: 2,
        ..Scheduling::default()
    });
    let kinds: Vec<CauseKind> = found(&busy).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, [CauseKind::NoProcessor, CauseKind::TooFewTasks]);
    // Two tasks are enough for two threads, whoever executes them.
    let what = causes(&with(2, "omp taskloop")).remove(0).what;
    assert!(!what.contains("made only"), "{what}");
}

#[test]
fn what_may_have_been_tasks_of_a_taskloop_is_no_management() {
    let kinds = [Kind::Sections, Kind::Section, Kind::Taskloop];
    let mut profile = team(&kinds, vec![loop_of(1, [[40, 0], [0, 40]])]);
    let worked = || vec![row(1, &[(Main, 40)])];
    profile.nodes.push(node(Some(1), 2, Body, worked()));
    profile.nodes.push(node(Some(2), 3, Main, worked()));
    let report = Report::new(&profile);
    let sum = &report.overheads.whole_sum;
    assert_eq!(report.overheads.untold.ns, 40 * SECOND);
    assert_eq!(sum.by_category[Category::Mgmt as usize].ns, 0);
}

#[test]
fn the_serial_part_says_what_it_lies_between() {
    let mut profile = team(&[], Vec::new());
    profile.serial = vec![Serial {
        after: Some(0),
        before: None,
        count: 1,
        ns: 20 * SECOND,
    }];
    let report = Report::new(&profile);
    let cause = &report.causes.list[0];
    assert_eq!(cause.kind, CauseKind::SerialPart);
    assert_eq!(
        (cause.likely.ns, cause.upper.ns),
        (10 * SECOND, 20 * SECOND)
    );
    assert!(cause.place.words.ends_with("after the PARALLEL at a.c:10"));
}

#[test]
fn what_is_little_everywhere_is_said_to_be_spread() {
    let few = |number: usize| {
        let kinds = vec![Kind::Loop; number];
        let loops = (1..=number).map(|region| loop_of(region, [[3, 0], [1, 2]]));
        found(&team(&kinds, loops.collect()))
    };
    assert_eq!(few(2), []);
    assert_eq!(few(20), [(CauseKind::Spread, Some(1), 20)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_more_can_be_won_than_there_was(profile in profiles()) {
        let report = Report::new(&profile);
        let likely: u64 = report.causes.list.iter().map(|cause| cause.likely.ns).sum();
        prop_assert!(likely <= profile.run.duration_ns);
        for cause in &report.causes.list {
            prop_assert!(cause.likely.ns <= cause.upper.ns, "{cause:?}");
            prop_assert!(cause.upper.ns <= profile.run.duration_ns, "{cause:?}");
            prop_assert!(!cause.what.is_empty() && !cause.place.words.is_empty());
        }
        for kind in [CauseKind::Oversubscription, CauseKind::SmallRegions, CauseKind::SerialPart] {
            let its = report.causes.list.iter().filter(|cause| cause.kind == kind);
            prop_assert!(its.count() <= 1, "{kind:?} stands twice");
        }
        let wins: Vec<u64> = report.causes.list.iter().map(|cause| cause.likely.ns).collect();
        prop_assert!(wins.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn no_two_outputs_disagree(profile in profiles()) {
        let report = Report::new(&profile);
        let written = |name: &str| {
            let mut out = Vec::new();
            (profile::report::writer(name).unwrap().write)(&report, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let json: serde_json::Value = serde_json::from_str(&written("analysis")).unwrap();
        let told = json["causes"].as_array().unwrap();
        prop_assert_eq!(told.len(), report.causes.list.len());
        // Text may be wrapped anywhere.
        let text: String = written("text").split_whitespace().collect();
        for (told, cause) in told.iter().zip(&report.causes.list).take(5) {
            prop_assert_eq!(&told["what"], &cause.what);
            let what: String = cause.what.split_whitespace().collect();
            prop_assert!(text.contains(&what), "{}", cause.what);
        }
        let headline = &report.summary.headline;
        let is_untold = headline.starts_with("It is not known");
        if let Some(first) = report.causes.list.first().filter(|_| !is_untold) {
            prop_assert!(headline.contains(&first.place.words), "{headline}");
        }
    }
}
