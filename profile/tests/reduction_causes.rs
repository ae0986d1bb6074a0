//! Loops whose threads combine large parts of a reduction, on a small run whose win is computed by
//! hand: 100 s with two threads, of which 80 s are in a loop.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{Cause, CauseKind, Report};
use profile::model::{Scheduling, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use PseudoRegion::{Body, Ibarr, Main, Seq};

/// The causes of a loop of 80 s. One thread takes `combined` seconds for its parts, and the other,
/// which comes after it, twice as long. Meanwhile the first waits for so many seconds.
fn causes(combined: u64, waits: u64) -> Vec<Cause> {
    causes_on(0, combined, waits)
}

/// As `causes`, on so many processors, one of which runs a thread all the time.
fn causes_on(processors: u32, combined: u64, waits: u64) -> Vec<Cause> {
    let mut profile = run(
        &[RegionKind::Parallel, RegionKind::Loop],
        &[&[0], &[0, 0], &[0, 1]],
    );
    let member = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    let part = |seconds: u64| Span {
        count: 1000,
        ns: seconds * SECOND,
    };
    let first = row(1, &[(Main, 80), (Body, 80 - waits), (Ibarr, waits)]);
    let second = row(2, &[(Main, 80), (Body, 80)]);
    let rows = vec![row(0, &[(Seq, 80)]), member(1), member(2)];
    let of_loop = vec![
        first.with_reduction(part(combined)),
        second.with_reduction(part(2 * combined)),
    ];
    profile.nodes = vec![node(None, 0, Body, rows), node(Some(0), 1, Body, of_loop)];
    profile.run.processors = processors;
    profile.run.scheduling = (processors > 0).then_some(Scheduling {
        threads: 2,
        run_ns: 100 * SECOND,
        processors,
        ..Scheduling::default()
    });
    let mut causes = Report::new(&profile).causes.list;
    causes.retain(|cause| cause.kind != CauseKind::SerialPart);
    causes
}

#[test]
fn the_time_to_combine_parts_can_be_won_with_the_wait_for_it() {
    let causes = causes(10, 10);
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert_eq!(causes[0].kind, CauseKind::Reduction);
    assert_eq!(causes[0].place.regions, [1]);
    // Of 160 s, 10 and 20 to combine, and 10 to wait.
    assert_eq!(causes[0].lost.ns, 40 * SECOND);
    // To make a copy takes half as long as to combine it, for both threads at the same time.
    assert_eq!(causes[0].likely.ns, 25 * SECOND);
    assert!(causes[0].what.contains("2000 times"), "{}", causes[0].what);
}

#[test]
fn a_wait_that_the_parts_do_not_explain_is_uneven_work() {
    let kinds: Vec<CauseKind> = causes(10, 30).iter().map(|cause| cause.kind).collect();
    assert_eq!(kinds, [CauseKind::Reduction, CauseKind::Imbalance]);
}

/// The second part takes much longer, since the first one's elements are there already. Otherwise both threads work for
/// as long.
#[test]
fn a_part_that_takes_longer_behind_another_one_is_no_uneven_work() {
    let kinds: Vec<CauseKind> = causes(25, 30).iter().map(|cause| cause.kind).collect();
    assert_eq!(kinds, [CauseKind::Reduction]);
}

#[test]
fn parts_that_are_combined_soon_are_no_cause() {
    let kinds: Vec<CauseKind> = causes(2, 40).iter().map(|cause| cause.kind).collect();
    assert_eq!(kinds, [CauseKind::Imbalance]);
}

/// A thread that waits for the part of another one waits longer, if that one has no processor. And combining keeps
/// a processor busy as work does, but can be won.
#[test]
fn with_more_threads_than_processors_the_waits_are_longer_and_combining_can_be_won() {
    let causes = causes_on(1, 10, 30);
    let reduction = causes.first().map(|cause| (cause.kind, cause.lost.ns));
    assert_eq!(reduction, Some((CauseKind::Reduction, 60 * SECOND)));
    // A quarter of the work, and with it of the time that the processor ran, is combining.
    let won = causes[0].likely.ns as f64 / SECOND as f64;
    assert!((20.0..30.0).contains(&won), "{won}");
}
