//! The formulas of the analyses. Each is tested on a small run whose result is computed by
//! hand: 100 s with two threads, so 2 s of thread time are one percent.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod by_hand;
#[path = "analyses/sections.rs"]
mod sections;
#[path = "analyses/selection.rs"]
mod selection;
mod sums;
#[path = "analyses/tasks.rs"]
mod tasks;
#[path = "analyses/waits.rs"]
mod waits;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{Barrier, CauseKind, Pattern, Report, Selection, SelectionError};
use profile::model::{
    Arrivals, Bucket, Contention, ContentionSite, Distribution, Estimate, GuardKind, Holder,
    Profile, Row, Span,
};
use profile::region_kind::{PseudoRegion, RegionKind};
use profile::report::writer;

use PseudoRegion::{Body, Enter, Exit, Ibarr, Main, Seq};
use RegionKind as Kind;

const THREADS: &[&[u32]] = &[&[0], &[0, 0], &[0, 1]];

/// A parallel region of 80 s with one construct in it. Both members execute the construct.
fn inside(kind: Kind, rows: [Row; 2]) -> Profile {
    let mut profile = run(&[Kind::Parallel, kind], THREADS);
    let team = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    profile.nodes = vec![
        node(None, 0, Body, vec![row(0, &[(Seq, 80)]), team(1), team(2)]),
        node(Some(0), 1, Body, rows.into()),
    ];
    profile
}

/// A combined region of 80 s, forked once.
fn combined(kind: Kind, rows: [Row; 2]) -> Profile {
    let mut profile = run(&[kind], THREADS);
    let [first, second] = rows;
    profile.nodes = vec![node(
        None,
        0,
        Body,
        vec![row(0, &[(Seq, 80)]), first, second],
    )];
    profile
}

/// The properties that hold: name and severity.
fn properties(profile: &Profile) -> Vec<(&'static str, f64)> {
    let report = Report::new(profile);
    let found = report.properties.iter();
    found
        .map(|property| (property.row.name, property.severity.percent))
        .collect()
}

fn wait(kind: Kind) -> Profile {
    let [first, second] = [(1, 6), (2, 0)]
        .map(|(thread, wait)| row(thread, &[(Main, 20), (Body, 20 - wait), (Ibarr, wait)]));
    inside(kind, [first, second])
}

#[test]
fn waits_are_properties_of_their_construct() {
    for (profile, name, severity) in [
        (wait(Kind::Loop), "ImbalanceInParallelLoop", 3.0),
        (wait(Kind::Workshare), "ImbalanceInParallelWorkshare", 3.0),
        (wait(Kind::Single), "UnparallelizedInSingleRegion", 3.0),
        (wait(Kind::Barrier), "WaitAtBarrier", 20.0),
        (wait(Kind::Master), "UnparallelizedInMasterRegion", 20.0),
    ] {
        assert_eq!(properties(&profile), [(name, severity)]);
    }
    for kind in [Kind::Parallel, Kind::ParallelLoop, Kind::ParallelWorkshare] {
        let member = |thread, wait| row(thread, &[(Main, 80), (Body, 80 - wait), (Ibarr, wait)]);
        let profile = combined(kind, [member(1, 0), member(2, 40)]);
        let name = match kind {
            Kind::Parallel => "ImbalanceInParallelRegion",
            Kind::ParallelLoop => "ImbalanceInParallelLoop",
            _ => "ImbalanceInParallelWorkshare",
        };
        assert_eq!(properties(&profile), [(name, 20.0)]);
    }
}

#[test]
fn queues_are_properties_of_what_is_queued_for() {
    for (kind, name) in [
        (Kind::Critical, "CriticalSectionContention"),
        (Kind::Lock, "LockContention"),
    ] {
        let queue = |thread, wait| {
            let parts = [(Main, wait + 3), (Enter, wait), (Body, 2), (Exit, 1)];
            row(thread, &parts)
        };
        let profile = inside(kind, [queue(1, 8), queue(2, 2)]);
        assert_eq!(properties(&profile), [(name, 5.0)]);
    }
}

