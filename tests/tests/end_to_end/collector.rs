//! The collector that comes with Romp: call stacks as the source has them.

use std::path::Path;
use std::process::Command;

use tests::toolchain::{Compiler, romp_bin_dir};

/// The entries of a report: the first line of each, and its stack with lines of the
/// source.
fn entries(report: &str) -> Vec<(String, String)> {
    let entry = |entry: &str| {
        let (head, stack) = entry.split_once('\n')?;
        let steps = stack.lines().map(|line| {
            let (function, place) = line.trim().split_once(" (").unwrap_or((line.trim(), ""));
            let number = place.rsplit(':').next().unwrap_or_default();
            format!("{function} {}", number.trim_end_matches(')'))
        });
        Some((head.to_owned(), steps.collect::<Vec<_>>().join(" > ")))
    };
    report.split("\n\n").skip(1).filter_map(entry).collect()
}

fn report(compiler: &str, settings: &[(&str, &str)]) -> String {
    let bin = romp_bin_dir().unwrap().canonicalize().unwrap();
    let place = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ports/stacks.c");
    let mut compile = Command::new(bin.join("rompcc"));
    compile.env("ROMP_CC", Compiler::find(compiler).unwrap().name);
    compile
        .args(["-g", "-O1", "-fopenmp", "-o", "program"])
        .arg(source);
    assert!(compile.current_dir(&place).status().unwrap().success());
    let output = Command::new(place.path().join("program"))
        .current_dir(&place)
        .env("LD_PRELOAD", bin.join("libromp_collector.so"))
        .envs([("ROMP_QUIET", "1"), ("ROMP_COLLECTOR_OUTPUT", "stacks.txt")])
        .envs(settings.iter().copied())
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    std::fs::read_to_string(place.path().join("stacks.txt")).unwrap()
}

#[test]
fn stacks_are_those_of_the_source_in_every_thread() {
    for compiler in ["gcc", "clang"] {
        let report = report(compiler, &[("ROMP_COLLECTOR_MIN", "40000")]);
        let entries = entries(&report);
        let joins = |stack: &str, count: u64| {
            let head = format!("parallel region: {count} times, ");
            entries
                .iter()
                .any(|(first, at)| first.starts_with(&head) && at == stack)
        };
        // Two teams, forked by the two threads of one: their stacks are the same.
        assert!(
            joins("main 39 > solve 31 > inner 25", 2),
            "{compiler}: {report}"
        );
        assert!(joins("main 39 > solve 31", 1), "{compiler}: {report}");
        let mut waits = entries
            .iter()
            .filter(|(first, _)| first.starts_with("barrier: "));
        let at_barrier = waits.any(|(_, stack)| stack.starts_with("main 39 > solve 31 > inner 2"));
        assert!(at_barrier, "{compiler}: {report}");
        // A busy machine may stop a thread in one of the small regions.
        let small = report.lines().find_map(|line| {
            let (count, _) = line
                .strip_prefix("parallel region: ")?
                .split_once(" times under")?;
            count.parse::<u32>().ok()
        });
        assert!(
            small.is_some_and(|small| (40..=51).contains(&small)),
            "{report}"
        );
    }
}

/// A worker is told that it has left the last barrier of its team when it serves in the next one:
/// the serial part between them is no wait, and the next region is not where it waited.
#[test]
fn idleness_behind_a_team_is_no_wait() {
    for compiler in ["gcc", "clang"] {
        let report = report(compiler, &[("ROMP_COLLECTOR_MIN", "40000")]);
        let longest = |first: &str| -> f64 {
            let (_, longest) = first.rsplit_once("longest ").unwrap();
            longest.trim_end_matches(" ms").parse().unwrap()
        };
        let entries = entries(&report);
        let mut waits = entries
            .iter()
            .filter(|(first, _)| first.starts_with("implicit barrier: "));
        assert!(
            waits.clone().any(|(_, stack)| stack == "main 42"),
            "{compiler}: {report}"
        );
        assert!(
            waits.all(|(first, stack)| longest(first) < 700.0 && stack.starts_with("main ")),
            "{compiler}: {report}"
        );
    }
}

#[test]
fn events_are_chosen() {
    let report = report(
        "gcc",
        &[
            ("ROMP_COLLECTOR_EVENTS", "ebar"),
            ("ROMP_COLLECTOR_MIN", "40000"),
        ],
    );
    assert!(
        report.contains("\n\nbarrier: ") && !report.contains("parallel region"),
        "{report}"
    );
}
