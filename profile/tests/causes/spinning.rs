//! Threads that poll.

use super::*;

/// A team as of `team`, of a program that calls GCC's runtime.
fn gnu_team(kinds: &[Kind], nodes: Vec<profile::model::Node>) -> Profile {
    let mut profile = team(kinds, nodes);
    profile.run.openmp_library = "libgomp.so.1".to_owned();
    profile
}

#[test]
fn a_flush_in_a_loop_is_a_wait_for_another_thread() {
    let looks = |count| {
        let nodes = vec![node(Some(0), 1, Body, vec![times(2, Main, count, 1)])];
        gnu_team(&[Kind::Flush], nodes)
    };
    let of_one = [(CauseKind::Spinning, Some(1), 30)];
    assert_eq!(found(&looks(10_000_000_000)), of_one);
    assert_eq!(found(&looks(100_000_000)), []);
    // LLVM's runtime has a function for it, which takes 20 ns.
    let mut by_call = looks(3_000_000_000);
    by_call.run.openmp_library = "libomp.so.5".to_owned();
    assert_eq!(found(&by_call), of_one);
}

/// Threads that wait for each other do not look equally often.
#[test]
fn a_flush_of_all_threads_in_each_iteration_is_none() {
    let flushes = |others| {
        let rows = vec![times(1, Main, others, 1), times(2, Main, 10_000_000_000, 1)];
        gnu_team(&[Kind::Flush], vec![node(Some(0), 1, Body, rows)])
    };
    let equal = flushes(10_000_000_001);
    assert_eq!(found(&equal), []);
    let notes = Report::new(&equal).causes.notes;
    assert!(notes[0].contains("Flush less often"), "{notes:?}");
    let uneven = found(&flushes(2_000_000_000));
    assert_eq!(uneven[0].0, CauseKind::Spinning);
}

#[test]
fn an_atomic_read_in_a_loop_of_nothing_else_is_one_as_well() {
    let reads = |count, seconds, directive: &str| {
        let nodes = vec![node(Some(0), 1, Body, vec![times(2, Main, count, seconds)])];
        let mut profile = team(&[Kind::Atomic], nodes);
        profile.regions[1].directive = Some(directive.to_owned());
        found(&profile)
    };
    let spinning = [(CauseKind::Spinning, Some(1), 30)];
    assert_eq!(reads(60_000_000_000, 1, "omp atomic read"), spinning);
    assert_eq!(
        reads(60_000_000_000, 1, "OMP ATOMIC SEQ_CST, READ"),
        spinning
    );
    assert_eq!(reads(60_000_000_000, 1, "omp atomic update"), []);
    // 8 ns between two reads are more than a look takes.
    assert_eq!(reads(10_000_000_000, 1, "omp atomic read"), []);
    // Reads with a fence, which take 17 ns each, in nearly half of the thread's time.
    let with_fence = reads(2_000_000_000, 34, "omp atomic read acquire");
    assert_eq!(with_fence[0].0, CauseKind::Spinning);
    let seldom = reads(1_000_000_000, 17, "omp atomic read acquire");
    assert!(seldom.iter().all(|(kind, ..)| *kind != CauseKind::Spinning));
}

/// A thread that yields between two reads spends system time, which nothing else explains.
#[test]
fn an_atomic_read_between_which_a_thread_yields_is_one_as_well() {
    let reads = |count: u64, system: u64| {
        let nodes = vec![node(Some(0), 1, Body, vec![times(2, Main, count, 1)])];
        let mut profile = team(&[Kind::Atomic], nodes);
        profile.regions[1].directive = Some("omp atomic read".to_owned());
        profile.run.system_ns = system * SECOND;
        let found = found(&profile);
        found.first().map(|(kind, ..)| *kind)
    };
    assert_eq!(reads(100_000_000, 60), Some(CauseKind::Spinning));
    assert_eq!(reads(100_000_000, 10), None);
    // A call of the system takes longer than a look: something else is done between two reads.
    assert_eq!(reads(10_000_000, 60), None);
}

