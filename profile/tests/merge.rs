//! Merging ranks loses no data and mixes none up, tested on generated runs.

// The lint allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

mod generated;

use std::path::PathBuf;

use generated::profiles;
use profile::analysis::Report;
use profile::merge::{MergeError, Part, fold, merge, number, of_rank};
use profile::model::{
    Arrivals, Contention, ContentionSite, Distribution, GuardKind, Holder, Profile, Region, Row,
    Run,
};
use profile::region_kind::PseudoRegion;
use profile::report::WRITERS;
use proptest::prelude::*;

fn part(name: &str, profile: &Profile) -> Part {
    Part {
        path: PathBuf::from(name),
        profile: profile.clone(),
    }
}

fn with_rank(rank: u32, profile: &Profile) -> Profile {
    let run = Run {
        rank: Some(rank),
        ..profile.run.clone()
    };
    Profile {
        run,
        ..profile.clone()
    }
}

/// Every row as text, with names instead of indices, so that profiles in another order can be
/// compared.
fn rows(profile: &Profile) -> Vec<(String, String, Row)> {
    let mut paths: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for node in &profile.nodes {
        let Region { kind, begin, .. } = &profile.regions[node.region];
        let above = node.parent.map_or("", |parent| &paths[parent]);
        let path = format!("{above}/{:?} {kind:?} {begin:?}", node.within);
        for row in &node.rows {
            let thread = profile.threads[row.thread].to_string();
            let mut bare = row.clone();
            bare.thread = 0;
            rows.push((path.clone(), thread, bare));
        }
        paths.push(path);
    }
    rows.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_rank_can_be_taken_out_again(a in profiles(), b in profiles(), c in profiles()) {
        let ranks = [with_rank(0, &a), with_rank(1, &b), with_rank(5, &c)];
        // Merged in two steps, and not in order.
        let first = merge(&[part("c", &ranks[2]), part("a", &ranks[0])]).unwrap();
        let merged = merge(&[part("ca", &first), part("b", &ranks[1])]).unwrap();
        prop_assert_eq!(merged.ranks.len(), 3);
        for (rank, profile) in [0, 1, 5].into_iter().zip(&ranks) {
            let taken_out = of_rank(&merged, rank).unwrap();
            prop_assert_eq!(rows(&taken_out), rows(profile));
            prop_assert_eq!(&taken_out.run, &profile.run);
        }
        prop_assert!(of_rank(&merged, 2).is_none());
        prop_assert!(merged.run.notes.iter().any(|note| note.ends_with("2-4")));
    }

    #[test]
    fn sums_are_those_of_the_ranks(a in profiles(), b in profiles()) {
        let ranks = [with_rank(0, &a), with_rank(1, &b)];
        let merged = merge(&[part("a", &ranks[0]), part("b", &ranks[1])]).unwrap();
        let report = Report::new(&merged);
        let apart = ranks.each_ref().map(Report::new);
        let lost = |report: &Report<'_>| report.overheads.whole_sum.overhead.ns;
        prop_assert_eq!(lost(&report), lost(&apart[0]) + lost(&apart[1]));
        for (rank, apart) in report.ranks.iter().zip(&apart) {
            prop_assert_eq!(rank.overheads.overhead.ns, lost(apart));
            prop_assert_eq!(rank.coverage.ns, apart.overheads.coverage.ns);
        }
        for table in &report.flat {
            for column in 0..table.columns.len() {
                let rows: u64 = table.rows().map(|(_, cells)| cells[column]).sum();
                prop_assert_eq!(table.sum[column], rows);
            }
        }
        // The wall time of all ranks together is their average.
        let exclusive: u64 = report.call_graph.paths.iter()
            .map(|path| path.times.exclusive.ns)
            .sum::<u64>() + report.call_graph.program.exclusive.ns;
        let slack = merged.nodes.len() as u64 + 1;
        prop_assert!(exclusive.abs_diff(merged.run.duration_ns) <= slack);
        for writer in WRITERS {
            let mut out = Vec::new();
            (writer.write)(&report, &mut out).unwrap();
        }
    }

    #[test]
    fn without_shared_identities_folding_changes_nothing(profile in profiles()) {
        prop_assert_eq!(rows(&fold(&profile)), rows(&profile));
    }
}

