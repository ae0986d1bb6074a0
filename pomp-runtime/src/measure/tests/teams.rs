//! Teams: which members belong to which team, and the times to start and to end teams.

use super::*;
use crate::measure::records::TeamPath;
use crate::measure::records::team::TeamHandle;
use Event::*;

/// The initial thread and some that work for it.
fn threads<const N: usize>() -> [&'static Thread; N] {
    let threads = [(); N].map(|()| Thread::for_test());
    threads[0].as_initial(0);
    threads
}

#[test]
fn members_hang_below_the_call_path_that_forked() {
    let [t0, t1] = threads();
    let (parallel, atomic) = (region("parallel", 1), region("atomic", 2));
    let team = t0.forks(parallel, 100);
    t0.begins(team, 0, 2, 101);
    t1.begins(team, 1, 0, 105);
    for (t, at) in [(t0, 110), (t1, 120)] {
        t.on(AtomicEnter, atomic, at);
        t.on(AtomicExit, atomic, at + 2);
        t.waits(parallel, at + 5, 130);
        t.end_member(parallel, at + 21);
    }
    t0.join(parallel, 150);
    let profile = profile_at(200, &[t0, t1], &[parallel, atomic]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 1x50",
            "parallel@1 0->0: main 1x49 enter 1x1 body 1x14 ibarr 1x15 exit 1x19",
            "parallel@1 0->1: main 1x39 enter 1x5 body 1x20 ibarr 1x5 exit 1x9",
            "atomic@2 in body/parallel@1 0->0: main 1x2",
            "atomic@2 in body/parallel@1 0->1: main 1x2",
        ]
    );
    assert_eq!(profile.run.max_threads, 2);
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

#[test]
fn nested_teams_make_longer_thread_names() {
    let [t0, t1, t2] = threads();
    let (outer, inner) = (region("parallel", 1), region("parallel", 2));
    let team = t0.forks(outer, 0);
    t0.begins(team, 0, 2, 1);
    t1.begins(team, 1, 0, 1);
    let nested = t1.forks(inner, 10);
    t1.begins(nested, 0, 2, 11);
    t2.begins(nested, 1, 0, 12);
    t2.end_member(inner, 20);
    t1.end_member(inner, 21);
    t1.join(inner, 22);
    t0.end_member(outer, 30);
    t1.end_member(outer, 30);
    t0.join(outer, 31);
    let profile = profile_at(40, &[t0, t1, t2], &[outer, inner]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 1x31",
            "parallel@1 0->0: main 1x31 enter 1x1 body 1x29 ibarr 1x0 exit 1x1",
            "parallel@1 0->1: main 1x31 enter 1x1 body 1x29 ibarr 1x0 exit 1x1",
            "parallel@2 in body/parallel@1 0->1: seq 1x12",
            "parallel@2 in body/parallel@1 0->1->0: main 1x12 enter 1x1 body 1x10 ibarr 1x0 exit 1x1",
            "parallel@2 in body/parallel@1 0->1->1: main 1x12 enter 1x2 body 1x8 ibarr 1x1 exit 1x1",
        ]
    );
    assert_eq!(profile.run.max_threads, 3);
}

#[test]
fn team_sizes_can_change_from_one_instance_to_the_next() {
    let [t0, t1, t2] = threads();
    let parallel = region("parallel", 1);
    for (instance, size) in [(0, 2), (1, 3), (2, 1), (3, 3)] {
        let start = 100 * instance;
        let team = t0.forks(parallel, start);
        for (number, t) in [t0, t1, t2].into_iter().take(size).enumerate() {
            let number = number as u32;
            t.begins(team, number, size as u32, start + 1 + u64::from(number));
            t.end_member(parallel, start + 50);
        }
        t0.join(parallel, start + 50 + size as u64);
    }
    assert_eq!(
        lines(&profile_at(1000, &[t0, t1, t2], &[parallel])),
        [
            "parallel@1 0: seq 4x209",
            "parallel@1 0->0: main 4x209 enter 4x4 body 4x196 ibarr 4x0 exit 4x9",
            "parallel@1 0->1: main 3x158 enter 3x6 body 3x144 ibarr 3x0 exit 3x8",
            "parallel@1 0->2: main 2x106 enter 2x6 body 2x94 ibarr 2x0 exit 2x6",
        ]
    );
}

