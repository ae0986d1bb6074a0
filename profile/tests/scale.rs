//! How programs scale: runs with known results, and properties that must hold for any runs.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod by_hand;
mod generated;

use by_hand::{SECOND, node, row, run};
use generated::profiles;
use profile::model::{Profile, Row, Scheduling};
use profile::region_kind::PseudoRegion::{Body, Enter, Ibarr, Main, Seq};
use profile::region_kind::RegionKind::{Parallel, ParallelLoop};
use profile::report::Style;
use profile::scale::{Amounts, Part, ScaleError, Scaling, scale, write_text};
use proptest::prelude::*;

/// A run of a parallel loop and a serial part. The threads work, wait and start for these
/// numbers of seconds.
fn of_loop(threads: u32, work: u64, wait: u64, start: u64, serial: u64) -> Profile {
    let paths: Vec<Vec<u32>> = (0..threads).map(|thread| vec![0, thread]).collect();
    let paths: Vec<&[u32]> = paths.iter().map(Vec::as_slice).collect();
    let mut names: Vec<&[u32]> = vec![&[0]];
    names.extend(paths);
    let mut profile = run(&[ParallelLoop], &names);
    let elapsed = work + wait + start;
    let member = |thread: usize| {
        let parts = [(Main, elapsed), (Enter, start), (Body, work), (Ibarr, wait)];
        row(thread, &parts)
    };
    let mut rows: Vec<Row> = vec![row(0, &[(Seq, elapsed)])];
    rows.extend((1..=threads as usize).map(member));
    profile.nodes = vec![node(None, 0, Body, rows)];
    profile.run.duration_ns = (elapsed + serial) * SECOND;
    profile.run.max_threads = threads;
    profile
}

/// The elapsed seconds that a part of a place loses at a width.
fn lost(scaling: &Scaling, width: usize, place: usize, part: Part) -> i128 {
    let lost = scaling.places[place].at[width].lost.of(part);
    scaling.widths[width].elapsed(lost) / i128::from(SECOND)
}

/// A program has a version of its work for one thread, and another one for several.
#[test]
fn a_region_that_does_not_run_with_one_thread_is_not_said_to_grow() {
    let mut serial = of_loop(1, 80, 0, 0, 40);
    serial.nodes.clear();
    let runs = [serial, of_loop(2, 60, 0, 0, 0), of_loop(4, 30, 0, 0, 0)];
    let scaling = scale(&runs).unwrap();
    let told = &scaling.limits[0];
    assert!(
        told.found.ends_with("it has no work with 1 thread"),
        "{}",
        told.found
    );
    assert!(
        told.advice
            .starts_with("Another place may do its work then")
    );
    let text = format!("{scaling:?}");
    assert!(!text.contains("inf"), "{text}");
}

#[test]
fn what_was_put_in_is_found() {
    // Work of 80 s that is shared, then takes a half more, then twice as long.
    let runs = [
        of_loop(1, 80, 0, 0, 10),
        of_loop(2, 60, 4, 1, 10),
        of_loop(4, 40, 8, 2, 10),
    ];
    let scaling = scale(&runs).unwrap();
    let threads: Vec<u64> = scaling.widths.iter().map(|width| width.threads).collect();
    assert_eq!(threads, [1, 2, 4]);
    assert!(scaling.places[0].region.is_some() && scaling.places[1].region.is_none());
    for (width, work, wait, start, serial) in [(0, 0, 0, 0, 0), (1, 20, 4, 1, 5)] {
        assert_eq!(lost(&scaling, width, 0, Part::Work), work);
        assert_eq!(lost(&scaling, width, 0, Part::Waiting), wait);
        assert_eq!(lost(&scaling, width, 0, Part::Runtime), start);
        assert_eq!(lost(&scaling, width, 1, Part::Serial), serial);
    }
    // 40 instead of 20 s. The serial part is not shared: 10 instead of 2.5 s.
    assert_eq!(lost(&scaling, 2, 0, Part::Work), 20);
    assert_eq!(lost(&scaling, 2, 1, Part::Serial), 7);
    let limits: Vec<(usize, Part)> = scaling
        .limits
        .iter()
        .map(|of| (of.place, of.part))
        .collect();
    assert_eq!(limits, [(0, Part::Work), (1, Part::Serial)]);
    let found = &scaling.limits[0].found;
    assert!(
        found.contains("2.00 times the thread time of 1 thread"),
        "{found}"
    );
    assert!(scaling.limits[0].advice.contains("bandwidth"));
}

