//! Losses caused by the machine, on small runs whose win is computed by hand: threads without a
//! processor, and more threads than processors.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;
mod team;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{CauseKind, Report};
use profile::model::{Contention, ContentionSite, GuardKind, Profile, Row, Scheduling, Span};
use profile::region_kind::{PseudoRegion, RegionKind};
use team::{causes, found, loop_of, single_with_taskloop, team, times};

use PseudoRegion::{Body, Enter, Ibarr, Main, Seq};
use RegionKind as Kind;

#[test]
fn small_teams_within_others_are_too_many_threads() {
    let nested = |processors: u32| {
        let mut profile = run(
            &[Kind::Parallel, Kind::Parallel],
            &[&[0], &[0, 0], &[0, 0, 0], &[0, 0, 1]],
        );
        let inner = |thread| {
            times(thread, Main, 1_000_000, 80).with(
                Enter,
                Span {
                    count: 1_000_000,
                    ns: 70 * SECOND,
                },
            )
        };
        let outer = row(1, &[(Main, 80), (Body, 80)]);
        let seq = Span {
            count: 1_000_000,
            ns: 80 * SECOND,
        };
        let nested = vec![Row::of(1).with(Seq, seq), inner(2), inner(3)];
        profile.nodes = vec![
            node(None, 0, Body, vec![row(0, &[(Seq, 80)]), outer]),
            node(Some(0), 1, Body, nested),
        ];
        profile.run.processors = processors;
        profile
    };
    let first = |profile: &Profile| found(profile).first().map(|it| (it.0, it.1));
    let crowded = Some((CauseKind::Oversubscription, Some(1)));
    assert_eq!(first(&nested(1)), crowded);
    assert_eq!(first(&nested(2)), Some((CauseKind::SmallRegions, Some(1))));
    // A variable allows regions to nest, or the program itself does.
    let remedy = |name: &str, value: &str| {
        let mut profile = nested(1);
        profile.run.settings = [(name.to_owned(), value.to_owned())].into();
        causes(&profile).remove(0).remedy
    };
    for (name, value) in [
        ("OMP_MAX_ACTIVE_LEVELS", "2"),
        ("OMP_NESTED", "TRUE"),
        ("OMP_NUM_THREADS", "2,4"),
        ("OMP_PROC_BIND", "spread,close"),
    ] {
        let remedy = remedy(name, value);
        assert!(remedy.contains("set OMP_MAX_ACTIVE_LEVELS=1"), "{name}");
    }
    for (name, value) in [("OMP_MAX_ACTIVE_LEVELS", "1"), ("OMP_NUM_THREADS", "4")] {
        let remedy = remedy(name, value);
        assert!(remedy.contains("omp_set_max_active_levels(1)"), "{name}");
    }
    // The kernel's figures about these threads lead to the same cause.
    let without_processor = busy(nested(1), 40, 1);
    assert_eq!(first(&without_processor), crowded);
    assert_eq!(found(&without_processor).len(), 1);
}

/// A region that is worth a team, but not one with more threads than processors.
#[test]
fn teams_with_more_threads_than_processors_are_too_large() {
    let repeated = |work_ns: u64, processors: u32| {
        const TIMES: u64 = 1_000_000;
        let span = |each_ns: u64| Span {
            count: TIMES,
            ns: TIMES * each_ns,
        };
        let mut profile = run(
            &[Kind::Parallel],
            &[&[0], &[0, 0], &[0, 1], &[0, 2], &[0, 3]],
        );
        let member = |thread| {
            let all = Row::of(thread)
                .with(Main, span(80_000))
                .with(Enter, span(50_000));
            all.with(Body, span(work_ns))
                .with(Ibarr, span(30_000 - work_ns))
        };
        let mut rows = vec![Row::of(0).with(Seq, span(80_000))];
        rows.extend((1..5).map(member));
        profile.nodes = vec![node(None, 0, Body, rows)];
        profile.run.processors = processors;
        found(&profile).first().map(|it| it.0)
    };
    assert_eq!(repeated(20_000, 2), Some(CauseKind::Oversubscription));
    assert_eq!(repeated(20_000, 4), Some(CauseKind::SmallRegions));
    assert_eq!(repeated(1_000, 2), Some(CauseKind::SmallRegions));
}

