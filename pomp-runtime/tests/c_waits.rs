//! Distributions, arrivals and contention of real runs: every instance is in
//! them once, whatever the threads did.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

mod programs;

use profile::model::{GuardKind, Profile};
use profile::region_kind::PseudoRegion;
use programs::{Program, compilers};

const TIMES: u64 = 1000;

/// Sum of a part over all nodes of a region, by thread.
fn sum(profile: &Profile, region: usize, thread: Option<usize>, part: PseudoRegion) -> (u64, u64) {
    let nodes = profile.nodes.iter().filter(|node| node.region == region);
    let rows = nodes.flat_map(|node| &node.rows);
    let rows = rows.filter(|row| thread.is_none_or(|thread| row.thread == thread));
    rows.fold((0, 0), |(count, ns), row| {
        let span = row.span(part);
        (count + span.count, ns + span.ns)
    })
}

fn line(profile: &Profile, line: u32) -> usize {
    let at = |region: &profile::model::Region| region.begin[0] == line;
    profile.regions.iter().position(at).unwrap()
}

/// What holds of every distribution in every profile.
fn check_distributions(profile: &Profile) {
    assert!(!profile.distributions.is_empty());
    for of in &profile.distributions {
        let (count, ns) = sum(profile, of.region, of.thread, of.part);
        let counted: u64 = of.histogram.iter().map(|bucket| bucket.count).sum();
        assert_eq!(counted, count, "{of:?}");
        assert!(of.min_ns * count <= ns, "{of:?} {ns}");
        // Each time is rounded down, their sum only once.
        assert!((of.max_ns + 1) * count >= ns, "{of:?} {ns}");
        let holds = |ns: u64| {
            of.histogram
                .iter()
                .any(|b| (b.from_ns..b.below_ns).contains(&ns))
        };
        assert!(holds(of.min_ns) && holds(of.max_ns), "{of:?}");
    }
}

#[test]
fn everything_is_counted_once() {
    for compiler in compilers() {
        let program = Program::build(compiler, "waits.c", &[]);
        for threads in [1, 2, 4, 8] {
            let run = program.run(&[&threads.to_string()], &[]);
            assert_eq!(run.stdout(), format!("{}\n", TIMES * threads), "{compiler}");
            let profile = run.profile();
            assert_eq!(profile.run.notes, Vec::<String>::new(), "{compiler}");
            check_distributions(profile);
            for (at, part) in [(2, PseudoRegion::Main), (7, PseudoRegion::Ibarr)] {
                let of = profile
                    .arrivals
                    .iter()
                    .filter(|of| of.region == line(profile, at));
                let (mut last, mut late) = (0, 0);
                for of in of {
                    assert_eq!(of.part, part);
                    assert!(of.late_ns <= of.after_first_ns, "{of:?}");
                    last += of.last;
                    late += of.after_first_ns;
                }
                let expected = if threads > 1 { TIMES } else { 0 };
                assert_eq!(last, expected, "{compiler} {threads} line {at}");
                // Somebody waited at least as long as the last one was late.
                assert!(late <= sum(profile, line(profile, at), None, part).1);
            }
            check_contention(profile, threads);
        }
    }
}

fn check_contention(profile: &Profile, threads: u64) {
    let guards: Vec<_> = profile
        .contention
        .iter()
        .map(|guard| {
            let sites = guard.sites.iter();
            let acquisitions: Vec<u64> = sites.map(|site| site.acquisitions).collect();
            (guard.kind, guard.members, acquisitions)
        })
        .collect();
    assert_eq!(
        guards,
        [
            (GuardKind::Critical, 1, vec![1, 1]),
            (GuardKind::Lock, 1, vec![TIMES * threads]),
            (GuardKind::Atomic, 1, vec![TIMES * threads]),
        ]
    );
    let critical = &profile.contention[0];
    assert_eq!(critical.name, "here");
    let (holds, asks) = (&critical.sites[0], &critical.sites[1]);
    assert_eq!((holds.waited, asks.waited), (0, 1));
    assert_eq!(asks.holders.len(), 1);
    let holder = asks.holders[0];
    assert_eq!((holder.region, holder.waited), (holds.region, 1));
    assert_eq!(profile.threads[holder.thread.unwrap()].path, [0, 1]);
    assert_eq!(asks.wait_ns, asks.max_wait_ns);
    assert!(asks.wait_ns > 0 && holds.hold_ns > 0);
}