#[test]
fn a_member_may_run_on_another_thread_each_time() {
    let [t0, t1, t2] = threads();
    let parallel = region("parallel", 1);
    for (start, worker) in [(0, t1), (100, t2), (200, t1)] {
        let team = t0.forks(parallel, start);
        t0.begins(team, 0, 2, start + 1);
        worker.begins(team, 1, 0, start + 2);
        worker.end_member(parallel, start + 10);
        t0.end_member(parallel, start + 11);
        t0.join(parallel, start + 13);
    }
    let profile = profile_at(1000, &[t0, t1, t2], &[parallel]);
    assert_eq!(
        lines(&profile)[2],
        "parallel@1 0->1: main 3x39 enter 3x6 body 3x24 ibarr 3x3 exit 3x6"
    );
    assert_eq!(profile.threads.len(), 3);
}

#[test]
fn combined_regions_start_their_body_as_their_members_begin() {
    // The order of our instrumenter, and that of OPARI.
    for ours in [true, false] {
        let [t0] = threads();
        let parallel = region("parallelfor", 1);
        let team = t0.forks(parallel, 0);
        t0.begins(team, 0, 1, 2);
        t0.on(LoopEnter, parallel, 5);
        if ours {
            t0.on(LoopExit, parallel, 10);
            t0.waits(parallel, 10, 13);
        } else {
            t0.waits(parallel, 10, 13);
            t0.on(LoopExit, parallel, 13);
        }
        t0.end_member(parallel, 13);
        t0.join(parallel, 15);
        assert_eq!(
            lines(&profile_at(20, &[t0], &[parallel])),
            [
                "parallelfor@1 0: seq 1x15",
                "parallelfor@1 0->0: main 1x15 enter 1x2 body 1x8 ibarr 1x3 exit 1x2",
            ]
        );
    }
}

#[test]
fn recursive_parallel_regions_are_told_apart() {
    let [t0] = threads();
    let parallel = region("parallel", 1);
    for depth in 0..40 {
        let team = t0.forks(parallel, depth);
        t0.begins(team, 0, 1, depth);
    }
    for depth in 0..40 {
        t0.end_member(parallel, 100 + depth);
        t0.join(parallel, 100 + depth);
    }
    let profile = profile_at(200, &[t0], &[parallel]);
    assert_eq!(profile.nodes.len(), 40);
    assert_eq!(profile.threads[40].path.len(), 41);
    assert_eq!(profile.nodes[39].rows[1].main.ns, 61);
    assert_eq!(profile.run.notes, Vec::<String>::new());
}

#[test]
fn cancel_leaves_members_that_end_with_the_join() {
    let [t0, t1] = threads();
    let (parallel, work) = (region("parallel", 1), region("for", 2));
    for start in [0, 100] {
        let team = t0.forks(parallel, start);
        t0.begins(team, 0, 2, start);
        t1.begins(team, 1, 0, start);
        t0.on(LoopEnter, work, start + 5);
        t1.on(LoopEnter, work, start + 5);
        // `cancel parallel`: nobody passes the end.
        t0.join(parallel, start + 20);
    }
    let profile = profile_at(1000, &[t0, t1], &[parallel, work]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 2x40",
            "parallel@1 0->0: main 2x40 enter 2x0 body 2x40 exit 2x0",
            "parallel@1 0->1: main 2x40 enter 2x0 body 2x40 exit 2x0",
            "for@2 in body/parallel@1 0->0: main 2x30 body 2x30",
            "for@2 in body/parallel@1 0->1: main 2x30 body 2x30",
        ]
    );
    assert_eq!(
        profile.run.notes,
        [
            "regions that were left without an exit event, and were closed with the region around them: 6"
        ]
    );
}

#[test]
fn exits_do_not_cross_a_team() {
    let [t0] = threads();
    let (work, parallel) = (region("for", 1), region("parallel", 2));
    t0.on(LoopEnter, work, 0);
    let team = t0.forks(parallel, 1);
    t0.begins(team, 0, 1, 1);
    t0.on(LoopExit, work, 5);
    t0.end_member(parallel, 8);
    t0.join(parallel, 8);
    t0.on(LoopExit, work, 9);
    let profile = profile_at(20, &[t0], &[work, parallel]);
    assert_eq!(lines(&profile)[0], "for@1 0: main 1x9 body 1x9");
    assert_eq!(
        profile.run.notes,
        ["events that matched no open region and were ignored: 1"]
    );
}