/// The serial part of 60 s, with teams of four threads that work for 40 s.
#[test]
fn more_threads_than_processors_shorten_no_serial_part() {
    let won = |processors: u32| {
        let mut profile = run(
            &[Kind::Parallel],
            &[&[0], &[0, 0], &[0, 1], &[0, 2], &[0, 3]],
        );
        profile.run.processors = processors;
        profile.run.max_threads = 4;
        let mut rows = vec![row(0, &[(Seq, 40)])];
        rows.extend((1..5).map(|thread| row(thread, &[(Main, 40), (Body, 40)])));
        profile.nodes = vec![node(None, 0, Body, rows)];
        let causes = Report::new(&profile).causes.list;
        let serial = causes.iter().find(|it| it.kind == CauseKind::SerialPart);
        serial.map(|it| it.likely.ns / SECOND)
    };
    assert_eq!([0, 4, 2].map(won), [Some(45), Some(45), Some(30)]);
}

/// Two threads of a run in which small tasks take three quarters of the time, on one processor.
#[test]
fn small_tasks_occupy_processors() {
    const TASKS: u64 = 1_000_000_000;
    let kinds = [Kind::Task, Kind::TaskExec];
    let each = |thread: usize, part, seconds: u64| times(thread, part, TASKS, seconds);
    let rows = |seconds: u64| [1, 2].map(|thread| each(thread, Main, seconds)).to_vec();
    let created = node(Some(0), 1, Body, rows(60));
    let executed = node(Some(1), 2, Main, rows(10));
    let mut profile = busy(team(&kinds, vec![created, executed]), 80, 1);
    profile.regions[2].begin = profile.regions[1].begin;
    let tasks = causes(&profile).remove(0);
    assert_eq!(tasks.kind, CauseKind::SmallTasks);
    // 100 of 160 s of thread time go into creating tasks, and so do 50 of 80 s of the processor.
    assert_eq!(tasks.likely.ns / SECOND, 50);
}

/// Two threads on one processor. The thread that keeps all tasks of a taskloop has it alone, so to share
/// the tasks wins nothing.
#[test]
fn a_thread_that_keeps_all_tasks_leaves_the_processors_to_itself() {
    let kept = |processors| {
        let mut profile = single_with_taskloop(1_000_000, 38, 1);
        profile.nodes.pop();
        let found = found(&busy(profile, 60, processors)).into_iter();
        let of_tasks = found.filter(|(kind, ..)| *kind == CauseKind::SmallTasks);
        of_tasks.map(|(.., seconds)| seconds).sum::<u64>()
    };
    assert!(kept(2) > 10, "{}", kept(2));
    assert_eq!(kept(1), 0);
}

/// The user's setting has threads sleep between the regions, unless there are too many threads.
#[test]
fn a_setting_that_has_threads_sleep_is_named_first() {
    let remedy = |name: &str, value: &str, processors: u32| {
        let mut profile = run(&[Kind::ParallelLoop], &[&[0], &[0, 0], &[0, 1]]);
        let member = |thread| {
            let span = |seconds| Span {
                count: 1_000_000,
                ns: seconds * SECOND,
            };
            let row = Row::of(thread).with(Main, span(80));
            row.with(Enter, span(70)).with(Body, span(10))
        };
        let rows = vec![times(0, Seq, 1_000_000, 80), member(1), member(2)];
        profile.nodes = vec![node(None, 0, Body, rows)];
        profile.run.processors = processors;
        profile.run.settings = [(name.to_owned(), value.to_owned())].into();
        causes(&profile).remove(0).remedy
    };
    for (name, value) in [
        ("OMP_WAIT_POLICY", "PASSIVE"),
        ("GOMP_SPINCOUNT", "0"),
        ("KMP_BLOCKTIME", "0"),
    ] {
        let is_named = |remedy: &str| remedy.starts_with(&format!("{name}="));
        assert!(is_named(&remedy(name, value, 2)), "{name}");
        assert!(!is_named(&remedy(name, value, 1)), "{name}");
        assert!(!is_named(&remedy(name, "active", 2)), "{name}");
    }
}

