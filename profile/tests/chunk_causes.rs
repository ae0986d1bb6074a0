//! Loops whose threads spend their time getting the next chunk, on a small run whose win is
//! computed by hand: 100 s with two threads, of which 80 s are in a loop.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{CauseKind, Report};
use profile::model::{Profile, Scheduling, Span};
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