/// Work may read a shared value in each iteration, but not a billion times a second.
#[test]
fn a_few_looks_are_spinning_if_they_follow_at_once() {
    let reads = |interval_ps| {
        let estimate = Estimate {
            timed: 1_000_000,
            interval_ps,
            ..Estimate::default()
        };
        let looks = times(2, Main, 12_000_000_000, 1).with_estimate(Some(estimate));
        let waits = [(1, 30), (2, 0)].map(|(thread, ns)| row(thread, &[(Main, ns)]));
        let nodes = vec![
            node(Some(0), 1, Body, vec![looks]),
            node(Some(0), 2, Body, waits.to_vec()),
        ];
        let mut profile = team(&[Kind::Atomic, Kind::Barrier], nodes);
        profile.regions[1].directive = Some("omp atomic read".to_owned());
        found(&profile)
    };
    let kinds = |interval_ps| {
        let found = reads(interval_ps).into_iter();
        found.map(|(kind, ..)| kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(1_000), [CauseKind::Barrier, CauseKind::Spinning]);
    // The reads are part of the work, and nobody queues for them: the wait of the other thread stays.
    assert_eq!(kinds(20_000), [CauseKind::Barrier]);
}

/// The kernel divides a program's time into user and system time only roughly. The time from one look to the
/// next is known better.
#[test]
fn looks_between_which_a_thread_yields_take_the_time_from_one_to_the_next() {
    let reads = |system: u64| {
        let estimate = Estimate {
            timed: 1_000_000,
            interval_ps: 700_000,
            ..Estimate::default()
        };
        let row = times(2, Main, 100_000_000, 1).with_estimate(Some(estimate));
        let mut profile = team(&[Kind::Atomic], vec![node(Some(0), 1, Body, vec![row])]);
        profile.regions[1].directive = Some("omp atomic read".to_owned());
        profile.run.system_ns = system * SECOND;
        found(&profile)
    };
    // 70 s of one of two threads.
    assert_eq!(reads(40), [(CauseKind::Spinning, Some(1), 35)]);
    // Less than half of that is spent in the system: the thread may work between two looks.
    assert_eq!(reads(30), [(CauseKind::Spinning, Some(1), 16)]);
}

/// A look takes no longer than the time from one to the next. What is measured in it makes a thread look
/// less often, so it costs nothing.
#[test]
fn looks_take_no_longer_than_from_one_to_the_next_and_cost_no_time_of_the_run() {
    let with = |count, interval_ps, directive: &str| {
        let of_thread = times(2, Main, count, 1).with_estimate(Some(Estimate {
            timed: 1_000_000,
            interval_ps,
            ..Estimate::default()
        }));
        let mut profile = team(
            &[Kind::Atomic],
            vec![node(Some(0), 1, Body, vec![of_thread])],
        );
        profile.regions[1].directive = Some(directive.to_owned());
        profile.run.pair_cost_ps = 40_000;
        profile.run.passed_pair_cost_ps = 6_000;
        profile
    };
    let cost = |profile: &Profile| Report::new(profile).dilation.unwrap().cost.ns / SECOND;
    let read = "omp atomic read";
    // Two threads, of which one polls. To count its looks would take 60 s.
    let polls = with(10_000_000_000, 4_000, read);
    assert_eq!(found(&polls), [(CauseKind::Spinning, Some(1), 20)]);
    assert_eq!(cost(&polls), 0);
    let updates = with(10_000_000_000, 4_000, "omp atomic update");
    assert!(found(&updates).iter().all(|it| it.0 != CauseKind::Spinning));
    assert_eq!(cost(&updates), 60);
    // The thread works between two reads.
    let works = with(300_000_000, 200_000, read);
    assert_eq!(found(&works), []);
    assert_eq!(cost(&works), 1);
}

/// A look keeps the processor from the thread that is waited for.
#[test]
fn looks_with_more_threads_than_processors_can_be_won() {
    let nodes = vec![node(
        Some(0),
        1,
        Body,
        vec![times(2, Main, 10_000_000_000, 1)],
    )];
    let mut profile = gnu_team(&[Kind::Flush], nodes);
    profile.run.processors = 1;
    profile.run.scheduling = Some(Scheduling {
        threads: 2,
        run_ns: 100 * SECOND,
        ready_ns: 0,
        processors: 1,
        ..Scheduling::default()
    });
    // The processor ran for 100 s: 20 s outside of the teams, and 160 s of two threads in them, of which 60 s
    // are looks. A third of what ran is looks.
    assert_eq!(found(&profile), [(CauseKind::Spinning, Some(1), 30)]);
}

#[test]
fn looks_of_one_block_are_one_cause() {
    let flush = |region| {
        node(
            Some(0),
            region,
            Body,
            vec![times(2, Main, 10_000_000_000, 1)],
        )
    };
    let profile = team(&[Kind::Flush, Kind::Flush], vec![flush(1), flush(2)]);
    assert_eq!(found(&profile), [(CauseKind::Spinning, Some(1), 40)]);
}

#[test]
fn threads_that_all_do_nothing_but_look_wait_for_nobody() {
    let by = |looks: &[u64]| {
        let rows = (1..).zip(looks);
        let rows = rows.map(|(thread, looks)| times(thread, Main, *looks, 1));
        let flush = node(Some(0), 1, Body, rows.collect());
        found(&team(&[Kind::Flush], vec![flush]))
    };
    assert_eq!(by(&[14_000_000_000, 14_000_000_000]), []);
    let one_works = by(&[14_000_000_000, 1_000_000_000]);
    assert_eq!(
        one_works.first().map(|cause| cause.0),
        Some(CauseKind::Spinning)
    );
}

/// A look takes 1.1 ns where the thread does nothing else, and it has 1.6 ns for each.
#[test]
fn looks_that_leave_no_time_for_anything_else_took_nearly_all_of_it() {
    let won = |interval_ps: u64, probes_ps: u64| {
        let looks = Span {
            count: 50_000_000_000,
            ns: SECOND,
        };
        let estimate = Estimate {
            timed: 1_000_000,
            interval_ps,
            ..Estimate::default()
        };
        let row = Row::of(2).with(Main, looks).with_estimate(Some(estimate));
        let mut profile = team(&[Kind::Atomic], vec![node(Some(0), 1, Body, vec![row])]);
        profile.regions[1].directive = Some("omp atomic read".to_owned());
        profile.run.passed_pair_cost_ps = probes_ps;
        found(&profile)
    };
    // Of one of two threads, the middle of 55 s and 80 s.
    assert_eq!(won(1_100, 0), [(CauseKind::Spinning, Some(1), 34)]);
    // 20 ns of work may lie between two looks.
    assert_eq!(won(20_000, 0), [(CauseKind::Spinning, Some(1), 25)]);
    // Probes may take most of the time from one look to the next.
    assert_eq!(won(5_000, 4_000), [(CauseKind::Spinning, Some(1), 40)]);
}

#[test]
fn who_does_not_spin_waits_for_the_one_that_did() {
    let around = |waits: [u64; 2]| {
        let looks = node(Some(0), 1, Body, vec![times(2, Main, 8_000_000_000, 1)]);
        let waits = [1, 2].into_iter().zip(waits);
        let waits = waits
            .map(|(thread, ns)| row(thread, &[(Main, ns)]))
            .collect();
        let barrier = node(Some(0), 2, Body, waits);
        found(&gnu_team(
            &[Kind::Flush, Kind::Barrier],
            vec![looks, barrier],
        ))
    };
    assert_eq!(around([48, 0]), [(CauseKind::Spinning, Some(1), 48)]);
    let for_another_reason = [
        (CauseKind::Spinning, Some(1), 24),
        (CauseKind::Barrier, Some(2), 15),
    ];
    assert_eq!(around([0, 30]), for_another_reason);
}
