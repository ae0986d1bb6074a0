//! Losses in runs with more threads than processors, on small runs whose win is computed by hand.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;
mod team;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{CauseKind, Report};
use profile::model::{Profile, Row, Scheduling, Span};
use profile::region_kind::{PseudoRegion, RegionKind};
use team::{busy, causes, found, kinds_of, loop_of, single_with_taskloop, span_of, team, times};

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

/// A million instances of so many nanoseconds each.
fn a_million(each_ns: u64) -> Span {
    const TIMES: u64 = 1_000_000;
    Span {
        count: TIMES,
        ns: TIMES * each_ns,
    }
}

/// A million teams of four that thread 0 forks, each for 80 us, in which the threads 1 to 4 work for so many
/// nanoseconds.
fn teams_of_four(work_ns: u64) -> Vec<Row> {
    let member = |thread| {
        let all = Row::of(thread)
            .with(Main, a_million(80_000))
            .with(Enter, a_million(50_000));
        all.with(Body, a_million(work_ns))
            .with(Ibarr, a_million(30_000 - work_ns))
    };
    let mut rows = vec![Row::of(0).with(Seq, a_million(80_000))];
    rows.extend((1..5).map(member));
    rows
}

/// A region that is worth a team, but not one with more threads than processors.
#[test]
fn teams_with_more_threads_than_processors_are_too_large() {
    let repeated = |work_ns: u64, processors: u32| {
        let mut profile = run(
            &[Kind::Parallel],
            &[&[0], &[0, 0], &[0, 1], &[0, 2], &[0, 3]],
        );
        profile.nodes = vec![node(None, 0, Body, teams_of_four(work_ns))];
        profile.run.processors = processors;
        found(&profile).first().map(|it| it.0)
    };
    assert_eq!(repeated(20_000, 2), Some(CauseKind::Oversubscription));
    assert_eq!(repeated(20_000, 4), Some(CauseKind::SmallRegions));
    assert_eq!(repeated(1_000, 2), Some(CauseKind::SmallRegions));
}

/// A region that is executed by a team of four, and by each member of another team alone, since regions do not
/// nest. A thread that is alone in an inner team is none more.
#[test]
fn threads_alone_in_inner_teams_are_no_further_threads() {
    let members: [&[u32]; 4] = [&[0, 0], &[0, 1], &[0, 2], &[0, 3]];
    let alone: [&[u32]; 4] = [&[0, 0, 0], &[0, 1, 0], &[0, 2, 0], &[0, 3, 0]];
    let mut paths: Vec<&[u32]> = vec![&[0]];
    paths.extend(members.iter().chain(&alone));
    let mut profile = run(&[Kind::Parallel, Kind::Parallel], &paths);
    let around = |thread| row(thread, &[(Main, 20), (Body, 20)]);
    let mut outer = vec![row(0, &[(Seq, 20)])];
    outer.extend((1..5).map(around));
    let each = a_million(10_000);
    let forks = (1..5).map(|thread| Row::of(thread).with(Seq, each));
    let alone = (5..9).map(|thread| Row::of(thread).with(Main, each).with(Body, each));
    profile.nodes = vec![
        node(None, 1, Body, teams_of_four(20_000)),
        node(None, 0, Body, outer),
        node(Some(1), 1, Body, forks.chain(alone).collect()),
    ];
    profile.run.processors = 2;
    let first = causes(&profile).remove(0);
    assert_eq!(first.kind, CauseKind::Oversubscription);
    assert!(
        first.what.starts_with("4 threads shared 2 processors"),
        "{}",
        first.what
    );
    assert!(first.remedy.contains("no more threads than processors"));
    assert!(!first.remedy.contains("nest"), "{}", first.remedy);
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
            let span = |seconds| span_of(1_000_000, seconds);
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
        ..Scheduling::default()
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

/// Two threads share a processor that is busy all the time, for two fifths of it with atomic updates. These can
/// be won, but not by fewer threads.
#[test]
fn fewer_threads_win_nothing_of_what_keeps_a_processor_busy() {
    let update = |thread| times(thread, Main, 1_000_000_000, 20);
    let updates = node(Some(1), 2, Body, vec![update(1), update(2)]);
    let even = loop_of(1, [[40, 40], [40, 40]]);
    let profile = team(&[Kind::Loop, Kind::Atomic], vec![even, updates]);
    let found = found(&busy(profile, 60, 1));
    assert_eq!(found, [(CauseKind::Atomic, Some(2), 20)]);
}

/// Two threads of the program start a team of two each, on two processors.
#[test]
fn teams_of_several_threads_of_the_program_are_too_many_together() {
    let threads: &[&[u32]] = &[&[0], &[1], &[0, 0], &[0, 1], &[1, 0], &[1, 1]];
    let mut profile = run(&[Kind::Parallel], threads);
    let member = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    let mut rows: Vec<Row> = [0, 1].map(|thread| row(thread, &[(Seq, 80)])).into();
    rows.extend((2..6).map(member));
    profile.nodes = vec![node(None, 0, Body, rows)];
    profile.run.max_threads = 4;
    let settings = [("OMP_NUM_THREADS".to_owned(), "2".to_owned())];
    profile.run.settings = settings.into();
    profile.run.processors = 2;
    // Each thread had a processor half of the time, and one of them hardly any wait.
    profile.run.scheduling = Some(Scheduling {
        threads: 4,
        run_ns: 160 * SECOND,
        ready_ns: 160 * SECOND,
        most_ready_ns: 60 * SECOND,
        processors: 2,
        ..Scheduling::default()
    });
    let waits = [(2, 40), (3, 0), (4, 40), (5, 0)];
    for (row, (_, wait)) in profile.nodes[0].rows[2..].iter_mut().zip(waits) {
        *row = row.clone().with(Ibarr, span_of(1, wait));
    }
    let list = causes(&profile);
    let crowded = list
        .iter()
        .find(|it| it.kind == CauseKind::Oversubscription);
    let first = crowded.unwrap_or_else(|| panic!("{list:?}"));
    let said = "2 threads of the program start teams of their own";
    assert!(first.remedy.contains(said), "{first:?}");
}