/// The kinds of the causes that are found.
fn kinds_of(profile: &Profile) -> Vec<CauseKind> {
    found(profile).into_iter().map(|it| it.0).collect()
}

/// Kernel figures of two threads that had no processor for `ready` of 160 seconds.
fn busy(mut profile: Profile, ready: u64, processors: u32) -> Profile {
    profile.run.processors = processors;
    profile.run.scheduling = Some(Scheduling {
        threads: 2,
        run_ns: (160 - ready) * SECOND,
        ready_ns: ready * SECOND,
        most_ready_ns: ready * SECOND,
        first_run_ns: 100 * SECOND,
        processors,
        ..Scheduling::default()
    });
    profile
}

#[test]
fn a_busy_machine_is_said_first_and_takes_the_waits_that_it_explains() {
    let uneven = || team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
    let turns = || team(&[Kind::Loop], vec![loop_of(1, [[40, 40], [40, 40]])]);
    // Half of the 80 s of useful time was without a processor. The other half is worth 10 s.
    assert_eq!(kinds_of(&busy(turns(), 80, 2)), [CauseKind::NoProcessor]);
    assert_eq!(kinds_of(&busy(turns(), 0, 2)), [CauseKind::Imbalance]);
    let both = kinds_of(&busy(uneven(), 80, 2));
    assert_eq!(both, [CauseKind::NoProcessor, CauseKind::Imbalance]);
    assert_eq!(
        kinds_of(&busy(turns(), 80, 1)),
        [CauseKind::Oversubscription]
    );
    // Two threads that wait by yielding are always ready, and other programs run now and then.
    assert_eq!(
        kinds_of(&busy(turns(), 84, 1)),
        [CauseKind::Oversubscription]
    );
    assert_eq!(kinds_of(&busy(turns(), 110, 1)), [CauseKind::NoProcessor]);
    let mut bound = busy(turns(), 80, 1);
    bound.run.settings = [("OMP_PLACES".to_owned(), "{0}".to_owned())].into();
    assert_eq!(kinds_of(&bound), [CauseKind::Affinity]);
}

/// The thread that writes the profile sleeps until then.
#[test]
fn threads_of_no_team_need_no_processor() {
    let even = team(&[Kind::Loop], vec![loop_of(1, [[80, 0], [80, 0]])]);
    let mut busy = busy(even, 80, 2);
    busy.run.scheduling.as_mut().unwrap().threads = 3;
    assert_eq!(found(&busy), [(CauseKind::NoProcessor, None, 40)]);
}

/// Two threads share a processor, and spend half of their time before a critical section. Whoever waits
/// for long sleeps meanwhile, and the other one computes. Whoever enters often keeps the processor.
#[test]
fn a_critical_section_that_is_free_costs_time_on_a_shared_processor() {
    let entering = |entries: u64| {
        let member = |thread| {
            times(thread, Main, entries, 80)
                .with(Enter, times(thread, Main, entries, 40).main)
                .with(Body, times(thread, Main, entries, 40).main)
        };
        let critical = node(Some(0), 1, Body, vec![member(1), member(2)]);
        found(&busy(team(&[Kind::Critical], vec![critical]), 80, 1))
    };
    // 80 s of waits of 40 us and of 200 ns, in a run of 100 s that had a processor for 80 s.
    let critical = |seconds| vec![(CauseKind::Critical, Some(1), seconds)];
    assert_eq!(entering(1_000_000), critical(20));
    assert_eq!(entering(200_000_000), critical(40));
}

