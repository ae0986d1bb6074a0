//! What traces tell of iterations and waits, for programs whose behaviour is known.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use profile::model::{GuardKind, Profile};
use profile::region_kind::PseudoRegion;
use serde_json::Value;
use tests::fixture::{Fixture, fixtures};
use tests::run::{Build, build, run};
use tests::toolchain::{Compiler, romp_bin_dir};
use trace::analysis::waits::{Name, Waits, waits};
use trace::read::Trace;
use trace::stats::stats;

/// Builds a fixture with chunks, and runs it with its trace on; returns its output and its
/// trace.
fn traced(name: &str, compiler: &str) -> (tempfile::TempDir, String, PathBuf) {
    let folder = with_chunks(name, compiler);
    let (printed, trace) = ran(&folder, &[], &[]);
    (folder, printed, trace)
}

fn with_chunks(name: &str, compiler: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new(romp_bin_dir().unwrap().join("rompcc"))
        .args(["--chunks", "-O1", "-fopenmp", "-o", "program"])
        .arg(fixtures().join("trace").join(name))
        .current_dir(folder.path())
        .env("ROMP_CC", compiler)
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    folder
}

/// Runs a program with its trace on; returns its output and its trace.
fn ran(
    folder: &tempfile::TempDir,
    arguments: &[&str],
    settings: &[(&str, &str)],
) -> (String, PathBuf) {
    let ran = Command::new(folder.path().join("program"))
        .envs([
            ("ROMP_TRACE", "on"),
            ("ROMP_QUIET", "1"),
            ("OMP_NUM_THREADS", "2"),
            ("OMP_MAX_ACTIVE_LEVELS", "2"),
        ])
        .envs(settings.iter().copied())
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let files = folder.path().read_dir().unwrap();
    let files = files.map(|file| file.unwrap().path());
    // Runs are numbered.
    let trace = files.filter(|path| path.extension().is_some_and(|ext| ext == "trace"));
    let latest = trace.max().unwrap();
    (String::from_utf8(ran.stdout).unwrap(), latest)
}

/// The output of `romp trace` for a trace.
fn said(trace: &Path, arguments: &[&str]) -> String {
    let said = Command::new(romp_bin_dir().unwrap().join("romp"))
        .args(["trace", arguments[0]])
        .arg(trace)
        .args(&arguments[1..])
        .output()
        .unwrap();
    assert!(said.status.success(), "{said:?}");
    String::from_utf8(said.stdout).unwrap()
}

/// Depth, tasks created and tasks executed of each node.
#[test]
fn tasks_stand_below_what_made_them() {
    for compiler in ["gcc", "clang"] {
        let (_folder, printed, trace) = traced("task_tree.c", compiler);
        assert_eq!(printed, "23\n");
        let nodes = said(&trace, &["tasks", "--format", "json"]);
        let nodes: Vec<Value> = nodes
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let counts: Vec<_> = nodes
            .iter()
            .map(|node| {
                let number = |name: &str| node[name].as_u64().unwrap();
                (number("depth"), number("created"), number("executed"))
            })
            .collect();
        let expected = [(0, 3, 3), (1, 6, 6), (0, 2, 2), (1, 4, 4), (2, 8, 8)];
        assert_eq!(counts, expected, "{compiler}");
        let text = said(&trace, &["tasks"]);
        assert!(
            text.contains("  task ") && text.lines().count() == 6,
            "{text}"
        );
    }
}

