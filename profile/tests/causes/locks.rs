//! Threads that queue for locks and critical sections.

use super::*;

/// What is known of a site that was entered twice, and at which one entry waited.
fn site(region: usize) -> ContentionSite {
    ContentionSite {
        region,
        acquisitions: 2,
        waited: 1,
        wait_ns: 10 * SECOND,
        max_wait_ns: 0,
        hold_ns: 18 * SECOND,
        holders: Vec::new(),
    }
}

/// Two threads that each spent 10 s to enter such a site.
fn queue(region: usize) -> profile::model::Node {
    let parts = [(Main, 20), (Enter, 10), (Body, 9), (Exit, 1)];
    node(Some(0), region, Body, vec![row(1, &parts), row(2, &parts)])
}

#[test]
fn a_lock_is_one_cause_for_all_its_sites() {
    let mut profile = team(&[Kind::Lock, Kind::Lock], vec![queue(1), queue(2)]);
    profile.contention = vec![Contention {
        kind: GuardKind::Lock,
        name: "0x10".to_owned(),
        members: 1,
        sites: vec![site(1), site(2)],
    }];
    profile.regions[1].directive = Some("omp_set_lock(&queue)".to_owned());
    assert_eq!(found(&profile), [(CauseKind::Lock, Some(1), 22)]);
    let cause = causes(&profile).remove(0);
    assert_eq!(cause.place.regions, [1, 2]);
    assert!(cause.place.words.contains("omp_set_lock(&queue)"));
    assert!(
        cause.what.contains("held for 36 % of the run"),
        "{}",
        cause.what
    );
    assert!(cause.what.contains("2 of 4 entries had to wait"));
    // An estimate may say that two threads had it at the same time.
    let mut estimated = profile.clone();
    estimated.contention[0].sites[0].hold_ns = 90 * SECOND;
    let held = |profile: &Profile| causes(profile).remove(0).what;
    let what = held(&estimated);
    assert!(what.contains("it was held for 100 % of the run"), "{what}");
    estimated.contention[0].members = 2;
    let what = held(&estimated);
    assert!(what.contains("they were held for 108 %"), "{what}");
    for row in profile.nodes[1..]
        .iter_mut()
        .flat_map(|node| &mut node.rows)
    {
        row.main.count = 100;
        *row = row.clone().with_estimate(Some(Estimate {
            timed: 10,
            ..Estimate::default()
        }));
    }
    let what = causes(&profile).remove(0).what;
    let timed = "2 of the 40 timed entries (400 in all) found it taken";
    assert!(what.contains(timed), "{what}");
}

#[test]
fn who_held_what_others_waited_for_is_said_if_it_was_mostly_one() {
    let said = |holders: [[u64; 2]; 2]| {
        let queue = |region| {
            let parts = [(Main, 20), (Enter, 10), (Body, 9), (Exit, 1)];
            let rows = vec![row(1, &parts), row(2, &parts), row(3, &parts)];
            node(Some(0), region, Body, rows)
        };
        let mut profile = team(&[Kind::Critical, Kind::Critical], vec![queue(1), queue(2)]);
        profile.threads.push(profile.threads[2].clone());
        profile.threads[3].path = vec![0, 2];
        profile.run.max_threads = 3;
        profile.nodes[0]
            .rows
            .push(row(3, &[(Main, 80), (Body, 80)]));
        let holder = |region, thread, waited| Holder {
            region,
            thread: Some(thread),
            waited,
            wait_ns: 0,
        };
        let sites = [1, 2]
            .into_iter()
            .zip(holders)
            .map(|(region, [one, other])| ContentionSite {
                region,
                acquisitions: 30,
                waited: one + other,
                wait_ns: 10 * SECOND,
                max_wait_ns: 0,
                hold_ns: 18 * SECOND,
                holders: vec![holder(region, 1, one), holder(region, 2, other)],
            });
        profile.contention = vec![Contention {
            kind: GuardKind::Critical,
            name: "sum".to_owned(),
            members: 1,
            sites: sites.collect(),
        }];
        causes(&profile).remove(0).what
    };
    let one_thread = said([[9, 1], [9, 1]]);
    assert!(
        one_thread.ends_with("; in 90 % of those waits, thread 0->0 held it"),
        "{one_thread}"
    );
    let one_place = said([[9, 9], [1, 1]]);
    assert!(
        one_place.ends_with("; in 90 % of those waits, it was held at the CRITICAL at a.c:11"),
        "{one_place}"
    );
    let nobody = said([[5, 5], [5, 5]]);
    assert!(nobody.ends_with("had to wait"), "{nobody}");
}