#[test]
fn the_end_of_the_program_may_come_inside_a_team() {
    let [t0, t1] = threads();
    let parallel = region("parallel", 1);
    let team = t0.forks(parallel, 0);
    t0.begins(team, 0, 2, 1);
    t1.begins(team, 1, 0, 2);
    t1.end_member(parallel, 10);
    let profile = profile_at(20, &[t0, t1], &[parallel]);
    assert_eq!(
        lines(&profile),
        [
            "parallel@1 0: seq 1x20",
            "parallel@1 0->0: main 1x20 enter 1x1 body 1x19 exit 1x0",
            "parallel@1 0->1: main 1x20 enter 1x2 body 1x8 ibarr 1x10 exit 1x0",
        ]
    );
    assert_eq!(
        profile.run.notes,
        ["regions that were still open when this was written, and were closed at that moment: 2"]
    );
}

#[test]
fn a_join_that_is_missing_is_said() {
    let [t0, t1] = threads();
    let parallel = region("parallel", 1);
    let team = t0.forks(parallel, 0);
    // The thread that forked never begins, so that the size is not known.
    t1.begins(team, 1, 0, 2);
    t1.end_member(parallel, 10);
    t0.join(parallel, 12);
    let profile = profile_at(20, &[t0, t1], &[parallel]);
    assert_eq!(
        lines(&profile)[1],
        "parallel@1 0->1: main 1x10 enter 1x2 body 1x8 ibarr 1x0 exit 1x0"
    );
    assert_eq!(
        profile.run.notes,
        ["team members without a shutdown time, since a join is missing: 1"]
    );
}

#[test]
fn a_member_that_misses_a_team_has_no_shutdown_time() {
    let [t0, t1] = threads();
    let parallel = region("parallel", 1);
    for (start, complete) in [(0, true), (100, false)] {
        let team = t0.forks(parallel, start);
        t0.begins(team, 0, 2, start + 1);
        if complete {
            t1.begins(team, 1, 0, start + 2);
            t1.end_member(parallel, start + 10);
        }
        t0.end_member(parallel, start + 11);
        t0.join(parallel, start + 13);
    }
    let profile = profile_at(200, &[t0, t1], &[parallel]);
    assert_eq!(
        lines(&profile)[2],
        "parallel@1 0->1: main 1x10 enter 1x2 body 1x8 ibarr 1x0 exit 1x0"
    );
}

#[test]
fn teams_without_a_handle_are_found_by_their_region() {
    let [t0, t1] = threads();
    let (outer, inner) = (region("parallel", 1), region("parallel", 2));
    for (region, start) in [(outer, 0), (inner, 10)] {
        t0.fork_announced(region, place(&[]), false, || start);
        t0.begins_announced(region, &[0], 2, start + 1);
        t1.begins_announced(region, &[1], 0, start + 1);
        t1.end_member(region, start + 5);
        t0.end_member(region, start + 5);
        t0.join(region, start + 6);
        assert!(t1.announced(region, false, || place(&[])).is_none());
    }
    let profile = profile_at(20, &[t0, t1], &[outer, inner]);
    assert_eq!(profile.run.notes, Vec::<String>::new());
    assert_eq!(
        lines(&profile)[5],
        "parallel@2 0->1: main 1x6 enter 1x1 body 1x4 ibarr 1x0 exit 1x1"
    );
}

fn place(numbers: &[u32]) -> TeamPath {
    TeamPath::of(numbers.iter().copied())
}

