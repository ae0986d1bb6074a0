//! Worksharing constructs that do little work, or whose work is not known.

use super::*;

/// `romp run` may see the begin of a loop once, and its barrier each time.
#[test]
fn of_a_loop_that_is_seen_by_its_barrier_no_work_is_told() {
    let rows = [(1, 60), (2, 2)].map(|(thread, wait)| {
        let waited = Span {
            count: 1000,
            ns: wait * SECOND,
        };
        let row = times(thread, Main, 1000, wait);
        row.with(Body, Span { count: 1, ns: 5 }).with(Ibarr, waited)
    });
    let loops = node(Some(0), 1, Body, rows.to_vec());
    let profile = team(&[Kind::Loop], vec![loops]);
    let cause = causes(&profile).remove(0);
    assert_eq!(cause.kind, CauseKind::Imbalance);
    assert!(cause.what.ends_with("only 2.00 s"), "{}", cause.what);
    assert!(
        cause.remedy.contains("can't be measured"),
        "{}",
        cause.remedy
    );
    let report = Report::new(&profile);
    let why = |region| report.not_measured(region).unwrap_or_default();
    assert!(why(1).contains("only the barrier at its end was seen"));
    assert_eq!(why(0), "");
    let seen = team(&[Kind::Loop], vec![loop_of(1, [[30, 10], [20, 20]])]);
    assert_eq!(Report::new(&seen).not_measured(1), None);
}

/// But it is no more than what threads did outside of all other constructs.
#[test]
fn of_loops_that_are_seen_by_their_barriers_the_most_work_is_known() {
    let cause = |waits: [u64; 2]| {
        let barriers = |region| {
            let rows = [1, 2].into_iter().zip(waits).map(|(thread, wait)| {
                let waited = Span {
                    count: 10_000_000,
                    ns: wait * SECOND,
                };
                let row = times(thread, Main, 10_000_000, wait);
                row.with(Body, Span { count: 1, ns: 5 }).with(Ibarr, waited)
            });
            node(Some(0), region, Body, rows.collect())
        };
        let loops = vec![barriers(1), barriers(2)];
        causes(&team(&[Kind::Loop, Kind::Loop], loops)).remove(0)
    };
    // Of 80 s, each thread waits for 60 at both loops.
    let small = cause([30, 30]);
    assert_eq!(
        (small.kind, small.evidence[0]),
        (CauseKind::SmallLoops, ("constructs", 2))
    );
    let said = "10000000 times, with at most 1.00 us of work each time; its barrier costs 3.00 us";
    assert!(small.what.contains(said), "{}", small.what);
    // One thread waits more than the other one, so it may have less work.
    assert_eq!(cause([35, 10]).kind, CauseKind::Imbalance);
}

/// Work that takes turns explains longer waits, but nobody is late by a microsecond.
#[test]
fn the_cost_of_a_barrier_is_no_late_thread() {
    let found_in = |construct, count, bodies| {
        let rows = [1, 2].map(|thread| {
            let row = times(thread, Main, count, 80);
            row.with(Body, span_of(bodies, 68))
                .with(Ibarr, span_of(count, 12))
        });
        let found = found(&team(
            &[construct],
            vec![node(Some(0), 1, Body, rows.to_vec())],
        ));
        found.into_iter().map(|(kind, ..)| kind).collect::<Vec<_>>()
    };
    let found = |count, bodies| found_in(Kind::Loop, count, bodies);
    assert_eq!(found(12_000_000, 12_000_000), [CauseKind::SmallLoops]);
    let workshare = found_in(Kind::Workshare, 12_000_000, 12_000_000);
    assert_eq!(workshare, [CauseKind::SmallLoops]);
    // While one thread executes a single construct, the others wait for it.
    let single = found_in(Kind::Single, 12_000_000, 12_000_000);
    assert_eq!(single, [CauseKind::Single]);
    assert_eq!(found(3_000_000, 3_000_000), [CauseKind::Imbalance]);
    // Only one execution is known to have a body: all of them have no more work than that.
    assert_eq!(found(12_000_000, 1), [CauseKind::SmallLoops]);
}

