//! Losses caused by the machine, on small runs whose win is computed by hand: threads without a
//! processor. [`crowded_causes`](crowded_causes.rs) has the runs with more threads than processors.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod by_hand;
mod team;

use by_hand::{SECOND, node, row, run};
use profile::analysis::{CauseKind, Report};
use profile::model::{Contention, ContentionSite, GuardKind, Row};
use profile::region_kind::{PseudoRegion, RegionKind};
use team::{THREADS, busy, causes, found, kinds_of, loop_of, span_of, team, times};

use PseudoRegion::{Body, Enter, Ibarr, Main, Seq};
use RegionKind as Kind;

#[test]
fn a_busy_machine_is_said_first_and_takes_the_waits_that_it_explains() {
    let uneven = || team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
    let turns = || team(&[Kind::Loop], vec![loop_of(1, [[40, 40], [40, 40]])]);
    // Half of the 80 s of useful time was without a processor. The other half is worth 10 s.
    assert_eq!(kinds_of(&busy(turns(), 80, 2)), [CauseKind::NoProcessor]);
    assert_eq!(kinds_of(&busy(turns(), 0, 2)), [CauseKind::Imbalance]);
    let both = kinds_of(&busy(uneven(), 80, 2));
    assert_eq!(both, [CauseKind::NoProcessor, CauseKind::Imbalance]);
    assert_eq!(
        kinds_of(&busy(turns(), 80, 1)),
        [CauseKind::Oversubscription]
    );
    // Two threads that wait by yielding are always ready, and other programs run now and then.
    assert_eq!(
        kinds_of(&busy(turns(), 84, 1)),
        [CauseKind::Oversubscription]
    );
    assert_eq!(kinds_of(&busy(turns(), 110, 1)), [CauseKind::NoProcessor]);
    let mut bound = busy(turns(), 80, 1);
    bound.run.settings = [("OMP_PLACES".to_owned(), "{0}".to_owned())].into();
    assert_eq!(kinds_of(&bound), [CauseKind::Affinity]);
    // The shell may use more processors than the program.
    let mut kept = busy(turns(), 80, 1);
    kept.run.processors_around = 4;
    let cause = causes(&kept).remove(0);
    assert_eq!(cause.kind, CauseKind::Affinity);
    assert!(cause.remedy.contains("may use 4 processors"), "{cause:?}");
}

/// What the process ran for beyond the time in which its OpenMP threads had processors, other threads of it ran.
#[test]
fn threads_of_the_program_that_are_not_measured_are_told_from_other_programs() {
    const READY: u64 = 80 * SECOND;
    let why = |others: u64| {
        let turns = team(&[Kind::Loop], vec![loop_of(1, [[40, 40], [40, 40]])]);
        let mut profile = busy(turns, 80, 2);
        profile.run.user_ns = 2 * profile.run.duration_ns - READY + others * SECOND;
        causes(&profile).remove(0)
    };
    let own = why(70);
    assert_eq!(own.kind, CauseKind::NoProcessor);
    assert!(own.what.contains("not measured, ran for 70.0 s"), "{own:?}");
    assert!(own.remedy.contains("smaller teams"), "{own:?}");
    let others = why(10);
    assert!(others.what.contains("the machine was busy"), "{others:?}");
    // The library's own thread is none of the program.
    let turns = team(&[Kind::Loop], vec![loop_of(1, [[40, 40], [40, 40]])]);
    let mut profile = busy(turns, 80, 2);
    profile.run.user_ns = 2 * profile.run.duration_ns - READY + 70 * SECOND;
    profile.run.scheduling.as_mut().unwrap().helper_run_ns = 60 * SECOND;
    let library = causes(&profile).remove(0);
    assert!(library.what.contains("the machine was busy"), "{library:?}");
}

/// Of 160 s of work in teams, the process ran or was ready for a part.
#[test]
fn sleep_that_counts_as_work_is_told() {
    let note = |ran: u64, ready: u64| {
        let even = team(&[Kind::Loop], vec![loop_of(1, [[80, 0], [80, 0]])]);
        let mut profile = busy(even, ready, 2);
        profile.run.user_ns = ran * SECOND;
        Report::new(&profile).causes.notes.into_iter().next()
    };
    let told = note(60, 0).unwrap();
    let said =
        "Threads slept for at least 100 s of the 160 s that count as work in parallel regions";
    assert!(told.contains(said), "{told}");
    assert_eq!(note(60, 80), None, "they had no processor");
    assert_eq!(note(150, 0), None);
}