#[test]
fn of_waiting_is_said_what_the_run_says() {
    let mut uneven = of_loop(2, 40, 0, 0, 0);
    let late = row(1, &[(Main, 70), (Body, 70)]);
    let waits = row(2, &[(Main, 70), (Body, 10), (Ibarr, 60)]);
    uneven.nodes[0].rows = vec![row(0, &[(Seq, 70)]), late, waits];
    uneven.run.duration_ns = 70 * SECOND;
    let scaling = scale(&[of_loop(1, 80, 0, 0, 0), uneven]).unwrap();
    let limit = &scaling.limits[0];
    assert_eq!(limit.part, Part::Waiting);
    assert!(
        limit.found.contains("at the implicit barrier of"),
        "{limit:?}"
    );
    assert!(limit.advice.contains("schedule"), "{limit:?}");
}

#[test]
fn work_that_is_slower_than_with_one_thread_is_no_matter_of_bandwidth() {
    let scaling = scale(&[of_loop(1, 30, 0, 0, 0), of_loop(2, 40, 0, 0, 0)]).unwrap();
    assert!(
        scaling.limits[0].advice.contains("does not explain"),
        "{:?}",
        scaling.limits
    );
}

#[test]
fn what_scales_has_no_limit() {
    let scaling = scale(&[of_loop(1, 80, 0, 0, 0), of_loop(4, 20, 0, 0, 0)]).unwrap();
    assert_eq!(scaling.limits, []);
    assert_eq!(scaling.widths[1].lost, Amounts::default());
    let forecast = scaling.forecast.unwrap();
    assert_eq!((forecast.threads, forecast.duration_ns), (8, 10 * SECOND));
    assert_eq!(forecast.limit_ns, 0);
}

#[test]
fn the_next_doubling_keeps_what_was_not_shared() {
    let runs = [
        of_loop(1, 80, 0, 0, 10),
        of_loop(2, 40, 0, 0, 10),
        of_loop(4, 20, 0, 0, 10),
    ];
    let forecast = scale(&runs).unwrap().forecast.unwrap();
    assert_eq!(forecast.duration_ns, 20 * SECOND);
    assert_eq!(forecast.limit_ns, 10 * SECOND);
    let tried = forecast.tried.unwrap();
    assert_eq!((tried.threads, tried.predicted_ns), (4, 30 * SECOND));
    assert_eq!(tried.measured_ns, 30 * SECOND);
}

#[test]
fn what_each_thread_repeats_is_told_from_slow_work() {
    let bare = |threads: u32| {
        let mut profile = of_loop(threads, 30, 0, 0, 0);
        profile.regions[0].kind = Parallel;
        profile.regions[0].region_type = "parallel".to_owned();
        profile
    };
    let scaling = scale(&[bare(1), bare(4)]).unwrap();
    assert!(scaling.places[0].is_repeated);
    assert!(
        scaling.limits[0]
            .advice
            .starts_with("Each thread does all of it")
    );
    let shared = scale(&[of_loop(1, 30, 0, 0, 0), of_loop(4, 30, 0, 0, 0)]).unwrap();
    assert!(!shared.places[0].is_repeated);
}

#[test]
fn time_without_a_processor_is_no_work() {
    let mut crowded = of_loop(4, 40, 0, 0, 0);
    crowded.run.processors = 2;
    crowded.run.scheduling = Some(Scheduling {
        threads: 4,
        run_ns: 80 * SECOND,
        ready_ns: 80 * SECOND,
        ..Scheduling::default()
    });
    let scaling = scale(&[of_loop(1, 80, 0, 0, 0), crowded]).unwrap();
    assert_eq!(lost(&scaling, 1, 0, Part::Work), 0);
    assert_eq!(lost(&scaling, 1, 0, Part::NotRun), 20);
    assert!(scaling.notes[0].starts_with("4 threads shared 2 processors"));
    assert_eq!(scaling.forecast, None);
}

#[test]
fn what_the_kernel_says_of_processors_counts() {
    // For three quarters of 80 s of work, threads had a processor. In the rest they were ready,
    // or slept.
    let with = |run_ns: u64, ready_ns: u64| {
        let mut profile = of_loop(2, 40, 0, 0, 0);
        profile.run.scheduling = Some(Scheduling {
            threads: 2,
            run_ns: run_ns * SECOND,
            ready_ns: ready_ns * SECOND,
            ..Scheduling::default()
        });
        let scaling = scale(&[of_loop(1, 60, 0, 0, 0), profile]).unwrap();
        lost(&scaling, 1, 0, Part::NotRun)
    };
    assert_eq!(with(60, 20), 10);
    assert_eq!(with(0, 0), 0);
    assert_eq!(with(1, 2), 1);
}