/// The same run with all times divided by 1000.
fn shorter(mut profile: Profile) -> Profile {
    for row in profile.nodes.iter_mut().flat_map(|node| &mut node.rows) {
        for part in PseudoRegion::ALL {
            row.span_mut(part).ns /= 1000;
        }
    }
    profile.run.duration_ns /= 1000;
    if let Some(scheduling) = &mut profile.run.scheduling {
        let Scheduling {
            run_ns,
            ready_ns,
            most_ready_ns,
            first_run_ns,
            first_ready_ns,
            ..
        } = scheduling;
        for ns in [
            run_ns,
            ready_ns,
            most_ready_ns,
            first_run_ns,
            first_ready_ns,
        ] {
            *ns /= 1000;
        }
    }
    profile
}

#[test]
fn threads_that_take_turns_on_a_processor_differ_by_some_turns() {
    // Threads had 45 and 40 seconds of work. Their turns do not explain that difference, but
    // they do in a run of a thousandth of the time.
    let turns = || team(&[Kind::Loop], vec![loop_of(1, [[45, 35], [40, 40]])]);
    let long = kinds_of(&busy(turns(), 80, 1));
    assert!(long.contains(&CauseKind::Imbalance), "{long:?}");
    let short = kinds_of(&shorter(busy(turns(), 80, 1)));
    assert_eq!(short, [CauseKind::Oversubscription]);
}

#[test]
fn who_asks_for_too_many_threads_is_named() {
    let remedy = |name: &str, value: &str| {
        let turns = team(&[Kind::Loop], vec![loop_of(1, [[40, 40], [40, 40]])]);
        let mut profile = busy(turns, 80, 1);
        profile.run.settings = [(name.to_owned(), value.to_owned())].into();
        causes(&profile).remove(0).remedy
    };
    assert!(remedy("OMP_NUM_THREADS", "2,1").contains("lower OMP_NUM_THREADS"));
    assert!(remedy("OMP_NUM_THREADS", "1").contains("the program asks for more"));
    assert!(remedy("OMP_WAIT_POLICY", " ACTIVE").contains("OMP_WAIT_POLICY=passive"));
    assert!(!remedy("OMP_WAIT_POLICY", "passive").contains("WAIT_POLICY"));
}

#[test]
fn processors_that_were_busy_bound_what_can_be_won() {
    let won = |system: u64, ready: u64| -> u64 {
        let profile = team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
        let mut profile = busy(profile, 60, 1);
        profile.run.system_ns = system * SECOND;
        profile.run.scheduling.as_mut().unwrap().ready_ns = ready * SECOND;
        let waits = found(&profile).into_iter();
        let waits = waits.filter(|it| it.0 == CauseKind::Imbalance);
        waits.map(|it| it.2).sum()
    };
    // One processor ran for all of the 100 s. The part of them that was spent on yielding can
    // be won.
    assert_eq!((won(0, 60), won(15, 60)), (0, 15));
    // Threads slept while they waited: the system time was spent for the program.
    assert_eq!(won(15, 20), 0);
}

#[test]
fn waits_that_no_change_wins_on_shared_processors_are_explained() {
    let said = |processors| {
        let uneven = team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
        let lines = Report::new(&busy(uneven, 60, processors)).summary.lines;
        lines.concat().contains("next to nothing can be won")
    };
    assert_eq!((said(1), said(2)), (true, false));
}

#[test]
fn a_short_wait_of_uneven_work_is_not_doubted_where_threads_took_turns() {
    // One thread worked 22 s less on the shared processor. Of 3 s without work, it was awake for 2.
    let mut profile = team(&[Kind::Loop], vec![loop_of(1, [[46, 0], [24, 22]])]);
    profile.run.system_ns = 3 * SECOND;
    let won = found(&busy(profile, 60, 1));
    assert_eq!(won, [(CauseKind::Imbalance, Some(1), 2)]);
}