/// So many updates, which took 4 s together.
fn atomic(updates: u64, variable: Option<&str>) -> Profile {
    let mut each = row(1, &[(Main, 4)]);
    each.main.count = updates;
    let mut profile = inside(Kind::Atomic, [each, row(2, &[])]);
    profile.regions[1].variable = variable.map(str::to_owned);
    profile
}

#[test]
fn an_atomic_is_frequent_by_its_rate() {
    // 200 s of thread time, so 200,000 is the limit.
    let frequent = |count| properties(&atomic(count, Some("x")));
    assert_eq!(frequent(200_000), []);
    assert_eq!(frequent(200_001), [("FrequentAtomic", 2.0)]);
}

/// The function may contain the next level of a recursion, so its time is in each level.
#[test]
fn an_update_whose_expression_calls_a_function_with_constructs_loses_nothing() {
    let mut profile = atomic(10_000_000, Some("x"));
    let lost = |profile: &Profile| Report::new(profile).overheads.whole_sum.overhead.ns;
    let before = lost(&profile);
    let inner = node(Some(1), 1, Main, vec![row(1, &[(Main, 3)])]);
    profile.nodes.push(inner);
    assert_eq!(before - lost(&profile), 4_000_000_000);
}

/// What the shortest update takes is its expression's work, and so is what no wait can take.
#[test]
fn the_work_of_an_expression_is_not_lost_in_its_update() {
    let lost = |profile: &Profile| Report::new(profile).overheads.whole_sum.overhead.ns;
    let mut profile = atomic(10_000_000, Some("x"));
    let shortest = |min_ns| Distribution {
        region: 1,
        thread: Some(1),
        part: Main,
        min_ns,
        max_ns: 1000,
        histogram: Vec::new(),
    };
    for (min_ns, wait) in [(10, 400), (199, 400), (250, 150), (400, 0)] {
        profile.distributions = vec![shortest(min_ns)];
        assert_eq!(lost(&profile), wait * 10_000_000, "{min_ns}");
    }
    let slow = atomic(1000, Some("x"));
    let threads = slow.threads.len() as u64;
    assert_eq!(lost(&slow), 1000 * threads * 500);
}

/// An update that takes no longer than one without other threads loses nothing.
#[test]
fn updates_of_many_variables_that_seldom_wait_are_said_to_be_no_loss() {
    let frequent = |count| properties(&atomic(count, None));
    assert_eq!(frequent(100_000_000), []);
    assert_eq!(frequent(50_000_000), [("FrequentAtomic", 1.0)]);
    // So little work is between them, 2 ns each, that it may be none.
    let mut dense = atomic(2_000_000_000, None);
    dense.nodes[1].rows[0].main.ns = 76_000_000_000;
    assert_eq!(properties(&dense), [("FrequentAtomic", 38.0)]);
    let mut profile = atomic(4_000_000_000, None);
    profile.nodes[1].rows[0].main.ns *= 10;
    let report = Report::new(&profile);
    let mut causes = report.causes.list.iter();
    assert!(!causes.any(|cause| cause.kind == CauseKind::Atomic));
    let [note] = &report.causes.notes[..] else {
        panic!("{:?}", report.causes.notes);
    };
    assert!(
        note.ends_with("took 20 % of the thread time, in 4000000000 updates of about 10 ns. The updates that \
                        were timed seldom waited for another thread; the others may have waited. If each \
                        thread can update a copy of its own, as with a reduction over an array, up to 20.0 s \
                        can be won."),
        "{note}"
    );
}

