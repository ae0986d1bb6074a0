//! Teams with fewer threads than the program has at other times.

use super::*;

/// Two regions. In the first, the forking thread is a member for `alone` seconds more than the other one.
fn two_regions(alone: u64, instances: u64) -> Profile {
    let mut profile = run(&[Kind::Parallel, Kind::Parallel], &[&[0], &[0, 0], &[0, 1]]);
    let member = |thread, count, seconds| {
        let part = span_of(count, seconds);
        Row::of(thread).with(Main, part).with(Body, part)
    };
    let forks = |seconds| row(0, &[(Seq, seconds)]);
    let first = vec![
        forks(20 + alone),
        member(1, 1 + instances, 20 + alone),
        member(2, 1, 20),
    ];
    let second = vec![forks(10), member(1, 1, 10), member(2, 1, 10)];
    profile.nodes = vec![node(None, 0, Body, first), node(None, 1, Body, second)];
    profile.regions[0].directive = Some("omp parallel if(n > 100)".to_owned());
    profile
}

#[test]
fn a_region_that_is_mostly_serial_leaves_threads_unused() {
    let profile = two_regions(60, 1);
    let won = [(CauseKind::SmallTeams, Some(0), 30)];
    assert_eq!(found(&profile), won);
    let cause = causes(&profile).remove(0);
    let said = "its teams had 1 thread for 75 % of its time, not 2 threads: 60.0 s of thread time was not used";
    assert!(cause.what.contains(said), "{}", cause.what);
    assert!(cause.remedy.contains("An if clause"), "{}", cause.remedy);
    // A variable whose name begins like the clause is none.
    let mut profile = profile;
    profile.regions[0].directive = Some("omp parallel shared(if_any, iffy)".to_owned());
    let remedy = causes(&profile).remove(0).remedy;
    assert!(!remedy.contains("if clause"), "{remedy}");
    // A program that never has two threads at once has no small teams.
    assert_eq!(found(&two_regions(0, 0)), []);
}

/// An `if` clause keeps regions serial that are not worth a team.
#[test]
fn short_serial_instances_are_no_cause() {
    assert_eq!(found(&two_regions(60, 100_000_000)), []);
}

/// Teams within others count, too: the second thread is in one for half of the time.
#[test]
fn teams_within_a_serial_one_have_its_other_threads() {
    let nested = |inner: u64| {
        let mut profile = run(
            &[Kind::Parallel, Kind::Parallel, Kind::Parallel],
            &[&[0], &[0, 0], &[0, 1], &[0, 0, 0], &[0, 0, 1]],
        );
        let member = |thread, seconds| row(thread, &[(Main, seconds), (Body, seconds)]);
        let forks = |thread, seconds| row(thread, &[(Seq, seconds)]);
        let teams = vec![forks(1, inner), member(3, inner), member(4, inner)];
        profile.nodes = vec![
            node(None, 0, Body, vec![forks(0, 80), member(1, 80)]),
            node(Some(0), 1, Body, teams),
            node(
                None,
                2,
                Body,
                vec![forks(0, 10), member(1, 10), member(2, 10)],
            ),
        ];
        found(&profile)
    };
    let won = |seconds| vec![(CauseKind::SmallTeams, Some(0), seconds)];
    assert_eq!(nested(40), won(20));
    assert_eq!(nested(80), []);
}

/// Of teams of many sizes, the mean says most.
#[test]
fn of_teams_of_many_sizes_the_mean_is_said() {
    let paths: [&[u32]; 6] = [&[0], &[0, 0], &[0, 1], &[0, 2], &[0, 3], &[0, 4]];
    let mut profile = run(&[Kind::Parallel, Kind::Parallel], &paths);
    (profile.run.max_threads, profile.run.processors) = (5, 8);
    let member = |thread, seconds| row(thread, &[(Main, seconds), (Body, seconds)]);
    let all = (1..6).map(|thread| member(thread, 10));
    // For 20 s each there are one to four threads.
    let some = (1..5).map(|thread| member(thread as usize, 20 * (5 - thread)));
    let team = |seconds, members: Vec<Row>| [vec![row(0, &[(Seq, seconds)])], members].concat();
    profile.nodes = vec![
        node(None, 0, Body, team(80, some.collect())),
        node(None, 1, Body, team(10, all.collect())),
    ];
    let cause = causes(&profile).remove(0);
    assert_eq!(cause.kind, CauseKind::SmallTeams);
    // 200 s of threads in 80 s; five threads would need 40 s.
    let said = cause
        .what
        .starts_with("its teams had 2.5 threads on average, not 5 threads: ");
    assert!(said, "{}", cause.what);
    assert_eq!(cause.likely.ns, 40 * SECOND);
}

/// Regions of which none ever had more than one thread, on two processors.
#[test]
fn a_program_that_never_has_two_threads_is_asked_why() {
    let one_thread = |settings: &[(&str, &str)], processors: u32| {
        let mut profile = run(&[Kind::Parallel, Kind::Parallel], &[&[0], &[0, 0]]);
        let team = |seconds| {
            let member = row(1, &[(Main, seconds), (Body, seconds)]);
            vec![row(0, &[(Seq, seconds)]), member]
        };
        profile.nodes = vec![node(None, 0, Body, team(60)), node(None, 1, Body, team(30))];
        profile.run.max_threads = 1;
        profile.run.processors = processors;
        let settings = settings
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()));
        profile.run.settings = settings.collect();
        profile
    };
    let won = [(CauseKind::SmallTeams, Some(0), 45)];
    assert_eq!(found(&one_thread(&[], 2)), won);
    let asked = [("OMP_NUM_THREADS", "4")];
    assert_eq!(found(&one_thread(&asked, 2)), won);
    let cause = causes(&one_thread(&asked, 2)).remove(0);
    assert_eq!(
        cause.what,
        "their teams had 1 thread, though OMP_NUM_THREADS is 4"
    );
    assert!(
        cause.remedy.contains("omp_set_num_threads"),
        "{}",
        cause.remedy
    );
    // With one processor, or where the user wants it so, nothing is to be won.
    assert_eq!(found(&one_thread(&[], 1)), []);
    for setting in [("OMP_NUM_THREADS", "1"), ("OMP_THREAD_LIMIT", "1")] {
        assert_eq!(found(&one_thread(&[setting], 2)), [], "{setting:?}");
    }
}
