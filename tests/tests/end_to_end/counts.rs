//! Programs with every construct count for themselves how often each is executed;
//! the profile must say the same, with one thread and with many, nested, with
//! tasks, with each compiler; and it must not contradict itself.

use std::collections::BTreeMap;

use profile::model::Profile;
use profile::region_kind::RegionKind;
use tests::fixture::Fixture;
use tests::invariants;
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};

#[test]
fn in_c() {
    for compiler in ["gcc", "clang"] {
        all_counts_are_right("every_construct.c", compiler, "gnu11");
    }
}

#[test]
fn of_newer_constructs() {
    for compiler in ["gcc", "clang"] {
        all_counts_are_right("newer_constructs.c", compiler, "gnu11");
    }
}

/// Instances that are passed over are counted, too, and regions in them keep their places.
#[test]
fn of_what_is_timed_by_sample() {
    let bin = romp_bin_dir().unwrap();
    for (fixture, compiler, std) in [
        ("hot_constructs.c", "gcc", "gnu11"),
        ("hot_constructs.c", "clang", "gnu11"),
        ("hot_constructs.f90", "gfortran", "gnu"),
    ] {
        let fixture = Fixture::read(&format!("counts/{fixture}")).unwrap();
        let found = Compiler::find(compiler).unwrap();
        let program = build(&fixture, &found, std, Build::Instrumented(&bin)).unwrap();
        for (threads, budget) in [("1", "5%"), ("2", "5%"), ("4", "5%"), ("2", "none")] {
            let environment = [("OMP_NUM_THREADS", threads), ("ROMP_BUDGET", budget)];
            let ran = run(&fixture, &program, &environment).unwrap();
            let profile = ran.profile().unwrap();
            let case = format!("{compiler}, {threads} threads, {budget}");
            assert_eq!(profile.run.notes, Vec::<String>::new(), "{case}");
            assert_eq!(visits(&profile), printed(&ran.stdout()), "{case}");
            let contradictions = invariants::contradictions(&profile);
            assert_eq!(contradictions, Vec::<String>::new(), "{case}");
        }
    }
}

/// Where chunks are small, some of them are handed out together, unless loops may be cancelled. LLVM's runtime
/// fails by itself if such loops are cancelled.
#[test]
fn of_iterations_in_small_chunks() {
    let bin = romp_bin_dir().unwrap();
    let fixture = Fixture::read("counts/chunks_together.c").unwrap();
    for (compiler, cancels) in [("gcc", false), ("gcc", true), ("clang", false)] {
        let found = Compiler::find(compiler).unwrap();
        let program = build(&fixture, &found, "gnu11", Build::Instrumented(&bin)).unwrap();
        for threads in ["1", "2", "3"] {
            let mut environment = vec![("OMP_NUM_THREADS", threads), ("OMP_SCHEDULE", "dynamic")];
            if cancels {
                environment.push(("OMP_CANCELLATION", "true"));
            }
            let ran = run(&fixture, &program, &environment).unwrap();
            let case = format!("{compiler}, {threads} threads, cancellation {cancels}");
            let lines = ran.stdout();
            assert_eq!(lines.lines().count(), 10, "{case}");
            for line in lines.lines() {
                assert!(line.ends_with(": 0 wrong"), "{case}: {line}");
            }
        }
    }
}

#[test]
fn in_fortran() {
    all_counts_are_right("every_construct.f90", "gfortran", "gnu");
}

/// Text that asks the library which functions it has reports the same, since this library has all.
#[test]
fn where_the_library_is_asked() {
    let bin = romp_bin_dir().unwrap();
    for (fixture, compiler, std) in [
        ("every_construct.c", "gcc", "gnu11"),
        ("newer_constructs.c", "clang", "gnu11"),
        ("every_construct.f90", "gfortran", "gnu"),
    ] {
        counts_are_right(fixture, compiler, std, Build::Asking(&bin));
    }
}

fn all_counts_are_right(fixture: &str, compiler: &str, std: &str) {
    let bin = romp_bin_dir().unwrap();
    counts_are_right(fixture, compiler, std, Build::Instrumented(&bin));
}