/// The thread that forks the teams computes for 60 s of its 100 s, whatever other threads lack.
#[test]
fn a_quiet_machine_wins_no_more_than_the_first_thread_did_not_do() {
    let won = |first_ready: u64| {
        let uneven = team(&[Kind::Loop], vec![loop_of(1, [[60, 0], [20, 40]])]);
        let mut profile = busy(uneven, 140, 2);
        let scheduling = profile.run.scheduling.as_mut().unwrap();
        scheduling.first_ready_ns = first_ready * SECOND;
        scheduling.first_run_ns = (100 - first_ready) * SECOND;
        let list = causes(&profile);
        let busy = list.iter().find(|it| it.kind == CauseKind::NoProcessor);
        busy.map(|it| it.likely.ns / SECOND)
    };
    assert_eq!(won(70), Some(70));
    assert_eq!(won(30), Some(30));
}

/// Outside of teams, only one thread has work; but while it sleeps, none has.
#[test]
fn a_program_that_sleeps_is_no_serial_part() {
    let serial = |slept: u64, others: u64| {
        let even = team(&[Kind::Loop], vec![loop_of(1, [[80, 0], [80, 0]])]);
        let mut profile = busy(even, 0, 2);
        let scheduling = profile.run.scheduling.as_mut().unwrap();
        scheduling.first_run_ns = (100 - slept) * SECOND;
        scheduling.run_ns = scheduling.first_run_ns + (80 + others) * SECOND;
        let report = Report::new(&profile);
        let causes = report.causes.list.iter();
        let causes: Vec<_> = causes.map(|it| (it.kind, it.likely.ns / SECOND)).collect();
        let is_told = |note: &String| note.contains("ran for 20.0 s, in code that is not measured");
        assert_eq!(
            report.causes.notes.iter().any(is_told),
            slept == 0 && others == 20
        );
        (causes, report.causes.slept.ns / SECOND)
    };
    assert_eq!(serial(0, 0), (vec![(CauseKind::SerialPart, 10)], 0));
    assert_eq!(serial(12, 0), (vec![(CauseKind::SerialPart, 4)], 12));
    assert_eq!(serial(20, 0), (Vec::new(), 20));
    // Threads that are in no team worked meanwhile.
    assert_eq!(serial(20, 20), (vec![(CauseKind::SerialPart, 10)], 0));
    // The first thread worked beside them, so that none was idle.
    assert_eq!(serial(0, 20), (Vec::new(), 0));
}

/// One thread executes a region whose if clause is false. The other one waits for the next team meanwhile.
#[test]
fn a_thread_that_a_team_leaves_out_waits() {
    let is_told = |members: usize| {
        let even = team(&[Kind::Loop], vec![loop_of(1, [[80, 0], [80, 0]])]);
        let mut profile = busy(even, 0, 2);
        for node in &mut profile.nodes {
            node.rows.retain(|row| row.thread <= members);
        }
        let scheduling = profile.run.scheduling.as_mut().unwrap();
        scheduling.first_run_ns = 100 * SECOND;
        let in_teams = 80 * (members as u64 - 1);
        scheduling.run_ns = scheduling.first_run_ns + (in_teams + 20) * SECOND;
        let notes = Report::new(&profile).causes.notes;
        notes
            .iter()
            .any(|note| note.contains("in code that is not measured"))
    };
    assert!(is_told(2));
    assert!(!is_told(1));
}

/// The thread that writes the profile sleeps until then.
#[test]
fn threads_of_no_team_need_no_processor() {
    let even = team(&[Kind::Loop], vec![loop_of(1, [[80, 0], [80, 0]])]);
    let mut busy = busy(even, 80, 2);
    busy.run.scheduling.as_mut().unwrap().threads = 3;
    assert_eq!(found(&busy), [(CauseKind::NoProcessor, None, 40)]);
}

#[test]
fn a_short_wait_is_doubted_where_threads_had_no_processor_for_as_long() {
    // 2 of 100 s can be won, 4 s are lost.
    let uneven = || team(&[Kind::Loop], vec![loop_of(1, [[6, 0], [2, 4]])]);
    assert_eq!(
        found(&busy(uneven(), 3, 2)),
        [(CauseKind::Imbalance, Some(1), 2)]
    );
    assert_eq!(found(&busy(uneven(), 4, 2)), []);
    // 10 s can be won.
    let much = || team(&[Kind::Loop], vec![loop_of(1, [[50, 0], [30, 20]])]);
    assert_eq!(
        found(&busy(much(), 4, 2)),
        [(CauseKind::Imbalance, Some(1), 10)]
    );
}

#[test]
fn work_that_is_almost_even_is_no_cause() {
    let kinds = |most, least| -> Vec<CauseKind> {
        let rows = [[most, 0], [least, most - least]];
        kinds_of(&team(&[Kind::Loop], vec![loop_of(1, rows)]))
    };
    // Two processors with different distances to memory may differ by as much.
    assert_eq!(kinds(80, 72), []);
    assert_eq!(kinds(80, 68), [CauseKind::Imbalance]);
}

