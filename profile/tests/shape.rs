//! Small runs built by hand, one for each rule about nesting, recursion and words.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod by_hand;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{Report, Table};
use profile::columns::Quantity;
use profile::model::{Estimate, Profile, Row, Run, Runtime, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use PseudoRegion::{Body, Enter, Exit, Ibarr, Main, Seq};
use RegionKind as Kind;

/// A cell of a table in seconds.
fn cell(table: &Table, name: &str, thread: usize) -> u64 {
    let column = table
        .columns
        .iter()
        .position(|column| column.name == name)
        .unwrap();
    let (_, cells) = table.rows().find(|(of, _)| *of == thread).unwrap();
    cells[column] / SECOND
}

fn flat<'a>(report: &'a Report<'_>, region: usize) -> &'a Table {
    report
        .flat
        .iter()
        .find(|table| table.region == region)
        .unwrap()
}

#[test]
fn recursion_by_one_thread_counts_once_and_by_a_new_team_again() {
    let mut profile = run(&[Kind::User, Kind::Parallel], &[&[0], &[0, 0]]);
    profile.nodes = vec![
        node(None, 0, Body, vec![row(0, &[(Main, 90)])]),
        node(Some(0), 0, Body, vec![row(0, &[(Main, 70)])]),
        node(
            Some(1),
            1,
            Body,
            vec![row(0, &[(Seq, 60)]), row(1, &[(Main, 60), (Body, 60)])],
        ),
        node(Some(2), 0, Body, vec![row(1, &[(Main, 50)])]),
        node(Some(3), 0, Body, vec![row(1, &[(Main, 40)])]),
    ];
    let report = Report::new(&profile);
    let table = flat(&report, 0);
    assert_eq!((cell(table, "execT", 0), cell(table, "execT", 1)), (90, 50));
    let counts = table.column(Quantity::ExecCount).unwrap();
    assert_eq!(table.sum[counts], 4);
}

#[test]
fn what_runs_in_sections_is_taken_from_the_sections() {
    let kinds = [
        Kind::Parallel,
        Kind::Sections,
        Kind::Section,
        Kind::Critical,
    ];
    let mut profile = run(&kinds, &[&[0], &[0, 0]]);
    profile.nodes = vec![
        node(
            None,
            0,
            Body,
            vec![row(0, &[(Seq, 60)]), row(1, &[(Main, 60), (Body, 60)])],
        ),
        node(Some(0), 1, Body, vec![row(1, &[(Main, 50), (Ibarr, 8)])]),
        node(Some(1), 2, Body, vec![row(1, &[(Main, 40)])]),
        node(
            Some(2),
            3,
            Body,
            vec![row(1, &[(Main, 30), (Enter, 10), (Body, 20)])],
        ),
    ];
    let report = Report::new(&profile);
    let table = report
        .on_call_paths
        .tables()
        .find(|table| table.region == 1)
        .unwrap();
    let shown = ["sectT/I", "sectT/E", "exitBarT", "mgmtT"].map(|name| cell(&table, name, 1));
    assert_eq!(shown, [40, 10, 8, 2]);
}

#[test]
fn what_runs_while_waiting_is_not_taken_from_the_body() {
    let mut profile = run(&[Kind::Parallel, Kind::User], &[&[0], &[0, 0]]);
    let team = [(Main, 60), (Enter, 1), (Body, 40), (Ibarr, 18), (Exit, 1)];
    profile.nodes = vec![
        node(None, 0, Body, vec![row(0, &[(Seq, 60)]), row(1, &team)]),
        node(Some(0), 1, Body, vec![row(1, &[(Main, 5)])]),
        node(Some(0), 1, Ibarr, vec![row(1, &[(Main, 10)])]),
    ];
    let report = Report::new(&profile);
    let table = report
        .on_call_paths
        .tables()
        .find(|table| table.region == 0)
        .unwrap();
    assert_eq!(
        (cell(&table, "bodyT/I", 1), cell(&table, "bodyT/E", 1)),
        (40, 35)
    );
    let path = report
        .call_graph
        .paths
        .iter()
        .find(|path| path.region == 0)
        .unwrap();
    assert_eq!(path.times.exclusive.ns, 45 * SECOND);
}

#[test]
fn a_team_that_changes_its_size_still_adds_up_to_wall_time() {
    let mut profile = run(&[Kind::Parallel, Kind::User], &[&[0], &[0, 0], &[0, 1]]);
    // Once 20 s in both, once 40 s only in the first one.
    profile.nodes = vec![
        node(
            None,
            0,
            Body,
            vec![
                row(0, &[(Seq, 60)]),
                row(1, &[(Main, 60), (Body, 60)]),
                row(2, &[(Main, 20), (Body, 20)]),
            ],
        ),
        node(
            Some(0),
            1,
            Body,
            vec![row(1, &[(Main, 60)]), row(2, &[(Main, 20)])],
        ),
    ];
    let report = Report::new(&profile);
    assert_eq!(report.overheads.coverage.ns, 60 * SECOND);
    assert_eq!(report.overheads.regions[0].total_ns, 80 * SECOND);
    let inclusive: Vec<u64> = report
        .call_graph
        .paths
        .iter()
        .map(|path| path.times.inclusive.ns / SECOND)
        .collect();
    assert_eq!(inclusive, [60, 60]);
}

#[test]
fn nested_teams_do_not_count_twice() {
    let threads: [&[u32]; 5] = [&[0], &[0, 0], &[0, 1], &[0, 1, 0], &[0, 1, 1]];
    let mut profile = run(&[Kind::Parallel, Kind::ParallelLoop], &threads);
    let member =
        |thread, body, wait| row(thread, &[(Main, body + wait), (Body, body), (Ibarr, wait)]);
    let mut forker = member(2, 80, 0);
    *forker.span_mut(Body) = Span {
        count: 1,
        ns: 80 * SECOND,
    };
    profile.nodes = vec![
        node(
            None,
            0,
            Body,
            vec![row(0, &[(Seq, 80)]), member(1, 30, 50), forker],
        ),
        node(
            Some(0),
            1,
            Body,
            vec![row(2, &[(Seq, 60)]), member(3, 60, 0), member(4, 50, 10)],
        ),
    ];
    let report = Report::new(&profile);
    let wall = |region: usize| {
        let path = report
            .call_graph
            .paths
            .iter()
            .find(|path| path.region == region)
            .unwrap();
        (
            path.times.inclusive.ns / SECOND,
            path.times.exclusive.ns / SECOND,
        )
    };
    // The inner team takes 60 of the 160 s that the outer team has.
    assert_eq!(wall(0), (80, 50));
    assert_eq!(wall(1), (30, 30));
    let lost: Vec<(Option<usize>, u64)> = report
        .overheads
        .of_whole
        .iter()
        .map(|row| (row.region, row.overhead.ns / SECOND))
        .collect();
    assert_eq!(lost, [(Some(0), 50), (Some(1), 10)]);
}

/// Two threads in a region of this many seconds, one of which waits for `wait` seconds.
fn waits(wall: u64, wait: u64) -> Profile {
    let mut profile = run(&[Kind::Parallel], &[&[0], &[0, 0], &[0, 1]]);
    profile.nodes = vec![node(
        None,
        0,
        Body,
        vec![
            row(0, &[(Seq, wall)]),
            row(1, &[(Main, wall), (Body, wall)]),
            row(2, &[(Main, wall), (Body, wall - wait), (Ibarr, wait)]),
        ],
    )];
    profile
}

#[test]
fn the_summary_fits_the_run() {
    let mut profiles = vec![
        ("nothing known", run(&[], &[])),
        ("no team known", run(&[Kind::Critical], &[&[0]])),
        (
            "nothing reached",
            run(&[Kind::Parallel, Kind::Loop], &[&[0]]),
        ),
        ("negligible", waits(99, 1)),
        ("serial", waits(40, 1)),
        ("uneven", waits(99, 60)),
    ];
    let mut outside = waits(99, 1);
    outside.run.runtimes = vec![Runtime {
        path: "/lib/libgomp.so.1".to_owned(),
        ..Runtime::default()
    }];
    profiles.push(("negligible as far as romp run sees", outside));
    let mut dilated = waits(99, 60);
    // The calibrated cost is unrealistically large, so that a few events have the effect of
    // many.
    dilated.run.pair_cost_ps = 10_000_000_000_000;
    profiles.push(("dilated", dilated));
    profiles.push((
        "no time at all",
        Profile {
            nodes: waits(0, 0).nodes,
            ..waits(0, 0)
        },
    ));
    if let Some((_, profile)) = profiles.last_mut() {
        profile.run = Run::default();
    }
    let shown: Vec<String> = profiles
        .iter()
        .map(|(name, profile)| {
            let summary = Report::new(profile).summary;
            assert!(summary.lines.len() <= 6);
            format!(
                "# {name}\n{}\n\n{}\n",
                summary.headline,
                summary.lines.join("\n")
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// Threads that wait for a processor do not hide what measuring costs.
#[test]
fn the_cost_of_measuring_is_that_of_the_processor_time() {
    let percent = |processor_ns: u64| {
        let mut profile = run(&[Kind::Parallel, Kind::Atomic], &[&[0], &[0, 0], &[0, 1]]);
        profile.run.pair_cost_ps = 2_000_000;
        profile.run.user_ns = processor_ns;
        let member = |thread| row(thread, &[(Main, 90), (Body, 90)]);
        let many = Span {
            count: 1_000_000,
            ns: SECOND,
        };
        let events = Row::of(1).with(Main, many);
        let teams = vec![row(0, &[(Seq, 90)]), member(1), member(2)];
        profile.nodes = vec![
            node(None, 0, Body, teams),
            node(Some(0), 1, Body, vec![events]),
        ];
        Report::new(&profile).dilation.unwrap().cost.percent
    };
    let of_thread_time = percent(0);
    let ratio = percent(20 * SECOND) / of_thread_time;
    assert!(
        of_thread_time < 2.0 && ratio > 5.0,
        "{of_thread_time} {ratio}"
    );
    // Other threads of the program may have had more.
    assert!((percent(u64::MAX) - of_thread_time).abs() < 1e-9);
}

#[test]
fn what_measuring_costs_is_followed_by_what_costs_less() {
    let advice = |kind: Kind, estimate: Option<Estimate>| {
        let mut profile = run(&[Kind::Parallel, kind], &[&[0], &[0, 0], &[0, 1]]);
        profile.run.pair_cost_ps = 2_000_000;
        let member = |thread| row(thread, &[(Main, 90), (Body, 90)]);
        let many = Span {
            count: 10_000_000,
            ns: SECOND,
        };
        let events = Row::of(1).with(Main, many).with_estimate(estimate);
        let teams = vec![row(0, &[(Seq, 90)]), member(1), member(2)];
        profile.nodes = vec![
            node(None, 0, Body, teams),
            node(Some(0), 1, Body, vec![events]),
        ];
        let lines = Report::new(&profile).summary.lines;
        let measuring = lines.iter().find(|line| line.starts_with("Measuring took"));
        let (_, advice) = measuring.unwrap().split_once("are too long.").unwrap();
        advice.trim().to_owned()
    };
    let estimate = Some(Estimate {
        timed: 9_000_000,
        ..Estimate::default()
    });
    assert!(
        advice(Kind::Atomic, None)
            .starts_with("ROMP_BUDGET=none, ROMP_TRACE and ROMP_COUNTERS time")
    );
    let not_built = |group: &str| {
        format!(
            "ROMP_DISABLE={group} leaves such events out of a run, and \
             ROMP_INSTRUMENT_DISABLE={group} builds the program without their probes."
        )
    };
    assert_eq!(advice(Kind::Atomic, estimate), not_built("atomic"));
    assert!(
        advice(Kind::Task, None).starts_with("ROMP_BUDGET=none, ROMP_TRACE and ROMP_COUNTERS time")
    );
    assert_eq!(advice(Kind::Task, estimate), not_built("task"));
}