fn counts_are_right(fixture: &str, compiler: &str, std: &str, how: Build<'_>) {
    let fixture = Fixture::read(&format!("counts/{fixture}")).unwrap();
    let found = Compiler::find(compiler).unwrap();
    let program = build(&fixture, &found, std, how).unwrap();
    for threads in ["1", "2", "4", "8"] {
        let ran = run(&fixture, &program, &[("OMP_NUM_THREADS", threads)]).unwrap();
        let profile = ran.profile().unwrap();
        let case = format!("{}, {compiler}, {threads} threads", fixture.name());
        assert_eq!(profile.run.notes, Vec::<String>::new(), "{case}");
        assert_eq!(visits(&profile), printed(&ran.stdout()), "{case}");
        let contradictions = invariants::contradictions(&profile);
        assert_eq!(contradictions, Vec::<String>::new(), "{case}");
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
        // Constructs that a compiler does not know are not executed.
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Requests for chunks of 4 of 400,000 iterations. One in 61 is recorded and stands for all, so
/// each thread's count may be off by one period.
#[test]
fn chunks_are_counted_where_they_are_asked_for() {
    let bin = romp_bin_dir().unwrap();
    let cases = [
        ("chunks.c", "gcc", "gnu11"),
        ("chunks.c", "clang", "gnu11"),
        ("chunks.f90", "gfortran", "gnu"),
    ];
    for (fixture, compiler, std) in cases {
        let fixture = Fixture::read(&format!("counts/{fixture}")).unwrap();
        let found = Compiler::find(compiler).unwrap();
        let program = build(&fixture, &found, std, Build::Instrumented(&bin)).unwrap();
        // LLVM's runtime hands a single thread all iterations at once.
        let few = if compiler == "clang" { 2 } else { 1 };
        for threads in [few, 3] {
            let case = format!("{compiler}, {threads} threads");
            let number = threads.to_string();
            let environment = [("OMP_NUM_THREADS", &*number), ("OMP_SCHEDULE", "dynamic,4")];
            let ran = run(&fixture, &program, &environment).unwrap();
            assert_eq!(ran.stdout().trim(), "800000", "{case}");
            let profile = ran.profile().unwrap();
            let of = |schedule: &str| {
                let loops = profile.nodes.iter().filter(|node| {
                    profile.regions[node.region].schedule.as_deref() == Some(schedule)
                });
                let rows = loops.flat_map(|node| &node.rows);
                rows.map(|row| row.chunk_requests().count)
                    .filter(|count| *count > 0)
                    .reduce(|sum, count| sum + count)
            };
            let schedules: Vec<_> = profile.regions.iter().map(|it| &it.schedule).collect();
            assert_eq!(of("static, 4"), None, "{case} {schedules:?}");
            for schedule in ["dynamic, 4", "runtime"] {
                let requests = of(schedule).unwrap_or(0);
                let off = requests.abs_diff(400_000 / 4);
                assert!(off <= 63 * threads, "{case}, {schedule}: {requests}");
            }
        }
    }
}

/// The wait at the end of a construct that could be cancelled is measured by the runtime's
/// barrier. No thread passes that barrier too early.
#[test]
fn the_barriers_of_what_could_be_cancelled_are_measured() {
    let bin = romp_bin_dir().unwrap();
    let fixture = Fixture::read("counts/cancellable.c").unwrap();
    for compiler in ["gcc", "clang"] {
        let found = Compiler::find(compiler).unwrap();
        let program = build(&fixture, &found, "gnu11", Build::Instrumented(&bin)).unwrap();
        for threads in ["1", "3"] {
            let case = format!("{compiler}, {threads} threads");
            let ran = run(&fixture, &program, &[("OMP_NUM_THREADS", threads)]).unwrap();
            assert_eq!(ran.stdout().trim(), "0", "{case}");
            let profile = ran.profile().unwrap();
            let contradictions = invariants::contradictions(&profile);
            assert_eq!(contradictions, Vec::<String>::new(), "{case}");
            let mut constructs = 0;
            for node in &profile.nodes {
                let region = &profile.regions[node.region];
                let is_one = [
                    RegionKind::Loop,
                    RegionKind::Sections,
                    RegionKind::ParallelLoop,
                ];
                if !is_one.contains(&region.kind) {
                    continue;
                }
                constructs += 1;
                assert_eq!(region.unsplit, None, "{case} {region:?}");
                for row in node.rows.iter().filter(|row| row.main.count > 0) {
                    assert_eq!(row.ibarr.count, row.main.count, "{case} {region:?}");
                }
            }
            assert_eq!(constructs, 5, "{case}");
        }
    }
}

/// A static runtime has its own barrier, which is not measured.
#[test]
fn a_static_runtime_keeps_its_barrier() {
    let bin = romp_bin_dir().unwrap();
    let mut fixture = Fixture::read("counts/cancellable_only.c").unwrap();
    let flags = ["-static", "-Wl,--no-warnings"].map(str::to_owned);
    fixture.header.flags.extend(flags);
    let gcc = Compiler::find("gcc").unwrap();
    let program = build(&fixture, &gcc, "gnu11", Build::Instrumented(&bin)).unwrap();
    let ran = run(&fixture, &program, &[("OMP_NUM_THREADS", "3")]).unwrap();
    assert_eq!(ran.stdout().trim(), "0");
    let profile = ran.profile().unwrap();
    let mut regions = profile.regions.iter();
    let of = regions
        .find(|region| region.kind == RegionKind::Loop)
        .unwrap();
    assert!(of.unsplit.is_some(), "{of:?}");
}