#[test]
fn threads_without_a_processor_are_late_however_little_they_work() {
    let short = || team(&[Kind::Loop], vec![loop_of(1, [[2, 78], [2, 78]])]);
    let kinds = |processors| -> Vec<CauseKind> { kinds_of(&busy(short(), 79, processors)) };
    assert_eq!(kinds(1), [CauseKind::Oversubscription]);
    assert_eq!(kinds(2), [CauseKind::NoProcessor]);
}

#[test]
fn a_holder_without_a_processor_keeps_others_waiting() {
    let queue = node(Some(0), 1, Body, vec![row(1, &[(Main, 60), (Enter, 60)])]);
    let profile = team(&[Kind::Critical], vec![queue]);
    let quiet = [(CauseKind::Critical, Some(1), 30)];
    assert_eq!(found(&profile), quiet);
    // Threads had a processor half of the time.
    let found = found(&busy(profile, 80, 2));
    assert_eq!(found[0].0, CauseKind::NoProcessor);
    assert_eq!(found[1..], [(CauseKind::Critical, Some(1), 15)]);
}

#[test]
fn turns_cost_no_more_than_the_time_in_ordered_regions() {
    let kinds = |inside: u64| -> Vec<CauseKind> {
        let waited = [(Main, 60), (Enter, 60 - inside), (Body, inside)];
        let queue = node(Some(0), 1, Body, vec![row(1, &waited), row(2, &waited)]);
        let profile = busy(team(&[Kind::Ordered], vec![queue]), 80, 2);
        kinds_of(&profile)
    };
    assert_eq!(kinds(0), [CauseKind::NoProcessor]);
    assert_eq!(kinds(30), [CauseKind::NoProcessor, CauseKind::Ordered]);
}

#[test]
fn a_run_that_hardly_had_a_processor_is_not_judged() {
    let kinds = |ready: u64| -> Vec<CauseKind> {
        let waits = row(1, &[(Main, 80), (Body, 1), (Ibarr, 79)]);
        let others = row(2, &[(Main, 80), (Ibarr, 80)]);
        let single = node(Some(0), 1, Body, vec![waits, others]);
        let executed = node(Some(1), 3, Ibarr, vec![row(1, &[(Main, 79)])]);
        let tasks = [Kind::Single, Kind::Task, Kind::TaskExec];
        kinds_of(&busy(team(&tasks, vec![single, executed]), ready, 2))
    };
    assert_eq!(kinds(0), [CauseKind::TooFewTasks]);
    assert_eq!(kinds(145), [CauseKind::NoProcessor]);
}

#[test]
fn what_one_thread_at_a_time_may_do_stays_a_cause_where_threads_hardly_had_a_processor() {
    let found = |kind: Kind, part| {
        let queue = node(Some(0), 1, Body, vec![row(1, &[(Main, 60), (part, 60)])]);
        kinds_of(&busy(team(&[kind], vec![queue]), 120, 2))
    };
    let critical = [CauseKind::NoProcessor, CauseKind::Critical];
    assert_eq!(found(Kind::Critical, Enter), critical);
    // A wait may be for a thread without a processor.
    assert_eq!(found(Kind::Taskwait, Main), [CauseKind::NoProcessor]);
}

#[test]
fn threads_that_sleep_are_judged_though_they_waited_longer_for_a_processor_than_they_ran() {
    let mut profile = busy(
        team(&[Kind::Loop], vec![loop_of(1, [[70, 0], [10, 60]])]),
        2,
        2,
    );
    let scheduling = profile.run.scheduling.as_mut().unwrap();
    (scheduling.run_ns, scheduling.first_run_ns) = (SECOND, SECOND);
    assert_eq!(kinds_of(&profile), [CauseKind::Imbalance]);
    // They waited for 5 % of the run, which is not said first where 30 % can be won.
    profile.run.scheduling.as_mut().unwrap().ready_ns = 5 * SECOND;
    let first = kinds_of(&profile).first().copied();
    assert_eq!(first, Some(CauseKind::Imbalance));
}

/// Both threads lacked a processor. Work that differs by more than this explains has a reason of its own.
#[test]
fn work_that_differs_stays_a_cause_on_a_busy_machine() {
    let kinds = |least: u64, most_ready: u64| -> Vec<CauseKind> {
        let uneven = loop_of(1, [[60, 0], [least, 60 - least]]);
        let mut profile = busy(team(&[Kind::Loop], vec![uneven]), 100, 2);
        profile.run.scheduling.as_mut().unwrap().most_ready_ns = most_ready * SECOND;
        kinds_of(&profile)
    };
    let both = [CauseKind::NoProcessor, CauseKind::Imbalance];
    assert_eq!(kinds(20, 50), both);
    assert_eq!(kinds(50, 50), [CauseKind::NoProcessor]);
    // One thread ran for 5 s, the other for 55.
    assert_eq!(kinds(20, 75), [CauseKind::NoProcessor]);
}

