//! TAU's files and tables of saved profiles: every nanosecond of a thread occurs once.

#![allow(clippy::unwrap_used)] // A test fails by panicking, also in its helpers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use profile::analysis::Report;
use profile::model::Profile;
use profile::report::writer;
use profile::save::load;

fn saved(name: &str) -> Profile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/profiles");
    load(&folder.join(format!("{name}.romp.json"))).unwrap()
}

fn written(profile: &Profile, format: &str) -> Vec<u8> {
    let mut out = Vec::new();
    (writer(format).unwrap().write)(&Report::new(profile), &mut out).unwrap();
    out
}

/// The files of an archive, extracted by the system's `tar`.
fn files(archive: &[u8]) -> BTreeMap<PathBuf, String> {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("all.tar"), archive).unwrap();
    let mut tar = std::process::Command::new("tar");
    let output = tar
        .args(["xvf", "all.tar"])
        .current_dir(&place)
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let names = String::from_utf8(output.stdout).unwrap();
    let read = |name: &str| {
        let text = std::fs::read_to_string(place.path().join(name)).unwrap();
        (PathBuf::from(name), text)
    };
    names.lines().map(read).collect()
}

/// Name; calls, calls below, exclusive and inclusive nanoseconds.
type Line = (String, [u64; 4]);

fn lines(text: &str) -> Vec<Line> {
    let timers = text.lines().filter(|line| line.starts_with('"'));
    let line = |line: &str| {
        let (name, rest) = line[1..].split_once("\" ").unwrap();
        let numbers = rest.split_once(" 0 GROUP").unwrap().0;
        let nanoseconds = |number: &str| match number.split_once('.') {
            Some((micros, rest)) => format!("{micros}{rest}").parse().unwrap(),
            None => number.parse::<u64>().unwrap(),
        };
        let numbers: Vec<u64> = numbers.split(' ').map(nanoseconds).collect();
        (name.to_owned(), numbers.try_into().unwrap())
    };
    let lines: Vec<Line> = timers.map(line).collect();
    let count: usize = text.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(lines.len(), count);
    lines
}

#[test]
fn own_times_add_up_in_every_view() {
    for name in ["imbalance", "mixed", "nested", "tasks"] {
        let files = files(&written(&saved(name), "tau"));
        let threads = files
            .keys()
            .filter(|file| !file.starts_with("constructs"))
            .count();
        assert_eq!(files.len(), 2 * threads);
        for (file, text) in &files {
            let lines = lines(text);
            let application = lines[0].1;
            assert_eq!(lines[0].0, ".TAU application");
            let own = |is_path: bool| {
                let of = |line: &&Line| line.0.contains(" => ") == is_path;
                let own = lines[1..].iter().filter(of).map(|(_, numbers)| numbers[2]);
                own.sum::<u64>() / 1000
            };
            let whole = application[3];
            for sum in [own(true), own(false)] {
                let sum = sum + application[2];
                assert!(
                    whole.abs_diff(sum) <= 2,
                    "{name} {}: {whole} {sum}",
                    file.display()
                );
            }
            for (timer, [_, _, own, whole]) in &lines[1..] {
                assert!(own <= whole, "{name} {timer}");
            }
        }
    }
}

#[test]
fn threads_of_nested_teams_have_their_call_paths() {
    let files = files(&written(&saved("nested"), "tau"));
    assert_eq!(files.len(), 2 * 4);
    let deepest = |text: &str| {
        let depth = |(name, _): &Line| name.matches(" => ").count();
        lines(text).iter().map(depth).max().unwrap()
    };
    // The outer region, the inner region and its implicit barrier. They also occur in threads
    // that are only in the inner region.
    for number in 0..4 {
        let file = PathBuf::from(format!("profile.0.0.{number}"));
        assert_eq!(deepest(&files[&file]), 3, "{number}");
    }
}

#[test]
fn kinds_of_constructs_are_timers_too() {
    let files = files(&written(&saved("mixed"), "tau"));
    let names = |file: &str| -> Vec<String> {
        let timers = lines(&files[&PathBuf::from(file)]).into_iter();
        timers
            .map(|(name, _)| name)
            .filter(|name| !name.contains(" => "))
            .collect()
    };
    let (regions, kinds) = (names("profile.0.0.0"), names("constructs/profile.0.0.0"));
    assert!(
        regions.iter().skip(1).all(|name| name.contains(" [{")),
        "{regions:?}"
    );
    assert!(kinds.iter().all(|name| !name.contains('[')), "{kinds:?}");
    assert!(kinds.len() < regions.len());
}

#[test]
fn tables() {
    let text = String::from_utf8(written(&saved("imbalance"), "pprof")).unwrap();
    insta::assert_snapshot!("imbalance.pprof", text);
}

/// Nested teams give a thread a higher number than one whose path is shorter.
#[test]
fn tables_come_in_the_order_of_the_threads_numbers() {
    let text = String::from_utf8(written(&saved("nested"), "pprof")).unwrap();
    let numbers: Vec<usize> = text
        .lines()
        .filter_map(|line| {
            line.strip_prefix("NODE 0;CONTEXT 0;THREAD ")?
                .strip_suffix(':')
        })
        .map(|number| number.parse().unwrap())
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
}
