//! How long instances take, who comes late, and who waits for what.

use super::*;

/// A profile with all lists beside its tree.
fn with_waits() -> Profile {
    let mut profile = inside(
        Kind::Critical,
        [1, 2].map(|thread| row(thread, &[(Main, 9), (Enter, 4), (Body, 4), (Exit, 1)])),
    );
    let bucket = |from_ns, below_ns, count| Bucket {
        from_ns,
        below_ns,
        count,
    };
    let part = |thread, min_ns, max_ns, histogram| Distribution {
        region: 1,
        thread: Some(thread),
        part: Main,
        min_ns,
        max_ns,
        histogram,
    };
    profile.distributions = vec![
        part(
            1,
            1_000,
            9_000,
            vec![bucket(512, 1024, 3), bucket(8192, 16384, 1)],
        ),
        part(2, 600, 700, vec![bucket(512, 1024, 5)]),
    ];
    let late = |thread, last| Arrivals {
        region: 0,
        part: Ibarr,
        thread,
        last,
        late_ns: last * 1_000,
        after_first_ns: last * 5_000,
    };
    profile.arrivals = vec![late(1, 90), late(2, 10)];
    profile.contention = vec![Contention {
        kind: GuardKind::Critical,
        name: "stack".to_owned(),
        members: 1,
        sites: vec![ContentionSite {
            region: 1,
            acquisitions: 100,
            waited: 40,
            wait_ns: 8 * SECOND,
            max_wait_ns: SECOND,
            hold_ns: 50 * SECOND,
            holders: vec![Holder {
                region: 1,
                thread: Some(2),
                waited: 40,
                wait_ns: 8 * SECOND,
            }],
        }],
    }];
    profile.run.pair_cost_ps = 20_000;
    profile
}

#[test]
fn parts_of_a_distribution_are_one() {
    let profile = with_waits();
    let report = Report::new(&profile);
    let spread = &report.spreads[0];
    assert_eq!(
        (spread.count, spread.min_ns, spread.max_ns),
        (9, 600, 9_000)
    );
    assert_eq!(spread.mean_ns, 9 * SECOND);
    let counts: Vec<u64> = spread.histogram.iter().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [8, 1]);
}

#[test]
fn who_is_late_again_and_again_is_told_from_chance() {
    let mut profile = with_waits();
    let report = Report::new(&profile);
    let lateness = &report.lateness[0];
    assert_eq!(
        (lateness.instances, lateness.pattern),
        (100, Pattern::Systematic)
    );
    assert_eq!(
        (lateness.threads[0].thread, lateness.threads[0].late_ns),
        (1, 1_000)
    );
    profile.arrivals[0].last = 12;
    assert_eq!(Report::new(&profile).lateness[0].pattern, Pattern::Random);
}

#[test]
fn waits_stand_in_the_text_report() {
    let profile = with_waits();
    let mut out = Vec::new();
    (writer("text").unwrap().write)(&Report::new(&profile), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let from = text.find("----     Romp Instance Times").unwrap();
    insta::assert_snapshot!("waits.txt", &text[from..]);
}

/// Nobody knows of the other entries whether they had to wait.
#[test]
fn waits_are_those_of_the_entries_that_were_timed() {
    let mut profile = with_waits();
    for row in profile.nodes.iter_mut().flat_map(|node| &mut node.rows) {
        row.main.count = 50;
        *row = row.clone().with_estimate(Some(Estimate {
            timed: 25,
            ..Estimate::default()
        }));
    }
    let report = Report::new(&profile);
    assert_eq!(report.contention[0].timed, 50);
    let mut out = Vec::new();
    (writer("text").unwrap().write)(&report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let all = "100 entries, 40 of the 50 timed waited (80 %)";
    let site = "100 entries, 40 of the 50 timed waited; 80.0 ms";
    assert!(text.contains(all) && text.contains(site), "{text}");
}

#[test]
fn waits_stand_in_the_page_and_in_the_analyses() {
    let profile = with_waits();
    let report = Report::new(&profile);
    let written = |format: &str| {
        let mut out = Vec::new();
        (writer(format).unwrap().write)(&report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let analyses: serde_json::Value = serde_json::from_str(&written("analysis")).unwrap();
    for (place, value) in [
        ("/contention/0/waited", 40),
        ("/last_arrivals/0/instances", 100),
        ("/instance_times/0/max_ns", 9_000),
        ("/dilation/pair_cost_ps", 20_000),
    ] {
        assert_eq!(analyses.pointer(place), Some(&value.into()), "{place}");
    }
}