#[test]
fn sets_and_tasks_have_the_periods_that_the_source_gives_them() {
    for compiler in ["gcc", "clang"] {
        let (_folder, printed, trace) = traced("periods.c", compiler);
        assert_eq!(printed, "216 1 2 3\n");
        said(&trace, &["check"]);
        // The periods of each iteration set (by loop instance and first iteration) or task.
        let mut periods: BTreeMap<String, Vec<(u64, bool)>> = BTreeMap::new();
        let mut ends: BTreeMap<String, u64> = BTreeMap::new();
        for line in said(&trace, &["periods", "--format", "json"]).lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let region = line["region"].as_str().unwrap().to_owned();
            let which = format!(
                "{} {} {} {}",
                region, line["instance"], line["first"], line["label"]
            );
            let (number, is_last) = (line["period"].as_u64(), line["last"].as_bool());
            periods
                .entry(which)
                .or_default()
                .push((number.unwrap(), is_last.unwrap()));
            // A thread's periods don't overlap. The member of a team of one counts as its parent.
            let thread: String = line["thread"].as_str().unwrap().chars().take(4).collect();
            let (from, to) = (line["from"].as_u64().unwrap(), line["to"].as_u64().unwrap());
            let before = ends.insert(thread, to).unwrap_or_default();
            assert!(before <= from && from <= to, "{line}");
        }
        let mut counts: BTreeMap<(String, usize), usize> = BTreeMap::new();
        for (which, found) in periods {
            let last = found.len() as u64 - 1;
            let expected: Vec<_> = (0..=last).map(|n| (n, n == last)).collect();
            assert_eq!(found, expected, "{which}");
            let region = which.split(' ').take(2).collect::<Vec<_>>().join(" ");
            let place = region.rsplit('/').next().unwrap().to_owned();
            *counts.entry((place, found.len())).or_default() += 1;
        }
        let counts: Vec<_> = counts
            .iter()
            .map(|((place, n), sets)| (place.as_str(), *n, *sets))
            .collect();
        // Four outer sets of two iterations: before, between and after four loops.
        let expected = [
            ("periods.c:12", 5, 4),
            ("periods.c:17", 1, 8),
            ("periods.c:19", 1, 8),
            ("periods.c:25", 2, 3),
            ("periods.c:28", 1, 3),
        ];
        assert_eq!(counts, expected, "{compiler}");
        let dump = said(&trace, &["dump", "--format", "json"]);
        let created = dump.lines().filter(|line| line.contains("\"create\""));
        let depends = created.filter(|line| line.contains("[\"inout:cells[i]\",\"in:sum\"]"));
        assert_eq!(depends.count(), 3);
        for fact in ["\"suspends\":", "\"resumes\":"] {
            assert_eq!(
                dump.lines().filter(|line| line.contains(fact)).count(),
                3,
                "{fact}"
            );
        }
    }
}

#[test]
fn the_iterations_that_cost_most_are_named_by_number() {
    let (_folder, printed, trace) = traced("buckets.c", "gcc");
    assert_eq!(printed, "ok\n");
    let text = said(&trace, &["loops"]);
    // Two that took nearly the same are named together: `12 to 13`.
    let mut heavy: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("heavy: iteration "))
        .flat_map(|line| line.split(" (").next().unwrap_or(line).split(" to "))
        .map(|number| number.split(' ').next().unwrap_or(number))
        .take(2)
        .collect();
    heavy.sort_unstable();
    assert_eq!(heavy, ["12", "13"], "{text}");
    assert!(
        text.contains("1 instance of up to 40 iterations, 40 chunks"),
        "{text}"
    );
}

/// A sparse LU decomposition by loops with two schedules and by tasks. All have the same
/// result, and each trace shows the reason for its speed.
#[test]
fn a_sparse_decomposition_shows_why_one_way_is_faster() {
    const BLOCKS: u64 = 10;
    for compiler in ["gcc", "clang"] {
        let folder = with_chunks("sparselu.c", compiler);
        let (printed, fixed) = ran(&folder, &["loops"], &[("OMP_SCHEDULE", "static")]);
        let (by_one, dynamic) = ran(&folder, &["loops"], &[("OMP_SCHEDULE", "dynamic,1")]);
        let (by_tasks, tasks) = ran(&folder, &["tasks"], &[]);
        assert_eq!((&by_one, &by_tasks), (&printed, &printed));
        // Three loops in each step, over the iterations that are left. A static schedule gives
        // each of the two threads a half. There may be only one iteration, or none.
        let rows = sets(&fixed);
        assert_eq!(rows.len() as u64, 3 * BLOCKS);
        for (instance, sets) in &rows {
            let count: u64 = sets.iter().map(|(_, count)| count).sum();
            let expected: &[u64] = match count {
                0 => &[],
                1 => &[1],
                _ => &[count.div_ceil(2), count / 2],
            };
            let lengths: Vec<u64> = sets.iter().map(|(_, count)| *count).collect();
            assert_eq!(lengths, expected, "{instance}");
        }
        // A free thread gets the next iteration, so there are as many sets as iterations.
        let rows = sets(&dynamic);
        let all = rows.values().flatten();
        let single = all.filter(|(_, count)| *count == 1).count() as u64;
        assert_eq!(single, 3 * BLOCKS * (BLOCKS - 1) / 2);
        // The tasks of a step wait for blocks, not for the step before.
        let dump = said(&tasks, &["dump", "--format", "json"]);
        let created = |depends: &str| {
            let lines = dump.lines().filter(|line| line.contains("\"create\""));
            lines.filter(|line| line.contains(depends)).count() as u64
        };
        assert_eq!(created("[\"inout:diagonal[0]\"]"), BLOCKS);
        assert!(created("[\"in:left[0]\",\"in:above[0]\",\"inout:inner[0]\"]") > BLOCKS);
        let executed = dump.lines().filter(|line| line.contains("\"executes\""));
        assert_eq!(executed.count() as u64, created(""));
        // Barriers: with loops three in each step and one of the team; with tasks one of the
        // team, and one of the `single` that makes the tasks.
        let barriers = |trace: &Path| {
            let waits = waits(&Trace::open(trace).unwrap()).unwrap();
            let barriers = waits.barriers.values();
            barriers.map(|barrier| barrier.waits.count()).sum::<u64>()
        };
        assert_eq!(barriers(&fixed), 3 * BLOCKS + 1);
        assert_eq!(barriers(&tasks), 2);
    }
}