/// A thread that waits until a critical section is free does not need the processor that it lacks.
#[test]
fn a_critical_section_that_is_mostly_taken_wins_as_much_as_a_quiet_machine() {
    let won = |waited: u64| -> Vec<u64> {
        let queue = row(1, &[(Main, 60), (Enter, 60)]);
        let queue = node(Some(0), 1, Body, vec![queue]);
        let mut profile = busy(team(&[Kind::Critical], vec![queue]), 120, 2);
        profile.contention = vec![Contention {
            kind: GuardKind::Critical,
            name: String::new(),
            members: 1,
            sites: vec![ContentionSite {
                region: 1,
                acquisitions: 2,
                waited,
                wait_ns: 60 * SECOND,
                max_wait_ns: 0,
                hold_ns: SECOND,
                holders: Vec::new(),
            }],
        }];
        let list = causes(&profile);
        let critical = list.iter().filter(|it| it.kind == CauseKind::Critical);
        critical.map(|it| it.likely.ns / SECOND).collect()
    };
    assert_eq!(won(1), [30]);
    assert_eq!(won(0), [7]);
}

/// Two threads shared a processor with other programs, so not all that each cause wins alone can be won.
#[test]
fn a_busy_machine_leaves_the_program_its_part_of_what_can_be_won() {
    let waited = [(Main, 70), (Enter, 40), (Body, 30)];
    let queue = node(Some(0), 1, Body, vec![row(1, &waited), row(2, &waited)]);
    let profile = busy(team(&[Kind::Critical], vec![queue]), 110, 1);
    let found = found(&profile);
    let kinds: Vec<CauseKind> = found.iter().map(|it| it.0).collect();
    assert_eq!(
        kinds,
        [CauseKind::NoProcessor, CauseKind::Critical],
        "{found:?}"
    );
}

#[test]
fn a_thread_outside_of_all_teams_waits_for_no_lock() {
    let with = |around: Option<usize>, threads: &[&[u32]]| {
        let mut profile = team(&[Kind::Critical], Vec::new());
        profile.threads = run(&[], threads).threads;
        let thread = if around.is_some() { 1 } else { 0 };
        let waits = row(thread, &[(Main, 15), (Enter, 14), (Body, 1)]);
        profile.nodes.push(node(around, 1, Body, vec![waits]));
        let kinds = found(&profile).into_iter().map(|it| it.0);
        kinds.filter(|kind| *kind == CauseKind::Critical).count()
    };
    let one: &[&[u32]] = &[&[0], &[0, 0], &[0, 1]];
    assert_eq!(with(None, one), 0);
    assert_eq!(with(Some(0), one), 1);
    // Another initial thread may hold it.
    assert_eq!(with(None, &[&[0], &[0, 0], &[0, 1], &[1]]), 1);
    // No team has a second thread.
    assert_eq!(with(Some(0), &[&[0], &[0, 0], &[0, 0, 0]]), 0);
}

/// Teams that cost much more than those with processors of their own wait for one: the region is not small for
/// that. It is if it is not worth a team at all.
#[test]
fn teams_that_wait_for_a_processor_make_no_region_small() {
    let kinds_of_many = |instances: u64, ready: u64, work: u64| {
        let mut profile = run(&[Kind::ParallelLoop], THREADS);
        let member = |thread| {
            let span = |seconds| span_of(instances, seconds);
            Row::of(thread)
                .with(Main, span(80))
                .with(Enter, span(80 - work))
                .with(Body, span(work))
        };
        let forks = times(0, Seq, instances, 80);
        profile.nodes = vec![node(None, 0, Body, vec![forks, member(1), member(2)])];
        kinds_of(&busy(profile, ready, 2))
    };
    let kinds = |ready, work| kinds_of_many(1_000_000, ready, work);
    // A team costs 60 us, of 80 of the region, and 20 us are worth it. 4 us would not be.
    assert_eq!(kinds(0, 20), [CauseKind::SmallRegions]);
    assert_eq!(kinds(60, 20), [CauseKind::NoProcessor]);
    assert!(kinds(60, 4).contains(&CauseKind::SmallRegions));
    // No team costs 790 us because of what it does.
    assert_eq!(kinds_of_many(100_000, 160, 1), [CauseKind::NoProcessor]);
}