#[test]
fn a_short_wait_is_doubted_where_threads_had_no_processor_for_as_long() {
    // 2 of 100 s can be won, 4 s are lost.
    let uneven = || team(&[Kind::Loop], vec![loop_of(1, [[6, 0], [2, 4]])]);
    assert_eq!(
        found(&busy(uneven(), 3, 2)),
        [(CauseKind::Imbalance, Some(1), 2)]
    );
    assert_eq!(found(&busy(uneven(), 4, 2)), []);
    // 10 s can be won.
    let much = || team(&[Kind::Loop], vec![loop_of(1, [[50, 0], [30, 20]])]);
    assert_eq!(
        found(&busy(much(), 4, 2)),
        [(CauseKind::Imbalance, Some(1), 10)]
    );
}

#[test]
fn work_that_is_almost_even_is_no_cause() {
    let kinds = |most, least| -> Vec<CauseKind> {
        let rows = [[most, 0], [least, most - least]];
        kinds_of(&team(&[Kind::Loop], vec![loop_of(1, rows)]))
    };
    // Two processors with different distances to memory may differ by as much.
    assert_eq!(kinds(80, 72), []);
    assert_eq!(kinds(80, 68), [CauseKind::Imbalance]);
}

#[test]
fn threads_without_a_processor_are_late_however_little_they_work() {
    let short = || team(&[Kind::Loop], vec![loop_of(1, [[2, 78], [2, 78]])]);
    let kinds = |processors| -> Vec<CauseKind> { kinds_of(&busy(short(), 79, processors)) };
    assert_eq!(kinds(1), [CauseKind::Oversubscription]);
    assert_eq!(kinds(2), [CauseKind::NoProcessor]);
}

#[test]
fn a_holder_without_a_processor_keeps_others_waiting() {
    let queue = node(Some(0), 1, Body, vec![row(1, &[(Main, 60), (Enter, 60)])]);
    let profile = team(&[Kind::Critical], vec![queue]);
    let quiet = [(CauseKind::Critical, Some(1), 30)];
    assert_eq!(found(&profile), quiet);
    // Threads had a processor half of the time.
    let found = found(&busy(profile, 80, 2));
    assert_eq!(found[0].0, CauseKind::NoProcessor);
    assert_eq!(found[1..], [(CauseKind::Critical, Some(1), 15)]);
}

#[test]
fn turns_cost_no_more_than_the_time_in_ordered_regions() {
    let kinds = |inside: u64| -> Vec<CauseKind> {
        let waited = [(Main, 60), (Enter, 60 - inside), (Body, inside)];
        let queue = node(Some(0), 1, Body, vec![row(1, &waited), row(2, &waited)]);
        let profile = busy(team(&[Kind::Ordered], vec![queue]), 80, 2);
        kinds_of(&profile)
    };
    assert_eq!(kinds(0), [CauseKind::NoProcessor]);
    assert_eq!(kinds(30), [CauseKind::NoProcessor, CauseKind::Ordered]);
}

/// Four threads on two processors. Fewer threads win what is left when the work of one thread is shared
/// out.
#[test]
fn what_one_thread_does_alone_is_shared_by_no_more_threads_than_processors() {
    let threads: &[&[u32]] = &[&[0], &[0, 0], &[0, 1], &[0, 2], &[0, 3]];
    let mut profile = run(&[Kind::Parallel, Kind::Single], threads);
    let members = (1..5).map(|thread| row(thread, &[(Main, 80), (Body, 80)]));
    let team = [row(0, &[(Seq, 80)])].into_iter().chain(members);
    let others = (2..5).map(|thread| row(thread, &[(Main, 40), (Ibarr, 40)]));
    let single = [row(1, &[(Main, 40), (Body, 40)])]
        .into_iter()
        .chain(others);
    profile.nodes = vec![
        node(None, 0, Body, team.collect()),
        node(Some(0), 1, Body, single.collect()),
    ];
    profile.run.max_threads = 4;
    profile.run.processors = 2;
    // In the other 40 s of the region all four threads worked, and had a processor half of the time.
    profile.run.scheduling = Some(Scheduling {
        threads: 4,
        run_ns: 140 * SECOND,
        ready_ns: 80 * SECOND,
        most_ready_ns: 20 * SECOND,
        first_run_ns: 80 * SECOND,
        first_ready_ns: 20 * SECOND,
        processors: 2,
    });
    // 30 s can be won, 8 of them in the serial part.
    let crowded = [
        (CauseKind::Single, Some(1), 20),
        (CauseKind::Oversubscription, None, 2),
    ];
    assert_eq!(found(&profile), crowded);
}

