//! Waits at the end of a parallel region, and the loops in front of it.

use super::*;

#[test]
fn the_loop_without_a_barrier_is_named_where_its_wait_shows() {
    let with = |loop_rows: Vec<Row>| {
        let uneven = node(Some(0), 1, Body, loop_rows);
        let mut profile = team(&[Kind::Loop], vec![uneven]);
        profile.nodes[0].rows[2] = row(2, &[(Main, 80), (Body, 40), (Ibarr, 40)]);
        profile.regions[1].directive = Some("omp for nowait".into());
        profile
    };
    let nowait = |thread, work| row(thread, &[(Main, work), (Body, work)]);
    let uneven = || vec![nowait(1, 60), nowait(2, 20)];
    let profile = with(uneven());
    assert_eq!(found(&profile), [(CauseKind::Imbalance, Some(1), 20)]);
    assert!(causes(&profile)[0].what.contains("LOOP at a.c:11"));
    // A loop that is all of its region needs no nowait to have no barrier of its own.
    let all = |work: u64| {
        let mut profile = with(uneven());
        profile.regions[1].directive = Some("omp for".into());
        let parts = |work| [(Main, 80), (Body, work), (Ibarr, 80 - work)];
        profile.nodes[0].rows[1] = row(1, &parts(work));
        profile.nodes[0].rows[2] = row(2, &parts(work - 40));
        profile
    };
    let its_own = &causes(&all(60))[0];
    assert!(
        its_own.place.words.contains("the LOOP at a.c:11"),
        "{its_own:?}"
    );
    assert!(its_own.what.contains("worked 60.0 s"), "{its_own:?}");
    // Of this region the loop is not all.
    let with_other_work = &causes(&all(70))[0];
    assert!(
        with_other_work.place.words.contains("the PARALLEL"),
        "{with_other_work:?}"
    );
    // Threads had waited for such a loop at its own barrier.
    let profile = with(loop_of(1, [[60, 0], [20, 0]]).rows);
    assert!(!causes(&profile)[0].what.contains("LOOP at a.c:11"));
}

/// A loop behind the first one is not seen, or has no barrier of its own.
#[test]
fn the_end_of_a_region_is_a_barrier_like_others() {
    let with = |end: [u64; 2]| {
        let mut profile = team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
        for (member, wait) in end.into_iter().enumerate() {
            let parts = [(Main, 80), (Body, 80 - wait), (Ibarr, wait)];
            profile.nodes[0].rows[member + 1] = row(member + 1, &parts);
        }
        profile
    };
    let opposite = with([15, 0]);
    assert_eq!(found(&opposite), [(CauseKind::BarrierBetween, Some(1), 15)]);
    let what = &causes(&opposite)[0].what;
    assert!(
        what.contains("at the end of the region at line 10"),
        "{what}"
    );
    // What a thread did before it waited inside explains no wait at the end.
    let alike = with([0, 15]);
    let each = [
        (CauseKind::Imbalance, Some(1), 20),
        (CauseKind::Imbalance, Some(0), 8),
    ];
    assert_eq!(found(&alike), each);
    let what = &causes(&alike)[1].what;
    assert!(
        what.contains("threads waited mostly for thread 0->0"),
        "{what}"
    );
}