#[test]
fn threads_that_share_processors_are_not_judged() {
    let mut crowded = of_loop(4, 40, 0, 0, 0);
    crowded.run.processors = 2;
    let runs = [of_loop(1, 80, 0, 0, 0), of_loop(2, 40, 0, 0, 0), crowded];
    let scaling = scale(&runs).unwrap();
    assert_eq!(scaling.judged, 1);
    assert_eq!(scaling.forecast.unwrap().from, [1, 2]);
}

#[test]
fn counters_tell_more_to_do_from_slow_work() {
    let counted = |threads: u32, work: u64, instructions: u64| {
        let mut profile = of_loop(threads, work, 0, 0, 0);
        profile.run.counters = vec!["instructions".to_owned()];
        for row in &mut profile.nodes[0].rows[1..] {
            let each = instructions / u64::from(threads);
            *row = row.clone().with_counters(vec![each]);
        }
        profile
    };
    let of = |instructions| {
        let runs = [counted(1, 80, 1000), counted(2, 80, instructions)];
        let scaling = scale(&runs).unwrap();
        (
            scaling.limits[0].found.clone(),
            scaling.limits[0].advice.clone(),
        )
    };
    let (found, advice) = of(1000);
    assert!(found.contains("instructions 1.00 times"), "{found}");
    assert!(advice.contains("false sharing"));
    let (found, advice) = of(2000);
    assert!(found.contains("instructions 2.00 times"), "{found}");
    assert!(advice.contains("more work"));
}

#[test]
fn repeats_have_a_median_and_an_interval() {
    let runs = [
        of_loop(1, 80, 0, 0, 0),
        of_loop(2, 50, 0, 0, 0),
        of_loop(2, 41, 0, 0, 0),
        of_loop(2, 40, 0, 0, 0),
    ];
    let scaling = scale(&runs).unwrap();
    let two = &scaling.widths[1];
    assert_eq!(two.duration_ns, 41 * SECOND);
    assert_eq!(
        (two.duration.low, two.duration.high),
        (40 * SECOND, 50 * SECOND)
    );
    let at = &scaling.places[0].at[1];
    assert_eq!(at.lost_interval, [0, 20 * i128::from(SECOND)]);
    // A loss that may be zero is no limit.
    assert_eq!(scaling.limits, []);
    let mut text = Vec::new();
    write_text(&scaling, Style::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        !text.contains("differ by"),
        "it is 2 % of ideal scaling: {text}"
    );
    let far = [
        of_loop(1, 80, 0, 0, 0),
        of_loop(2, 40, 0, 0, 0),
        of_loop(2, 60, 0, 0, 0),
    ];
    let mut text = Vec::new();
    write_text(
        &scale(&[&far[..], &[of_loop(2, 60, 0, 0, 0)]].concat()).unwrap(),
        Style::default(),
        &mut text,
    )
    .unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("No place loses more than its runs differ by"),
        "{text}"
    );
}

#[test]
fn one_number_of_threads_is_no_scaling() {
    let runs = [of_loop(2, 8, 0, 0, 0), of_loop(2, 8, 0, 0, 0)];
    assert_eq!(scale(&runs).unwrap_err(), ScaleError::OneWidth(2));
    assert_eq!(scale(&[]).unwrap_err(), ScaleError::NoRun);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The parts add up to the loss, for each place and for all. The sum is the difference from
    /// ideal scaling.
    #[test]
    fn parts_add_up(runs in proptest::collection::vec(profiles(), 2..5), ran in any::<u32>()) {
        let mut runs: Vec<Profile> = runs.iter().map(profile::merge::fold).collect();
        for (profile, more) in runs.iter_mut().zip(1..) {
            // Mostly different numbers of threads. Sometimes, time on processors is less than
            // work.
            profile.run.max_threads += 7 * (more / 2);
            profile.run.scheduling = Some(Scheduling {
                run_ns: u64::from(ran),
                ready_ns: u64::from(ran) * u64::from(more),
                ..Scheduling::default()
            });
        }
        let Ok(scaling) = scale(&runs) else { return Ok(()) };
        let time = |width: usize| {
            let of = &scaling.widths[width];
            i128::from(of.duration_ns) * i128::from(of.threads)
        };
        for (index, width) in scaling.widths.iter().enumerate() {
            prop_assert_eq!(width.lost.total(), time(index) - time(0));
            let mut places = Amounts::default();
            let mut times = 0;
            for place in &scaling.places {
                let at = &place.at[index];
                times += at.time.total();
                for part in Part::ALL {
                    places.0[part as usize] += at.lost.of(part);
                    let grew = at.time.of(part) - place.at[0].time.of(part);
                    prop_assert_eq!(at.lost.of(part), grew);
                    prop_assert!(at.time.of(part) >= 0, "{:?} {:?}", part, at.time);
                }
            }
            prop_assert_eq!(times, time(index));
            prop_assert_eq!(places, width.lost);
        }
    }
}