/// Two threads on one processor.
#[test]
fn a_turn_that_lasts_as_long_as_a_thread_keeps_its_processor_is_a_wait_for_one() {
    let kinds = |count: u64| -> Vec<CauseKind> {
        let waits = |thread| {
            let ns = 60 * SECOND;
            times(thread, Main, count, 60).with(Enter, Span { count, ns })
        };
        let queue = node(Some(0), 1, Body, vec![waits(1), waits(2)]);
        kinds_of(&busy(team(&[Kind::Ordered], vec![queue]), 80, 1))
    };
    assert_eq!(kinds(10_000), [CauseKind::Oversubscription]);
    assert!(kinds(100_000_000).contains(&CauseKind::Ordered));
}

#[test]
fn a_run_that_hardly_had_a_processor_is_not_judged() {
    let kinds = |ready: u64| -> Vec<CauseKind> {
        let waits = row(1, &[(Main, 80), (Body, 1), (Ibarr, 79)]);
        let others = row(2, &[(Main, 80), (Ibarr, 80)]);
        let single = node(Some(0), 1, Body, vec![waits, others]);
        let executed = node(Some(1), 3, Ibarr, vec![row(1, &[(Main, 79)])]);
        let tasks = [Kind::Single, Kind::Task, Kind::TaskExec];
        kinds_of(&busy(team(&tasks, vec![single, executed]), ready, 2))
    };
    assert_eq!(kinds(0), [CauseKind::TooFewTasks]);
    assert_eq!(kinds(145), [CauseKind::NoProcessor]);
}

#[test]
fn what_one_thread_at_a_time_may_do_stays_a_cause_where_threads_hardly_had_a_processor() {
    let found = |kind: Kind, part| {
        let queue = node(Some(0), 1, Body, vec![row(1, &[(Main, 60), (part, 60)])]);
        kinds_of(&busy(team(&[kind], vec![queue]), 120, 2))
    };
    let critical = [CauseKind::NoProcessor, CauseKind::Critical];
    assert_eq!(found(Kind::Critical, Enter), critical);
    // A wait may be for a thread without a processor.
    assert_eq!(found(Kind::Taskwait, Main), [CauseKind::NoProcessor]);
}

#[test]
fn threads_that_sleep_are_judged_though_they_waited_longer_for_a_processor_than_they_ran() {
    let mut profile = busy(
        team(&[Kind::Loop], vec![loop_of(1, [[70, 0], [10, 60]])]),
        2,
        2,
    );
    let scheduling = profile.run.scheduling.as_mut().unwrap();
    (scheduling.run_ns, scheduling.first_run_ns) = (SECOND, SECOND);
    assert_eq!(kinds_of(&profile), [CauseKind::Imbalance]);
    // They waited for 5 % of the run, which is not said first where 30 % can be won.
    profile.run.scheduling.as_mut().unwrap().ready_ns = 5 * SECOND;
    let first = kinds_of(&profile).first().copied();
    assert_eq!(first, Some(CauseKind::Imbalance));
}

/// Both threads lacked a processor. Work that differs by more than this explains has a reason of its own.
#[test]
fn work_that_differs_stays_a_cause_on_a_busy_machine() {
    let kinds = |least: u64, most_ready: u64| -> Vec<CauseKind> {
        let uneven = loop_of(1, [[60, 0], [least, 60 - least]]);
        let mut profile = busy(team(&[Kind::Loop], vec![uneven]), 100, 2);
        profile.run.scheduling.as_mut().unwrap().most_ready_ns = most_ready * SECOND;
        kinds_of(&profile)
    };
    let both = [CauseKind::NoProcessor, CauseKind::Imbalance];
    assert_eq!(kinds(20, 50), both);
    assert_eq!(kinds(50, 50), [CauseKind::NoProcessor]);
    // One thread ran for 5 s, the other for 55.
    assert_eq!(kinds(20, 75), [CauseKind::NoProcessor]);
}