/// The iteration sets of each loop instance, first iteration and length, as `dump`
/// tells them.
fn sets(trace: &Path) -> BTreeMap<String, Vec<(u64, u64)>> {
    let mut sets: BTreeMap<String, Vec<(u64, u64)>> = BTreeMap::new();
    for line in said(trace, &["dump", "--format", "json"]).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let what = line["event"].as_str().unwrap();
        if what != "loop" && what != "chunk" {
            continue;
        }
        let known = sets.entry(line["instance"].to_string()).or_default();
        if what == "chunk" {
            let numbers = (&line["first"], &line["iterations"]);
            known.push((numbers.0.as_u64().unwrap(), numbers.1.as_u64().unwrap()));
        }
    }
    for known in sets.values_mut() {
        known.sort_unstable();
    }
    sets
}

/// How a thread holds critical sections and locks after another thread has waited for it. The
/// profile finds the holder among the eight latest holds of each thread, when the thread that waited
/// has released what it got. A trace has all holds.
#[derive(Clone, Copy)]
enum Holds {
    /// The holder cannot hold anything eight more times until then.
    Slow,
    /// It can, if the other thread is interrupted: the profile may know of fewer waits.
    Quick,
}

/// How often each thread was the last at each barrier.
type Last = BTreeMap<(String, bool, String), u64>;

#[test]
fn who_was_the_last_and_how_often_threads_waited_is_what_the_profile_says() {
    let bin = romp_bin_dir().unwrap();
    for (name, holds) in [
        ("c/barrier.c", Holds::Slow),
        ("c/nested_constructs.c", Holds::Slow),
        ("programs/critical_contention.c", Holds::Slow),
        ("programs/lock_convoy.c", Holds::Slow),
        ("c/locks.c", Holds::Quick),
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
            for (thread, waits) in &barrier.last {
                let key = (place.clone(), *is_implicit, trace.thread(*thread));
                *traced.entry(key).or_default() += waits.count();
            }
        }
        assert_eq!(traced, profiled, "{name}");

        let (traced, profiled) = (traced_waits(&trace, &waits), profiled_waits(&profile));
        match holds {
            Holds::Slow => assert_eq!(traced, profiled, "{name}"),
            Holds::Quick => {
                let is_traced =
                    |(place, count)| traced.get(place).is_some_and(|traced| count <= traced);
                assert!(
                    profiled.iter().all(is_traced),
                    "{name}: {traced:?} {profiled:?}"
                );
            }
        }

        // No thread waited longer for a critical section than it took to enter it.
        let entered: u64 = stats(&trace)
            .unwrap()
            .spans
            .iter()
            .filter(|((_, region), _)| trace.region(*region).unwrap().region_type == "critical")
            .map(|(_, parts)| parts[PseudoRegion::Enter as usize].ticks)
            .sum();
        let criticals = waits.resources.iter();
        let criticals = criticals.filter(|(name, _)| matches!(name, Name::Critical(_)));
        let waited: u64 = criticals.map(|(_, resource)| resource.waits.sum()).sum();
        assert!(waited <= entered, "{name}: {waited} {entered}");
    }
}

/// How often threads waited for criticals and locks, by the place where they asked.
type Waited = BTreeMap<String, u64>;

fn traced_waits(trace: &Trace, waits: &Waits) -> Waited {
    let mut traced = Waited::new();
    for resource in waits.resources.values() {
        let mut all = 0;
        for (((_, region), _), waits) in &resource.pairs {
            let region = trace.region(*region).unwrap();
            let place = format!("{}:{}", region.region_type, region.begin.first);
            *traced.entry(place).or_default() += waits.count();
            all += waits.count();
        }
        assert_eq!(all, resource.waits.count());
    }
    traced
}

fn profiled_waits(profile: &Profile) -> Waited {
    let guards = profile.contention.iter();
    let guards = guards.filter(|guard| guard.kind != GuardKind::Atomic);
    let mut profiled = Waited::new();
    for site in guards.flat_map(|guard| &guard.sites) {
        let region = &profile.regions[site.region];
        let place = format!("{}:{}", region.region_type, region.begin[0]);
        if site.waited > 0 {
            *profiled.entry(place).or_default() += site.waited;
        }
    }
    profiled
}