#[test]
fn regions_at_one_place_are_folded_and_their_rows_summed() {
    let mut profile = generated::two_regions();
    // As if a second translation unit had counted its ordinals differently.
    profile.regions[1] = Region {
        ordinal: 3,
        ..profile.regions[0].clone()
    };
    let folded = fold(&profile);
    assert_eq!(folded.regions.len(), 1);
    let [node] = folded.nodes.as_slice() else {
        panic!("{:?}", folded.nodes);
    };
    let main: Vec<(u64, u64)> = node
        .rows
        .iter()
        .map(|row| (row.main.count, row.main.ns))
        .collect();
    assert_eq!(main, [(3, 30), (3, 300)]);
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let profile = Profile::default();
    let no_rank = merge(&[part("app.0.romp.json", &profile)]);
    assert!(matches!(no_rank, Err(MergeError::NoRank { .. })));
    let twice = [
        part("x/app.r3.0.romp.json", &profile),
        part("app.r3.1.romp.json", &profile),
    ];
    let Err(error) = merge(&twice) else {
        panic!("merged")
    };
    assert_eq!(
        error.to_string(),
        "'x/app.r3.0.romp.json' and 'app.r3.1.romp.json' are both of rank 3: give the files of \
         one job"
    );
    let mut numbered = twice;
    number(&mut numbered);
    let ranks: Vec<_> = merge(&numbered).unwrap().ranks;
    assert_eq!(
        ranks.iter().map(|run| run.rank).collect::<Vec<_>>(),
        [Some(0), Some(1)]
    );
}

#[test]
fn the_run_of_a_job_covers_its_ranks() {
    let run = |rank, host: &str, start: &str, ns, note: &str| Profile {
        run: Run {
            host: host.to_owned(),
            start: start.to_owned(),
            end: start.to_owned(),
            duration_ns: ns,
            user_ns: ns,
            max_threads: 2,
            rank: Some(rank),
            notes: vec![note.to_owned()],
            ..Run::default()
        },
        ..Profile::default()
    };
    let a = run(0, "n1", "2026-01-01T00:00:09Z", 5, "one");
    let b = run(1, "n2", "2026-01-01T00:00:01Z", 7, "two");
    let c = run(2, "n2", "2026-01-01T00:00:02Z", 6, "two");
    let merged = merge(&[part("a", &a), part("b", &b), part("c", &c)])
        .unwrap()
        .run;
    assert_eq!(merged.host, "n1, n2");
    assert_eq!(merged.start, "2026-01-01T00:00:01Z");
    assert_eq!(merged.end, "2026-01-01T00:00:09Z");
    assert_eq!((merged.duration_ns, merged.user_ns), (7, 18));
    assert_eq!(merged.max_threads, 6);
    assert_eq!(merged.notes, ["rank 0: one", "ranks 1-2: two"]);
}

#[test]
fn what_stands_beside_the_tree_is_kept() {
    let mut profile = generated::two_regions();
    let guard = |kind, name: &str, region| Contention {
        kind,
        name: name.to_owned(),
        members: 1,
        sites: vec![ContentionSite {
            region,
            acquisitions: 4,
            waited: 2,
            wait_ns: 30,
            max_wait_ns: 20,
            hold_ns: 50,
            holders: vec![Holder {
                region,
                thread: Some(1),
                waited: 2,
                wait_ns: 30,
            }],
        }],
    };
    profile.contention = vec![
        guard(GuardKind::Critical, "sum", 0),
        guard(GuardKind::Lock, "0x10", 1),
        guard(GuardKind::Atomic, "", 0),
        guard(GuardKind::Atomic, "", 1),
    ];
    profile.arrivals = vec![Arrivals {
        region: 1,
        part: PseudoRegion::Main,
        thread: 1,
        last: 3,
        late_ns: 9,
        after_first_ns: 11,
    }];
    profile.distributions = vec![Distribution {
        region: 1,
        thread: None,
        part: PseudoRegion::Main,
        min_ns: 1,
        max_ns: 9,
        histogram: Vec::new(),
    }];
    let ranks = [with_rank(0, &profile), with_rank(1, &profile)];
    let parts = [part("a", &ranks[0]), part("b", &ranks[1])];
    // The second step takes a merged profile with two ranks, and adds it only once.
    let merged = merge(&parts).unwrap();
    let third = with_rank(2, &profile);
    let merged = merge(&[part("c", &third), part("ab", &merged)]).unwrap();

    let names: Vec<(&str, u64)> = merged
        .contention
        .iter()
        .map(|guard| (guard.name.as_str(), guard.sites[0].acquisitions))
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let locks = [("r0:0x10", 4), ("r1:0x10", 4), ("r2:0x10", 4)];
    assert_eq!(sorted[..2], [("", 12), ("", 12)]);
    assert_eq!(sorted[2..5], locks);
    assert_eq!(sorted[5..], [("sum", 12)]);
    let holders: Vec<String> = merged.contention[0].sites[0]
        .holders
        .iter()
        .filter_map(|holder| Some(merged.threads[holder.thread?].to_string()))
        .collect();
    assert_eq!(holders, ["r0:1", "r1:1", "r2:1"]);
    let late: Vec<String> = merged
        .arrivals
        .iter()
        .map(|of| merged.threads[of.thread].to_string())
        .collect();
    assert_eq!(late.len(), 3, "{late:?}");
    assert_eq!(merged.distributions.len(), 3);
    assert_eq!(of_rank(&merged, 1).unwrap().arrivals, profile.arrivals);
    assert_eq!(fold(&profile).contention, profile.contention);
}