#[test]
fn small_worksharing_constructs_are_one_cause() {
    let shared = |region, count, waits: [u64; 2]| {
        let span = |seconds| span_of(count, seconds);
        let rows = [1, 2].into_iter().zip(waits).map(|(thread, wait)| {
            let row = times(thread, Main, count, 5 + wait);
            row.with(Body, span(5)).with(Ibarr, span(wait))
        });
        node(Some(0), region, Body, rows.collect())
    };
    let two = |count, waits| {
        let nodes = vec![shared(1, count, waits), shared(2, count, [10, 10])];
        team(&[Kind::Loop, Kind::Loop], nodes)
    };
    let small = two(10_000_000, [20, 20]);
    // Of 40 s, two threads need 10 s for their parts, mostly to get them.
    assert_eq!(found(&small), [(CauseKind::SmallLoops, Some(1), 38)]);
    let what = causes(&small).remove(0).what;
    assert!(
        what.contains(" 10000000 times, with 500 ns of work"),
        "{what}"
    );
    let late_by_milliseconds = found(&two(1_000, [20, 20]));
    assert!(
        late_by_milliseconds
            .iter()
            .all(|it| it.0 == CauseKind::LateThreads)
    );
    // Threads that sleep as soon as they wait take longer to wake up, but no milliseconds.
    let passive = |count| {
        let mut profile = two(count, [20, 20]);
        let policy = ("OMP_WAIT_POLICY".to_owned(), "passive".to_owned());
        profile.run.settings = [policy].into();
        causes(&profile).remove(0)
    };
    let woken = passive(400_000);
    assert_eq!(woken.kind, CauseKind::SmallLoops);
    let is_named = woken.remedy.starts_with("OMP_WAIT_POLICY=passive makes");
    assert!(is_named, "{}", woken.remedy);
    assert_eq!(passive(1_000).kind, CauseKind::LateThreads);
}

/// GCC's compiler computes a thread's part of a static schedule in place, so more of a small loop is its work.
#[test]
fn a_small_loop_has_more_work_of_its_own_with_gccs_runtime() {
    let won_with = |library: &str| {
        let member = |thread| {
            let span = |seconds| span_of(100_000_000, seconds);
            let row = times(thread, Main, 100_000_000, 80);
            row.with(Body, span(50)).with(Ibarr, span(30))
        };
        let loops = node(Some(0), 1, Body, vec![member(1), member(2)]);
        let mut profile = team(&[Kind::Loop], vec![loops]);
        profile.run.openmp_library = library.to_owned();
        found(&profile).first().map(|it| (it.0, it.2))
    };
    // Of 500 ns in each loop, 300 are to get its iterations. With GCC's runtime 105 are: 0.35 times the barrier.
    let small = |seconds| Some((CauseKind::SmallLoops, seconds));
    let [known, llvm] = ["/usr/lib/libgomp.so.1", "/usr/lib/libomp.so.5"].map(won_with);
    assert_eq!(
        [known, llvm, won_with("")],
        [small(41), small(60), small(60)]
    );
}

/// With too many threads, a barrier costs as much as it takes to change processors. Of a construct that would be
/// worth a barrier otherwise, the number of threads is to blame. So it is of a `single`, which is not divided.
#[test]
fn with_too_many_threads_only_tiny_constructs_are_too_small() {
    let small = |kind: Kind, work_ns: u64| {
        const TIMES: u64 = 1_000_000;
        let span = |each_ns: u64| Span {
            count: TIMES,
            ns: TIMES * each_ns,
        };
        let rows = [1, 2].map(|thread| {
            let row = Row::of(thread).with(Main, span(80_000));
            row.with(Body, span(work_ns))
                .with(Ibarr, span(80_000 - work_ns))
        });
        let mut profile = team(&[kind], vec![node(Some(0), 1, Body, rows.to_vec())]);
        profile.run.processors = 1;
        let mut causes = causes(&profile).into_iter();
        causes.find(|cause| cause.kind == CauseKind::SmallLoops)
    };
    let tiny = small(Kind::Loop, 100).unwrap();
    assert!(tiny.remedy.contains("no more threads than processors"));
    assert!(small(Kind::Loop, 5_000).is_none());
    assert!(small(Kind::Single, 100).is_none());
}
