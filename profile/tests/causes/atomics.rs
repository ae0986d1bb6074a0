//! Hot atomic updates.

use super::*;

#[test]
fn waits_for_other_updates_are_partly_hidden_without_measurement() {
    let won = |processors: u32, variable: Option<&str>| {
        let updates = |thread| times(thread, Main, 2_000_000_000, 40);
        let atomic = node(Some(0), 1, Body, vec![updates(1), updates(2)]);
        let mut profile = team(&[Kind::Atomic], vec![atomic]);
        profile.run.processors = processors;
        profile.run.max_threads = 2;
        profile.regions[1].variable = variable.map(str::to_owned);
        let causes = causes(&profile);
        let cause = causes.iter().find(|it| it.kind == CauseKind::Atomic)?;
        assert!(cause.is_estimated && cause.upper.ns >= 40 * SECOND);
        Some(cause.likely.ns / SECOND)
    };
    // 4,000,000,000 updates of 4 ns and 5 ns of waiting, by two threads at once.
    let one = Some("sum");
    let of_one = [0, 2, 8].map(|processors| won(processors, one));
    assert_eq!(of_one, [Some(18); 3]);
    // One processor makes all updates, without waiting.
    assert_eq!(won(1, one), Some(16));
    // Updates of many variables take 20 ns in a measured run, and other work goes on meanwhile.
    assert_eq!(won(2, None), None);
}

/// Updates of many variables that take 20 ns each, of two regions in one loop. Of those that were timed,
/// `waited` of 100 took as long as a cache line of another processor.
fn in_turn(waited: u64) -> Profile {
    let estimate = Estimate {
        timed: 1000,
        waited: 10 * waited,
        ..Estimate::default()
    };
    let updates = |region| {
        let row = |thread| times(thread, Main, 2_000_000_000, 40).with_estimate(Some(estimate));
        node(Some(0), region, Body, vec![row(1), row(2)])
    };
    team(&[Kind::Atomic; 2], vec![updates(1), updates(2)])
}

#[test]
fn short_updates_that_often_wait_are_contended() {
    let won = |waited| {
        let found = found(&in_turn(waited));
        let atomic = found.iter().find(|it| it.0 == CauseKind::Atomic);
        atomic.map_or(0, |cause| cause.2)
    };
    assert_eq!(won(50), 80);
    // The work between them is known to 10 ns.
    assert_eq!(won(10), 40);
}

#[test]
fn all_updates_in_a_loop_are_one_cause() {
    let causes = causes(&in_turn(50));
    let atomic: Vec<_> = causes
        .iter()
        .filter(|it| it.kind == CauseKind::Atomic)
        .collect();
    let [cause] = atomic[..] else {
        panic!("{causes:?}");
    };
    assert_eq!(cause.place.regions, [1, 2]);
    assert!(cause.place.words.starts_with("in 2 atomic updates"));
    assert!(
        cause.what.contains("8000000000 updates took 20 ns each"),
        "{}",
        cause.what
    );
}
