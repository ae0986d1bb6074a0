//! What traces tell of iterations and waits, for programs of which it is known.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::BTreeMap;
use std::process::Command;

use profile::region_kind::PseudoRegion;
use tests::fixture::{Fixture, fixtures};
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use trace::analysis::waits::{Name, waits};
use trace::read::Trace;
use trace::stats::stats;

#[test]
fn the_iterations_that_cost_most_are_named_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let bin = romp_bin_dir().unwrap();
    let built = Command::new(bin.join("rompcc"))
        .args(["--chunks", "-O1", "-fopenmp", "-o", "buckets"])
        .arg(fixtures().join("trace/buckets.c"))
        .current_dir(folder.path())
        .env("ROMP_CC", "gcc")
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let ran = Command::new(folder.path().join("buckets"))
        .envs([
            ("ROMP_TRACE", "on"),
            ("ROMP_QUIET", "1"),
            ("OMP_NUM_THREADS", "2"),
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "ok\n");
    let said = Command::new(bin.join("romp"))
        .args(["trace", "buckets.0.romp.trace", "loops"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    let mut heavy: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("heavy: iteration "))
        .filter_map(|line| line.split(' ').next())
        .take(2)
        .collect();
    heavy.sort_unstable();
    assert_eq!(heavy, ["12", "13"], "{text}");
    assert!(
        text.contains("1 instances of up to 40 iterations, 40 chunks"),
        "{text}"
    );
}

/// How often each thread was the last at each barrier.
type Last = BTreeMap<(String, bool, String), u64>;

#[test]
fn who_was_the_last_at_each_barrier_is_what_the_profile_says() {
    let bin = romp_bin_dir().unwrap();
    for name in [
        "c/barrier.c",
        "c/nested_constructs.c",
        "programs/critical_contention.c",
    ] {
        let fixture = Fixture::read(name).unwrap();
        let compiler = Compiler::find("gcc").unwrap();
        let std = fixture.header.standards.last().unwrap();
        let program = build(&fixture, &compiler, std, Build::Instrumented(&bin)).unwrap();
        let ran = run(&fixture, &program, &[("ROMP_TRACE", "on")]).unwrap();
        ran.must_be_right().unwrap();
        let profile = ran.profile().unwrap();
        let trace = Trace::open(&ran.profiles[0].with_extension("trace")).unwrap();
        let waits = waits(&trace).unwrap();

        let mut profiled = Last::new();
        for arrivals in &profile.arrivals {
            let region = &profile.regions[arrivals.region];
            let thread = &profile.threads[arrivals.thread].path;
            let thread: Vec<String> = thread.iter().map(u32::to_string).collect();
            let place = format!("{}:{}", region.region_type, region.begin[0]);
            let key = (
                place,
                arrivals.part == PseudoRegion::Ibarr,
                thread.join("->"),
            );
            *profiled.entry(key).or_default() += arrivals.last;
        }
        let mut traced = Last::new();
        for ((region, is_implicit), barrier) in &waits.barriers {
            let region = trace.region(*region).unwrap();
            let place = format!("{}:{}", region.region_type, region.begin.first);
            for (thread, (times, _)) in &barrier.last {
                let key = (place.clone(), *is_implicit, trace.thread(*thread));
                *traced.entry(key).or_default() += times;
            }
        }
        assert_eq!(traced, profiled, "{name}");

        // Nobody waited longer for a critical than it took to get in.
        let entered: u64 = stats(&trace)
            .unwrap()
            .spans
            .iter()
            .filter(|((_, region), _)| trace.region(*region).unwrap().region_type == "critical")
            .map(|(_, parts)| parts[PseudoRegion::Enter as usize].ticks)
            .sum();
        let criticals = waits.resources.iter();
        let criticals = criticals.filter(|(name, _)| matches!(name, Name::Critical(_)));
        let waited: u64 = criticals.map(|(_, resource)| resource.waited).sum();
        assert!(waited <= entered, "{name}: {waited} {entered}");
    }
}
