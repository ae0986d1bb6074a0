//! Loops whose threads spend their time getting the next chunk, on a small run whose win is
//! computed by hand: 100 s with two threads, of which 80 s are in a loop.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{CauseKind, Report};
use profile::model::{Profile, Scheduling, Serial, Span};
use profile::region_kind::{PseudoRegion, RegionKind};

use PseudoRegion::{Body, Main, Seq};

/// A loop of 80 s in which each thread made `count` requests for chunks, which took `seconds`
/// seconds.
fn asking(count: u64, seconds: u64) -> Profile {
    let mut profile = run(
        &[RegionKind::Parallel, RegionKind::Loop],
        &[&[0], &[0, 0], &[0, 1]],
    );
    profile.regions[1].schedule = Some("dynamic".to_owned());
    let member = |thread| row(thread, &[(Main, 80), (Body, 80)]);
    let requests = Span {
        count,
        ns: seconds * SECOND,
    };
    let shared = |thread| row(thread, &[(Main, 80), (Body, 80)]).with_chunk_requests(requests);
    let rows = vec![row(0, &[(Seq, 80)]), member(1), member(2)];
    profile.nodes = vec![
        node(None, 0, Body, rows),
        node(Some(0), 1, Body, vec![shared(1), shared(2)]),
    ];
    profile
}

#[test]
fn time_in_requests_for_chunks_can_be_won() {
    let profile = asking(1_000_000_000, 60);
    let report = Report::new(&profile);
    let causes = &report.causes.list;
    let cause = causes.iter().find(|it| it.kind == CauseKind::SmallChunks);
    let cause = cause.unwrap();
    assert_eq!(cause.place.regions, [1]);
    assert_eq!(
        (cause.likely.ns, cause.lost.ns),
        (60 * SECOND, 120 * SECOND)
    );
    assert!(cause.is_estimated);
    assert!(
        cause.what.contains("75 %") && cause.what.contains("60 ns"),
        "{}",
        cause.what
    );
    assert_eq!(report.causes.notes, Vec::<String>::new());
    let said = report.summary.lines.join(" ");
    assert!(!said.contains("negligible"), "{said}");
}

#[test]
fn time_in_requests_is_time_of_processors_that_can_be_won() {
    let mut profile = asking(1_000_000_000, 60);
    profile.run.processors = 1;
    profile.run.scheduling = Some(Scheduling {
        threads: 2,
        run_ns: 100 * SECOND,
        ready_ns: 60 * SECOND,
        processors: 1,
        ..Scheduling::default()
    });
    let causes = Report::new(&profile).causes.list;
    let cause = causes.iter().find(|it| it.kind == CauseKind::SmallChunks);
    assert_eq!(cause.unwrap().likely.ns, 60 * SECOND);
}

#[test]
fn short_or_few_requests_are_no_cause() {
    for profile in [asking(1_000_000_000, 7), asking(400, 60)] {
        let report = Report::new(&profile);
        let kinds: Vec<_> = report.causes.list.iter().map(|it| it.kind).collect();
        assert!(!kinds.contains(&CauseKind::SmallChunks), "{kinds:?}");
    }
}

#[test]
fn chunks_are_larger_but_still_several_for_each_thread() {
    let remedy_in = |executions: u64, schedule: &str, requests: u64, setting: &str| {
        let mut profile = asking(requests, 60);
        for row in &mut profile.nodes[1].rows {
            row.main.count = executions;
        }
        profile.regions[1].schedule = Some(schedule.to_owned());
        let setting = ("OMP_SCHEDULE".to_owned(), setting.to_owned());
        profile.run.settings = [setting].into();
        let causes = Report::new(&profile).causes.list;
        let mut causes = causes.into_iter();
        let cause = causes.find(|it| it.kind == CauseKind::SmallChunks);
        cause.unwrap().remedy
    };
    let remedy =
        |schedule: &str, requests, setting: &str| remedy_in(1, schedule, requests, setting);
    // Requests take three times as long as work.
    let many = remedy("dynamic", 1_000_000_000, "");
    assert!(
        many.contains("schedule(dynamic,1000), or use schedule(static)"),
        "{many}"
    );
    // Each of two threads gets ten chunks of 5000 iterations.
    let few = remedy("dynamic", 2500, "");
    assert!(few.contains("schedule(dynamic,200)"), "{few}");
    let larger = remedy("Dynamic, 100", 1_000_000, "");
    assert!(larger.contains("schedule(Dynamic,100000)"), "{larger}");
    let unknown = remedy("dynamic, n", 1_000_000, "");
    assert!(
        unknown.contains("at once, or use schedule(static)"),
        "{unknown}"
    );
    let outside = remedy("runtime", 1_000_000, "dynamic");
    assert!(
        outside.contains("as with OMP_SCHEDULE=dynamic,1000"),
        "{outside}"
    );
    let none = remedy_in(100, "dynamic,1000", 600, "");
    assert!(
        none.contains("Larger chunks would be too few: use schedule(static)"),
        "{none}"
    );
}

#[test]
fn a_loop_whose_requests_are_known_needs_no_note() {
    let notes = |count| Report::new(&asking(count, 0)).causes.notes;
    assert_eq!(notes(0).len(), 1);
    assert_eq!(notes(100), Vec::<String>::new());
    // A serial part beside the loop says nothing of the loop.
    let mut profile = asking(0, 0);
    profile.serial = vec![Serial {
        after: Some(0),
        before: None,
        count: 1,
        ns: 20 * SECOND,
    }];
    let causes = Report::new(&profile).causes;
    assert_eq!(causes.list[0].kind, CauseKind::SerialPart);
    assert_eq!(causes.notes.len(), 1);
}