impl Thread {
    /// Begins at a place, in the team that is found.
    fn begins_announced(&'static self, region: &'static Region, here: &[u32], size: u32, at: u64) {
        let (number, forker) = here.split_last().unwrap();
        match self.announced(region, *number == 0, || place(forker)) {
            Some(TeamHandle::Team(team)) => self.begins(team, *number, size, at),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn teams_forked_from_one_line_at_once_are_told_apart() {
    let [t0, t1, t2, t3] = threads();
    let (outer, inner) = (region("parallel", 1), region("parallel", 2));
    t0.fork_announced(outer, place(&[]), false, || 0);
    t0.begins_announced(outer, &[0], 2, 1);
    t1.begins_announced(outer, &[1], 0, 1);
    t0.fork_announced(inner, place(&[0]), false, || 10);
    t1.fork_announced(inner, place(&[1]), false, || 20);
    t2.begins_announced(inner, &[0, 1], 0, 25);
    t3.begins_announced(inner, &[1, 1], 0, 26);
    t1.begins_announced(inner, &[1, 0], 2, 27);
    t0.begins_announced(inner, &[0, 0], 2, 28);
    for t in [t0, t1, t2, t3] {
        t.end_member(inner, 30);
    }
    for t in [t0, t1] {
        t.join(inner, 31);
        t.end_member(outer, 40);
    }
    t0.join(outer, 41);
    let profile = profile_at(50, &[t0, t1, t2, t3], &[outer, inner]);
    assert_eq!(profile.run.notes, Vec::<String>::new());
    let enters: Vec<String> = lines(&profile)
        .into_iter()
        .filter(|line| line.starts_with("parallel@2") && line.contains("enter"))
        .map(|line| {
            line.split(' ')
                .skip(3)
                .take(7)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(
        enters,
        [
            "0->0->0: main 1x21 enter 1x18 body 1x2",
            "0->0->1: main 1x21 enter 1x15 body 1x5",
            "0->1->0: main 1x11 enter 1x7 body 1x3",
            "0->1->1: main 1x11 enter 1x6 body 1x4",
        ]
    );
}

#[test]
fn workers_stay_with_their_initial_thread_and_a_guess_is_counted() {
    let (a, b) = (
        Thread::for_test().as_initial(0),
        Thread::for_test().as_initial(1),
    );
    let worker = Thread::for_test();
    let newcomer = Thread::for_test();
    let parallel = region("parallel", 1);
    a.fork_announced(parallel, place(&[]), false, || 0);
    worker.begins_announced(parallel, &[1], 0, 1);
    worker.end_member(parallel, 2);
    a.begins_announced(parallel, &[0], 2, 1);
    a.end_member(parallel, 2);
    a.join(parallel, 3);
    for initial in [a, b] {
        initial.fork_announced(parallel, place(&[]), false, || 10);
        initial.begins_announced(parallel, &[0], 2, 11);
    }
    worker.begins_announced(parallel, &[1], 0, 12);
    newcomer.begins_announced(parallel, &[1], 0, 12);
    for t in [a, b, worker, newcomer] {
        t.end_member(parallel, 20);
    }
    let profile = profile_at(30, &[a, b, worker, newcomer], &[parallel]);
    let guesses = profile
        .run
        .notes
        .iter()
        .filter(|note| note.ends_with("in the wrong team: 1"));
    assert_eq!(guesses.count(), 1, "{:?}", profile.run.notes);
    let of_worker = lines(&profile)
        .into_iter()
        .find(|line| line.contains(" 0->1:"));
    assert!(
        of_worker.unwrap().contains("main 2x"),
        "{:?}",
        lines(&profile)
    );
}

#[test]
fn several_initial_threads_have_names_of_their_own() {
    let (a, b) = (
        Thread::for_test().as_initial(0),
        Thread::for_test().as_initial(1),
    );
    let worker = Thread::for_test();
    let parallel = region("parallel", 1);
    let (team_a, team_b) = (a.forks(parallel, 0), b.forks(parallel, 0));
    for (t, team) in [(a, team_a), (b, team_b)] {
        t.begins(team, 0, 1, 0);
        t.end_member(parallel, 5);
        t.join(parallel, 5);
    }
    worker.begins(team_b, 1, 0, 0);
    worker.end_member(parallel, 5);
    let names: Vec<String> = profile_at(9, &[a, b, worker], &[parallel])
        .threads
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["0", "0->0", "1", "1->0", "1->1"]);
}

#[test]
fn threads_that_run_at_once_lose_nothing() {
    const INSTANCES: u64 = 200;
    const EVENTS: u64 = 50;
    let threads = threads::<4>();
    let (parallel, atomic) = (region("parallel", 1), region("atomic", 2));
    for instance in 0..INSTANCES {
        let team = threads[0].forks(parallel, instance * 100);
        std::thread::scope(|scope| {
            for (number, t) in threads.into_iter().enumerate() {
                scope.spawn(move || {
                    t.begins(team, number as u32, 4, instance * 100 + 1);
                    for event in 0..EVENTS {
                        t.on(AtomicEnter, atomic, event);
                        t.on(AtomicExit, atomic, event + 1);
                    }
                    t.end_member(parallel, instance * 100 + 90);
                });
            }
            // The end may come while threads run.
            let _ = profile_at(instance * 100 + 50, &threads, &[parallel, atomic]);
        });
        threads[0].join(parallel, instance * 100 + 99);
    }
    let profile = profile_at(1_000_000, &threads, &[parallel, atomic]);
    let expected: Vec<String> = (0..4)
        .map(|n| {
            format!("parallel@1 0->{n}: main 200x19800 enter 200x200 body 200x17800 ibarr 200x0 exit 200x1800")
        })
        .chain((0..4).map(|n| format!("atomic@2 in body/parallel@1 0->{n}: main 10000x10000")))
        .collect();
    assert_eq!(lines(&profile)[1..], expected);
    assert_eq!(profile.run.notes, Vec::<String>::new());
}