#[test]
fn a_parallel_loop_has_little_work_if_its_team_costs_more() {
    let name = "InsufficienWorkInParallelLoop";
    let member = |thread, enter, work| {
        row(
            thread,
            &[
                (Main, enter + work + 1),
                (Enter, enter),
                (Body, work),
                (Exit, 1),
            ],
        )
    };
    let little = combined(Kind::ParallelLoop, [member(1, 3, 4), member(2, 5, 4)]);
    assert_eq!(properties(&little), [(name, 5.0)]);
    let enough = combined(Kind::ParallelLoop, [member(1, 3, 6), member(2, 5, 4)]);
    assert_eq!(properties(&enough), []);
}

#[test]
fn properties_are_ranked_and_say_where_and_what_to_try() {
    let profile = wait(Kind::Loop);
    let report = Report::new(&profile);
    assert_eq!(
        report.properties[0].sentence(),
        "For 6.00 s of thread time (3.0 %) threads waited for the thread with the longest iterations at the \
         implicit barrier of the LOOP at a.c:15 (in f); hand out its iterations in smaller parts: try \
         schedule(static,CHUNK) or schedule(guided). If there are only a few iterations, collapse the loop \
         nest, or share out an inner loop."
    );
}

/// A team whose members worked for 30 and 20 s. `unsplit` says that its barrier is not
/// separate.
fn team(kind: Kind, unsplit: bool) -> Profile {
    let member = |thread, work, exit| {
        let enter = 1;
        row(
            thread,
            &[
                (Main, enter + work + exit),
                (Enter, enter),
                (Body, work),
                (Exit, exit),
            ],
        )
    };
    let mut profile = combined(kind, [member(1, 30, 2), member(2, 20, 12)]);
    profile.regions[0].unsplit = unsplit.then(|| "it can be cancelled".to_owned());
    profile
}

#[test]
fn a_barrier_that_is_not_separate_is_estimated_from_the_last_thread() {
    let profile = team(Kind::ParallelLoop, true);
    let report = Report::new(&profile);
    let parts = report.decomposition().next().unwrap();
    assert_eq!(parts.barrier, Barrier::Estimated);
    let seconds = |thread: usize| {
        let of = &parts.threads[thread];
        [of.before_ns, of.work_ns, of.barrier_ns, of.after_ns].map(|ns| ns / SECOND)
    };
    assert_eq!([seconds(0), seconds(1)], [[1, 30, 0, 2], [1, 20, 10, 2]]);
    let imbalance = [0, 1].map(|thread| parts.threads[thread].imbalance);
    assert_eq!(imbalance, [Some(50.0), Some(0.0)]);
    assert_eq!(parts.threads[1].runtime_ns(), 3 * SECOND);
}

#[test]
fn without_a_barrier_all_of_the_exit_is_the_runtime() {
    let profile = team(Kind::ParallelLoop, false);
    let report = Report::new(&profile);
    let parts = report.decomposition().next().unwrap();
    assert_eq!(parts.barrier, Barrier::None);
    assert_eq!(parts.threads[1].after_ns, 12 * SECOND);
    assert_eq!(parts.threads[1].barrier_ns, 0);
}

#[test]
fn a_loop_that_was_not_split_shows_no_imbalance() {
    let mut profile = inside(Kind::Loop, [1, 2].map(|thread| row(thread, &[(Main, 20)])));
    profile.regions[1].unsplit = Some("a clause is unknown".to_owned());
    let report = Report::new(&profile);
    let parts = report.decomposition().find(|of| of.region == 1).unwrap();
    assert_eq!(
        (parts.barrier, parts.highest_imbalance()),
        (Barrier::Hidden, None)
    );
    profile.regions[1].unsplit = None;
    let report = Report::new(&profile);
    let parts = report.decomposition().find(|of| of.region == 1).unwrap();
    assert_eq!(
        (parts.barrier, parts.highest_imbalance()),
        (Barrier::None, Some(0.0))
    );
}