/// Where nobody can tell what it costs, the report says so.
#[test]
fn a_hot_section_that_is_no_cause_is_named_in_a_note() {
    let notes = |count, members: &[usize]| {
        let rows = members.iter().map(|&thread| times(thread, Main, count, 1));
        let section = node(Some(0), 1, Body, rows.collect());
        let profile = team(&[Kind::Critical], vec![section]);
        Report::new(&profile).causes.notes
    };
    // Two threads were in the region for 80 s each.
    let hot = notes(1_600_000_000, &[1, 2]);
    assert_eq!(hot.len(), 1);
    let said = "was entered 3200000000 times, by each thread every 50 ns";
    assert!(hot[0].contains(said), "{hot:?}");
    assert_eq!(notes(160_000_000, &[1, 2]), Vec::<String>::new());
    // Nobody else wants it.
    assert_eq!(notes(3_200_000_000, &[1]), Vec::<String>::new());
}

/// What a hot critical section or turn costs cannot be told from the work around it, so a note says that it may cost
/// much. One of two directives in a loop is enough.
#[test]
fn what_threads_come_to_all_the_time_is_mentioned() {
    let notes = |kind: Kind, entries: u64| {
        let hot = |region| {
            let rows = [1, 2].map(|thread| times(thread, Main, entries, 1));
            node(Some(1), region, Body, rows.to_vec())
        };
        let around = loop_of(1, [[80, 0], [80, 0]]);
        let profile = team(&[Kind::Loop, kind, kind], vec![around, hot(2), hot(3)]);
        Report::new(&profile).causes.notes
    };
    let of = |kind, entries| notes(kind, entries).len();
    assert_eq!(of(Kind::Critical, 1_000_000_000), 2);
    assert_eq!(of(Kind::Ordered, 1_000_000_000), 1);
    assert_eq!(of(Kind::Ordered, 500_000_000), 0);
    let note = notes(Kind::Ordered, 1_000_000_000).remove(0);
    assert!(
        note.contains("2000000000 times, by each thread every 80 ns"),
        "{note}"
    );
    assert!(
        note.ends_with("Try iterations with more work in each."),
        "{note}"
    );
}

/// A billion entries of each thread, each of which takes 40 ns, mostly to set the lock. Of all of them, so many had to
/// wait.
fn set_by_both(waited: u64) -> Profile {
    const TIMES: u64 = 1_000_000_000;
    let entries = |thread| {
        let part = |seconds| span_of(TIMES, seconds);
        let row = Row::of(thread).with(Main, part(40)).with(Enter, part(30));
        row.with(Body, part(8)).with(Exit, part(2))
    };
    let node = node(Some(0), 1, Body, [1, 2].map(entries).to_vec());
    let mut profile = team(&[Kind::Lock], vec![node]);
    let site = ContentionSite {
        acquisitions: 2 * TIMES,
        waited,
        wait_ns: 0,
        hold_ns: 16 * SECOND,
        ..site(1)
    };
    profile.contention = vec![Contention {
        kind: GuardKind::Lock,
        name: "0x10".to_owned(),
        members: 4,
        sites: vec![site],
    }];
    profile
}

/// An array of locks may lie in one cache line, and none of them is ever waited for.
#[test]
fn a_lock_that_is_free_may_share_its_cache_line() {
    let free = causes(&set_by_both(0)).remove(0);
    assert_eq!(free.kind, CauseKind::Lock);
    assert!(free.remedy.contains("cache line of its own"), "{free:?}");
    let taken = causes(&set_by_both(1_500_000_000)).remove(0);
    assert!(!taken.remedy.contains("cache line"), "{taken:?}");
}

/// Two sections with the same name, or both without one.
#[test]
fn sections_without_a_name_exclude_each_other() {
    let remedy = |name: Option<&str>| {
        let nodes = vec![queue(1), queue(2)];
        let mut profile = team(&[Kind::Critical, Kind::Critical], nodes);
        profile.contention = vec![Contention {
            kind: GuardKind::Critical,
            name: name.unwrap_or_default().to_owned(),
            members: 1,
            sites: vec![site(1), site(2)],
        }];
        for region in &mut profile.regions[1..] {
            region.name = name.map(str::to_owned);
        }
        causes(&profile).remove(0).remedy
    };
    assert!(remedy(None).contains("unnamed critical sections exclude each other"));
    assert!(!remedy(Some("sum")).contains("unnamed"));
}