/// A thread that waits until a critical section is free does not need the processor that it lacks.
#[test]
fn a_critical_section_that_is_mostly_taken_wins_as_much_as_a_quiet_machine() {
    let won = |waited: u64| -> Vec<u64> {
        let queue = row(1, &[(Main, 60), (Enter, 60)]);
        let queue = node(Some(0), 1, Body, vec![queue]);
        let mut profile = busy(team(&[Kind::Critical], vec![queue]), 120, 2);
        profile.contention = vec![Contention {
            kind: GuardKind::Critical,
            name: String::new(),
            members: 1,
            sites: vec![ContentionSite {
                region: 1,
                acquisitions: 2,
                waited,
                wait_ns: 60 * SECOND,
                max_wait_ns: 0,
                hold_ns: SECOND,
                holders: Vec::new(),
            }],
        }];
        let list = causes(&profile);
        let critical = list.iter().filter(|it| it.kind == CauseKind::Critical);
        critical.map(|it| it.likely.ns / SECOND).collect()
    };
    assert_eq!(won(1), [30]);
    assert_eq!(won(0), [7]);
}

/// With LLVM's runtime, threads wait by yielding. If they hardly run, they mostly wait for each other.
#[test]
fn threads_that_hardly_run_may_be_too_many() {
    let kinds = |ready: u64, processors: u32| -> Vec<CauseKind> {
        let mut turns = team(&[Kind::Loop], vec![loop_of(1, [[40, 40], [40, 40]])]);
        // Without a serial part.
        turns.run.duration_ns = 80 * SECOND;
        kinds_of(&busy(turns, ready, processors))
    };
    let both = [CauseKind::NoProcessor, CauseKind::Oversubscription];
    assert_eq!(kinds(150, 1), both);
    assert_eq!(kinds(110, 1), [CauseKind::NoProcessor]);
    assert_eq!(kinds(150, 2), [CauseKind::NoProcessor]);
}

/// Two threads shared a processor with other programs, so not all that each cause wins alone can be won.
#[test]
fn a_busy_machine_leaves_the_program_its_part_of_what_can_be_won() {
    let waited = [(Main, 70), (Enter, 40), (Body, 30)];
    let queue = node(Some(0), 1, Body, vec![row(1, &waited), row(2, &waited)]);
    let profile = busy(team(&[Kind::Critical], vec![queue]), 110, 1);
    let found = found(&profile);
    let kinds: Vec<CauseKind> = found.iter().map(|it| it.0).collect();
    assert_eq!(
        kinds,
        [CauseKind::NoProcessor, CauseKind::Critical],
        "{found:?}"
    );
}

#[test]
fn a_thread_outside_of_all_teams_waits_for_no_lock() {
    let with = |around: Option<usize>, threads: &[&[u32]]| {
        let mut profile = team(&[Kind::Critical], Vec::new());
        profile.threads = run(&[], threads).threads;
        let thread = if around.is_some() { 1 } else { 0 };
        let waits = row(thread, &[(Main, 15), (Enter, 14), (Body, 1)]);
        profile.nodes.push(node(around, 1, Body, vec![waits]));
        let kinds = found(&profile).into_iter().map(|it| it.0);
        kinds.filter(|kind| *kind == CauseKind::Critical).count()
    };
    let one: &[&[u32]] = &[&[0], &[0, 0], &[0, 1]];
    assert_eq!(with(None, one), 0);
    assert_eq!(with(Some(0), one), 1);
    // Another initial thread may hold it.
    assert_eq!(with(None, &[&[0], &[0, 0], &[0, 1], &[1]]), 1);
}