#[test]
fn a_measured_barrier_is_measured() {
    let profile = wait(Kind::Loop);
    let report = Report::new(&profile);
    let parts = report.decomposition().find(|of| of.region == 1).unwrap();
    assert_eq!(parts.barrier, Barrier::Measured);
    assert_eq!(parts.threads[0].barrier_ns, 6 * SECOND);
    assert!((parts.highest_imbalance().unwrap() - 600.0 / 14.0).abs() < 1e-9);
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn efficiency_is_balance_times_the_rest() {
    // Useful: 80 and 60 of 80 s each.
    let member = |thread, wait| row(thread, &[(Main, 80), (Body, 80 - wait), (Ibarr, wait)]);
    let profile = combined(Kind::ParallelLoop, [member(1, 0), member(2, 20)]);
    let report = Report::new(&profile);
    let (_, region) = report.efficiency.regions[0];
    assert!(close(region.total, 140.0 / 160.0), "{region:?}");
    assert!(close(region.load_balance, 70.0 / 80.0), "{region:?}");
    assert!(close(region.rest, 1.0), "{region:?}");
    // The program: 20 s serial, so 100 and 60 useful of 100 each.
    let program = report.efficiency.program.unwrap();
    assert!(close(program.total, 160.0 / 200.0), "{program:?}");
    assert!(close(program.load_balance, 80.0 / 100.0), "{program:?}");
    assert!(close(program.rest, 1.0), "{program:?}");
}

#[test]
fn what_threads_lose_in_turns_is_the_rest() {
    let member = |thread| row(thread, &[(Main, 80), (Body, 60), (Ibarr, 20)]);
    let profile = combined(Kind::ParallelLoop, [member(1), member(2)]);
    let report = Report::new(&profile);
    let (_, region) = report.efficiency.regions[0];
    assert!(
        close(region.load_balance, 1.0) && close(region.rest, 0.75),
        "{region:?}"
    );
}

#[test]
fn each_level_of_nesting_has_its_efficiency() {
    let paths: &[&[u32]] = &[&[0], &[0, 0], &[0, 1], &[0, 0, 0], &[0, 0, 1]];
    let mut profile = run(&[Kind::Parallel, Kind::Parallel], paths);
    let member =
        |thread, time, wait| row(thread, &[(Main, time), (Body, time - wait), (Ibarr, wait)]);
    let mut forker = member(1, 80, 0);
    forker.thread = 1;
    profile.nodes = vec![
        node(
            None,
            0,
            Body,
            vec![row(0, &[(Seq, 80)]), forker, member(2, 80, 40)],
        ),
        node(
            Some(0),
            1,
            Body,
            vec![row(1, &[(Seq, 50)]), member(3, 50, 0), member(4, 50, 25)],
        ),
    ];
    profile.run.max_threads = 3;
    let report = Report::new(&profile);
    let levels = &report.efficiency.levels;
    assert_eq!(levels.len(), 2);
    // Without the 50 seconds for which a thread had forked the inner team.
    assert!(close(levels[0].total, 70.0 / 110.0), "{levels:?}");
    assert!(close(levels[1].total, 75.0 / 100.0), "{levels:?}");
    // Thread 0: 20 serial, 30 in the outer team, 50 in the inner; then 40 and 25.
    let program = report.efficiency.program.unwrap();
    assert_eq!(program.useful_ns, 165 * SECOND);
    assert!(close(program.load_balance, 55.0 / 100.0), "{program:?}");
}

#[test]
fn events_cost_what_they_were_calibrated_to() {
    let mut profile = wait(Kind::Loop);
    assert!(Report::new(&profile).dilation.is_none());
    profile.run.pair_cost_ps = 1_000_000_000;
    let report = Report::new(&profile);
    let dilation = report.dilation.as_ref().unwrap();
    // The fork, two bodies; and for each thread the loop and its barrier: 3 + 4.
    assert_eq!(dilation.pairs, 7);
    // Two members wait for the fork and the join, which take 2.5 times as long as their pair of events.
    assert_eq!(dilation.waited_ns, 4_000_000);
    assert_eq!(dilation.cost.ns, 11_000_000);
}

#[test]
fn waits_that_work_does_not_explain_are_not_blamed_on_it() {
    let member = |thread, work, wait| {
        row(
            thread,
            &[
                (Main, 80),
                (Enter, 80 - work - wait),
                (Body, work),
                (Ibarr, wait),
            ],
        )
    };
    let sentence = |profile: &Profile| {
        let report = Report::new(profile);
        let named = |name: &str| {
            let found = report.properties.iter();
            let mut found = found.filter(|property| property.row.name == name);
            found.next().unwrap().sentence()
        };
        named("ImbalanceInParallelLoop")
    };
    let little = combined(Kind::ParallelLoop, [member(1, 1, 5), member(2, 2, 0)]);
    assert!(sentence(&little).contains("no more threads than processors"));
    // One thread may have waited for all of the other one's work.
    let enough = combined(Kind::ParallelLoop, [member(1, 0, 5), member(2, 5, 0)]);
    assert!(sentence(&enough).contains("schedule(static,CHUNK)"));
}

/// One thread takes this many seconds to create so many tasks, the other one executes them.
fn tasks(number: u64, creation: u64, work: u64) -> Profile {
    let all = |ns| Span {
        count: number,
        ns: ns * SECOND,
    };
    let mut profile = run(&[Kind::Parallel, Kind::Task, Kind::TaskExec], THREADS);
    let team = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    profile.nodes = vec![
        node(None, 0, Body, vec![row(0, &[(Seq, 80)]), team(1), team(2)]),
        node(Some(0), 1, Body, vec![Row::of(1).with(Main, all(creation))]),
        node(Some(0), 2, Ibarr, vec![Row::of(2).with(Main, all(work))]),
    ];
    profile
}

#[test]
fn tasks_are_too_small_if_their_creation_takes_more_than_half_their_work() {
    const MANY: u64 = 10_000_000;
    let profile = tasks(MANY, 30, 50);
    let report = Report::new(&profile);
    let small = report
        .properties
        .iter()
        .find(|p| p.row.name == "TasksTooSmall");
    let small = small.unwrap();
    assert_eq!((small.region, small.severity.ns), (1, 30 * SECOND));
    assert!(
        report
            .summary
            .headline
            .starts_with("Most to win: 15.0 s of 100 s (15 %), in the tasks of the TASK at a.c:15"),
        "{}",
        report.summary.headline
    );
    // Nor is a task of a hundred microseconds too small, however long its creation seems to take.
    for profile in [tasks(MANY, 24, 50), tasks(MANY / 20, 45, 50)] {
        let report = Report::new(&profile);
        assert!(
            report
                .properties
                .iter()
                .all(|p| p.row.name != "TasksTooSmall")
        );
    }
}

#[test]
fn a_wait_for_what_the_master_does_is_blamed_on_that() {
    let lines = |master: u64, wait: u64| {
        let mut profile = inside(
            Kind::Barrier,
            [row(1, &[(Main, 0)]), row(2, &[(Main, wait)])],
        );
        profile.regions.push(profile.regions[0].clone());
        profile.regions[2].kind = Kind::Master;
        let done = row(1, &[(Main, master)]);
        profile.nodes.push(node(Some(0), 2, Body, vec![done]));
        Report::new(&profile).summary.lines.join("\n")
    };
    assert!(lines(30, 30).contains("one thread executed the MASTER"));
    assert!(!lines(1, 30).contains("MASTER"));
}

#[test]
fn more_threads_than_processors_are_said() {
    let said = |processors: u32, wait: u64| {
        let mut profile = inside(
            Kind::Barrier,
            [row(1, &[(Main, 0)]), row(2, &[(Main, wait)])],
        );
        profile.run.processors = processors;
        let summary = Report::new(&profile).summary;
        let words = "2 threads shared 1 processor";
        assert_eq!(
            summary.headline.contains(words),
            summary.lines.join("\n").contains(words)
        );
        summary.headline.contains(words)
    };
    assert!(said(1, 60));
    assert!(!said(1, 1) && !said(2, 60) && !said(0, 60));
}
