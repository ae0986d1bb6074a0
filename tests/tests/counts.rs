//! A program with every construct counts for itself how often each is executed;
//! the profile must say the same, with one thread and with many, nested, with
//! tasks, with each compiler; and it must not contradict itself.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::BTreeMap;

use profile::model::Profile;
use profile::region_kind::RegionKind;
use tests::fixture::Fixture;
use tests::invariants;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};

#[test]
fn every_construct_is_counted_as_often_as_it_is_executed() {
    let bin = romp_bin_dir().unwrap();
    let fixture = Fixture::read("counts/every_construct.c").unwrap();
    for compiler in ["gcc", "clang"] {
        let found = Compiler::find(compiler).unwrap();
        let program = build(&fixture, &found, "gnu11", Build::Instrumented(&bin)).unwrap();
        for threads in ["1", "2", "4", "8"] {
            let ran = run(&fixture, &program, &[("OMP_NUM_THREADS", threads)]).unwrap();
            let profile = ran.profile().unwrap();
            let case = format!("{compiler}, {threads} threads");
            assert_eq!(profile.run.notes, Vec::<String>::new(), "{case}");
            assert_eq!(visits(&profile), printed(&ran.stdout()), "{case}");
            assert_eq!(
                invariants::contradictions(&profile),
                Vec::<String>::new(),
                "{case}"
            );
        }
    }
}

/// How often threads executed the regions of each kind.
fn visits(profile: &Profile) -> BTreeMap<String, u64> {
    let mut visits = BTreeMap::new();
    for node in &profile.nodes {
        let kind = name(profile.regions[node.region].kind);
        let count: u64 = node.rows.iter().map(|row| row.main.count).sum();
        *visits.entry(kind).or_default() += count;
    }
    visits
}

fn name(kind: RegionKind) -> String {
    let name = serde_json::to_value(kind).unwrap();
    name.as_str().unwrap().to_owned()
}

fn printed(stdout: &str) -> BTreeMap<String, u64> {
    let words = stdout.lines().filter_map(|line| line.split_once(' '));
    words
        .map(|(kind, count)| (kind.to_owned(), count.parse().unwrap()))
        .collect()
}
